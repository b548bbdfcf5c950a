"""``pltpu.emit_pipeline``: its grid, its operands and their specs.

Mirrors ``jax/_src/pallas/mosaic/pipeline.py`` (``emit_pipeline``, ``_partition_grid``, ``_make_pipeline_allocations``,
``_make_block_slice``).
"""

from __future__ import annotations

from typing import Any

from ..interpreter.library.specs import SQUEEZED, block_dims
from ..interpreter.operation_events import PipelineFault
from ..shapes.dtypes import short
from ..text.span import Location
from . import words
from .diagnostic import Related
from .registry import Context, Finding, rule


@rule("pipeline-grid", on=PipelineFault, order=10, stage="trace")
def pipeline_grid(event: PipelineFault, context: Context) -> Finding | None:
    """The grid of a pipeline is no sequence of positive whole numbers."""
    if event.kind == "grid-below":
        what = f"the grid of a pipeline has the size {event.detail}: every size is at least 1"
        return Finding(event.where.location, what, jax_message="All elements in the grid must be strictly positive, but got grid=(...)")
    if event.kind == "grid-int":
        what = f"the grid of a pipeline is a tuple, `({event.detail},)` for one axis"
        return Finding(event.where.location, what, jax_message="'int' object is not iterable")
    if event.kind == "grid-other":
        divides = ", `//` divides to whole numbers" if isinstance(event.detail, float) else ""
        what = f"the grid of a pipeline holds {words.kind_of(event.detail)}: its sizes are whole numbers{divides}"
        jax = f"Grid must consist of Python integers and JAX Arrays: ({type(event.detail)},)"
        return Finding(event.where.location, what, jax_message=jax)
    return None


@rule("pipeline-core-axis", on=PipelineFault, order=20, stage="trace")
def pipeline_core_axis(event: PipelineFault, context: Context) -> Finding | None:
    """A pipeline is split over cores in two ways at once."""
    if event.kind == "no-grid":
        what = f"`core_axis={event.detail}` is an axis of the kernel's grid, but the call has no grid"
        return Finding(event.where.location, what, jax_message=f"Axis {event.detail} is out of bounds for grid ()")
    if event.kind != "two-axes":
        return None
    jax = "core_axis and core_axis_name cannot both be provided."
    if context.jax(since="0.11"):
        jax = "Only one of `core_axis` or `core_axis_name` can be set."
    what = "`core_axis` and `core_axis_name` both say over which cores the pipeline is split: one of them does"
    return Finding(event.where.location, what, jax_message=jax)


@rule("pipeline-dimension-semantics-length", on=PipelineFault, order=21, stage="trace")
def pipeline_dimension_semantics_length(event: PipelineFault, context: Context) -> Finding | None:
    """A pipeline that is split over cores has another number of dimension semantics than of grid axes."""
    if event.kind != "semantics-length":
        return None
    semantics, axes = event.detail
    what = f"`dimension_semantics` has {semantics} of the {words.axes(axes)} of the grid"
    return Finding(event.where.location, what, jax_message="dimension_semantics must be the same length as grid.")


@rule("pipeline-no-parallel-dimension", on=PipelineFault, order=22, stage="trace")
def pipeline_no_parallel_dimension(event: PipelineFault, context: Context) -> Finding | None:
    """A pipeline is split over cores, but no axis of its grid is parallel."""
    if event.kind != "no-parallel":
        return None
    what = f"the pipeline is split over {event.detail} cores, but `dimension_semantics` makes no axis of its grid `pltpu.PARALLEL`"
    jax = "Cannot partition over cores without parallel grid dimensions: dimension_semantics=(...)"
    return Finding(event.where.location, what, jax_message=jax)


@rule("pipeline-args", on=PipelineFault, order=30, stage="trace")
def pipeline_args(event: PipelineFault, context: Context) -> Finding | None:
    """What a pipeline is called on does not go with its specs."""
    if event.kind == "operands":
        inputs, outputs, given = event.detail
        specs = f"{words.count(inputs, 'input spec')} and {words.count(outputs, 'output spec')}"
        what = f"the pipeline has {specs}, and is called on {words.count(given, 'ref')}"
        return Finding(event.where.location, what, jax_message="pytree structure error: different lengths of tuple at key path")
    if event.kind == "value":
        what = f"the pipeline is called on a value, {words.array(event.detail)}: it copies blocks out of a ref itself"
        return Finding(event.where.location, what, jax_message="'ShapedArray' object has no attribute 'inner_aval'")
    if event.kind == "block-rank":
        ref, spec = event.detail.ref, event.detail.spec
        sizes = words.count(len(spec.shape), "dim")
        what = f"the block shape of {words.name(ref)} has {sizes}, {words.name(ref)} has shape {words.shape(ref.shape)}"
        jax = f"safe_zip() argument 1 has length {len(spec.shape)} but argument 0 has length {len(ref.shape)}."
        return Finding(event.where.location, what, _spec(event.detail), jax)
    return _of_map(event) or _of_body(event)


