"""When analyses run: on one thread, at most one job a document, the latest edit wins."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

T = TypeVar("T")

SLOW: Final = 0.4
"""Seconds. A document of which no step takes longer is analysed at every keystroke; the next keystroke takes it back."""
BURST: Final = 0.020
"""Seconds. Edits that follow each other faster are no keystrokes but one change in pieces: only the last is looked at."""
PAUSE: Final = 0.25
"""Seconds. How long nobody has to type before a slow document is analysed."""

_STACK: Final = 64 << 20  # bytes
_END: Final = object()


class Schedule:
    """Runs jobs one step at a time on a single worker thread.

    A job is an iterator: each item is a result, handed to ``deliver`` on the event loop, and the place after it is where
    the job stops when a newer one for the same key has been asked for. So a new edit never waits for more than one step, the
    result of a superseded job is never delivered, and nothing but the worker thread touches what the steps use.
    """

    def __init__(self, failed: Callable[[Exception], None], around: Callable[[str], AbstractAsyncContextManager[None]]) -> None:
        """``failed`` is told, on the event loop, of an exception that a step raised; each job of a key runs inside ``around(key)``."""
        self._failed = failed
        self._around = around
        self._worker = _deep_worker()
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._slowest_step: dict[str, float] = {}
        self._asked: dict[str, float] = {}

    def restart(self, key: str, steps: Callable[[], Iterator[T]], deliver: Callable[[T], None]) -> None:
        """Ask for ``steps()`` to be run for ``key`` instead of what was asked for it before; call on the event loop."""
        if running := self._jobs.get(key):
            running.cancel()
        loop = asyncio.get_running_loop()
        delay = self.delay(key, loop.time())
        self._asked[key] = loop.time()
        self._jobs[key] = loop.create_task(self._run(key, steps, deliver, delay))

    async def run(self, function: Callable[[], T]) -> T:
        """The result of ``function``, called on the worker thread after the step that is running."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, function)

    async def settled(self, key: str | None = None) -> None:
        """Return when no job is left, for ``key`` or without one for any; those asked for in the meantime are waited for too."""
        while jobs := [job for other, job in self._jobs.items() if key in (None, other)]:
            await asyncio.wait(jobs)

    def delay(self, key: str, now: float) -> float:
        """Seconds that a job for ``key`` waits lest another edit follows: none when it is quick, or nobody was typing just now."""
        since = now - self._asked.get(key, -math.inf)
        if since < 2 * PAUSE and self._slowest_step.get(key, 0.0) > SLOW:
            return PAUSE
        return BURST if since < BURST else 0.0

    def close(self) -> None:
        """Drop all jobs; a step that is running ends by itself."""
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _run(self, key: str, steps: Callable[[], Iterator[T]], deliver: Callable[[T], None], delay: float) -> None:
        try:
            await asyncio.sleep(delay)
            async with self._around(key):
                self._slowest_step[key] = await self._steps(steps(), deliver)
        except Exception as error:
            self._failed(error)
        finally:
            if self._jobs.get(key) is asyncio.current_task():
                del self._jobs[key]


    async def _steps(self, iterator: Iterator[T], deliver: Callable[[T], None]) -> float:
        """Run a job to its end; gives the seconds of its slowest step."""
        slowest = 0.0
        while True:
            item, took = await self.run(lambda: _timed_next(iterator))
            slowest = max(slowest, took)
            if item is _END:
                return slowest
            deliver(item)  # type: ignore[arg-type]  # not _END, so a T


def _deep_worker() -> ThreadPoolExecutor:
    """One thread with room for deep recursion: some systems give threads a sixteenth of what the main one has."""
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
    before = threading.stack_size(_STACK)
    try:
        worker.submit(int).result()  # starts the thread
    finally:
        threading.stack_size(before)
    return worker


def _timed_next(iterator: Iterator[object]) -> tuple[object, float]:
    """The next item, or ``_END``, and the seconds it took."""
    began = time.perf_counter()
    item = next(iterator, _END)
    return item, time.perf_counter() - began
