"""The same work on many things, in as many processes as there are processors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")

ENOUGH = 32
"""How many things are worth more than one process."""

_work: Callable[[Any], Any] | None = None


def each(work: Callable[[Thing], Result], things: Sequence[Thing], packed: Callable[[Result], Result]) -> Iterator[Result]:
    """``work`` of each thing, in order; ``packed`` makes of a result what another process can send.

    A process starts as a copy of this one (by ``fork``, on Linux), so that it knows all that is known here; elsewhere there is one only.
    """
    workers = min(_processors(), len(things) // (ENOUGH // 2))
    if workers < 2 or len(things) < ENOUGH or sys.platform != "linux":
        yield from map(work, things)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, context, initializer=_take, initargs=(lambda thing: packed(work(thing)),)) as pool:
        yield from pool.map(_call, things)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _take(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work


def _call(thing: Any) -> Any:
    assert _work is not None
    return _work(thing)
