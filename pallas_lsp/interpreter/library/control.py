"""Control flow that JAX traces: every body runs once, whatever the condition, and loop results depend on their carries."""

from __future__ import annotations

import ast
from typing import Any

from ...shapes import dims
from ...shapes.avals import Aval, as_aval
from ...shapes.dims import Poly
from ..events import Computed
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, Machine
from ..paths import PathEnd
from ..truth import as_dim, known_truth, truth
from ..values import Array, Builtin, Condition, Unknown, Value
from .registry import PALLAS, TPU, Call, models
from .trees import is_node, leaves, tree_map

_INDEX = Aval((), "int32", None)


def as_array(value: Value) -> Value:
    """A number as the traced scalar that JAX makes of it."""
    if isinstance(value, bool | int | float | complex | Poly):
        return Array(as_aval(value))
    return value


@models(f"{PALLAS}.when")
def _when(call: Call) -> Value:
    condition = call.get(0, "condition")

    def apply(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        known = known_truth(condition)
        if known is None and isinstance(condition, Unknown) and (isinstance(condition, Condition) or condition.host):
            known = truth(machine, condition, call.node, call.frame)
        if isinstance(condition, Array) and condition.shape:
            machine.emit(Computed(machine.where(call.node, call.frame), "predicate", condition, condition))
            raise PathEnd("a vector decides a branch")
        if known is not False and arguments.args:
            before = machine.effects
            machine.call(arguments.args[0], Arguments([]), node, frame)
            if machine.effects != before:
                mark_live(condition)
        return None

    return Builtin("when", apply)


@models(f"{PALLAS}.loop", "jax.experimental.pallas.tpu_sc.parallel_loop")
def _loop(call: Call) -> Value:
    def apply(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        before = machine.effects
        if arguments.args:
            machine.call(arguments.args[0], Arguments([Array(_INDEX)]), node, frame)
        if machine.effects != before:
            mark_live(call.args)
        return None

    return Builtin("loop", apply)


@models("jax.lax.fori_loop")
def _fori_loop(call: Call) -> Value:
    lower, upper, body, init = (call.get(i, name) for i, name in enumerate(("lower", "upper", "body_fun", "init_val")))
    return _carried(call, init, lambda carry: call.call(body, Array(_INDEX), carry), (lower, upper))


@models("jax.lax.while_loop")
def _while_loop(call: Call) -> Value:
    condition, body, init = (call.get(i, name) for i, name in enumerate(("cond_fun", "body_fun", "init_val")))
    tests: list[Value] = []

    def step(carry: Value) -> Value:
        tests.append(call.call(condition, carry))
        return call.call(body, carry)

    return _carried(call, init, step, tests)


def _carried(call: Call, init: Value, step: Any, controls: Any) -> Value:
    """Run a loop's body once on a carry that stands for every iteration, and give the final carry.

    A weakly typed start (``0.0``) takes the dtype that the body returns, as JAX's own promotion of carries does.
    """
    machine = call.machine
    effects = machine.effects
    init = tree_map(machine, as_array, init)
    entering = _entering(call, init, step)
    result = step(entering)
    if machine.effects != effects:
        mark_live(controls)
    return _leaving(machine, entering, result, controls)


def _entering(call: Call, init: Value, step: Any) -> Value:
    machine = call.machine
    if not any(isinstance(leaf, Array) and leaf.aval.weak is not False for leaf in leaves(machine, init)):
        return tree_map(machine, lambda leaf: Array(leaf.aval, (leaf,)) if isinstance(leaf, Array) else leaf, init)
    machine.muted += 1
    seen, machine.seen_kernels = machine.seen_kernels, {}
    try:
        first = step(tree_map(machine, lambda leaf: Array(leaf.aval, (leaf,)) if isinstance(leaf, Array) else leaf, init))
    finally:
        machine.muted -= 1
        machine.seen_kernels = seen

    def settled(start: Value, after: Value) -> Value:
        if not isinstance(start, Array):
            return start
        aval = start.aval
        if aval.weak is not False:
            dtype = after.dtype if isinstance(after, Array) else None
            weak = after.aval.weak if isinstance(after, Array) else None
            aval = Aval(aval.shape, dtype, weak)
        return Array(aval, (start,))

    if is_node(init) and not is_node(first):
        return tree_map(machine, lambda leaf: settled(leaf, None), init)
    result = tree_map(machine, settled, init, first)
    return result if not isinstance(result, Unknown) else tree_map(machine, lambda leaf: settled(leaf, None), init)


def _leaving(machine: Machine, entering: Value, result: Value, controls: Any) -> Value:
    def leave(start: Value, after: Value) -> Value:
        if not isinstance(start, Array):
            return Unknown("a loop's result", host=machine.kernel is None) if isinstance(start, Unknown) else start
        if isinstance(after, Array):
            start.operands = (*start.operands, after)
        return Array(start.aval, (start, *(c for c in controls if isinstance(c, Array))))

    if is_node(entering) and not is_node(machine.settle(result)):
        return tree_map(machine, lambda leaf: leave(leaf, None), entering)
    joined = tree_map(machine, leave, entering, machine.settle(result))
    return (
        joined if not isinstance(joined, Unknown) or not is_node(entering) else tree_map(machine, lambda leaf: leave(leaf, None), entering)
    )


@models("jax.lax.scan")
def _scan(call: Call) -> Value:
    body, init, xs = call.get(0, "f"), call.get(1, "init"), call.get(2, "xs")
    length = as_dim(call.get(3, "length"))
    outputs: list[Value] = []

    def row(leaf: Value) -> Value:
        nonlocal length
        if isinstance(leaf, Array) and leaf.shape:
            length = leaf.shape[0] if length is None else length
            return Array(Aval(leaf.shape[1:], leaf.dtype, leaf.aval.weak), (leaf,))
        return Unknown("a slice of what is scanned")

    def step(carry: Value) -> Value:
        result = call.machine.settle(call.call(body, carry, tree_map(call.machine, row, xs)))
        if isinstance(result, tuple | list) and len(result) == 2:
            outputs.append(result[1])
            return result[0]
        return Unknown("what a scanned function returns")

    carry = _carried(call, init, step, ())

    def stack(leaf: Value) -> Value:
        if isinstance(leaf, Array) and leaf.shape is not None:
            return Array(Aval((length, *leaf.shape), leaf.dtype, leaf.aval.weak), (leaf,))
        return Unknown("a stacked result of scan")

    return carry, tree_map(call.machine, stack, outputs[-1]) if outputs else Unknown("a stacked result of scan")


@models("jax.lax.map")
def _map(call: Call) -> Value:
    function, xs = call.get(0, "f"), call.get(1, "xs")

    def row(leaf: Value) -> Value:
        return (
            Array(Aval(leaf.shape[1:], leaf.dtype, leaf.aval.weak), (leaf,))
            if isinstance(leaf, Array) and leaf.shape
            else Unknown("a mapped row")
        )

    call.call(function, tree_map(call.machine, row, xs))
    return call.unknown()


@models("jax.lax.cond", f"{PALLAS}.cond")
def _cond(call: Call) -> Value:
    predicate = call.get(0, "pred")
    branches = [call.get(1, "true_fun"), call.get(2, "false_fun")]
    return _branches(call, predicate, branches, call.args[3:])


@models("jax.lax.switch")
def _switch(call: Call) -> Value:
    branches = call.get(1, "branches")
    if not isinstance(branches, tuple | list):
        return call.unknown("the branches of a switch are unknown")
    return _branches(call, call.get(0, "index"), list(branches), call.args[2:])


def _branches(call: Call, selector: Value, branches: list[Value], operands: list[Value]) -> Value:
    """Trace every branch; the result is what the branches agree on and depends on the selector and all of them."""
    if isinstance(selector, Array) and selector.shape and call.name.endswith("cond"):
        call.machine.emit(Computed(call.machine.where(call.node, call.frame), "predicate", selector, selector))
        raise PathEnd("a vector decides a branch")
    before = call.machine.effects
    operands = [tree_map(call.machine, as_array, operand) for operand in operands]
    results = [call.machine.settle(call.call(branch, *operands)) for branch in branches]
    if call.machine.effects != before:
        mark_live(selector)
    return _agreed(call.machine, selector, results)


def _agreed(machine: Machine, selector: Value, results: list[Value]) -> Value:
    first, *others = results
    if not is_node(first) and any(is_node(other) for other in others):
        return Unknown("branches that return different structures")

    def join(*row: Value) -> Value:
        arrays = [as_array(value) for value in row]
        if not all(isinstance(value, Array) for value in arrays):
            return row[0] if all(value is row[0] for value in row) else Unknown("branches that return different things")
        avals = {value.aval for value in arrays}
        shape = arrays[0].shape if len({a.shape for a in avals}) == 1 else None
        dtype = arrays[0].dtype if len({a.dtype for a in avals}) == 1 else None
        weak = arrays[0].aval.weak if len({a.weak for a in avals}) == 1 else False
        known = tuple(value for value in (*arrays, selector) if isinstance(value, Array))
        return Array(Aval(shape, dtype, weak), known)

    return tree_map(machine, join, first, *others)


@models(f"{PALLAS}.program_id", "jax.lax.axis_index")
def _program_id(call: Call) -> Value:
    return Array(Aval((), "int32", False), made_by=call.node)


@models(f"{PALLAS}.num_programs")
def _num_programs(call: Call) -> Value:
    """A plain number on a static grid, a traced scalar where the grid's size is traced or not known."""
    grid, axis = call.machine.kernel.grid if call.machine.kernel else None, call.get(0, "axis")
    if isinstance(grid, tuple | list) and isinstance(axis, int) and -len(grid) <= axis < len(grid):
        dim = as_dim(grid[axis])
        if dim is not None and not isinstance(grid[axis], Array):
            return dim if not isinstance(grid[axis], Unknown) else Unknown("a grid dim", dims.render(dim), dim, host=True)
    return Array(Aval((), "int32", False), made_by=call.node)


@models(f"{PALLAS}.debug_print", "jax.debug.print", f"{PALLAS}.debug_check", "jax.debug.callback")
def _debug_print(call: Call) -> Value:
    """What is printed is used: such a load is not dropped."""
    call.machine.effects += 1
    mark_live(call.args, list(call.kwargs.values()))
    return None


@models(f"{TPU}.prng_seed", f"{PALLAS}.delay", f"{TPU}.delay", f"{TPU}.touch", f"{TPU}.core_barrier")
def _effect(call: Call) -> Value:
    call.machine.effects += 1
    mark_live(call.args, list(call.kwargs.values()))
    return None
