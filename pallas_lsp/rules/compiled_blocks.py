"""Windows and scratch buffers that JAX lowers and the TPU compiler refuses, on every chip: measured with libtpu."""

from __future__ import annotations

from ..interpreter.call_events import ScratchBuffer, Window
from ..interpreter.library.index_maps import grid_symbol
from ..interpreter.values import Opaque
from ..shapes import dims, dtypes
from ..shapes.dims import MaybeDim, Poly
from . import places, words
from .diagnostic import Related
from .registry import Context, Finding, rule

_TILES = {-2: 8, -1: 128}


@rule("scratch-space-unsupported", on=ScratchBuffer, order=10, stage="compile")
def scratch_space_unsupported(event: ScratchBuffer, context: Context) -> Finding | None:
    """A scratch buffer is in a memory in which none can be allocated."""
    root = event.root
    if root.space not in ("hbm", "cmem", "vmem_shared", "host", "any"):
        return None
    message = "Scratch memref allocation only supported for vmem, smem and semaphore_mem."
    if root.space == "any":
        message = "Cannot infer the memory space of main's argument {k}"
    return Finding(
        event.where.location,
        f"scratch buffer `{root.name}` is in {words.space(root)}: the TPU compiler allocates scratch in VMEM, SMEM and semaphore memory only",
        (Related(event.where.call, "the kernel is called here"),) if event.where.call is not None else (),
        message,
    )


def _is_window(event: Window) -> bool:
    return event.fault is None and event.grid is not None


@rule("scalar-smem-with-grid", on=Window, order=70, stage="compile")
def scalar_smem_with_grid(event: Window, context: Context) -> Finding | None:
    """A scalar is windowed in SMEM while there is a grid."""
    if not _is_window(event) or event.root.space != "smem" or event.root.array != () or not event.grid:
        return None
    if event.root.dtype is None or dtypes.kind(event.root.dtype) == "extended":  # a key is an array of numbers
        return None
    side = "input" if event.root.role == "input" else "output"
    return Finding(
        event.where.location,
        f"{words.window(event)} has shape () in a call with a grid: the TPU compiler has no windows of scalars, shape (1,) has one",
        jax_message=f"Failed to set window params for {side} {{i}}: Scalar windows not implemented.",
    )


@rule("window-space-unsupported", on=Window, order=71, stage="compile")
def window_space_unsupported(event: Window, context: Context) -> Finding | None:
    """An operand or output has its window in a memory that has none."""
    if not _is_window(event) or event.root.space not in ("cmem", "vmem_shared") or event.spec is None:
        return None
    return Finding(
        places.of_argument(event.spec.origin, 99, "memory_space"),
        f"{words.window(event)} is in {words.space(event.root)}: the TPU compiler windows operands in VMEM and SMEM only",
        jax_message="Operand windows can only be requested in VMEM, SMEM, or HOST",
    )


@rule("dtype-unsupported", on=Window, order=72, stage="compile")
def dtype_unsupported(event: Window, context: Context) -> Finding | None:
    """An operand or output of a dtype that no TPU computes with."""
    if not _is_window(event) or event.root.dtype != "float16" or event.root.space != "vmem" or event.root.block is None:
        return None
    return Finding(
        event.call,
        f"{words.window(event)} is float16, for which TPUs have no vectors: the TPU compiler takes bfloat16 and float32",
        (Related(event.where.location, f"the spec of {words.window(event)}"),) if event.spec is not None else (),
        "Invalid vector type for load",
    )


@rule("element-low-padding", on=Window, order=73, stage="compile")
def element_low_padding(event: Window, context: Context) -> Finding | None:
    """An ``Element`` dim is padded in front."""
    if not _is_window(event) or event.spec is None or not isinstance(event.spec.shape, tuple) or not event.grid:
        return None
    for axis, entry in enumerate(event.spec.shape):
        if not isinstance(entry, Opaque) or not entry.name.endswith(".Element"):
            continue
        padding = entry.args[1] if len(entry.args) > 1 else entry.kwargs.get("padding")
        if isinstance(padding, tuple) and padding and isinstance(padding[0], int) and padding[0] > 0:
            return Finding(
                places.of_block_dim(event.spec, axis),
                f"dim {axis} of the block of {words.window(event)} is padded by {padding[0]} in front: the TPU compiler pads behind only",
                jax_message="Low padding not supported yet",
            )
    return None


@rule("element-index-unaligned", on=Window, order=74, stage="compile")
def element_index_unaligned(event: Window, context: Context) -> Finding | None:
    """The start of an ``Element`` window is no multiple of the tile."""
    array, result = event.root.array, event.result
    if not _is_window(event) or not event.grid or array is None or len(array) < 2 or result is None or result.formula is None:
        return None
    if "element" not in (event.kinds or ()) or len(result.formula) != len(array) or event.spec is None:
        return None
    for back, tile in _TILES.items():
        axis = len(array) + back
        whole = event.where.facts.resolve(array[axis])
        index = event.where.facts.resolve(result.formula[axis])
        if isinstance(whole, int) and whole >= tile and _leaves_tiles(index, tile, event.grid):
            return Finding(
                places.of_returned(result.function, axis),
                f"index {axis} of {words.window(event)} is the first element of its window, and has to be a multiple of {tile} along that dim "
                "for the TPU compiler",
                (Related(event.where.location, f"the spec of {words.window(event)}"),),
                f"Couldn't prove that tiling ({tile}) divides index returned by transform_indices on dimension {axis}",
            )
    return None


def _leaves_tiles(index: MaybeDim, tile: int, grid: tuple[MaybeDim, ...]) -> bool:
    """Whether an index that is a sum of grid indices is certainly no multiple of the tile at some step."""
    if not isinstance(index, Poly):
        return isinstance(index, int) and index % tile != 0
    rest: MaybeDim = index
    for axis in range(len(grid)):
        rest = dims.substitute(rest, {grid_symbol(axis): 0}) if rest is not None else None
    if not isinstance(rest, int):
        return False
    if rest % tile:
        return True
    for axis, size in enumerate(grid):
        second = dims.substitute(index, {grid_symbol(other): int(other == axis) for other in range(len(grid))})
        if isinstance(size, int) and size > 1 and isinstance(second, int) and second % tile:
            return True
    return False
