"""Kernel calls inside ``vmap``, ``grad``, ``shard_map`` and a ``jit`` over several devices.

Mirrors ``jax/_src/pallas/pallas_call.py`` (``_batch_block_mapping``, ``_pallas_call_jvp_rule``), ``jax/_src/pallas/core.py``
(``_convert_out_shape_to_aval``) and ``jax/_src/tpu_custom_call.py`` (``_tpu_custom_call_lowering``).
"""

from __future__ import annotations

from ..interpreter.call_events import Window
from ..interpreter.events import CallFault
from ..kernels.windows import block_sizes
from ..shapes import dims, dtypes
from ..shapes.dims import MaybeDim, Truth
from . import words
from .diagnostic import Related
from .registry import Context, Finding, rule


def _batched(event: Window) -> tuple[tuple[MaybeDim, ...], tuple[MaybeDim, ...]] | None:
    """Block and array with the axis of the ``vmap`` in them, None where that is not known or the axis has one index only."""
    sizes, array = block_sizes(event), event.root.array
    if event.batch is None or event.fault is not None or sizes is None or array is None or len(sizes) != len(array):
        return None
    size, axis, _ = event.batch
    if event.where.facts.same(size, 1) is not Truth.NO or axis > len(array) or dtypes.kind(event.root.dtype) == "extended":
        return None
    return (*sizes[:axis], 1, *sizes[axis:]), (*array[:axis], size, *array[axis:])


def _related(event: Window) -> tuple[Related, ...]:
    return (Related(event.batch[2], "mapped here"),) if event.batch is not None else ()


@rule("vmap-any-operand", on=Window, order=35, stage="lower")
def vmap_any_operand(event: Window, context: Context) -> Finding | None:
    """A ``vmap`` maps an array in ANY or HBM, of which a kernel gets the whole."""
    if event.root.space not in ("any", "hbm") or _batched(event) is None:
        return None
    return Finding(
        event.call,
        f"`vmap` makes {words.window(event)}, which is in {words.space(event.root)}, one slice of a larger array: an array there is passed "
        "whole, so the batch belongs into the kernel's own grid",
        _related(event),
        "The Pallas TPU lowering currently supports in memory space ANY only blocks having the same block shape as the array shape and "
        "a trivial index_map (returning all 0s).",
    )


@rule("vmap-squeezed-block", on=Window, order=36, stage="lower")
def vmap_squeezed_block(event: Window, context: Context) -> Finding | None:
    """A ``vmap`` puts its axis where it breaks the tiling of a block."""
    batched = _batched(event) if event.root.space in ("vmem", "smem") else None
    if batched is None or _fits(event, *batched) is not Truth.NO:
        return None
    block, array = batched
    axis = event.batch[1] if event.batch is not None else 0
    text = ", ".join("None" if index == axis else words.dim(size) for index, size in enumerate(block))
    rank = "a one-dimensional block must be as long as the array" if len(block) == 1 else "the last two dims must be multiples of (8, 128)"
    return Finding(
        event.call,
        f"`vmap` makes the block of {words.window(event)} ({text}{',' if len(block) == 1 else ''}) of an array {words.shape(array)}: "
        f"None counts as 1, and {rank}{' or equal it' if len(block) > 1 else ''}",
        _related(event),
        "The Pallas TPU lowering currently requires that the last two dimensions of your block shape are divisible by 8 and 128 respectively, "
        "or be equal to the respective dimensions of the overall array. Block spec for ... has block shape (Squeezed(), ...",
    )


def _fits(event: Window, block: tuple[MaybeDim, ...], array: tuple[MaybeDim, ...]) -> Truth:
    same = event.where.facts.same
    if len(block) == 1:
        return same(block[0], array[0])
    units = zip(block[-2:], array[-2:], (8, 128), strict=True)
    return dims.and_(*(dims.or_(same(b, a), dims.divides(unit, event.where.facts.resolve(b))) for b, a, unit in units))


@rule("pallas-call-not-differentiable", on=CallFault, order=100, stage="trace")
def pallas_call_not_differentiable(event: CallFault, context: Context) -> Finding | None:
    """Reverse-mode differentiation goes through a kernel call."""
    if event.kind != "gradient":
        return None
    return Finding(
        event.where.location,
        "this differentiates through a kernel call, which has no reverse mode: `jax.custom_vjp` gives the function around it a derivative",
        (Related(event.detail, "the kernel is called here"),),
        "Linearization failed to produce known values for all output primals. This is typically caused by attempting to differentiate a "
        "function uses an operation that does not support reverse-mode autodiff.",
    )


@rule("shard-map-vma", on=CallFault, order=101, stage="trace")
def shard_map_vma(event: CallFault, context: Context) -> Finding | None:
    """Inside ``shard_map`` an output does not say along which mesh axes it varies."""
    if event.kind != "varying":
        return None
    return Finding(
        event.where.location,
        "inside this `shard_map` an output has to say along which mesh axes it varies: `check_vma=False` on the `shard_map` asks for nothing",
        (Related(event.detail, "the `shard_map`"),),
        "When `check_vma=True` on `jax.shard_map`, `manual_axis_type` on `jax.ShapeDtypeStruct` must not be `None`.",
    )


@rule("auto-partition", on=CallFault, order=102, stage="lower")
def auto_partition(event: CallFault, context: Context) -> Finding | None:
    """A kernel call is compiled for several devices outside of ``shard_map``."""
    if event.kind != "partition":
        return None
    return Finding(
        event.where.location,
        "this kernel call is compiled for several devices, but a kernel runs on one: `jax.shard_map` around it gives each device its part",
        (Related(event.detail, "several devices come in here"),),
        "Mosaic kernels cannot be automatically partitioned. Please wrap the call in a shard_map.",
    )


