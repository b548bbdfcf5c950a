"""JAX's transformations of functions: ``jit``, ``vmap``, ``grad``, ``shard_map``, ``custom_vjp`` and the like."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...shapes.avals import Aval, as_aval
from ...shapes.dims import Poly
from ..frames import Frame
from ..machine import CALL, Arguments, Machine
from ..operations import note_operation
from ..surroundings import Batch
from ..values import Array, Builtin, Function, ShapeDtype, Transformed, Unknown, Value, next_birth
from .containers import RECEIVERS
from .derivatives import call_with_rules, define_rules
from .devices import mesh_axes, over_devices
from .footprints import compiled
from .registry import Call, models
from .trees import leaves, tree_map

_KINDS = {
    "jax.jit": "jit", "jax.pjit": "jit", "jax.experimental.pjit.pjit": "jit", "jax.vmap": "vmap", "jax.grad": "grad",
    "jax.value_and_grad": "grad", "jax.vjp": "grad", "jax.jvp": "grad", "jax.linearize": "grad", "jax.shard_map": "shard_map",
    "jax.experimental.shard_map.shard_map": "shard_map", "jax.checkpoint": "remat", "jax.remat": "remat", "jax.custom_vjp": "custom",
    "jax.custom_jvp": "custom", "jax.named_call": "same", "jax.custom_batching.custom_vmap": "same", "jax.pmap": "pmap",
    "jax.custom_gradient": "custom", "jax.profiler.annotate_function": "same", "jax.custom_derivatives.custom_vjp": "custom",
    "jax.custom_derivatives.custom_jvp": "custom", "jax.interpreters.batching.custom_vmap": "same",
}  # fmt: skip
_SECOND = {"vmap": "in_axes", "grad": "argnums", "custom": "nondiff_argnums", "shard_map": "mesh"}
_DECORATOR_FACTORIES = (
    "jax.named_scope",
    "jax.profiler.TraceAnnotation",
    "jax.default_matmul_precision",
    "jax.experimental.compute_on.compute_on",
)
# What they return calls the function that they are given, once the types of its arguments are found to be right.
_TYPE_CHECKERS = ("jaxtyping.jaxtyped", "beartype.beartype", "typeguard.typechecked", "pydantic.validate_call")


@models(*_KINDS)
def _transform(call: Call) -> Value:
    kind = _KINDS[call.name]
    if not call.args and not isinstance(call.kwargs.get("f", call.kwargs.get("fun")), Function):
        # `@jax.jit(static_argnames=...)`: the options first, the function later.
        options = dict(call.kwargs)
        return Builtin(
            call.name, lambda machine, arguments, node, frame: Transformed(kind, arguments.args[0] if arguments.args else None, options)
        )
    function = call.args[0] if call.args else call.kwargs.get("f", call.kwargs.get("fun"))
    options = dict(call.kwargs)
    if kind in _SECOND and len(call.args) > 1:
        options[_SECOND[kind]] = call.args[1]
    if call.name in ("jax.vjp", "jax.jvp", "jax.linearize"):
        by = [] if call.name == "jax.jvp" else call.args[1:]
        by = [_anew(call.machine, value) for value in by]
        with _transformed(call.machine), differentiating(call.machine, by, call.node, call.frame):
            call.call(function, *(by or call.args[1:]))
        return call.unknown()
    return Transformed(kind, function, options)


@models(*_DECORATOR_FACTORIES, *_TYPE_CHECKERS)
def _decorator_factory(call: Call) -> Value:
    if call.name in _TYPE_CHECKERS and call.args:
        return call.args[0]
    return Builtin("decorator", lambda machine, arguments, node, frame: arguments.args[0] if arguments.args else None)


def _call_transformed(machine: Machine, value: Transformed, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if value.kind == "vmap":
        return _call_vmapped(machine, value, arguments, node, frame)
    if value.kind in ("shard_map", "pmap"):
        return _call_sharded(machine, value, arguments, node, frame)
    if value.kind == "jit":
        return traced_call(machine, value, arguments, node, frame)
    if value.kind == "custom":
        return call_with_rules(machine, value, arguments, node, frame)
    if value.kind in ("same", "remat"):
        result = machine.call(value.func, arguments, node, frame)
        if value.kind == "remat" and arguments.exact:
            note_operation(machine, "jax.checkpoint", tuple(arguments.args), arguments.kwargs, result, node, frame)
        return result
    positions = value.options.get("argnums", 0)
    wanted = [positions] if isinstance(positions, int) else list(positions) if isinstance(positions, tuple | list) else []
    given = replace(arguments, args=[_anew(machine, arg) if i in wanted else arg for i, arg in enumerate(arguments.args)])
    by = [arg for index, arg in enumerate(given.args) if index in wanted]
    with _transformed(machine), differentiating(machine, by, node, frame):
        machine.call(value.func, given, node, frame)
    return Unknown("a gradient", host=True)


def _anew(machine: Machine, value: Value) -> Value:
    """The same value as what a derivative is taken by: what the program computes from it elsewhere does not count."""
    return tree_map(machine, lambda leaf: replace(leaf, operands=(leaf,), born=next_birth()) if isinstance(leaf, Array) else leaf, value)


@contextmanager
def differentiating(machine: Machine, by: list[Value], node: ast.AST, frame: Frame) -> Iterator[None]:
    """Around what is differentiated by these operands."""
    arrays = [leaf for arg in by for leaf in leaves(machine, arg) if isinstance(leaf, Array)]
    with machine.around.differentiating(arrays, machine.where(node, frame)):
        yield


@contextmanager
def _transformed(machine: Machine) -> Iterator[None]:
    """What is computed in here is not what is lowered: it is batched or differentiated."""
    machine.transformed += 1
    machine.doubt("what a transformation of a function makes of its operations")
    try:
        yield
    finally:
        machine.transformed -= 1


def traced_call(machine: Machine, value: Transformed, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Call a jitted function: its arguments that are not static are traced."""
    given = arguments.args
    static = _static_arguments(value, len(arguments.args))
    if static is not None:
        positions, names = static
        args = [arg if index in positions else traced(machine, arg) for index, arg in enumerate(arguments.args)]
        kwargs = {name: arg if name in names else traced(machine, arg) for name, arg in arguments.kwargs.items()}
        parameters = _parameter_names(value.func)
        for index, name in enumerate(parameters[: len(args)]):
            if name in names:
                args[index] = arguments.args[index]
        for index in positions:
            if 0 <= index < len(parameters) and parameters[index] in kwargs:
                kwargs[parameters[index]] = arguments.kwargs[parameters[index]]
        arguments = Arguments(args, kwargs, arguments.exact)
    machine.in_jit += 1
    try:
        with over_devices(machine, value.options, given), compiled(machine, arguments) as returned:
            result = machine.call(value.func, arguments, node, frame)
            returned(result)
            return result if machine.kernel is None else _given_back(machine, result, arguments)
    finally:
        machine.in_jit -= 1


