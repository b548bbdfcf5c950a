"""The grid of a kernel call, and what JAX refuses when it makes a grid spec.

Mirrors ``jax/_src/pallas/core.py``, ``GridSpec.__init__``.
"""

from __future__ import annotations

import ast

from ...data.versions import parse_version, satisfies
from ...shapes import dims
from ...shapes.avals import Aval
from ...shapes.dims import MaybeDim
from ..call_events import Grid, GridAxis
from ..events import CallFault
from ..truth import as_dim, equals, truth
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    Class,
    Dtype,
    Function,
    GridSpec,
    Iteration,
    Library,
    PallasCall,
    Scratch,
    ShapeDtype,
    Unknown,
    Value,
)
from .refusals import refuse
from .registry import PALLAS, Call, models

_NO_DIM = (float, str, bytes, type(None), dict, set, Function, Class, Dtype, BlockSpec, ShapeDtype, Scratch)


def is_absent(specs: Value) -> bool:
    """Whether an argument for specs is not given."""
    return specs is ABSENT or (isinstance(specs, Library) and specs.name == f"{PALLAS}.no_block_spec")


def specs_of(call: PallasCall) -> tuple[Value, Value, Value, Value, Value] | None:
    """The grid, the specs of inputs and outputs, the scratch shapes, the number of prefetched operands; None where they are not known."""
    given, spec = call.arguments, call.arguments.get("grid_spec")
    if isinstance(spec, GridSpec):
        return spec.grid, spec.in_specs, spec.out_specs, spec.scratch, spec.prefetch
    if spec is not None:
        return None
    return given.get("grid", ()), given.get("in_specs", ABSENT), given.get("out_specs", ABSENT), given.get("scratch_shapes", ABSENT), 0


def refuses_grid_spec(
    call: Call, grid: Value, in_specs: Value, scratch: Value, nodes: dict[str, ast.expr], flat_scratch: bool = False
) -> bool:
    """Whether JAX makes no grid spec of these; says so if not. ``flat_scratch``: the scratch entries come from a flattened tree."""
    traced = isinstance(grid, Array) and grid.traced and call.machine.around.program is not None
    fault = _in_specs_fault(in_specs) or ((not flat_scratch and _scratch_fault(scratch)) or None) or _grid_fault(grid, traced)
    if fault is None:
        return False
    argument, kind, detail = fault
    refuse(call.machine, CallFault(call.machine.where(nodes.get(argument, call.node), call.frame), kind, detail))
    return True


def _in_specs_fault(in_specs: Value) -> tuple[str, str, Value] | None:
    wrong = in_specs is None or isinstance(in_specs, BlockSpec | dict | int | float | set | Scratch | ShapeDtype | Iteration)
    return ("in_specs", "in-specs-type", in_specs) if wrong else None


def _scratch_fault(scratch: Value) -> tuple[str, str, Value] | None:
    if isinstance(scratch, dict):
        return "scratch_shapes", "scratch-dict", scratch
    wrong = scratch is None or isinstance(scratch, Scratch | BlockSpec | int | float)
    return ("scratch_shapes", "scratch-sequence", scratch) if wrong else None


def _grid_fault(grid: Value, traced: bool) -> tuple[str, str, Value] | None:
    if isinstance(grid, tuple | list):
        sizes = [entry[1] if _is_named(entry) and len(entry) == 2 else entry for entry in grid]
        return ("grid", "grid", grid) if any(isinstance(size, (*_NO_DIM, list)) for size in sizes) else None
    if isinstance(grid, Array) and (grid.numpy or traced) and grid.shape == ():
        return "grid", "grid", grid  # JAX asks whether it is an int, and NumPy's are none
    return ("grid", "grid", grid) if isinstance(grid, _NO_DIM) and grid not in ("", b"", {}) else None


def _is_named(entry: Value) -> bool:
    return isinstance(entry, tuple)


def grid_of(grid: Value) -> Grid:
    """The sizes of a grid argument."""
    if isinstance(grid, tuple | list):
        return tuple(_size(entry[1] if _is_named(entry) and len(entry) == 2 else entry) for entry in grid)
    if isinstance(grid, Array):
        return (None,) * grid.shape[0] if grid.shape is not None and len(grid.shape) == 1 and isinstance(grid.shape[0], int) else None
    size = as_dim(grid) if not isinstance(grid, Unknown) else None
    return (size,) if size is not None else None


def _size(entry: Value) -> MaybeDim:
    return None if isinstance(entry, Array) and entry.traced else as_dim(entry)


@models(f"{PALLAS}.program_id")
def _program_id(call: Call) -> Value:
    """A traced scalar; until JAX 0.12, in a pipeline, plainly 0 along an axis of one step (``_filter_indices`` of
    ``jax/_src/pallas/mosaic/pipeline.py``), so that what another step would do is never lowered."""
    result = Array(Aval((), "int32", False), made_by=call.node)
    _note_axis(call, result)
    return 0 if _is_one_step(call) else result


def _is_one_step(call: Call) -> bool:
    """Whether the axis of a pipeline's grid has one step: this is decided where the size is not known."""
    kernel, axis = call.machine.kernel, call.get(0, "axis")
    sizes = grid_of(kernel.grid) if kernel is not None and kernel.inside == "pipeline" else None
    if sizes is None or not isinstance(axis, int) or not -len(sizes) <= axis < len(sizes):
        return False
    if satisfies(parse_version(call.machine.jax_version or ""), "0.12", None):
        return False
    size = sizes[axis]
    if isinstance(size, int):
        return size == 1
    return size is not None and truth(call.machine, equals(call.machine, size, 1, call.node), call.node, call.frame)


@models(f"{PALLAS}.num_programs")
def _num_programs(call: Call) -> Value:
    """A plain number on a static grid, a traced scalar where the grid's size is traced; one of the two where it is not known."""
    _note_axis(call, None)
    grid, axis = call.machine.kernel.grid if call.machine.kernel else None, call.get(0, "axis")
    if isinstance(grid, tuple | list) and isinstance(axis, int) and -len(grid) <= axis < len(grid):
        size = grid[axis]
        if isinstance(size, Array):
            return Array(Aval((), "int32", False), made_by=call.node)
        dim = as_dim(size)
        if dim is not None and not isinstance(size, Unknown):
            return dim
        return Unknown("a grid dim", dims.render(dim) if dim is not None else None, dim, host=True)
    return Unknown("the size of a grid that is not known", host=True)


def _note_axis(call: Call, result: Value) -> None:
    kernel, axis = call.machine.kernel, call.get(0, "axis")
    if kernel is not None and isinstance(axis, int):
        function = call.name.rpartition(".")[2]
        call.machine.emit(GridAxis(call.machine.where(call.node, call.frame), function, axis, grid_of(kernel.grid), kernel.inside, result))
