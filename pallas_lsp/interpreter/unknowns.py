"""Values of which the source does not tell enough: unknown, or true under a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..shapes.dims import Dim, symbol

if TYPE_CHECKING:
    from .paths import Facts

Value = Any
"""An interpreted value: a Python constant or container, or one of the classes of ``values``."""

ABSENT: Any = object()
"""Stands where the program gives no value (``None`` is a value)."""


class Unknown:
    """A value of which the source does not tell enough.

    ``why``: the root cause, kept through every operation. ``key``: the canonical name by which the same unknown met elsewhere is
    recognised. ``host``: made outside a kernel, where it cannot be traced. ``declared``: the default that the program declares for it.
    """

    __slots__ = ("_poly", "declared", "host", "key", "why")

    def __init__(self, why: str, key: str | None = None, poly: Dim | None = None, host: bool = False, declared: Value = ABSENT) -> None:
        self.why, self.key, self._poly, self.host, self.declared = why, key, poly, host, declared

    @property
    def poly(self) -> Dim | None:
        """What it is worth if it is a whole number: a symbol of its own name, unless it was computed from others."""
        if self._poly is None and self.key is not None and self.host:
            self._poly = symbol(self.key)
        return self._poly

    def __repr__(self) -> str:
        return f"Unknown({self.key or self.why})"


class UnknownShape(Unknown):
    """The ``.shape`` of an array of unknown rank."""

    __slots__ = ("of",)

    def __init__(self, of: Unknown) -> None:
        super().__init__(of.why, f"{of.key}.shape" if of.key else None, host=True)
        self.of = of

    @property
    def poly(self) -> Dim | None:
        """A shape is no size."""
        return None


class Condition(Unknown):
    """An undecided truth value.

    ``key`` is its normal form (None: nothing is known of it but where it is tested), which ``negated`` turns round; ``words`` say that the
    (un-negated) condition holds, and that it does not; ``default`` is the answer to try first; ``learn`` records in the path's facts what
    an answer teaches.
    """

    __slots__ = ("default", "learn", "negated", "words")

    def __init__(
        self,
        key: str | None,
        words: tuple[str, str],
        default: bool = True,
        learn: Callable[[Facts, bool], None] | None = None,
        negated: bool = False,
        declared: Value = ABSENT,
    ) -> None:
        super().__init__("an undecided condition", key, host=True, declared=declared)
        self.words, self.default, self.learn, self.negated = words, default, learn, negated

    @property
    def poly(self) -> Dim | None:
        """A truth value is no size."""
        return None

    def inverse(self) -> Condition:
        """The same condition with the opposite answer."""
        return Condition(self.key, self.words, self.default, self.learn, not self.negated, self.declared)