def _given_back(machine: Machine, result: Value, arguments: Arguments) -> Value:
    """What a jitted function gives in a kernel: an argument that it returns is a variable of its own."""
    given = {id(leaf) for leaf in leaves(machine, [*arguments.args, *arguments.kwargs.values()])}

    def fresh(leaf: Value) -> Value:
        back = isinstance(leaf, Array) and id(leaf) in given
        return replace(leaf, operands=(leaf,), live=False, born=next_birth(), through=None) if back else leaf

    return tree_map(machine, fresh, result)


def _static_arguments(value: Transformed, count: int) -> tuple[set[int], set[str]] | None:
    """The static positions and names of a jitted function; None when they are not known."""
    positions, names = value.options.get("static_argnums"), value.options.get("static_argnames")
    found: set[int] = set()
    for entry in positions if isinstance(positions, tuple | list) else (positions,):
        if isinstance(entry, int):
            found.add(entry if entry >= 0 else entry + count)
        elif entry is not None:
            return None
    spelled: set[str] = set()
    for name in names if isinstance(names, tuple | list) else (names,):
        if isinstance(name, str):
            spelled.add(name)
        elif name is not None:
            return None
    return found, spelled


def _parameter_names(function: Value) -> list[str]:
    return [p.arg for p in (*function.node.args.posonlyargs, *function.node.args.args)] if isinstance(function, Function) else []


