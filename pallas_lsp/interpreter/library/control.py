"""Branches that JAX traces, all of them whatever the condition; program ids; prints and other effects."""

from __future__ import annotations

import ast
from contextlib import nullcontext

from ...shapes.avals import Aval
from ..events import Computed
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, Machine
from ..operation_events import AxisAsked, BranchResults
from ..paths import PathEnd
from ..truth import known_truth, truth
from ..values import Array, Builtin, Condition, Region, Unknown, Value
from .forwarding import shared_source
from .loops import as_array
from .registry import PALLAS, TPU, Call, models
from .structures import difference
from .trees import is_node, leaves, tree_map


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
            with machine.branched(condition) if known is None else nullcontext():
                result = machine.settle(machine.call(arguments.args[0], Arguments([]), node, frame))
            if machine.effects != before:
                mark_live(condition)
            changed = difference(machine, result, None) if isinstance(condition, Array) else None
            if changed is not None:
                machine.emit(BranchResults(machine.where(call.node, call.frame), changed.kind, "when", result, None))
                raise PathEnd("branches that give different things")
        return None

    return Builtin("when", apply)


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
    given = [tree_map(call.machine, as_array, operand) for operand in operands]
    operands = [tree_map(call.machine, _entering, operand) for operand in given]
    taken = known_truth(selector) if call.name.endswith("cond") else None
    with call.machine.branched():
        results = [
            _traced_branch(call, branch, operands, taken is not None and taken != (not index)) for index, branch in enumerate(branches)
        ]
    if call.machine.effects != before:
        mark_live(selector)
    _agree_or_end(call, results)
    pairs = zip(leaves(call.machine, operands), leaves(call.machine, given), strict=True)
    return _agreed(call.machine, selector, results, {id(inner): outer for inner, outer in pairs})


def _traced_branch(call: Call, branch: Value, operands: list[Value], never: bool) -> Value:
    """What a branch gives; one that a constant condition ``never`` takes is traced and then dropped."""
    with call.machine.inside(Region(call.machine.region)) if never else nullcontext():
        return call.machine.settle(call.call(branch, *operands))


def _entering(leaf: Value) -> Value:
    """An operand as the branches see it: one variable for all of them."""
    return Array(leaf.aval, (leaf,), space=leaf.space, multiple=leaf.multiple) if isinstance(leaf, Array) else leaf


def _agreed(machine: Machine, selector: Value, results: list[Value], entering: dict[int, Value]) -> Value:
    first, *others = results
    if not is_node(first) and any(is_node(other) for other in others):
        return Unknown("branches that return different structures")

    def join(*row: Value) -> Value:
        arrays = [as_array(value) for value in row]
        if not all(isinstance(value, Array) for value in arrays):
            return row[0] if all(value is row[0] for value in row) else Unknown("branches that return different things")
        if (shared := shared_source(machine, arrays)) is not None:
            return entering.get(id(shared), shared)  # what decides is not asked
        avals = {value.aval for value in arrays}
        shape = arrays[0].shape if len({a.shape for a in avals}) == 1 else None
        dtype = arrays[0].dtype if len({a.dtype for a in avals}) == 1 else None
        weak = arrays[0].aval.weak if len({a.weak for a in avals}) == 1 else False
        known = tuple(value for value in (*arrays, selector) if isinstance(value, Array))
        return Array(Aval(shape, dtype, weak), known)

    return tree_map(machine, join, first, *others)


def _agree_or_end(call: Call, results: list[Value]) -> None:
    """End the path where two branches certainly give different things, as JAX does."""
    for other in results[1:]:
        changed = difference(call.machine, results[0], other)
        if changed is not None:
            where, function = call.machine.where(call.node, call.frame), call.name.rpartition(".")[2]
            call.machine.emit(BranchResults(where, changed.kind, function, changed.first, changed.other))
            raise PathEnd("branches that give different things")


@models("jax.lax.axis_index")
def _axis_index(call: Call) -> Value:
    _note_axis(call)
    return Array(Aval((), "int32", False), made_by=call.node)


@models("jax.lax.axis_size")
def _axis_size(call: Call) -> Value:
    name, kernel = call.get(0, "axis_name"), call.machine.kernel
    _note_axis(call)
    size = kernel.axes.get(name) if kernel is not None and kernel.axes is not None and isinstance(name, str) else None
    return size if isinstance(size, int) else Unknown("the size of a mesh axis", host=True)


def _note_axis(call: Call) -> None:
    """Note that a kernel uses a named axis."""
    machine, name = call.machine, call.get(0, "axis_name")
    machine.axis_uses += 1
    kernel = machine.kernel
    if kernel is not None and isinstance(name, str):
        parallel = kernel.in_parallel_loop and name in kernel.cores
        machine.emit(AxisAsked(machine.where(call.node, call.frame), call.name, name, kernel.axes, parallel))


@models(f"{PALLAS}.debug_print", "jax.debug.print", f"{PALLAS}.debug_check", "jax.debug.callback")
def _debug_print(call: Call) -> Value:
    """What is printed is used: such a load is not dropped."""
    call.machine.effect()
    mark_live(call.args, list(call.kwargs.values()))
    return None


@models(f"{TPU}.prng_seed", f"{PALLAS}.delay", f"{TPU}.delay", f"{TPU}.touch", f"{TPU}.core_barrier")
def _effect(call: Call) -> Value:
    call.machine.effect()
    mark_live(call.args, list(call.kwargs.values()))
    return None
