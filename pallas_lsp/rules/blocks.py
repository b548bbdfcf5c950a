"""What a block may look like when it is lowered.

Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_check_block_mappings`` and ``lower_jaxpr_into_pipelined_module``; its order of checks.
"""

from __future__ import annotations

from ..interpreter.call_events import Window
from ..interpreter.values import Array, Function, Library, Opaque, Value
from ..kernels.windows import block_sizes, is_trivial
from ..shapes import dims, dtypes
from ..shapes.dims import MaybeDim, Truth
from ..text.span import Location
from . import places, words
from .diagnostic import Related
from .registry import Context, Finding, rule

_LANES, _SUBLANES = 128, 8
_SEE = "Block spec for {} in pallas_call ... has block shape {}, array shape {}, and index_map ..., in memory space {}."
_TILING_1D = (
    "The Pallas TPU lowering currently requires that rank 1 block shapes, either 1) the first (and only) dimension of the block shape is "
    "equal to the first (and only) dimension of the array shape, or 2) the first (and only) dimension of the block shape is a multiple of "
    "1024, or 3) the first (and only) dimension of the block shape is a power of 2 and at least the tiling size ({}) of the array shape. "
)


@rule("block-shape-invalid", on=Window, order=5, stage="trace")
def block_shape_invalid(event: Window, context: Context) -> Finding | None:
    """A block shape is no sequence, or has an entry that is no dim."""
    if event.fault is None or event.fault[0] != "block-shape-invalid" or event.spec is None:
        return None
    wrong = event.fault[1]
    location = places.of_argument(event.spec.origin, 0, "block_shape")
    if isinstance(event.spec.shape, tuple):
        axis = next(index for index, entry in enumerate(event.spec.shape) if entry is wrong)
        other = "no dim is counted from the end, None stands for a dim of 1 that is left out"
        kinds = "a dim is a whole number, None, or `pl.Element` and its like"
        traced = "`jit` traces it, and a dim is a plain Python int"
        because = other if isinstance(wrong, int) else traced if isinstance(wrong, Array) else kinds
        what = f"dim {axis} of this block shape is {words.kind_of(wrong)}: {because}"
        kind = "<class 'jax._src.interpreters.partial_eval.DynamicJaxprTracer'>" if isinstance(wrong, Array) else type(wrong)
        jax = f"Unsupported block dimension type: {kind}. Allowed types: `pl.Squeezed`, `pl.Blocked`, `pl.Element`, `int`, `None`."
        jax = "Invalid type: error: unknown: invalid memref size" if isinstance(wrong, int) else jax
        return Finding(places.of_block_dim(event.spec, axis), what, jax_message=jax)
    order = ": the order is `pl.BlockSpec(block_shape, index_map)`" if isinstance(wrong, Function) else ""
    what = f"the block shape is {words.kind_of(wrong)}, not a tuple{order}"
    python = "function" if isinstance(wrong, Function) else type(wrong).__name__
    kinds = f"Unsupported block dimension type: {type(wrong)}." if isinstance(wrong, str) else f"'{python}' object is not iterable"
    return Finding(location, what, jax_message=kinds)


@rule("block-rank-mismatch", on=Window, order=6, stage="trace")
def block_rank_mismatch(event: Window, context: Context) -> Finding | None:
    """A block has another number of dims than its array."""
    if event.fault is None or event.fault[0] != "block-rank-mismatch" or event.spec is None:
        return None
    root = event.root
    block, array = words.count(len(root.block or ()), "dim"), words.count(len(root.array or ()), "dim")
    what = f"block {words.block(root)} of {words.window(event)} has {block}, but the array {words.shape(root.array)} has {array}"
    few = len(root.block or ()) < len(root.array or ())
    return Finding(
        places.of_argument(event.spec.origin, 0, "block_shape"),
        what + (": None takes one index of a dim" if few else ""),
        _call(event),
        f"Block shape for {event.place} (= {words.jax_block(event)}) must have the same number of dimensions as the array shape "
        f"{words.shape(root.array)}.",
    )


def _call(event: Window) -> tuple[Related, ...]:
    """The call, where the spec is written elsewhere."""
    return (Related(event.call, "the spec is used in this call"),) if event.spec is not None else ()


def _spec_details(event: Window) -> str:
    return _SEE.format(event.place, words.jax_block(event), words.shape(event.root.array), words.space(event.root))


