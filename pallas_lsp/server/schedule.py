"""When analyses run: on one thread, at most one job a document, the latest edit wins."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final, TypeVar

T = TypeVar("T")

BURST: Final = 0.020
"""Seconds. Edits that follow each other faster are no keystrokes but one change in pieces: only the last is looked at."""
_STACK: Final = 64 << 20  # bytes
_END: Final = object()


class Schedule:
    """Runs jobs one step at a time on a single worker thread.

    A job is an iterator: each item is a result, handed to ``deliver`` on the event loop, and the place after it is where
    the job stops when a newer one for the same key has been asked for. So a new edit never waits for more than one step, the
    result of a superseded job is never delivered, and nothing but the worker thread touches what the steps use. A step that
    has something to tell before it ends calls what the job was given.
    """

    def __init__(self, failed: Callable[[Exception], None], around: Callable[[str], AbstractAsyncContextManager[None]]) -> None:
        """``failed`` is told, on the event loop, of an exception that a step raised; each job of a key runs inside ``around(key)``."""
        self._failed = failed
        self._around = around
        self._worker = _deep_worker()
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._told: dict[str, asyncio.Event] = {}  # set once the newest job of a key has delivered something
        self._asked: dict[str, float] = {}

    def restart(self, key: str, steps: Callable[[Callable[[T], None]], Iterator[T]], deliver: Callable[[T], None]) -> None:
        """Ask for ``steps(early)`` to be run for ``key`` instead of what was asked for it before; call on the event loop.

        What a step gives to ``early`` is delivered like an item, while the step goes on.
        """
        if running := self._jobs.get(key):
            running.cancel()
        loop = asyncio.get_running_loop()
        delay = self.delay(key, loop.time())
        self._asked[key] = loop.time()
        self._told[key] = asyncio.Event()
        self._jobs[key] = loop.create_task(self._run(key, steps, deliver, delay))

    async def run(self, function: Callable[[], T]) -> T:
        """The result of ``function``, called on the worker thread after the step that is running."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, function)

    async def settled(self, key: str | None = None) -> None:
        """Return when no job is left, for ``key`` or without one for any; those asked for in the meantime are waited for too."""
        while jobs := [job for other, job in self._jobs.items() if key in (None, other)]:
            await asyncio.wait(jobs)

    async def told(self, key: str) -> None:
        """Return when the newest job for ``key`` has delivered something; where none runs for it, when none is left for others either."""
        if key not in self._jobs:
            await self.settled()
        while (job := self._jobs.get(key)) is not None and not (told := self._told[key]).is_set():
            first = asyncio.ensure_future(told.wait())
            await asyncio.wait((job, first), return_when=asyncio.FIRST_COMPLETED)
            first.cancel()

    def delay(self, key: str, now: float) -> float:
        """Seconds that a job for ``key`` waits lest another edit follows: none unless one came just now."""
        return BURST if now - self._asked.get(key, -math.inf) < BURST else 0.0

    def close(self) -> None:
        """Drop all jobs; a step that is running ends by itself."""
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _run(
        self, key: str, steps: Callable[[Callable[[T], None]], Iterator[T]], deliver: Callable[[T], None], delay: float
    ) -> None:
        loop, told = asyncio.get_running_loop(), self._told[key]

        def tell(item: T) -> None:
            if self._told.get(key) is told:  # no newer job has been asked for
                deliver(item)
                told.set()

        try:
            await asyncio.sleep(delay)
            async with self._around(key):
                items = steps(lambda item: _later(loop, lambda: tell(item)))
                await self._steps(items, tell)
        except Exception as error:
            self._failed(error)
        finally:
            if self._jobs.get(key) is asyncio.current_task():
                del self._jobs[key]

    async def _steps(self, items: Iterator[T], deliver: Callable[[T], None]) -> None:
        """Run a job to its end."""
        while (item := await self.run(lambda: next(items, _END))) is not _END:
            deliver(item)  # type: ignore[arg-type]  # not _END, so a T


def _later(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call something on the event loop, from the worker thread; nothing once the loop is closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


def _deep_worker() -> ThreadPoolExecutor:
    """One thread with room for deep recursion: some systems give threads a sixteenth of what the main one has."""
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
    before = threading.stack_size(_STACK)
    try:
        worker.submit(int).result()  # starts the thread
    finally:
        threading.stack_size(before)
    return worker
