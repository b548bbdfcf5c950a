"""Values of which the source does not tell enough: unknown, or true under a condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..shapes.dims import Dim, MaybeDim, symbol

if TYPE_CHECKING:
    from .paths import Facts, Path
    from .values import Ref

Value = Any
"""An interpreted value: a Python constant or container, or one of the classes of ``values``."""

ABSENT: Any = object()
"""Stands where the program gives no value (``None`` is a value)."""


_PARAMETER = re.compile(r"parameter `(\w+)`")


def missing_parameter(name: str, kind: str = "") -> str:
    """Why a parameter is unknown; ``kind``: the class that it is declared to be of."""
    return f"parameter `{name}`{f', a `{kind}`,' if kind else ''} is not known here"


def parameter_of(why: str) -> str | None:
    """The parameter that `missing_parameter` names; None for any other cause."""
    found = _PARAMETER.match(why)
    return found[1] if found is not None else None


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

    def learn_number(self, name: Callable[[], str]) -> None:
        """Arithmetic is done with it, so it is a number: without a name of its own it gets the symbol that ``name`` gives."""
        if self._poly is None and self.key is None and self.host:
            self._poly = symbol(name())

    def __repr__(self) -> str:
        return f"Unknown({self.key or self.why})"


class Number(Unknown):
    """A number that the host computes from values of which not all are known: a size under a name of its own.

    ``node``: the expression that computes it, whose words are the name; ``path``: the path on which it does.
    """

    __slots__ = ("node", "path")

    def __init__(self, why: str, node: ast.AST, path: Path) -> None:
        super().__init__(why, host=True)
        self.node, self.path = node, path

    @property
    def poly(self) -> Dim | None:
        """A symbol of its own: the same expression computed again is another number."""
        if self._poly is None:
            self._poly = symbol(self.path.name(self.node))
        return self._poly


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


class UnknownRange(Unknown):
    """A ``range`` of unknown length: ``range(start, stop, step)``, None for a bound that is no number that has a name."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: MaybeDim, stop: MaybeDim, step: MaybeDim, key: str) -> None:
        super().__init__("a range of unknown length", key, host=True)
        self.start, self.stop, self.step = start, stop, step

    @property
    def poly(self) -> Dim | None:
        """A range is no size."""
        return None

    @property
    def first(self) -> Value:
        """The number of the first turn."""
        return self.start if self.start is not None else Unknown(self.why, host=True)

    def least(self, turn: int) -> int | None:
        """What its numbers are at least from this turn on, counted from 0; None where that is not known."""
        if not isinstance(self.step, int) or self.step == 0:
            return None
        if self.step < 0:
            return self.stop + 1 if isinstance(self.stop, int) else None
        return self.start + turn * self.step if isinstance(self.start, int) else None


class ShapeOfRef(Unknown):
    """The ``.shape`` of a ref of unknown rank: unpacking it tells the rank."""

    __slots__ = ("ref",)

    def __init__(self, ref: Ref) -> None:
        super().__init__(ref.root.why or "the rank of this ref is unknown", host=True)
        self.ref = ref


class PartOfShape(Unknown):
    """A slice of the ``.shape`` of an array of unknown rank: its dims are known by their place once it is unpacked."""

    __slots__ = ("of", "part")

    def __init__(self, of: Unknown, part: slice) -> None:
        super().__init__(of.why, host=True)
        self.of, self.part = of, part

    def axes(self, count: int) -> range | None:
        """The axes of the ``count`` dims that it has, counted from the end where they are below 0; None where that is not known."""
        start, stop, step = self.part.start, self.part.stop, self.part.step
        first = 0 if start is None else start
        if not isinstance(first, int) or not isinstance(stop, int | None) or step not in (None, 1):
            return None
        if first >= 0:
            return range(first, first + count)
        return range(first, first + count) if first + count == (0 if stop is None else stop) else None


class ChipFacts(Unknown):
    """What ``pltpu.get_tpu_info()`` gives: the same for one program wherever it is asked."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("which TPU this is", "pltpu.get_tpu_info()", host=True)


class UnknownLength(Unknown):
    """A list or tuple of unknown length: ``head`` are the items that it surely starts with."""

    __slots__ = ("head",)

    def __init__(self, why: str, head: list[Value], host: bool = True) -> None:
        super().__init__(why, host=host)
        self.head = head


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
        super().__init__(f"whether {words[0]}", key, host=True, declared=declared)
        self.words, self.default, self.learn, self.negated = words, default, learn, negated

    @property
    def poly(self) -> Dim | None:
        """A truth value is no size."""
        return None

    def inverse(self) -> Condition:
        """The same condition with the opposite answer."""
        return Condition(self.key, self.words, self.default, self.learn, not self.negated, self.declared)
