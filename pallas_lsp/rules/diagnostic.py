"""What a rule's finding becomes: plain data for the terminal and the editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

from ..text.span import Edit, Location

Severity = Literal["error", "warning", "info"]
Applicability = Literal["safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class Related:
    """A place that decided the finding, with one sentence on how."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that make one finding go away.

    ``safe``: the kernel computes what its text plainly means; ``unsafe``: it may change results or interfaces.
    """

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding, in the file of its primary span.

    ``jax_message`` is what JAX itself would say (hover and page show it); ``fixes`` come best first, each verified
    by analysing the edited text again, which happens when they are first looked at. They do not count for equality. ``conditions``: the
    assumptions that it rests on, in words, as the message has them.
    """

    rule: str
    severity: Severity
    message: str
    location: Location
    related: tuple[Related, ...] = ()
    fixes: Sequence[Fix] = field(default=(), compare=False)
    jax_message: str | None = None
    conditions: tuple[str, ...] = ()


class FixesOnDemand(Sequence[Fix]):
    """Fixes that are worked out one by one, as far as they are looked at, and then kept."""

    def __init__(self, fixes: Iterator[Fix]) -> None:
        self._known: list[Fix] = []
        self._rest = fixes

    def __iter__(self) -> Iterator[Fix]:
        position = 0
        while self._reaches(position):
            yield self._known[position]
            position += 1

    def __bool__(self) -> bool:
        return self._reaches(0)

    def __len__(self) -> int:
        self._known.extend(self._rest)
        return len(self._known)

    @overload
    def __getitem__(self, index: int) -> Fix: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Fix]: ...
    def __getitem__(self, index: int | slice) -> Fix | Sequence[Fix]:
        if isinstance(index, slice) or not self._reaches(index):
            self._known.extend(self._rest)
        return self._known[index]

    def _reaches(self, position: int) -> bool:
        """Whether there is a fix at ``position``, from the start."""
        while 0 <= position >= len(self._known):
            fix = next(self._rest, None)
            if fix is None:
                return False
            self._known.append(fix)
        return position >= 0
