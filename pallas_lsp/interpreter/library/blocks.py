"""The operands and outputs of a kernel call with their specs: the refs they become, and a ``Window`` event for each.

Mirrors the order of checks of ``jax/_src/pallas/core.py``, ``get_grid_mapping``: the tree of specs, then each window by itself.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ...shapes.dims import MaybeDim
from ...text.span import Location
from ..call_events import Grid, MapResult, StructureFault, Window
from ..events import CallFault
from ..frames import Frame
from ..machine import Machine
from ..modules import ModuleFile
from ..surroundings import Batch
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    Class,
    Dtype,
    Function,
    GridSpec,
    Library,
    Opaque,
    PallasCall,
    Ref,
    SpecOrigin,
    Unknown,
    Value,
)
from .exports import symbolic_dim
from .grids import grid_of, is_absent
from .index_maps import map_fault, run_index_map
from .refusals import location_of, place, refuse
from .specs import block_kinds
from .structure import Mismatch, mismatch, other_leaf
from .trees import children, is_node, rebuilt
from .windows import Windowed, block_ref, unspecified_space

_NO_ARRAYS = (str, bytes, range, Function, Library, Class, Dtype, BlockSpec, GridSpec, PallasCall)
_NO_SHAPES = (int, float, str, bytes, Function, BlockSpec, Class, Dtype, Opaque)


@dataclass(slots=True)
class Side:
    """The operands or the outputs of a call.

    ``role``: ``input`` or ``output``; ``arrays``: the tree of operands or shapes; ``specs``: the tree of specs (or absent) and where it is
    written; ``arrays_at``: where the arrays are; ``prefetched``: the operands that come before; ``nodes``: the operands' expressions.
    """

    role: str
    arrays: Value
    specs: Value
    specs_at: tuple[ModuleFile, ast.AST]
    arrays_at: Location
    describe: Callable[[Value], Windowed | None]
    prefetched: int = 0
    nodes: list[ast.expr] = field(default_factory=list)

    @property
    def argument(self) -> str:
        """The argument that holds the specs."""
        return "in_specs" if self.role == "input" else "out_specs"


@dataclass(slots=True)
class Placed:
    """A ref before its window is judged: what JAX calls it, its spec, and the array it is a window of."""

    ref: Ref
    name: str
    spec: Value
    array: Value


def has_other_structure(machine: Machine, call: PallasCall, side: Side) -> bool:
    """Whether the specs certainly do not fit the arrays, or are none; says so then."""
    if is_absent(side.specs):
        return False
    found = mismatch(machine, side.specs, side.arrays)
    if found is None:
        other = other_leaf(machine, side.specs)
        if other is None:
            return False
        found = Mismatch(*other, ABSENT)
    where = place(machine, *side.specs_at, location_of(call.origin))
    where.trail = tuple(machine.path.trail)
    refuse(machine, StructureFault(where, side.argument, found.path, found.specs, found.arrays, side.prefetched, side.arrays_at))
    return True


class Placing:
    """Makes the refs of one side, and keeps a list of them in JAX's order."""

    def __init__(self, machine: Machine, call: PallasCall, side: Side, frame: Frame) -> None:
        self.machine, self.call, self.side, self.frame = machine, call, side, frame
        self.placed: list[Placed] = []
        self.refused = False

    def tree(self, arrays: Value, specs: Value, name: str) -> Value:
        """The ref, or the pytree of refs, of one operand or output."""
        arrays, specs = self.machine.settle(arrays), self.machine.settle(specs)
        if arrays is None:
            return None
        if specs is None:
            # A spec that is None stands for an operand that is None on this path.
            why = arrays.why if isinstance(arrays, Unknown) else ""
            return block_ref(Windowed(self.side.role, None, None, why, sure=False), None, self.call.origin)
        if is_node(arrays):
            return self._node(arrays, specs, name)
        if isinstance(arrays, Unknown) and is_node(specs):
            return rebuilt(specs, [self.tree(arrays, s, f"{name}[{i}]") for i, s in enumerate(children(specs))])
        return self._leaf(arrays, specs, name)

    def _node(self, arrays: Value, specs: Value, name: str) -> Value:
        parts = children(arrays)
        own = is_absent(specs) or isinstance(specs, Unknown)
        below = [specs] * len(parts) if own else children(specs) if is_node(specs) else []
        if len(below) != len(parts):
            return Unknown("specs and operands of different structure")
        return rebuilt(arrays, [self.tree(a, s, f"{name}[{i}]") for i, (a, s) in enumerate(zip(parts, below, strict=True))])

    def _leaf(self, array: Value, spec: Value, name: str) -> Value:
        window = self.side.describe(array)
        if window is None:
            self._refuse_operand(array, name)
            return Unknown("an operand that is no array")
        window.unspecified = unspecified_space(self.machine)
        ref = block_ref(window, spec, self.call.origin)
        if isinstance(ref, Ref):
            self.placed.append(Placed(ref, name, spec, array))
        return ref

    def _refuse_operand(self, array: Value, name: str) -> None:
        is_object = isinstance(array, Opaque) and array.name == "object"
        if self.side.role == "input" and (isinstance(array, _NO_ARRAYS) or is_object):
            index = int(name.partition("[")[2].partition("]")[0]) - self.side.prefetched
            node = self.side.nodes[index] if index < len(self.side.nodes) else None
            where = self.machine.where(node, self.frame) if node is not None else place(self.machine, *_origin(self.call.origin))
            refuse(self.machine, CallFault(where, "operand", array))
            self.refused = True


def _origin(origin: SpecOrigin) -> tuple[ModuleFile, ast.AST]:
    return origin.module, origin.node