def _of_map(event: PipelineFault) -> Finding | None:
    """What is wrong with an index map of a pipeline."""
    if event.kind == "no-map":
        ref, block = event.detail.ref, _text(event.detail)
        what = f"the spec of {words.name(ref)} has no index map, so nothing says which block {block} of {words.shape(ref.shape)} comes when"
        return Finding(event.where.location, what, _spec(event.detail), "'NoneType' object is not callable")
    if event.kind == "map-length":
        operand, returned, expected = event.detail
        what = f"the index map of {words.name(operand.ref)} returns {words.indices(returned)} for a block of {words.count(expected, 'dim')}"
        return Finding(event.where.location, what, _spec(operand), "zip() argument 2 is longer than argument 1")
    if event.kind == "map-dtype":
        operand, index, value = event.detail
        what = f"index {index} that the index map of {words.name(operand.ref)} returns is {words.array(value)}, `//` divides to whole numbers"
        return Finding(event.where.location, what, _spec(operand), "Pallas encountered an internal verification error.")
    return None


def _of_body(event: PipelineFault) -> Finding | None:
    if event.kind != "body-arity":
        return None
    passed, text = event.detail
    return Finding(event.where.location, f"the body of the pipeline gets {words.count(passed, 'ref')}: {text}", jax_message=text)


@rule("pipeline-output-lookahead", on=PipelineFault, order=31, stage="trace")
def pipeline_output_lookahead(event: PipelineFault, context: Context) -> Finding | None:
    """An output of a pipeline asks to be fetched ahead."""
    if event.kind != "output-lookahead":
        return None
    what = f"`use_lookahead` fetches the next block of an input early, {words.name(event.detail.ref)} is an output of the pipeline"
    return Finding(event.where.location, what, _spec(event.detail), "Output buffering does not support lookahead.")


@rule("pipeline-memory-space", on=PipelineFault, order=32, stage="trace")
def pipeline_memory_space(event: PipelineFault, context: Context) -> Finding | None:
    """A spec of a pipeline names a memory that has no buffers."""
    if event.kind != "memory-space":
        return None
    operand, space = event.detail
    what = f"the spec of {words.name(operand.ref)} asks for a buffer in {words.SPACES[space]}: the buffers of a pipeline are in VMEM, SMEM or HBM"
    return Finding(event.where.location, what, _spec(operand), f"Unsupported buffer memory space: {_jax_space(space)}")


@rule("buffered-ref", on=PipelineFault, order=5, stage="trace")
def buffered_ref(event: PipelineFault, context: Context) -> Finding | None:
    """``pltpu.BufferedRef`` is asked for buffers of no size, in a memory that has none, or with an incomplete lookahead."""
    if event.kind == "buffered-shape":
        what, jax = "the spec of this `BufferedRef` has no block shape, which is the size of its buffers", "Block shape must be specified."
    elif event.kind == "buffered-lookahead":
        what = "this `BufferedRef` looks ahead, for which it must know how many axes the grid has: give `grid_rank`"
        jax = "grid_rank must be specified when use_lookahead is True."
    elif event.kind == "buffered-space":
        what = f"this `BufferedRef` asks for buffers in {words.SPACES[event.detail]}: buffers are in VMEM, SMEM or HBM"
        jax = f"Unsupported buffer memory space: {_jax_space(event.detail)}"
    else:
        return None
    return Finding(event.where.location, what, jax_message=jax)


@rule("pipeline-buffer-count", on=PipelineFault, order=33, stage="trace")
def pipeline_buffer_count(event: PipelineFault, context: Context) -> Finding | None:
    """An operand of a pipeline has no buffer, or an output more than an older JAX makes."""
    if event.kind != "buffer-count":
        return None
    operand, number = event.detail
    few = number < 1
    limit = "it needs at least 1" if few else "this JAX makes at most 2 for an output"
    what = f"{words.name(operand.ref)} has {words.count(number, 'buffer')} in this pipeline, {limit}"
    jax = f"buffer_count must be at least 1, got {number}" if few else "Buffer count >2 not supported for output buffered refs."
    return Finding(event.where.location, what, _spec(operand), jax)


@rule("pipeline-block-tiling", on=PipelineFault, order=40, stage="trace")
def pipeline_block_tiling(event: PipelineFault, context: Context) -> Finding | None:
    """A block of a pipeline neither divides its array nor is made of whole tiles."""
    if event.kind != "block-tiling":
        return None
    operand, axis, size, tile = event.detail
    ref = operand.ref
    which = "last" if axis == -1 else "second-last"
    what = (
        f"a block of {size} in the {which} dim of {words.name(ref)}, {short(ref.dtype)}[{words.shape(ref.shape)[1:-1]}]: a block that does not "
        f"divide its array is a multiple of the tile, {tile} here"
    )
    return Finding(event.where.location, what, _spec(operand), f"Block size must divide tiling: block_size={size}, tiling={tile}")


def _spec(operand: Any) -> tuple[Related, ...]:
    origin = operand.spec.origin
    return (Related(Location(origin.module.path, origin.module.source.span_of(origin.node)), f"the spec of {words.name(operand.ref)}"),)


def _jax_space(space: str) -> str:
    return "semaphore_mem" if space == "semaphore" else space


def _text(operand: Any) -> str:
    """The block shape of a spec, None for a squeezed dim."""
    parts = ["None" if size == SQUEEZED else words.dim(size) for size in block_dims(operand.spec.shape)]  # type: ignore[arg-type]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
