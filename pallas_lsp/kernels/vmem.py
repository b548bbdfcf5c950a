"""How much of VMEM and SMEM a kernel call takes: its windows, each with its buffers, and its scratch buffers.

The sizes are the TPU compiler's, found by compiling kernels with ever lower limits; no file of JAX's says them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..interpreter.call_events import Footprint, Window
from ..interpreter.events import Access
from ..interpreter.library.index_maps import grid_symbol
from ..interpreter.values import Array, Opaque, RefRoot, Value
from ..shapes import dims, dtypes
from ..shapes.dims import Atom, Dim, MaybeDim, Shape, Truth
from .windows import is_trivial

LANES, SUBLANES = 128, 8


@dataclass(frozen=True, slots=True)
class Share:
    """What one ref takes of a memory: ``padded`` bytes, ``buffers`` times; None for what is not known.

    ``fixed``: the compiler cannot do without it: the array is in HBM as the kernel wants it, or the scratch buffer has to stand in memory.
    """

    root: RefRoot
    padded: MaybeDim
    buffers: int | None
    fixed: bool

    @property
    def size(self) -> MaybeDim:
        """The bytes that it takes, None where they are not known."""
        return dims.mul(self.padded, self.buffers)

    @property
    def least(self) -> MaybeDim:
        """The bytes that it takes at least."""
        return 0 if self.padded is None else dims.mul(self.padded, 1 if self.buffers is None else self.buffers)


def shares(event: Footprint, space: str) -> tuple[Share, ...]:
    """What the refs of a call take of the memory ``space``: ``vmem`` or ``smem``."""
    return tuple(_share(event, root) for root in event.roots if root.space == space)


def total(parts: tuple[Share, ...], event: Footprint) -> MaybeDim:
    """The bytes that these take together, None where not all of them are known."""
    if not event.complete or any(root.space is None for root in event.roots):
        return None
    found: MaybeDim = 0
    for part in parts:
        found = dims.add(found, part.size)
    return found


def padded_bytes(shape: Shape, dtype: str | None) -> MaybeDim:
    """The bytes of an array in VMEM or SMEM; None where they are not known."""
    bits, padded = _bits(dtype), padded_shape(shape, dtype)
    return None if padded is None else dims.floordiv(dims.mul(dims.product(padded), bits), 8)


def _bits(dtype: str | None) -> int | None:
    bits = 32 if dtype == "bool" else dtypes.bits(dtype)
    return bits if bits is not None and bits <= 32 else None


def padded_shape(shape: Shape, dtype: str | None) -> Shape:
    """The shape that an array has in VMEM or SMEM; None where it is not known.

    The last dim is filled up to 128 lanes, the one before to a tile of 8 rows, or of 1, 2 or 4 where all its rows fit in so few; of dtypes
    narrower than 32 bits at least as many rows as share a sublane. A single dim is filled up to whole lanes. A bool takes 32 bits.
    """
    bits = _bits(dtype)
    if shape is None or bits is None:
        return None
    packed = 32 // bits
    if len(shape) < 2:
        return (_filled(shape[0] if shape else 1, LANES * packed),)
    *lead, rows, columns = shape
    tile = _row_tile(rows, packed)
    return None if tile is None else (*lead, _filled(rows, tile), _filled(columns, LANES))


def _filled(size: MaybeDim, unit: int) -> MaybeDim:
    if dims.divides(unit, size) is Truth.YES:
        return size
    return dims.mul(dims.cdiv(size, unit), unit)


def _row_tile(rows: MaybeDim, packed: int) -> int | None:
    if dims.divides(SUBLANES, rows) is Truth.YES:
        return SUBLANES
    tile = SUBLANES
    while tile // 2 >= packed:
        fits = dims.less_equal(rows, tile // 2)
        if fits is Truth.MAYBE:
            return None
        if fits is Truth.NO:
            break
        tile //= 2
    return tile


def _share(event: Footprint, root: RefRoot) -> Share:
    shape = event.where.facts.resolve_shape(root.shape)
    if not isinstance(root.window, Window):
        kept = root.kept == "indexed" or (root.kept == "carried" and event.where.facts.less(1, dims.product(event.grid or ())) is Truth.YES)
        return Share(root, padded_bytes(shape, root.dtype), 1, kept or root.role == "prefetch")
    buffers = None if event.batched else _buffers(event, root.window)
    # The compiler may lay out an array anew that the kernel's tiles would fill up, and keeps what it copied in VMEM.
    stays = id(root) in event.entry and not root.aliased and _is_dense(event.where.facts.resolve_shape(root.array), root.dtype)
    return Share(root, padded_bytes(shape, root.dtype), buffers, stays)


def _is_dense(shape: Shape, dtype: str | None) -> bool:
    """Whether an array has no padding in tiles."""
    if shape is None or dtype == "bool":
        return False
    dense = dims.floordiv(dims.mul(dims.product(shape), dtypes.bits(dtype)), 8)
    return dims.equal(padded_bytes(shape, dtype), dense) is Truth.YES


def _buffers(event: Footprint, window: Window) -> int | None:
    """How often a window is in memory, None where that is not known."""
    mode = window.spec.pipeline_mode if window.spec is not None else None
    if mode is not None:
        count = (mode.args[0] if mode.args else mode.kwargs.get("buffer_count")) if isinstance(mode, Opaque) else None
        return count if isinstance(count, int) else None
    if event.grid is None:
        return None
    if event.grid == () or is_trivial(window) is Truth.YES:
        return 1
    if not window.mapped:
        return 1
    if window.result is None or window.result.conditions:
        return None
    lengths = [event.where.facts.resolve(size) for size in event.grid]
    fixed: dict[Atom, Dim] = {grid_symbol(axis): 0 for axis, length in enumerate(lengths) if length == 1}
    axes: dict[Atom, Dim] = {grid_symbol(axis): 0 for axis in range(len(lengths))}
    formula = window.result.formula or (None,) * len(window.result.entries)
    placed = zip((dims.substitute(index, fixed) if index is not None else None for index in formula), window.result.entries, strict=True)
    moves = (dims.substitute(index, axes) != index if index is not None else _is_of_grid(entry) for index, entry in placed)
    return 2 if any(moves) else 1


def _is_of_grid(index: Value) -> bool:
    """Whether an index was computed from a grid index."""
    pending, seen = [index], set()
    while pending:
        part = pending.pop()
        if id(part) in seen or not isinstance(part, Array | Access):
            continue
        seen.add(id(part))
        if isinstance(part, Access):
            pending.extend(entry.value for entry in part.entries)
        elif part.made_by is None and not part.operands:
            return True
        else:
            pending.extend(part.operands)
    return False
