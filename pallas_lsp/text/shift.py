"""Where things of a text are after it was edited in one place."""

from __future__ import annotations

from collections.abc import Callable

from .span import Span


class Shift:
    """From one text to the next: what the two have in common at their start stays, what they have in common at their end moves."""

    def __init__(self, before: str, after: str) -> None:
        head, tail = common(before, after)
        self._moves = len(before) - tail
        self._by = len(after) - len(before)
        # What is typed right behind something may be a part of it, unless there is white space between.
        self._last = head if after[head : head + 1].isspace() or before == after else head - 1

    def span(self, span: Span) -> Span | None:
        """Where a span is now, None where the edit touched it."""
        if span.end <= self._last:
            return span
        return Span(span.start + self._by, span.end + self._by) if span.start >= self._moves else None


def common(a: str, b: str) -> tuple[int, int]:
    """How many characters two texts have in common at their start, and how many of the rest at their end."""
    head = _same(min(len(a), len(b)), lambda low, high: a[low:high] == b[low:high])
    rest = min(len(a), len(b)) - head
    tail = _same(rest, lambda low, high: a[len(a) - high : len(a) - low] == b[len(b) - high : len(b) - low])
    return head, tail


def _same(most: int, is_equal: Callable[[int, int], bool]) -> int:
    """How far the texts are equal, by halving; ``is_equal`` compares them between two distances."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if is_equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
