"""Loops that JAX traces: a body runs once, on a carry that stands for every iteration.

Mirrors ``jax/_src/lax/control_flow/loops.py``: ``scan``, ``while_loop``, ``fori_loop``, ``_promote_weak_typed_input``,
``_check_carry_type``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from ...data.versions import parse_version, satisfies
from ...shapes import dtypes
from ...shapes.avals import Aval, as_aval
from ...shapes.dims import Poly
from .. import divisibility
from ..events import Computed, ShapeFault
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, Machine
from ..operation_events import LoopCarry, ScanMade
from ..operations import is_traced, needs_static
from ..paths import PathEnd
from ..shared import Shared
from ..truth import as_dim
from ..values import ABSENT, Array, Builtin, Region, Unknown, Value
from .forwarding import is_carried_through, source
from .registry import PALLAS, SPARSE, Call, models
from .structures import difference, same_type
from .trees import is_node, leaves, tree_map

Step = Callable[[Value], Value]
_INDEX = Aval((), "int32", None)


def as_array(value: Value) -> Value:
    """A number as the traced scalar that JAX makes of it."""
    if isinstance(value, bool | int | float | complex | Poly):
        return Array(as_aval(value))
    return value


@models(f"{PALLAS}.loop", f"{SPARSE}.parallel_loop")
def _loop(call: Call) -> Value:
    """A decorator that runs the function as the body of a loop; what it decorates is the final carry."""
    carry = call.kwargs.get("init_carry", call.kwargs.get("carry"))
    bounds = (call.get(0, "lower"), call.get(1, "upper"), call.get(2, "step", 1))
    traced = any(is_traced(call.machine, bound) for bound in bounds)
    index = Array(_INDEX if traced else Aval((), "int32", True), bounds, multiple=_stride(*bounds, call.kwargs.get("unroll")))

    def apply(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        if not arguments.args:
            return None
        body = arguments.args[0]

        def step(entering: Value) -> Value:
            if carry is not None:
                return call.call(body, index, entering)
            call.call(body, index)
            return None

        parallel = call.name.endswith("parallel_loop")
        number = next((leaf for leaf in leaves(machine, carry) if isinstance(leaf, bool | int | float)), None) if parallel else None
        if number is not None:
            machine.emit(LoopCarry(machine.where(call.node, call.frame), "number", "parallel_loop", number, None))
            raise PathEnd("a loop that carries a number")
        with _in_parallel(machine) if parallel else nullcontext():
            return _carried(call, carry, step, bounds, "parallel_loop" if parallel else "while_loop" if traced else "scan")

    return Builtin("loop", apply)


@contextmanager
def _in_parallel(machine: Machine) -> Iterator[None]:
    """Around the body of a ``plsc.parallel_loop``."""
    around = machine.kernel
    machine.kernel = replace(around, in_parallel_loop=True) if around is not None else None
    try:
        yield
    finally:
        machine.kernel = around


@models("jax.lax.fori_loop")
def _fori_loop(call: Call) -> Value:
    lower, upper, body, init = (call.get(i, name) for i, name in enumerate(("lower", "upper", "body_fun", "init_val")))
    unroll = call.kwargs.get("unroll")
    traced = next((bound for bound in (lower, upper) if is_traced(call.machine, bound)), None)
    if traced is not None and isinstance(unroll, int) and unroll != 1 and unroll is not False:
        needs_static(call.machine, "unroll", traced, "`fori_loop`", call.node, call.frame)
    index = _index(call, lower, upper)
    rolled = 1 if _is_rolled(lower, upper, unroll) else None
    loop = "while_loop" if traced is not None else "scan"
    step = lambda carry: call.call(body, Array(index, (lower,), multiple=rolled), carry)  # noqa: E731
    return _carried(call, init, step, (lower, upper), loop, rolled is not None)


def _index(call: Call, lower: Value, upper: Value) -> Aval:
    """The index of a ``fori_loop``, as weak as the lower bound that it starts from; JAX refuses two dtypes, unless one is weak."""
    start, end = (as_aval(bound.aval if isinstance(bound, Array) else bound) for bound in (lower, upper))
    if start.dtype is None or end.dtype is None:
        return Aval((), "int32", start.weak)
    if start.dtype == end.dtype:
        return Aval((), start.dtype, start.weak)
    if {dtypes.kind(start.dtype), dtypes.kind(end.dtype)} == {"signed"} and start.weak is not end.weak:
        return Aval((), end.dtype if start.weak else start.dtype, None if None in (start.weak, end.weak) else False)
    if start.weak is not None and end.weak is not None and not call.machine.wide:
        what = f"its bounds must have one dtype, not {dtypes.short(start.dtype)} and {dtypes.short(end.dtype)}"
        call.machine.emit(ShapeFault(call.machine.where(call.node, call.frame), call.name, what, ()))
        raise PathEnd("bounds of a loop that JAX refuses")
    return Aval((), None, None)


def _stride(lower: Value, upper: Value, step: Value, unroll: Value) -> int | None:
    """What divides the index of a ``pl.loop`` that runs as a loop: it starts at ``lower`` and goes on by ``step``."""
    if not isinstance(step, int) or step < 1:
        return None
    turns = -((lower - upper) // step) if isinstance(lower, int) and isinstance(upper, int) else upper
    start = divisibility.of(lower)
    return math.gcd(start, step) if start is not None and _is_rolled(0, turns, unroll) else None


def _is_rolled(lower: Value, upper: Value, unroll: Value) -> bool:
    """Whether the loop's index is a number of the running loop's, and not one of the program's text."""
    if isinstance(lower, int) and isinstance(upper, int):
        return upper - lower > 1 and (unroll is None or unroll is False or (type(unroll) is int and 0 < unroll < upper - lower))
    return isinstance(lower, Array) or isinstance(upper, Array)


