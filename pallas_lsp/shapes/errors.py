"""The one exception of this layer."""

from __future__ import annotations


class ShapeError(Exception):
    """JAX certainly raises for these arguments.

    The message states JAX's rule in one short sentence. ``rule`` is the id of the diagnostic that is about it, where there is
    one of its own (``"too-many-indices"``).
    """

    def __init__(self, message: str, rule: str | None = None) -> None:
        super().__init__(message)
        self.rule = rule