def _is_judged(event: Window) -> bool:
    """Whether the block is known and not refused already; keys and semaphores have blocks of their own kinds."""
    root = event.root
    return event.fault is None and root.space not in (None, "semaphore", "host") and dtypes.kind(root.dtype) != "extended"


@rule("export-dynamic-block", on=Window, order=7, stage="trace")
def export_dynamic_block(event: Window, context: Context) -> Finding | None:
    """A block has a dim that is a symbol of an exported shape."""
    if event.fault is None or event.fault[0] != "export-dynamic-block":
        return None
    whole = event.spec is None or event.spec.shape is None
    how = "is the whole array, which has" if whole else "has"
    return Finding(
        event.call if event.spec is None else places.of_argument(event.spec.origin, 0, "block_shape"),
        f"the block of {words.window(event)} {how} the symbolic dim `{words.dim(event.fault[1])}`: blocks have sizes in numbers, the grid may "
        "have a symbolic one",
        _call(event),
        "shape polymorphism for Pallas does not support dynamically-shaped blocks. "
        f"Block spec for {event.place} has block_shape: {words.block(event.root)}.",
    )


@rule("block-rank-zero", on=Window, order=30, stage="lower")
def block_rank_zero(event: Window, context: Context) -> Finding | None:
    """An operand or output without dims is outside SMEM."""
    root = event.root
    if not _is_judged(event) or root.block != () or root.array != () or root.space == "smem" or root.dtype is None:
        return None
    side = "operand" if root.role == "input" else "output"
    related = () if event.spec is None else (Related(event.where.location, "its spec"),)
    return Finding(
        event.where.location if event.spec is not None or root.typed is None else event.call,
        f"{words.window(event)} is an {side} of shape () in {words.space(root)}: outside SMEM a block needs at least one dim",
        related if event.spec is not None and event.where.location != event.call else (),
        f"The Pallas TPU lowering currently supports only blocks of rank >= 1. {_spec_details(event)}",
    )


@rule("block-any-windowed", on=Window, order=31, stage="lower")
def block_any_windowed(event: Window, context: Context) -> Finding | None:
    """A window of an array in ANY or HBM is not the whole array."""
    root = event.root
    if not _is_judged(event) or event.spec is None or root.space not in ("any", "hbm") or is_trivial(event) is not Truth.NO:
        return None
    return Finding(
        places.of_argument(event.spec.origin, 0, "block_shape"),
        f"{words.window(event)} is in {words.space(root)}, where a kernel gets the whole array: the spec has no block shape and no index map, "
        "the kernel copies the part that it wants",
        _call(event),
        "The Pallas TPU lowering currently supports in memory space ANY only blocks having the same block shape as the array shape and "
        f"a trivial index_map (returning all 0s).{_spec_details(event)}",
    )


def _obeys_tiling(event: Window) -> bool:
    """Whether the tiling rule asks anything of the window: a whole array in SMEM is exempt."""
    if not _is_judged(event) or event.root.space in ("any", "hbm"):
        return False
    return event.root.space != "smem" or is_trivial(event) is Truth.NO


@rule("block-tiling-2d", on=Window, order=32, stage="lower")
def block_tiling_2d(event: Window, context: Context) -> Finding | None:
    """The last two dims of a block are neither multiples of (8, 128) nor the array's."""
    sizes, array = block_sizes(event), event.root.array
    if not _obeys_tiling(event) or sizes is None or array is None or len(sizes) != len(array) or len(sizes) < 2 or event.spec is None:
        return None
    unit = {len(sizes) - 2: _SUBLANES, len(sizes) - 1: _LANES}
    wrong = [axis for axis, multiple in unit.items() if _fits(event, sizes[axis], array[axis], multiple) is Truth.NO]
    if not wrong:
        return None
    squeezed = [axis for axis in wrong if event.root.block is not None and event.root.block[axis] == "squeezed"]
    numbers = " and ".join(f"{'None, which counts as 1,' if axis in squeezed else words.dim(sizes[axis])}" for axis in wrong)
    verb = "is neither" if len(wrong) == 1 else "are neither"
    return Finding(
        places.of_block_dim(event.spec, wrong[0]),
        f"block {words.block(event.root)} of {words.window(event)}: its last two dims must be multiples of (8, 128) or equal the array's, "
        f"and {numbers} {verb} (the array is {words.shape(array)})",
        _call(event),
        "The Pallas TPU lowering currently requires that the last two dimensions of your block shape are divisible by 8 and 128 "
        f"respectively, or be equal to the respective dimensions of the overall array. {_spec_details(event)}",
    )