@dataclass(slots=True)
class Judging:
    """What the windows of a call are judged by.

    ``grid_at``: where the grid is given; ``prefetch``: the refs that index maps receive; ``lowers``: the call is lowered for a TPU;
    ``batch``: the ``vmap`` that batches it.
    """

    machine: Machine
    call: PallasCall
    grid_value: Value
    grid_at: Location
    prefetch: list[Value]
    frame: Frame
    lowers: bool
    batch: Batch | None = None
    maps: Counter[int] = field(default_factory=Counter)

    @property
    def grid(self) -> Grid:
        """The sizes of the grid."""
        return grid_of(self.grid_value)

    def batch_of(self, entry: Placed) -> tuple[MaybeDim, int, Location] | None:
        """The axis that a ``vmap`` around the call puts into an array: its size, its position, and the ``vmap``."""
        if self.batch is None:
            return None
        axis = 0 if entry.ref.root.role == "output" else self.batch.axis_of(entry.array)
        return (self.batch.size, axis, self.batch.location) if axis is not None else None

    def refuses(self, placed: list[Placed]) -> bool:
        """Emit the windows in JAX's order; True where JAX refuses one of them while tracing."""
        functions = {id(f): f for f in (_map_function(entry.spec) for entry in placed) if f is not None}
        self.maps.update(id(function.node) for function in functions.values())
        refused = False
        for entry in placed:
            if not isinstance(entry.spec, Unknown):
                refused = _judge(self, entry) or refused
        return refused


def _map_function(spec: Value) -> Function | None:
    return spec.index_map if isinstance(spec, BlockSpec) and isinstance(spec.index_map, Function) else None


def _judge(judging: Judging, entry: Placed) -> bool:
    machine, call = judging.machine, judging.call
    spec = entry.spec if isinstance(entry.spec, BlockSpec) else None
    root, location = entry.ref.root, location_of(call.origin)
    origin = spec.origin if spec is not None else call.origin
    kinds = _kinds(spec, entry.ref)
    fault = _shape_fault(spec, kinds) or _traced_fault(machine, spec) or _rank_fault(entry.ref) or _symbolic_fault(machine, entry.ref)

    def emit(result: MapResult | None, found: tuple[str, object] | None) -> None:
        where = place(machine, *_origin(origin), location)
        if result is not None and result.conditions:
            where.conditions = (*where.conditions, *result.conditions)
        mapped = spec is not None and spec.index_map is not None
        count = len(judging.prefetch)
        function = _map_function(spec)
        siblings = function is not None and judging.maps[id(function.node)] > 1
        event = Window(
            where, root, entry.name, spec, kinds, judging.grid, mapped, result, location, judging.grid_at, found, count, siblings,
            judging.batch_of(entry), bool(machine.around.batches),
        )  # fmt: skip
        root.window = event
        if found is not None:
            refuse(machine, event)
        elif judging.lowers:
            machine.emit(event)

    negative = _negative_fault(spec)
    if fault is not None or spec is None or spec.index_map is None:
        emit(None, fault or negative)
        return fault is not None or negative is not None
    mapped = run_index_map(machine, spec, judging.grid, judging.grid_value, judging.prefetch, location, judging.frame)
    if mapped.refused:
        return True
    faults = [map_fault(r, kinds or ("unknown",) * len(r.entries), mapped.started) or negative for r in mapped.results]
    refused = bool(faults) and all(found is not None for found in faults)
    if refused:
        # JAX refuses what the map returns: nothing that only lowering its body would refuse is ever looked at.
        machine.events[:] = [event for event in machine.events if id(event) not in mapped.events]
    for result, found in zip(mapped.results, faults, strict=True):
        emit(result, found)
    if not mapped.results:
        emit(None, negative)
    return refused or (negative is not None and not mapped.results)


def _kinds(spec: BlockSpec | None, ref: Ref) -> tuple[str, ...] | None:
    if spec is not None and spec.shape is not None:
        return block_kinds(spec.shape) if isinstance(spec.shape, tuple) else None
    return ("blocked",) * len(ref.root.array) if ref.root.array is not None else None


def _shape_fault(spec: BlockSpec | None, kinds: tuple[str, ...] | None) -> tuple[str, Value] | None:
    if spec is None:
        return None
    if isinstance(spec.shape, _NO_SHAPES):
        return "block-shape-invalid", spec.shape
    if kinds is not None and "invalid" in kinds and isinstance(spec.shape, tuple):
        return "block-shape-invalid", spec.shape[kinds.index("invalid")]
    return None


def _traced_fault(machine: Machine, spec: BlockSpec | None) -> tuple[str, Value] | None:
    """A block dim that ``jit`` traces, as it does with what JAX itself makes of a number."""
    entries = spec.shape if spec is not None and isinstance(spec.shape, tuple) and machine.around.program is not None else ()
    return next((("block-shape-invalid", entry) for entry in entries if isinstance(entry, Array) and entry.traced), None)


def _negative_fault(spec: BlockSpec | None) -> tuple[str, int] | None:
    """A block dim below 0, which no tile divides and of which no memory can be made."""
    entries = spec.shape if spec is not None and isinstance(spec.shape, tuple) else ()
    return next((("block-shape-invalid", entry) for entry in entries if isinstance(entry, int) and entry < 0), None)


def _symbolic_fault(machine: Machine, ref: Ref) -> tuple[str, MaybeDim] | None:
    size = symbolic_dim(machine, ref.root.block or ())
    return ("export-dynamic-block", size) if size is not None else None


def _rank_fault(ref: Ref) -> tuple[str, None] | None:
    root = ref.root
    differs = root.block is not None and root.array is not None and len(root.block) != len(root.array)
    return ("block-rank-mismatch", None) if differs else None