def traced(machine: Machine, value: Value) -> Value:
    """The value as ``jit`` hands it to the function: numbers and ShapeDtypeStructs become traced arrays."""

    def leaf(item: Value) -> Value:
        if isinstance(item, ShapeDtype):
            return Array(Aval(item.shape, item.dtype, False))
        if isinstance(item, bool | int | float | Poly):
            return Array(as_aval(item))
        if isinstance(item, Array) and not item.traced:
            return Array(item.aval, item.operands)
        return item

    return tree_map(machine, leaf, value)


def _call_vmapped(machine: Machine, value: Transformed, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    axes = value.options.get("in_axes", 0)
    mapped: list[Value] = []
    batched: list[tuple[Array, int]] = []
    size: Any = None
    for index, arg in enumerate(arguments.args):
        axis = axes[index] if isinstance(axes, tuple | list) and index < len(axes) else axes
        if isinstance(arg, Array) and isinstance(axis, int) and arg.shape and -len(arg.shape) <= axis < len(arg.shape):
            at = axis % len(arg.shape)
            size = arg.shape[at]
            mapped.append(Array(replace(arg.aval, shape=arg.shape[:at] + arg.shape[at + 1 :]), (arg,)))
            batched.append((mapped[-1], at))
        else:
            mapped.append(arg if axis is None else Unknown("an operand of vmap", host=machine.kernel is None))
    kwargs: dict[str, Value] = {name: Unknown("an operand of vmap", host=machine.kernel is None) for name in arguments.kwargs}
    with _transformed(machine), machine.around.batched(Batch(size, tuple(batched), machine.where(node, frame).location)):
        result = machine.call(value.func, Arguments(mapped, kwargs, arguments.exact), node, frame)
    out_axes = value.options.get("out_axes", 0)

    def with_batch(item: Value) -> Value:
        if not isinstance(item, Array) or item.shape is None or out_axes != 0:
            return Unknown("a result of vmap", host=True)
        return Array(replace(item.aval, shape=(size, *item.shape)), (item,))

    return tree_map(machine, with_batch, result)


def _call_sharded(machine: Machine, value: Transformed, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Inside a shard every dim may be a part of the whole: only ranks and dtypes are sure."""

    def shard(item: Value) -> Value:
        if not isinstance(item, Array) or item.shape is None:
            return item if not isinstance(item, Unknown) else Unknown("an operand of shard_map", host=True)
        return Array(replace(item.aval, shape=(None,) * len(item.shape)), (item,))

    args = [tree_map(machine, shard, arg) for arg in arguments.args]
    checked = value.options.get("check_vma", value.options.get("check_rep", True)) is True and value.kind == "shard_map"
    axes = mesh_axes(value.options.get("mesh")) if value.kind == "shard_map" and "axis_names" not in value.options else None
    with machine.around.over_a_mesh(machine.where(node, frame).location if checked else None, axes):
        result = machine.call(value.func, Arguments(args, dict(arguments.kwargs), arguments.exact), node, frame)
    return tree_map(machine, shard, result)


@models("jax.eval_shape")
def _eval_shape(call: Call) -> Value:
    if not call.args:
        return call.unknown()
    arguments = Arguments(
        [traced(call.machine, arg) for arg in call.args[1:]],
        {k: traced(call.machine, v) for k, v in call.kwargs.items()},
        call.arguments.exact,
    )
    result = call.machine.call(call.args[0], arguments, call.node, call.frame)
    return tree_map(call.machine, lambda leaf: ShapeDtype(leaf.shape, leaf.dtype) if isinstance(leaf, Array) else leaf, result)


@models("jax.make_jaxpr", "jax.export.export")
def _make_jaxpr(call: Call) -> Value:
    return Transformed("jit", call.get(0, "fun"), {}) if "axis_env" not in call.kwargs else call.unknown()


def _method(machine: Machine, value: Transformed, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name in ("lower", "trace", "eval_shape"):
        machine.call(value, arguments, node, frame) if value.kind != "jit" else traced_call(machine, value, arguments, node, frame)
        return Unknown(f"the result of `{name}`", host=True)
    if name == "defvjp":
        return define_rules(value, arguments)
    if name in ("defjvp", "def_vmap", "defjvps"):
        return arguments.args[0] if arguments.args else None
    return Unknown(f"`{name}` of a transformed function", host=True)


RECEIVERS[Transformed] = _method
CALL[Transformed] = _call_transformed
