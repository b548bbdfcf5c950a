"""The function that a kernel call runs: its parameters, what it returns, what it closes over.

Mirrors ``jax/_src/pallas/pallas_call.py``, ``_trace_kernel_to_jaxpr``, and Python's own binding of arguments.
"""

from __future__ import annotations

import ast
from collections import Counter

from ..interpreter.call_events import ArityFault, Captured, GridAxis, Returned
from ..interpreter.classes import class_attribute
from ..interpreter.events import CallFault, KernelRun
from ..interpreter.values import Array, Class, Instance, Iteration
from ..text.span import Location
from . import places, words
from .diagnostic import Related
from .registry import Context, Finding, rule

_ROLES = {"prefetch": "prefetched operand", "input": "input", "output": "output", "scratch": "scratch buffer"}


def _passed(given: tuple[str, ...]) -> str:
    """What a kernel is called with: ``3 refs (2 inputs, 1 output)``."""
    counts = Counter(given)
    parts = ", ".join(words.count(counts[role], noun) for role, noun in _ROLES.items() if counts[role])
    return f"{words.count(len(given), 'ref')} ({parts})" if parts else "no refs"


def _called(event: ArityFault) -> tuple[Related, ...]:
    return (Related(event.where.call, "the kernel is called here"),) if event.where.call is not None else ()


@rule("kernel-arity", on=ArityFault, order=20, stage="trace")
def kernel_arity(event: ArityFault, context: Context) -> Finding | None:
    """A kernel has more or fewer parameters than it gets refs."""
    if event.what not in ("kernel", "mesh"):
        return None
    name, passed = f"`{event.function.name}`", _passed(event.given)
    if event.missing:
        named = " and ".join(f"`{missing}`" for missing in event.missing)
        what = f"nothing is passed for {named} of kernel {name}: the call passes {passed}"
        location = places.of_parameter(event.function, event.missing[0])
    elif event.unexpected is not None:
        by = "a partial binds" if event.bound else "the call passes by name"
        what = f"kernel {name} has no parameter `{event.unexpected}`, which {by}"
        location = places.of_header(event.function)
    else:
        own = event.function.node.args
        taken = words.count(len([*own.posonlyargs, *own.args]), "parameter")
        what = f"kernel {name} has {taken}, but the call passes {passed}"
        location = places.of_header(event.function)
    return Finding(location, what, _called(event), event.text)


@rule("scratch-dict-name", on=ArityFault, order=10, stage="trace")
def scratch_dict_name(event: ArityFault, context: Context) -> Finding | None:
    """A dict of scratch buffers has a key that is no parameter of the kernel."""
    if event.what != "kernel" or event.bound or not event.text.endswith(f"unexpected keyword argument '{event.unexpected}'"):
        return None
    meant = f", and `{event.missing[0]}` gets nothing" if len(event.missing) == 1 else ""
    names = f"the keys of a dict `scratch_shapes` are parameters' names{meant}"
    return Finding(
        places.of_header(event.function),
        f"kernel `{event.function.name}` has no parameter `{event.unexpected}`: {names}",
        _called(event),
        event.text,
    )


@rule("kernel-not-callable", on=CallFault, order=30, stage="trace")
def kernel_not_callable(event: CallFault, context: Context) -> Finding | None:
    """What is given as the kernel cannot be called."""
    if event.kind != "kernel-not-callable":
        return None
    old = context.jax(until="0.12")
    message = "the first argument must be callable" if old else f"cannot create weak reference to '{type(event.detail).__name__}' object"
    return Finding(event.where.location, f"the kernel is {words.kind_of(event.detail)}, which cannot be called", jax_message=message)


@rule("kernel-unhashable", on=KernelRun, order=5, stage="trace", since="0.12")
def kernel_unhashable(event: KernelRun, context: Context) -> Finding | None:
    """The kernel is an object that has no hash."""
    if event.inside != "kernel" or not isinstance(event.given, Instance) or not _is_unhashable(event.given.cls):
        return None
    cls = event.given.cls
    related = (Related(Location(cls.module.path, cls.module.source.span_of(cls.node)), f"`{cls.name}` defines equality, but no hash"),)
    return Finding(
        event.where.location,
        f"the kernel is a `{cls.name}`, which has no hash: this JAX looks kernels up by hash, `frozen=True` gives a dataclass one",
        related,
        f"unhashable type: '{cls.name}'",
    )


def _is_unhashable(cls: Class) -> bool:
    """Whether Python gives the objects of a class no hash: equality by fields, and nothing that brings a hash back."""
    if not cls.complete or class_attribute(cls, "__hash__") is not None:
        return False
    if "__eq__" in cls.frame.names:
        return True
    return cls.kind == "dataclass" and any(_makes_unhashable(decorator) for decorator in cls.node.decorator_list)


