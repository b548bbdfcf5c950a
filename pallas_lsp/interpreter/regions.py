"""Parts of a kernel that JAX drops before lowering, or keeps whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, eq=False)
class Region:
    """A part of a kernel that JAX drops or keeps whole: the body of a ``run_scoped``, a branch that a constant condition never takes.

    ``live``: something outside it depends on it; then none of its own dead loads is dropped either.
    """

    parent: Region | None = None
    live: bool = False
    operands: tuple[Any, ...] = ()

    @property
    def dropped(self) -> bool:
        """Whether JAX drops it before lowering, with or in what is around it."""
        return not self.live or (self.parent is not None and self.parent.dropped)
