"""The VMEM of a kernel call as a table: what each ref takes, of how much, and as a formula where sizes are not numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..data.chips import load_chips
from ..interpreter.call_events import Footprint
from ..shapes import dims, dtypes
from ..shapes.dims import Atom, Dim, MaybeDim, Poly, Shape
from ..shapes.poly import Symbol, symbols_of
from .parameters import vmem_limit
from .vmem import Share, padded_shape, shares

_ASSUMED_DTYPE = "float32"
_ASSUMED_SIZE = 128
_LARGEST = 1 << 14


@dataclass(frozen=True, slots=True)
class Part:
    """What one ref takes: a ``block`` filled up to ``padded``, ``buffers`` times, ``size`` bytes in all; None for what is not known.

    ``formula``: the same where blocks are whole tiles, for what is not known an assumption; ``lost``: the share of it that is padding, None
    where the sizes are no numbers.
    """

    name: str
    block: Shape
    padded: Shape
    dtype: str | None
    buffers: int | None
    size: MaybeDim
    formula: MaybeDim
    lost: float | None


@dataclass(frozen=True, slots=True)
class Fit:
    """Up to which size of the blocks (``most``, None where none fits) a kernel fits a chip."""

    chip: str
    most: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """The VMEM of a kernel call.

    ``total``: the bytes of all parts, None where one is not known; ``limits``: what a kernel with these compiler parameters may use, by
    chip; ``formula``: the total where sizes are symbols and blocks whole tiles; ``blocks``: its symbols that are block sizes, or its only
    one; ``fits``: see ``Fit``, with ``sizes`` for the other symbols; ``dtype``: what was taken for the dtypes that are not known.
    """

    parts: tuple[Part, ...]
    total: MaybeDim
    limits: tuple[tuple[str, int], ...]
    formula: MaybeDim = None
    blocks: tuple[str, ...] = ()
    fits: tuple[Fit, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    dtype: str | None = None


def budget_of(event: Footprint) -> Budget | None:
    """The VMEM of the call that keeps these refs, None where not all of them are known."""
    taken = shares(event, "vmem")
    if not event.complete or any(root.space is None for root in event.roots):
        return None
    parts = tuple(_part(event, share) for share in taken)
    total: MaybeDim = 0
    for part in parts:
        total = dims.add(total, part.size)
    limits = tuple((chip, vmem_limit(event.parameters, chip)) for chip in load_chips())
    budget = Budget(parts, total, limits)
    return budget if isinstance(total, int) else _symbolic(event, taken, budget)


def _part(event: Footprint, share: Share) -> Part:
    root, resolve = share.root, event.where.facts.resolve_shape
    block = resolve(root.shape)
    data, bits = dims.product(block) if block is not None else None, dtypes.bits(root.dtype)
    lost = None
    if isinstance(share.padded, int) and isinstance(data, int) and bits is not None and share.padded:
        lost = max(0.0, 1 - data * bits / 8 / share.padded)
    return Part(root.name, block, padded_shape(block, root.dtype), root.dtype, share.buffers, share.size, _unpadded(event, share), lost)


def _symbolic(event: Footprint, taken: tuple[Share, ...], budget: Budget) -> Budget:
    """The budget with a formula: blocks are taken for whole tiles, and a dtype that is not known for 32 bits."""
    formula: MaybeDim = 0
    for part in budget.parts:
        formula = dims.add(formula, part.formula)
    if not isinstance(formula, Poly):
        return budget
    minor, leading = _block_symbols(event, taken)
    symbols = symbols_of(formula)
    blocks = [symbol for symbol in symbols if symbol in minor] or list(symbols if len(symbols) == 1 else ())
    fixed = {symbol: 1 if symbol in leading else _ASSUMED_SIZE for symbol in symbols if symbol not in blocks}
    fits = tuple(_fits(formula, fixed, budget.limits)) if blocks else ()
    sizes = tuple((symbol.name, size) for symbol, size in fixed.items())
    dtype = _ASSUMED_DTYPE if any(share.root.dtype is None for share in taken) else None
    return replace(budget, formula=formula, blocks=tuple(s.name for s in blocks), fits=fits, sizes=sizes, dtype=dtype)


def _unpadded(event: Footprint, share: Share) -> MaybeDim:
    """What a ref takes if its symbols are whole tiles: only its numbers are filled up. A window that may move has two buffers."""
    root, buffers = share.root, 2 if share.buffers is None else share.buffers
    shape = event.where.facts.resolve_shape(root.shape)
    dtype = root.dtype or _ASSUMED_DTYPE
    numbers = tuple(size if isinstance(size, int) else _ASSUMED_SIZE for size in shape) if shape is not None else None
    padded, bits = padded_shape(numbers, dtype), 32 if dtype == "bool" else dtypes.bits(dtype)
    if shape is None or padded is None or bits is None:
        return None
    sizes = [filled if isinstance(size, int) else size for size, filled in zip(shape or padded, padded, strict=True)]
    return dims.floordiv(dims.mul(dims.mul(dims.product(sizes), bits), buffers), 8)


def _block_symbols(event: Footprint, taken: tuple[Share, ...]) -> tuple[set[Symbol], set[Symbol]]:
    """The symbols that are sizes of blocks and of no array: in the last two dims of one, and only in leading dims."""
    resolve = event.where.facts.resolve_shape
    windowed = [root for root in event.roots if root.array != root.block]
    arrays = {symbol for root in windowed for size in resolve(root.array) or () for symbol in symbols_of(size)}
    shapes = [resolve(share.root.shape) or () for share in taken]
    minor = {symbol for shape in shapes for size in shape[-2:] for symbol in symbols_of(size)} - arrays
    leading = {symbol for shape in shapes for size in shape[:-2] for symbol in symbols_of(size)} - arrays - minor
    return minor, leading


def _fits(formula: Poly, fixed: Mapping[Symbol, int], limits: tuple[tuple[str, int], ...]) -> Iterator[Fit]:
    """The largest power of two for all sizes that are not ``fixed`` with which the kernel fits each chip."""
    symbols = symbols_of(formula)
    needed: dict[int, MaybeDim] = {}
    for size in (1 << power for power in range(3, _LARGEST.bit_length())):
        values: dict[Atom, Dim] = {symbol: fixed.get(symbol, size) for symbol in symbols}
        needed[size] = dims.substitute(formula, values)
    for chip, limit in limits:
        yield Fit(chip, max((size for size, need in needed.items() if isinstance(need, int) and need <= limit), default=None))
