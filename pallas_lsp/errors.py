"""What stops a command before it has an answer, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable


class CannotRun(Exception):
    """A bad option, a bad configuration or an unreadable path: one clear line for a person, and exit code 2."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for the known word nearest to ``word``, or nothing where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""
