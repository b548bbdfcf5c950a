"""What a window visits, in words: ``step (i, j) reads `x[8·i : 8·i + 8, :]` of f32[32,128]``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..interpreter.library.index_maps import grid_symbol
from ..shapes import dims
from ..shapes.avals import aval_text
from ..shapes.dims import Atom, Dim, MaybeDim, render
from .hints import aval_of

if TYPE_CHECKING:
    from ..kernels.refs import RefInfo, RefWindow

_LONGEST = 40


def window_text(ref: RefInfo, array: str | None) -> str | None:
    """What each step of the grid sees of an operand or output; None where that is the whole, or the block or its index map is not known.

    ``array``: the expression of the operand in the program, None for an output or where it is not at hand.
    """
    window = ref.window
    if window is None or window.block is None or window.index is None or len(window.index) != len(window.block):
        return None
    parts = [_part(window, dim) for dim in range(len(window.block))]
    if all(part == ":" for part in parts):
        return None
    writes = ref.role == "output"
    named = array is not None and len(array) <= _LONGEST and not writes
    step = f"step ({', '.join(window.axes)}{',' if len(window.axes) == 1 else ''})" if window.axes else "every step"
    whole = aval_text(replace(aval_of(ref), shape=window.array)) if window.array is not None else ""
    what = "" if named else "the output " if writes else "the operand "
    seen = f"{step} {'writes' if writes else 'reads'} `{array if named else ''}[{', '.join(parts)}]`"
    return f"{seen} of {what}{whole}".rstrip() if what or whole else seen


def _part(window: RefWindow, dim: int) -> str:
    """The indices of one dim that a step sees, as a program would write them; ``?`` where the index is not known."""
    assert window.block is not None and window.index is not None
    size, index = window.block[dim], window.index[dim]
    kind = window.kinds[dim] if window.kinds is not None else "blocked"
    if size == "squeezed":
        return "?" if index is None else render(_in_words(index, window.axes))
    if kind not in ("blocked", "element", "bounded") or isinstance(size, str) or size is None:
        return "?"
    if index == 0 and window.array is not None and window.array[dim] == size:
        return ":"
    if index is None:
        return "?"
    start = dims.mul(index, size) if kind == "blocked" else index
    first, last = (None if place is None else _in_words(place, window.axes) for place in (start, dims.add(start, size)))
    return f"{render(first)} : {render(last)}"


def index_text(index: MaybeDim, axes: tuple[str, ...]) -> str:
    """What an index map gives for one dim, in its own names; ``?`` where that is not known."""
    return "?" if index is None else render(_in_words(index, axes))


def _in_words(place: Dim, axes: tuple[str, ...]) -> Dim:
    """A formula of grid indices in the index map's names."""
    names: dict[Atom, Dim] = {grid_symbol(axis): dims.symbol(name) for axis, name in enumerate(axes)}
    return dims.substitute(place, names)
