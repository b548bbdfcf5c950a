"""Index maps: what they return when JAX traces them, and as a formula of the grid indices.

Mirrors ``jax/_src/pallas/core.py``, ``BlockSpec.to_block_mapping``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...shapes import dims
from ...shapes.avals import Aval
from ...shapes.dims import Dim, MaybeDim, Poly, Symbol
from ...text.span import Location
from ..call_events import Grid, MapResult
from ..calls import bind_arguments, run_body
from ..classes import fields_of
from ..events import CallFault, Record
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, KernelContext, Machine
from ..paths import PathEnd
from ..signature import signature
from ..truth import as_dim
from ..values import Array, BlockSpec, DynamicSlice, Function, Instance, Ref, Unknown, Value
from .captures import captured_arrays
from .refusals import place, refuse
from .running import binding, explored, is_no_function, share, underlying
from .trees import tree_map

MapFault = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Mapped:
    """The results of an index map, one a path.

    ``refused``: JAX does not get through the map; ``started``: see ``KernelContext``; ``events``: the ids of the events of its body;
    ``record``: the body's own.
    """

    results: tuple[MapResult, ...] = ()
    refused: bool = False
    started: int = 0
    events: frozenset[int] = frozenset()
    record: Record | None = None


@cache
def grid_symbol(axis: int) -> Symbol:
    """The symbol that stands for a grid index in the formula of an index map."""
    return Symbol(f"grid[{axis}]", 0)


def _grid_index(axis: int) -> Dim:
    symbol = grid_symbol(axis)
    return dims.symbol(symbol.name, symbol.least)


def grid_argument() -> Array:
    """A grid index as JAX hands it to an index map."""
    return Array(Aval((), "int32", False))


def run_index_map(
    machine: Machine, spec: BlockSpec, grid: Grid, grid_value: Value, prefetch: list[Value], call: Location, frame: Frame
) -> Mapped:
    """Call the index map of a spec as JAX does, on grid indices and the prefetched refs."""
    if grid is None or isinstance(spec.index_map, Unknown):
        machine.doubt(spec.index_map.why if isinstance(spec.index_map, Unknown) else "how many axes the grid has")
        return Mapped()
    if is_no_function(spec.index_map):
        where = place(machine, spec.origin.module, spec.origin.node, call)
        refuse(machine, CallFault(where, "index-map-not-callable", spec.index_map))
        return Mapped(refused=True)
    context = KernelContext(call, grid=grid_value, inside="index map")  # made before the grid indices: they are its own
    prefetch = [tree_map(machine, _fresh, ref) for ref in prefetch]
    traced = Arguments([*(grid_argument() for _ in grid), *prefetch])
    function, received = underlying(spec.index_map, traced)
    if not isinstance(function, Function):
        machine.doubt("what an index map is")
        return Mapped()
    given = (*(f"grid index {axis}" for axis in range(len(grid))), *(f"prefetched operand {index}" for index in range(len(prefetch))))
    scope = binding(machine, function, received, "index map", given, call)
    if scope is None:
        return Mapped(refused=True)
    mark = ("index map", signature(machine, function, received), machine.place_at(call))
    if mark in machine.seen_kernels:
        known: Mapped = machine.seen_kernels[mark]
        share(machine, known.record)
        return known
    with machine.recording() as record:
        found = _results(machine, function, scope, (spec.index_map, prefetch, len(grid)), context)
        machine.seen_kernels[mark] = found = replace(found, record=record)
    return found


def _fresh(ref: Value) -> Value:
    """The same ref for another function, which has its own name for it."""
    return Ref(replace(ref.root), ref.shape, ref.dtype) if isinstance(ref, Ref) else ref


def _results(
    machine: Machine, function: Function, scope: Frame, formula: tuple[Value, list[Value], int], context: KernelContext
) -> Mapped:
    results: list[MapResult] = []
    refused = False
    before, emitted = len(machine.path.conditions()), len(machine.events)

    def once() -> None:
        nonlocal refused
        try:
            value = machine.settle(run_body(machine, function, copied(scope)))
        except PathEnd as end:
            refused = refused or end.reason.startswith("a traced value")
            raise
        mark_live(value)
        entries = tuple(machine.settle(entry) for entry in entries_of(value))
        results.append(MapResult(value, entries, _formula(machine, *formula), function, machine.path.conditions()[before:]))

    explored(machine, context, once)
    return Mapped(tuple(results), refused and not results, context.started, frozenset(map(id, machine.events[emitted:])))


def copied(scope: Frame) -> Frame:
    """A fresh frame with the same bindings: a path must not see what another one assigned."""
    frame = Frame(scope.kind, scope.module, scope.parent, scope.function)
    frame.names.update(scope.names)
    return frame


def _formula(machine: Machine, index_map: Value, prefetch: list[Value], rank: int) -> tuple[MaybeDim, ...] | None:
    """What the map returns as polynomials of ``grid_index``; a None for an entry that is none."""
    function, received = underlying(index_map, Arguments([*map(_grid_index, range(rank)), *prefetch]))
    machine.muted += 1
    try:
        entries = entries_of(machine.settle(run_body(machine, function, bind_arguments(machine, function, received))))
    except PathEnd:
        return None
    finally:
        machine.muted -= 1
    return tuple(as_dim(entry) if isinstance(entry, int | Poly) and not isinstance(entry, bool) else None for entry in entries)


def entries_of(value: Value) -> tuple[Value, ...]:
    """What an index map returns as JAX takes it: a list is a tuple, anything else is one index."""
    if isinstance(value, Instance) and value.cls.kind == "namedtuple":
        return tuple(value.attrs.get(name) for name in fields_of(value.cls))
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def map_fault(result: MapResult, kinds: tuple[str, ...], started: int) -> MapFault | None:
    """What JAX refuses of what an index map returns for a block with dims of these kinds, as ``(rule id, detail)``."""
    if isinstance(result.value, Unknown):
        return None
    entries = result.entries
    refs = [index for index, entry in enumerate(entries) if isinstance(entry, Ref)]
    if refs:
        return "index-map-returns-ref", refs[0]
    if len(entries) != len(kinds):
        return "index-map-return-len", (len(entries), len(kinds))
    for index, (entry, kind) in enumerate(zip(entries, kinds, strict=True)):
        if entry is None or isinstance(entry, tuple | list | dict):
            return "index-map-return-len", (index, entry)
        if kind not in ("bounded", "indirect", "unknown") and _is_no_index(entry):
            return "index-map-non-int", (index, entry)
    captured = captured_arrays(entries, started)
    return ("index-map-captures-array", captured[0][0]) if captured else None


def _is_no_index(entry: Value) -> bool:
    if isinstance(entry, Array):
        wrong_dtype = entry.dtype is not None and entry.dtype not in ("int32", "int64")
        return bool(entry.shape) or (entry.shape == () and wrong_dtype)
    return isinstance(entry, bool | float | str | DynamicSlice)


def is_literal_zero(entry: Value) -> dims.Truth:
    """Whether JAX has a literal 0 for an index: what was computed, from zeros too, is none."""
    if isinstance(entry, Array):
        if entry.constant is not None:
            return dims.truth(entry.constant == 0)
        if entry.numpy or not entry.traced:
            return dims.Truth.MAYBE  # a number of the host's, which was computed there
        return dims.Truth.NO if entry.operands or entry.made_by is None else dims.Truth.MAYBE
    if isinstance(entry, int | Poly):
        return dims.equal(as_dim(entry), 0)
    return dims.Truth.MAYBE
