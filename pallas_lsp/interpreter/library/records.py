"""What is noted of every kernel call for its verdict: the call itself, and what of it nobody can judge."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from ..events import Event, KernelCall
from ..frames import Frame
from ..machine import CONTEXTS, Arguments, Machine
from ..operators import A_TEXT
from ..truth import known_truth
from ..values import ABSENT, Condition, GridSpec, Opaque, PallasCall, ShapeDtype, SpecOrigin, Unknown, Value
from .refusals import location_of, place
from .registry import Call, models
from .running import underlying
from .structure import plain_leaves


def note_call(machine: Machine, call: PallasCall, frame: Frame) -> None:
    """Say that a ``pallas_call`` gets its operands, or is refused before."""
    spec = call.arguments.get("grid_spec")
    grid = spec.grid if isinstance(spec, GridSpec) else call.arguments.get("grid", ())
    note_kernel(machine, call.origin, call.arguments.get("kernel"), grid, frame)


def note_kernel(machine: Machine, origin: SpecOrigin, kernel: Value, grid: Value, frame: Frame) -> None:
    """Say that the kernel call that is written at ``origin`` is made; it is a site of ``inspect``."""
    function, _ = underlying(kernel, Arguments([]))
    before = tuple(event for event in machine.path.met if _is_on_the_way(machine, event, frame))
    where = place(machine, origin.module, origin.node, location_of(origin))
    machine.emit(KernelCall(where, function, grid, before))


def _is_on_the_way(machine: Machine, event: Event, frame: Frame) -> bool:
    """Whether something that happened on the host before a kernel call is of the function that makes the call."""
    maker = machine.stack[-1] if machine.stack else None
    if event.where.module is not frame.module or not isinstance(maker, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    return maker.lineno <= getattr(event.where.node, "lineno", 0) <= (maker.end_lineno or maker.lineno)


def note_doubts(machine: Machine, call: PallasCall, arguments: Arguments) -> None:
    """Doubt the parts of a ``pallas_call`` that are not known, and what is done to it that no rule can judge."""
    note_doubts_of(machine, call.arguments, arguments)


def note_doubts_of(machine: Machine, given: dict[str, Value], arguments: Arguments) -> None:
    """As `note_doubts`, for any call of a kernel: what it was given by name, and its operands."""
    around = machine.around
    if _interpret(given.get("interpret", False)) is not False:
        machine.doubt("interpret mode, which lowers nothing for a TPU")
    if machine.wide:
        machine.doubt("what `jax_enable_x64` changes")
    if not arguments.exact:
        machine.doubt("how many operands the call has")
    if any(isinstance(leaf, ShapeDtype) for operand in arguments.args for leaf in plain_leaves(machine, operand)):
        machine.doubt("an operand that is a ShapeDtypeStruct, which has no values")
    if around.batches or around.differentiated or around.sharded or machine.transformed:
        machine.doubt("what a transformation around the call makes of it")
    for name, tree in given.items():
        for leaf in plain_leaves(machine, tree):
            text = isinstance(leaf, Unknown) and leaf.why == A_TEXT and name in ("name", "metadata")
            if isinstance(leaf, Unknown) and not text and name != "interpret":
                machine.doubt(f"`{name}`: {leaf.why}")


@models("jax.config.update")
def _config(call: Call) -> Value:
    """With 64 bits numbers have other dtypes, of which only casts to them are looked at."""
    machine = call.machine
    if call.get(0, "name") == "jax_enable_x64":
        machine.wide = True
        machine.surely_wide = call.get(1, "val") is True and not machine.path.conditions()
    return call.unknown()


@models("jax.enable_x64", "jax.experimental.enable_x64")
def _enable_x64(call: Call) -> Value:
    call.machine.wide = True
    return Opaque(call.name, tuple(call.args), call.kwargs)


@contextmanager
def _with_wide(machine: Machine, manager: Opaque) -> Iterator[None]:
    """Inside of ``with jax.enable_x64(...)``."""
    before = machine.surely_wide
    machine.surely_wide = known_truth(manager.args[0] if manager.args else manager.kwargs.get("new_val", True)) is True
    try:
        yield
    finally:
        machine.surely_wide = before


CONTEXTS |= dict.fromkeys(("jax.enable_x64", "jax.experimental.enable_x64"), _with_wide)


def is_interpreted(call: PallasCall) -> bool:
    """Whether the call runs in interpret mode, of which no TPU rule speaks."""
    return interprets(call.arguments.get("interpret", False))


def interprets(interpret: Value) -> bool:
    """Whether the argument ``interpret`` asks for interpret mode."""
    return _interpret(interpret) is True


def _interpret(given: Value) -> bool | None:
    """What ``interpret`` is, if need be where the surroundings are as the program expects them; None where that is not known."""
    if not isinstance(given, Unknown) or given.declared is ABSENT:
        return known_truth(given)
    return given.default != given.negated if isinstance(given, Condition) else known_truth(given.declared)
