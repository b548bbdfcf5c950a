"""The steps by which a view is made of a ref."""

from __future__ import annotations

from dataclasses import dataclass

from ..shapes.dims import MaybeDim
from .unknowns import Value


@dataclass(frozen=True, slots=True)
class RefTransform:
    """One step of a view: ``kind`` is ``index``, ``reshape``, ``bitcast`` or ``transpose``; ``strided`` for an index with a step;
    ``squeezed``: one of the last two dims was squeezed; ``rank``: of what it was applied to; ``picks``: the array or ref of indices that
    the first dim is indexed by; ``narrow``: the dtype of a traced index of fewer than 32 bits. Of a bitcast: the ``rows`` it was applied
    to, and the ``widths`` in bits of an element before and after it, where they are known."""

    kind: str
    strided: bool = False
    squeezed: bool = False
    rank: int | None = None
    rows: MaybeDim = None
    widths: tuple[int, int] | None = None
    picks: Value = None
    narrow: str = ""