@models("jax.lax.while_loop")
def _while_loop(call: Call) -> Value:
    condition, body, init = (call.get(i, name) for i, name in enumerate(("cond_fun", "body_fun", "init_val")))
    tests: list[Value] = []

    def step(carry: Value) -> Value:
        test = call.call(condition, carry)
        tests.append(test)
        if isinstance(test, Array) and (test.shape or test.dtype not in (None, "bool")):
            call.machine.emit(Computed(call.machine.where(call.node, call.frame), "while-predicate", test, test))
            raise PathEnd("a loop's condition that is no truth value")
        return call.call(body, carry)

    return _carried(call, init, step, tests, "while_loop", True)


def _carried(call: Call, init: Value, step: Step, controls: Sequence[Value], loop: str, rolled: bool = False) -> Value:
    """Run a loop's body once on a carry that stands for every iteration, and give the final carry.

    ``rolled``: the loop certainly runs as one, so that the compiler knows nothing of what it carries.
    """
    machine = call.machine
    effects = machine.effects
    init = tree_map(machine, as_array, init)
    entering, first = _entering(call, init, step)
    if machine.muted and first is not ABSENT:  # a loop around asks for types only: to run again for that would double with each loop
        return _leaving(machine, entering, first, (), rolled)
    # Before JAX 0.12 a while loop is kept whole, with all that it starts from, or dropped whole; a scan loses its own dead loads.
    older = satisfies(parse_version(machine.jax_version or ""), None, "0.11")
    starts = tuple(leaf for leaf in leaves(machine, init) if isinstance(leaf, Array))
    whole = Region(machine.region, operands=starts) if loop == "while_loop" and older else None
    with machine.branched(), machine.inside(whole) if whole is not None else nullcontext():
        result = machine.settle(step(entering))
    controls = (*controls, *((whole,) if whole is not None else ()))
    if machine.effects != effects:
        mark_live(controls)
    changed = difference(machine, entering, result)
    if changed is not None:
        machine.emit(LoopCarry(machine.where(call.node, call.frame), changed.kind, loop, changed.first, changed.other))
        raise PathEnd("a loop whose carry changes its type")
    return _leaving(machine, entering, result, controls, rolled)


def _entering(call: Call, init: Value, step: Step) -> tuple[Value, Value]:
    """The carry as the body sees it: a weakly typed start takes the dtype that JAX promotes it to.

    With it comes what the body makes of the start, ``ABSENT`` where it need not run to know, or cannot to its end.
    """
    machine = call.machine

    def plain(leaf: Value) -> Value:
        return Array(leaf.aval, (leaf,)) if isinstance(leaf, Array) else leaf

    if not any(isinstance(leaf, Array) and leaf.aval.weak is not False for leaf in leaves(machine, init)):
        return tree_map(machine, plain, init), ABSENT
    machine.muted += 1
    seen, machine.seen_kernels = machine.seen_kernels, Shared()
    try:
        first = machine.settle(step(tree_map(machine, plain, init)))
    except PathEnd:
        return tree_map(machine, plain, init), ABSENT  # the body runs again and says what it met
    finally:
        machine.muted -= 1
        machine.seen_kernels = seen

    def settled(start: Value, after: Value) -> Value:
        return Array(_promoted(start.aval, after), (start,)) if isinstance(start, Array) else start

    alone = tree_map(machine, lambda leaf: settled(leaf, None), init)
    if is_node(init) != is_node(first):
        return alone, first
    result = tree_map(machine, settled, init, first)
    return alone if isinstance(result, Unknown) else result, first


