"""Room for an interpreter that calls itself for every part of a nested text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

_CALLS = 20_000
_WORDS = 1 << 16  # just over half of what Python rounds it up to: as much again is left for the frames that follow


def deep(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function with room for calls that nest deeper than Python lets its own programs go.

    CPython keeps frames in chunks of 16 KB (``push_chunk`` in its ``Python/pystate.c``). It asks the system for one when calls reach the
    end of the last, and gives it back when they return, so a program that goes to and fro over that end spends a fifth of its time on it.
    After a frame that claims a large stack comes a chunk in which all that we call has its place.
    """

    @wraps(function)
    def roomy(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _CALLS))
        try:
            return function(*args, **kwargs)
        finally:
            sys.setrecursionlimit(limit)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=_WORDS)  # type: ignore[attr-defined]
    return roomy
