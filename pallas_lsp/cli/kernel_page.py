"""A kernel call explained for a person: its grid, its refs, the VMEM they take, what is not known and what would tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..features.windows import index_text
from ..shapes.dims import MaybeDim, render
from .places import Places, display

if TYPE_CHECKING:
    from ..kernels.budget import Budget, Part
    from ..kernels.refs import RefInfo
    from ..kernels.site import KernelSite

_MOST_UNKNOWNS = 8
_LONGEST_FORMULA = 200
_OF_A_NAME = re.compile(r"(the .* of )(`[^`]*`)")


def page(site: KernelSite, places: Places, target: str | None = None) -> Iterator[str]:
    """The lines about one kernel call in one configuration. ``target``: the one chip that is asked about."""
    call = f"{display(site.location.path)}:{places.start(site.location).row}"
    place = site.kernel_location
    kernel = site.kernel_name or "a kernel that is not known"
    where = f" ({display(place.path)}:{places.start(place).row})" if place else ""
    yield f"{call}: {kernel}{where}: {site.verdict}"
    for fault in site.faults:
        yield f"  refused  {display(fault.path)}:{places.start(fault).row}"
    for condition in site.conditions:
        yield f"  when     {condition}"
    yield f"  grid     {_grid(site)}"
    rows = [(ref.name or "?", _value(ref), ref.memory_space or "?", _window(ref)) for ref in site.refs]
    yield from (f"  {ref.role:8} {line}" for ref, line in zip(site.refs, _aligned(rows), strict=True))
    if site.budget is not None and site.budget.parts:
        yield from _vmem(site.budget, target)
    yield from _unknowns(site)


def _unknowns(site: KernelSite) -> Iterator[str]:
    unknowns = list(_grouped(site.unknowns))
    for unknown in unknowns[:_MOST_UNKNOWNS]:
        yield f"  unknown  {unknown}"
    if len(unknowns) > _MOST_UNKNOWNS:
        yield f"  unknown  and {len(unknowns) - _MOST_UNKNOWNS} more"
    if site.verdict == "undecided" and any(not isinstance(size, int) for ref in site.refs for size in ref.shape or (None,)):
        yield "  known by a call with these shapes: in the project, or `--call 'function(f32[8,128], block=128)'`"


def _grouped(unknowns: Iterable[str]) -> Iterator[str]:
    """What is said alike of several names, once: ``the shape and dtype of `q`, `k`, `v```."""
    names: dict[str, list[str]] = {}
    for unknown in unknowns:
        found = _OF_A_NAME.fullmatch(unknown)
        names.setdefault(found[1] if found else unknown, []).extend([found[2]] if found else [])
    return (f"{words}{', '.join(of)}" for words, of in names.items())


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as lines in which each column has one width."""
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(max(map(len, rows), default=0))]
    for row in rows:
        yield "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip()


def _grid(site: KernelSite) -> str:
    """The sizes with the names that an index map has for them: ``(i: 4, j: 2), 8 steps``."""
    grid = site.grid
    if grid is None:
        return "?"
    if not grid:
        return "()"
    called = [ref.window.axes for ref in site.refs if ref.window is not None and len(ref.window.axes) == len(grid)]
    names = [next((axes[k] for axes in called if axes[k].strip("_")), "") for k in range(len(grid))]
    named = [f"{name}: {_dim(size)}" if name else _dim(size) for name, size in zip(names, grid, strict=True)]
    steps = 1
    for size in grid:
        steps = steps * size if isinstance(size, int) and steps else 0
    counted = f", {steps} steps" if steps > 1 and len(grid) > 1 else ""
    return f"({', '.join(named)}{',' if len(named) == 1 else ''}){counted}"


def _dim(size: MaybeDim) -> str:
    return "?" if size is None else render(size)


def _shape(shape: Iterable[MaybeDim] | None) -> str:
    return "..." if shape is None else ",".join(map(_dim, shape))


