"""``pltpu.emit_pipeline``: a kernel inside a kernel.

Mirrors ``jax/_src/pallas/mosaic/pipeline.py``: ``emit_pipeline``, ``_partition_grid``, ``_make_pipeline_allocations``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from ...text.span import Location
from ..call_events import Grid, RefPassed
from ..calls import BindingFault, bind_arguments
from ..frames import Frame
from ..machine import Arguments, KernelContext, Machine
from ..operation_events import PipelineFault
from ..paths import PathEnd
from ..values import ABSENT, Array, BlockSpec, Builtin, Function, Library, Ref, SpecOrigin, Unknown, Value, next_birth
from .grids import grid_of
from .pipeline_specs import Operand, is_plain, spec_fault
from .records import note_kernel
from .refusals import refuse
from .registry import TPU, Call, models
from .running import run_kernel, underlying
from .specs import space_of
from .trees import tree_map
from .uses import refs_in
from .windows import Windowed, block_ref

Fault = tuple[str, object]
_PLAIN = frozenset({"body", "grid", "in_specs", "out_specs", "core_axis_name", "dimension_semantics"})


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What ``emit_pipeline`` was called with; ``tiled``: the program says which tiling to assume; ``options``: the names of all
    arguments."""

    body: Value
    grid: Value
    in_specs: Value
    out_specs: Value
    tiled: bool
    options: frozenset[str]
    origin: SpecOrigin


@models(f"{TPU}.emit_pipeline")
def _emit_pipeline(call: Call) -> Value:
    here = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]
    given = call.kwargs
    if call.arguments.exact:
        _refuse(call.machine, call.node, call.frame, _grid_fault(given.get("grid", ())) or _cores_fault(call))
    made = Pipeline(
        call.get(0, "body"), given.get("grid", ()), given.get("in_specs", ()), given.get("out_specs", ()),
        given.get("tiling") is not None, frozenset(given), here,
    )  # fmt: skip
    return Builtin("pipeline", lambda machine, arguments, node, frame: _run(machine, made, arguments, node, frame))


@models(*(f"{TPU}.BufferedRef.{name}" for name in ("create", "input", "output", "input_output")))
def _buffered_ref(call: Call) -> Value:
    """The buffers of one operand, made by hand."""
    if call.arguments.exact:
        _refuse(call.machine, call.node, call.frame, _buffers_fault(call))
    return call.unknown()


def _buffers_fault(call: Call) -> Fault | None:
    spec = call.get(0, "spec")
    if not isinstance(spec, BlockSpec):
        return None
    if (space := space_of(spec.space)) in ("any", "semaphore"):
        return "buffered-space", space
    if not {"source_memory_space", "tiling", "is_trivial_windowing"}.isdisjoint(call.kwargs) or len(call.args) > 4:
        return None
    if call.kwargs.get("use_lookahead") is True and call.kwargs.get("grid_rank") is None:
        return "buffered-lookahead", None
    return ("buffered-shape", None) if spec.shape is None else None


def _refuse(machine: Machine, node: ast.AST, frame: Frame, fault: Fault | None) -> None:
    if fault is not None:
        refuse(machine, PipelineFault(machine.where(node, frame), *fault))
        raise PathEnd("a pipeline that JAX refuses")


def _grid_fault(grid: Value) -> Fault | None:
    if isinstance(grid, int):
        return "grid-int", grid
    if not isinstance(grid, tuple | list):
        return None
    below = next((size for size in grid if isinstance(size, int) and size <= 0), None)
    other = next((size for size in grid if _is_no_size(size)), ABSENT)
    return ("grid-below", below) if below is not None else ("grid-other", other) if other is not ABSENT else None


def _is_no_size(size: Value) -> bool:
    """Whether JAX takes an entry of the grid for none: NumPy's numbers too."""
    return isinstance(size, float | str | tuple | list | None) or (isinstance(size, Array) and size.numpy)


def _cores_fault(call: Call) -> Fault | None:
    """What is wrong with splitting the grid over cores."""
    axis, name = call.kwargs.get("core_axis"), call.kwargs.get("core_axis_name")
    if any(isinstance(value, Unknown) for value in (axis, name)):
        return None
    if axis is not None and name is not None:
        return "two-axes", None
    grid = grid_of(call.kwargs.get("grid", ()))
    if isinstance(axis, int) and _kernel_grid(call.machine) == ():
        return "no-grid", axis
    cores = _core_count(call.machine, axis if axis is not None else name)
    semantics = call.kwargs.get("dimension_semantics")
    if grid is None or cores is None or cores == 1 or not (semantics is None or isinstance(semantics, tuple | list)):
        return None
    if semantics is not None and len(semantics) != len(grid):
        return "semantics-length", (len(semantics), len(grid))
    if any(not isinstance(entry, Library | str) for entry in semantics or ()):
        return None
    parallel = any(isinstance(entry, Library) and entry.name.endswith(".PARALLEL") for entry in semantics or ())
    return None if parallel else ("no-parallel", cores)


def _kernel_grid(machine: Machine) -> Grid:
    """The grid of the kernel that the pipeline is in."""
    return grid_of(machine.kernel.grid) if machine.kernel is not None and machine.kernel.inside == "kernel" else None