def _promoted(start: Aval, after: Value) -> Aval:
    """The type that a loop carries: that of the start, promoted where it is weak and the body gives another one."""
    if start.weak is False:
        return start
    after = as_array(after)
    if not isinstance(after, Array) or after.dtype is None or start.weak is None or after.aval.weak is None:
        same = isinstance(after, Array) and after.dtype == start.dtype
        return Aval(start.shape, start.dtype if same else None, None)
    if after.dtype == start.dtype and after.shape == start.shape:
        return start
    return Aval(start.shape, dtypes.promote((start.dtype, start.weak), (after.dtype, after.aval.weak))[0], False)


def _moves_on(start: Array, after: Array) -> bool:
    """Whether a loop adds to what it carries, or takes from it: another number each time."""
    step = after.made_by
    if not isinstance(step, ast.BinOp) or not isinstance(step.op, ast.Add | ast.Sub):
        return False
    by = step.right if isinstance(step.left, ast.Name) else step.left
    return any(operand is start for operand in after.operands) and not (isinstance(by, ast.Constant) and by.value == 0)


def _leaving(machine: Machine, entering: Value, result: Value, controls: tuple[Value, ...], rolled: bool) -> Value:
    """What a loop gives: of a carry that its body hands through, what the loop was given."""

    def leave(start: Value, after: Value) -> Value:
        if not isinstance(start, Array):
            return Unknown("a loop's result", host=machine.kernel is None) if isinstance(start, Unknown) else start
        if is_carried_through(machine, start, after, controls):
            return start.operands[0] if same_type(machine, start.aval, start.operands[0].aval) else Array(start.aval, start.operands)
        if isinstance(after, Array):
            start.operands = (*start.operands, after)
            if rolled and start.shape == () and start.dtype == "int32" and _moves_on(start, after):
                start.multiple = 1
        return Array(start.aval, (start, *(c for c in controls if isinstance(c, Array | Region))), multiple=start.multiple)

    alone = tree_map(machine, lambda leaf: leave(leaf, None), entering)
    if not is_node(entering):
        return leave(entering, result)
    if not is_node(result):
        return alone
    joined = tree_map(machine, leave, entering, result)
    return alone if isinstance(joined, Unknown) else joined


@models("jax.lax.scan")
def _scan(call: Call) -> Value:
    body, init, xs = call.get(0, "f"), call.get(1, "init"), call.get(2, "xs")
    return _scanned(call, body, init, xs, as_dim(call.get(3, "length")), call.get(4, "reverse", False))


@models("jax.lax.map")
def _map(call: Call) -> Value:
    function, xs = call.get(0, "f"), call.get(1, "xs")
    if call.kwargs.get("batch_size") is not None:
        return call.unknown()

    def mapped(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        return None, machine.call(function, Arguments(arguments.args[1:]), node, frame)

    return _scanned(call, Builtin("map", mapped), None, xs, None, False)[1]


def _scanned(call: Call, body: Value, init: Value, xs: Value, length: Any, reverse: Value) -> tuple[Value, Value]:
    """The final carry and the stacked outputs of a scan of ``body`` over ``xs``."""
    machine = call.machine
    rows: list[Array] = []
    outputs: list[Value] = []

    def row(leaf: Value) -> Value:
        nonlocal length
        if isinstance(leaf, Array) and leaf.shape:
            length = leaf.shape[0] if length is None else length
            rows.append(Array(replace(leaf.aval, shape=leaf.shape[1:]), (leaf,)))
            return rows[-1]
        return Unknown("a slice of what is scanned")

    def step(carry: Value) -> Value:
        rows.clear()
        result = machine.settle(call.call(body, carry, tree_map(machine, row, xs)))
        if isinstance(result, tuple | list) and len(result) == 2:
            outputs.append(result[1])
            return result[0]
        return Unknown("what a scanned function returns")

    def stack(leaf: Value) -> Value:
        untouched = source(machine, leaf)
        if any(untouched is row for row in rows):
            return untouched.operands[0]  # what is scanned itself
        if isinstance(leaf, Array) and leaf.shape is not None:
            return Array(replace(leaf.aval, shape=(length, *leaf.shape)), (leaf,))
        return Unknown("a stacked result of scan")

    effects = machine.effects
    carry = _carried(call, init, step, (), "scan")
    stacked = tree_map(machine, lambda leaf: stack(as_array(leaf)), outputs[-1]) if outputs else Unknown("a stacked result of scan")
    if machine.kernel is not None and not machine.transformed:
        where = machine.where(call.node, call.frame)
        outer = {id(leaf) for leaf in leaves(machine, (init, xs))}
        own_carry, own_stacked = ([leaf for leaf in leaves(machine, tree) if id(leaf) not in outer] for tree in (carry, stacked))
        machine.emit(ScanMade(where, tuple(rows), own_carry, own_stacked, reverse is True, machine.effects != effects))
    return carry, stacked