def _fits(event: Window, size: MaybeDim, whole: MaybeDim, multiple: int) -> Truth:
    return dims.or_(event.where.facts.same(size, whole), dims.divides(multiple, event.where.facts.resolve(size)))


@rule("block-tiling-1d", on=Window, order=33, stage="lower")
def block_tiling_1d(event: Window, context: Context) -> Finding | None:
    """A one-dimensional block has a length that no tiling fits."""
    sizes, array = block_sizes(event), event.root.array
    if not _obeys_tiling(event) or sizes is None or array is None or len(sizes) != 1 or len(array) != 1 or event.spec is None:
        return None
    size = event.where.facts.resolve(sizes[0])
    bits = 32 if event.root.dtype == "bool" else dtypes.bits(event.root.dtype)
    if not isinstance(size, int) or size < 1 or event.where.facts.same(size, array[0]) is not Truth.NO:
        return None
    if size % (_SUBLANES * _LANES) == 0:
        return None
    least = _LANES * (32 // bits) if bits is not None and bits <= 32 else None
    is_power = size & (size - 1) == 0
    if is_power and (least is None or size >= least) and size >= _LANES:
        return None
    tile = f"at least {least} for {event.root.dtype}" if least is not None else f"at least {_LANES}"
    return Finding(
        places.of_block_dim(event.spec, 0),
        f"block {words.block(event.root)} of {words.window(event)}: a one-dimensional block is as long as the array, a multiple of 1024, "
        f"or a power of two of {tile} (the array is {words.shape(array)})",
        _call(event),
        _TILING_1D.format(least) + _spec_details(event),
    )


@rule("block-windowed-without-grid", on=Window, order=40, stage="lower")
def block_windowed_without_grid(event: Window, context: Context) -> Finding | None:
    """A call without a grid has a block that is not the whole array."""
    if event.fault is not None or event.grid != () or event.spec is None or event.batched or is_trivial(event) is not Truth.NO:
        return None
    root = event.root
    part = f"block {words.block(root)} of {words.window(event)} (the array is {words.shape(root.array)})"
    what = f"{part} is no whole array" if root.block != root.array else f"the index map of {words.window(event)} does not return zeros"
    return Finding(
        places.of_argument(event.spec.origin, 0, "block_shape"),
        f"{what}, but the call has no grid: without one, every window is the whole array",
        _call(event),
        "Non-trivial windowing is not supported for grid-free pallas_call.",
    )


def _is_windowed(event: Window) -> bool:
    """Whether the lowering makes a window of the block: there is a grid, and the array is in no memory that is passed whole."""
    return event.fault is None and bool(event.grid) and event.root.space in ("vmem", "smem") and event.spec is not None


@rule("block-dim-unsupported", on=Window, order=50, stage="lower")
def block_dim_unsupported(event: Window, context: Context) -> Finding | None:
    """A block has a kind of dim that only pipelines have."""
    if event.grid == () or event.grid is None or event.root.space in (None, "any", "hbm", "semaphore") or event.spec is None:
        return None
    axis = next((index for index, kind in enumerate(event.kinds or ()) if kind in ("bounded", "indirect")), None)
    if axis is None or (event.fault is not None and event.fault[0] == "block-rank-mismatch"):
        return None
    kind = {"bounded": "BoundedSlice", "indirect": "Indirect"}[(event.kinds or ())[axis]]
    return Finding(
        places.of_block_dim(event.spec, axis),
        f"dim {axis} of the block of {words.window(event)} is a `pl.{kind}`, which only `pltpu.emit_pipeline` takes",
        _call(event),
        f"Unsupported block dimension type: <class 'jax._src.pallas.core.{kind}'> for block shape: {words.jax_block(event)}",
    )


@rule("block-element-mixed", on=Window, order=51, stage="lower")
def block_element_mixed(event: Window, context: Context) -> Finding | None:
    """Some dims of a block are ``pl.Element`` and some are not."""
    kinds = event.kinds or ()
    if not _is_windowed(event) or event.spec is None or "element" not in kinds or "blocked" not in kinds:
        return None
    axis = kinds.index("blocked")
    return Finding(
        places.of_block_dim(event.spec, axis),
        f"dim {axis} of the block of {words.window(event)} is a plain size beside a `pl.Element`: all are Elements or None, or none is",
        _call(event),
        "All block dimensions must be Elements or none of them can be Elements.",
    )


def _mode_matters(event: Window) -> bool:
    """Whether the pipeline mode is looked at: a whole array in VMEM has a single buffer whatever is asked for."""
    mode = event.spec.pipeline_mode if event.spec is not None else None
    return mode is not None and _is_windowed(event) and (event.root.space != "vmem" or is_trivial(event) is Truth.NO)


def _mode_place(event: Window) -> Location:
    assert event.spec is not None
    return places.of_argument(event.spec.origin, 2, "pipeline_mode")


@rule("memory-space-positional", on=Window, order=60, stage="lower")
def memory_space_positional(event: Window, context: Context) -> Finding | None:
    """A memory space is given as the third positional argument of ``BlockSpec``, which is the pipeline mode."""
    mode = event.spec.pipeline_mode if event.spec is not None else None
    if not isinstance(mode, Library) or not _mode_matters(event):
        return None
    name = mode.name.rpartition(".")[2]
    return Finding(
        _mode_place(event),
        f"memory space `{name}` is given as the pipeline mode of {words.window(event)}: `memory_space=` is a keyword of `pl.BlockSpec`",
        _call(event),
        f"Unsupported pipeline mode: {name.lower()}.",
    )


@rule("pipeline-mode-unsupported", on=Window, order=61, stage="lower")
def pipeline_mode_unsupported(event: Window, context: Context) -> Finding | None:
    """A pipeline mode that ``pallas_call`` does not know."""
    mode = event.spec.pipeline_mode if event.spec is not None else None
    if not _mode_matters(event) or isinstance(mode, Library):
        return None
    found = _mode_fault(mode, context)
    if found is None:
        return None
    what, jax = found
    return Finding(_mode_place(event), f"{what} for {words.window(event)}: `pl.pallas_call` has one or two buffers", _call(event), jax)


def _mode_fault(mode: Value, context: Context) -> tuple[str, str] | None:
    if isinstance(mode, int | float | str | tuple | list):
        return f"pipeline mode {mode!r}", f"Unsupported pipeline mode: {mode}."
    if not isinstance(mode, Opaque) or not mode.name.endswith(".Buffered"):
        return None
    count, revisit = (mode.args[i] if len(mode.args) > i else mode.kwargs.get(n) for i, n in ((0, "buffer_count"), (2, "revisit")))
    if (mode.args[1] if len(mode.args) > 1 else mode.kwargs.get("use_lookahead")) is True:
        return "lookahead is asked for", "Lookahead is not supported for XLA pipeline emitter lowering."
    if isinstance(count, tuple) and context.jax(since="0.12"):
        message = f"Separate input/output buffer counts are only supported by emit_pipeline. Got {count}."
        return f"separate buffer counts {count} are asked for", message
    if isinstance(count, int) and not 1 <= count <= 2:
        return f"{count} buffers are asked for", f"Only single (1) and double (2) buffering are supported. Got {count}."
    if isinstance(revisit, Library) and revisit.name.endswith("RevisitMode.ANY") and isinstance(count, int) and count > 1:
        return "RevisitMode.ANY with two buffers is asked for", "RevisitMode.ANY is not supported with double buffering."
    return None


@rule("memory-space-invalid", on=Window, order=25, stage="lower")
def memory_space_invalid(event: Window, context: Context) -> Finding | None:
    """A spec names something that is no memory space of a TPU."""
    if event.fault is not None or event.spec is None:
        return None
    space = event.spec.space
    is_other = isinstance(space, Library) and space.name.startswith(("jax.memory.", "jax.experimental.pallas.mosaic_gpu."))
    if not is_other and not isinstance(space, int | float | str | tuple | list):
        return None
    return Finding(
        places.of_argument(event.spec.origin, 99, "memory_space"),
        f"the memory space of {words.window(event)} is {words.kind_of(space)}: it is one like `pltpu.VMEM`, `pltpu.SMEM` or `pl.ANY`",
        _call(event),
        f"Invalid memory space: {space!r}" if not is_other else f"Invalid memory space: {space.name.rpartition('.')[2]}",
    )