def _core_count(machine: Machine, axis: Value) -> int | None:
    """How many cores an axis of the kernel's grid or mesh is, where that is a plain number."""
    kernel, sizes = machine.kernel, _kernel_grid(machine)
    if isinstance(axis, int) and sizes is not None and 0 <= axis < len(sizes):
        size: object = sizes[axis]
    else:
        size = kernel.cores.get(axis) if kernel is not None and isinstance(axis, str) else None
    return size if isinstance(size, int) else None


def _run(machine: Machine, made: Pipeline, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Call the pipeline on refs: its body runs on their windows, a kernel in the kernel."""
    machine.effect()
    with machine.recording():
        note_kernel(machine, made.origin, made.body, made.grid, frame)
        _run_body(machine, made, arguments, node, frame)
    return None


def _run_body(machine: Machine, made: Pipeline, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    specs = [*_as_list(made.in_specs), *_as_list(made.out_specs)]
    operands = [machine.settle(arg) for arg in arguments.args]
    known = arguments.exact and not any(isinstance(s, Unknown) for s in (made.in_specs, made.out_specs))
    by_specs = known and "allocations" not in arguments.kwargs
    if by_specs and all(isinstance(spec, BlockSpec) for spec in specs):
        _refuse(machine, node, frame, _operand_fault(made, operands, len(specs)))
    if not known or len(operands) != len(specs):
        machine.doubt("how the operands and the specs of the pipeline fit together")
        return
    for operand in refs_in(operands):
        machine.emit(RefPassed(machine.where(node, frame), operand))
    context = _context(machine, made)
    inputs = len(_as_list(made.in_specs))
    refs: list[Value] = []
    for index, (spec, given) in enumerate(zip(specs, operands, strict=True)):
        reads = index < inputs

        def window(leaf: Value, ref: Value, reads: bool = reads) -> Value:
            if by_specs:
                _check_operand(machine, made, leaf, ref, reads, context.call, node, frame)
            return _window(ref, leaf, "input" if reads else "output", made.origin)

        refs.append(tree_map(machine, window, spec, given))
    if not by_specs or set(made.options) - _PLAIN:
        machine.doubt("the options of the pipeline")
    scratches = arguments.kwargs.get("scratches", ())
    extra = list(scratches) if isinstance(scratches, tuple | list) else []
    passed = Arguments([*refs, *extra])
    _refuse(machine, node, frame, _body_fault(machine, made.body, passed))
    run_kernel(machine, made.body, passed, context, node, frame, made.origin)


def _check_operand(
    machine: Machine, made: Pipeline, spec: Value, ref: Value, reads: bool, call: Location, node: ast.AST, frame: Frame
) -> None:
    """Refuse what JAX refuses of the spec of one operand, and note a doubt where that is not known."""
    if not isinstance(ref, Ref) or not isinstance(spec, BlockSpec):
        machine.doubt("an operand of the pipeline or its spec")
        return
    taken = Operand(ref, spec, reads, made.tiled)
    _refuse(machine, node, frame, spec_fault(machine, taken, made.grid, call))
    if not is_plain(taken, made.grid):
        machine.doubt(f"how the pipeline takes blocks of `{ref.root.name}`")


def _body_fault(machine: Machine, body: Value, passed: Arguments) -> Fault | None:
    """What Python says where the body does not take its refs."""
    function, received = underlying(body, passed)
    try:
        if isinstance(function, Function):
            bind_arguments(machine, function, received)
    except BindingFault as fault:
        return "body-arity", (len(passed.args), str(fault))
    return None


def _operand_fault(made: Pipeline, operands: list[Value], count: int) -> Fault | None:
    value = next((o for o in operands if isinstance(o, int | float) or (isinstance(o, Array) and not o.assumed)), None)
    if len(operands) != count:
        return "operands", (len(_as_list(made.in_specs)), len(_as_list(made.out_specs)), len(operands))
    return ("value", value) if value is not None else None


def _as_list(specs: Value) -> list[Value]:
    return list(specs) if isinstance(specs, tuple | list) else [specs] if isinstance(specs, BlockSpec) else []


def _window(ref: Value, spec: Value, role: str, here: SpecOrigin) -> Value:
    """The VMEM window of an outer ref inside a pipeline's body."""
    if isinstance(ref, Ref):
        window = block_ref(Windowed(role, ref.shape, ref.dtype, "the pipeline's operand", named=ref.named), spec, here)
        if isinstance(window, Ref) and window.root.space not in ("vmem", "smem", "hbm"):
            window.root.space = None  # no buffer can be there: JAX refuses the spec
        return window
    return Unknown("an operand of a pipeline that is not known") if ref is not None else None


def _context(machine: Machine, made: Pipeline) -> KernelContext:
    outer, here = machine.kernel, made.origin
    location = outer.call if outer is not None else Location(here.module.path, here.module.source.span_of(here.node))
    if outer is None:
        return KernelContext(location, dead_code_kept=True, grid=made.grid, inside="pipeline")
    return replace(outer, call=location, dead_code_kept=True, grid=made.grid, inside="pipeline", started=next_birth())