def _makes_unhashable(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if text not in ("dataclass", "dataclasses.dataclass"):
        return False
    options = {k.arg: k.value for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    if None in options or any(not isinstance(value, ast.Constant) for value in options.values()):
        return False
    chosen = {name: bool(value.value) for name, value in options.items() if isinstance(value, ast.Constant)}
    return chosen.get("eq", True) and not chosen.get("frozen", False) and not chosen.get("unsafe_hash", False)


@rule("kernel-returns-value", on=Returned, order=10, stage="trace")
def kernel_returns_value(event: Returned, context: Context) -> Finding | None:
    """A kernel returns something."""
    value, name = event.value, event.function.name
    what = {Array: f"the array {words.array(value)}" if isinstance(value, Array) else "", Iteration: "a generator"}.get(type(value))
    kernel = "this lambda kernel" if name == "<lambda>" else f"kernel `{name}`"
    return Finding(
        places.of_returned(event.function),
        f"{kernel} returns {what or words.kind_of(value)}: a kernel stores its results in its output refs and returns None",
        jax_message=f"The kernel function in the pallas_call {name} at ... should return None. It returns a PyTree: ...",
    )


@rule("kernel-captures-array", on=Captured, order=10, stage="trace")
def kernel_captures_array(event: Captured, context: Context) -> Finding | None:
    """A kernel computes with an array from outside."""
    node, source = used(event), event.where.module.source
    location = event.where.at(node)
    named = f"`{source.slice(source.span_of(node))}`, " if _is_name(node) else ""
    described = f"{named}the array {words.array(event.array)}" if event.array.shape is not None else f"{named}an array"
    inside = "it is made of host data inside the kernel" if event.array.born == 0 else "it comes from outside the kernel"
    return Finding(
        location,
        f"kernel `{event.function.name}` computes with {described}: {inside}, arrays have to be passed as operands",
        (Related(places.of_header(event.function), "the kernel"),) if location.path != event.function.module.path else (),
        f"The kernel function in the pallas_call {event.function.name} at ... captures constants [{words.array(event.array)}]. "
        "You should pass them as inputs.",
    )


def used(event: Captured) -> ast.AST:
    """The expression that stands for the captured array."""
    node = event.where.node
    if event.user is not None and event.array.born:
        operands = [value for value in event.user.operands if isinstance(value, Array)]
        index = next((i for i, value in enumerate(operands) if value is event.array), 0)
        sides = {ast.BinOp: ("left", "right"), ast.AugAssign: ("target", "value")}.get(type(node))
        if sides is not None:
            candidates: list[ast.AST] = [getattr(node, side) for side in sides]
            node = candidates[index] if len(operands) == 2 else next((c for c in candidates if _is_name(c)), node)
        elif isinstance(node, ast.Call):
            node = next((arg for arg in node.args if _is_name(arg) and len(node.args) == 1), node)
    return node


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_name(node.value))


@rule("program-id-axis", on=GridAxis, order=10, stage="trace")
def program_id_axis(event: GridAxis, context: Context) -> Finding | None:
    """``program_id`` or ``num_programs`` asks for an axis that the grid does not have."""
    if event.inside == "index map" and event.function == "program_id":
        return _in_index_map(event)
    is_inside = event.inside in ("kernel", "index map", "pipeline")
    if not is_inside or event.grid is None or -len(event.grid) <= event.axis < len(event.grid):
        return _from_the_end(event)
    axes = f"the grid {words.grid(event.grid)} has {words.axes(len(event.grid))}" if event.grid else "the call has no grid"
    counted = ", counted from 0" if event.axis == len(event.grid) and event.grid else ""
    jax = f"Axis {event.axis} is out of bounds for grid {words.grid(event.grid)}" if event.inside != "pipeline" else "list index out of range"
    related = (Related(event.where.call, "the kernel is called here"),) if event.where.call is not None else ()
    return Finding(event.where.location, f"`pl.{event.function}({event.axis})`, but {axes}{counted}", related, jax)


@rule("program-id-without-grid", on=GridAxis, order=5, stage="trace")
def program_id_without_grid(event: GridAxis, context: Context) -> Finding | None:
    """``program_id`` or ``num_programs`` in the body of ``pl.kernel``, which runs over a mesh of cores and has no grid."""
    in_core_map = event.function == "num_programs" and event.grid is not None  # which older versions answer
    if event.inside != "mesh" or (in_core_map and not context.jax(since="0.11")):
        return None
    instead = "axis_index" if event.function == "program_id" else "axis_size"
    return Finding(
        event.where.location,
        f"`pl.{event.function}({event.axis})` in a kernel of `pl.kernel`, which has a mesh and no grid: `lax.{instead}` of an axis of the mesh "
        f"tells {'which core runs' if event.function == 'program_id' else 'how many cores run'}",
        jax_message="",
    )


def _from_the_end(event: GridAxis) -> Finding | None:
    """``pl.program_id(-1)``: JAX refuses it when it lowers the use of the index."""
    if event.inside != "kernel" or event.grid is None or event.axis >= 0 or not isinstance(event.result, Array) or not event.result.live:
        return None
    return Finding(
        event.where.location,
        f"`pl.program_id({event.axis})`: axes are counted from 0, the last one of the grid {words.grid(event.grid)} is "
        f"{len(event.grid) - 1}",
        jax_message=f"user passed in program id with axis: {event.axis}, but grid only has length: {len(event.grid)}",
    )


def _in_index_map(event: GridAxis) -> Finding:
    return Finding(
        event.where.location,
        f"`pl.program_id({event.axis})` inside an index map: there, parameter {event.axis} of the index map is that index",
        jax_message=f"program id: {event.axis} was passed, but user did not provide a grid.",
    )