def _value(ref: RefInfo) -> str:
    """The type of what a ref holds, as JAX writes it, ``float32[8,128]``, or with the program's name for a dtype: ``q.dtype[8,128]``."""
    return f"{ref.dtype or ref.dtype_name or '?'}[{_shape(ref.shape)}]"


def _window(ref: RefInfo) -> str:
    """Which block of which array the ref is: ``block (b, i, 0) of shape (None, 128, 64) of [4,512,64]``."""
    window = ref.window
    if window is None:
        return ""
    if window.block is None:
        return "a block that is not known"
    array = f" of [{_shape(window.array)}]" if window.array is not None else ""
    if window.array == window.block and window.index is not None and all(index == 0 for index in window.index):
        return "the whole"
    index = "an index that is not known" if window.index is None else f"({', '.join(index_text(i, window.axes) for i in window.index)})"
    if "squeezed" not in window.block:
        return f"block {index}{array}"
    block = ", ".join("None" if isinstance(size, str) else _dim(size) for size in window.block)
    return f"block {index} of shape ({block}){array}"


def _vmem(budget: Budget, target: str | None) -> Iterator[str]:
    """One row a ref, and the total of the limit of each chip."""
    rows = [_part(part) for part in budget.parts]
    limits = [(chip, limit) for chip, limit in budget.limits if target in (None, chip)]
    lines = list(_aligned(rows))
    yield f"  VMEM     {lines[0]}"
    yield from (f"           {line}" for line in lines[1:])
    if isinstance(budget.total, int):
        by_share: dict[str, list[str]] = {}
        for chip, limit in limits:
            over = "" if budget.total <= limit else ", too much"
            by_share.setdefault(f"{budget.total / limit:.0%} of {size_text(limit)}{over}", []).append(chip)
        shares = "; ".join(f"{share} on {', '.join(chips)}" for share, chips in by_share.items())
        yield f"  total    {size_text(budget.total)}: {shares}"
    elif budget.formula is not None:
        yield from _formula(budget, target)


def _part(part: Part) -> tuple[str, str, str, str]:
    formula = "?" if part.formula is None else size_text(part.formula) if isinstance(part.formula, int) else render(part.formula)
    size = size_text(part.size) if isinstance(part.size, int) else formula
    padded = "" if part.padded is None or part.padded == part.block else f"filled up to [{_shape(part.padded)}]"
    lost = f", {part.lost:.0%} padding" if part.lost is not None and part.lost >= 0.005 else ""
    buffers = "1 or 2 buffers" if part.buffers is None else f"{part.buffers} buffer{'s' * (part.buffers != 1)}"
    return part.name, size, buffers, f"{padded}{lost}"


def _formula(budget: Budget, target: str | None) -> Iterator[str]:
    assert budget.formula is not None
    text = render(budget.formula)
    yield f"  total    {text if len(text) <= _LONGEST_FORMULA else text[:_LONGEST_FORMULA] + ' …'} bytes, where blocks are whole tiles"
    by_size: dict[int | None, list[str]] = {}
    for fit in budget.fits:
        if target in (None, fit.chip):
            by_size.setdefault(fit.most, []).append(fit.chip)
    given = ", ".join(f"{name} = {size}" for name, size in budget.sizes)
    dtype = f", taking {budget.dtype} for dtypes that are not known" if budget.dtype else ""
    for most, chips in by_size.items():
        sizes = " = ".join(budget.blocks)
        fits = f"fits {', '.join(chips)} up to {sizes} = {most}" if most is not None else f"fits {', '.join(chips)} with no size of {sizes}"
        yield f"           {fits}{f' for {given}' if given else ''}{dtype}"


def size_text(size: int) -> str:
    """Bytes as a person reads them."""
    for unit, bytes_in_unit in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_in_unit:
            return f"{size / bytes_in_unit:.4g} {unit}"
    return f"{size} bytes"
