"""One thread that owns what is not safe to use from several: jobs queue for it, and nobody waits longer than they choose."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

_STACK = 16 * 1024 * 1024  # bytes; the jobs recurse deeply, and some systems give a thread half a megabyte
_WAITING_LIMIT = 256

Result = TypeVar("Result")


class OwnerThread(Generic[Result]):
    """Runs jobs one after another in a daemon thread, so that a job that never ends keeps no process alive."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[tuple[Callable[[], Result], Future[Result]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._job_started: float | None = None

    def submit(self, job: Callable[[], Result]) -> Future[Result] | None:
        """Queue ``job``; None where too many are waiting already."""
        if self._jobs.qsize() >= _WAITING_LIMIT:
            return None
        future: Future[Result] = Future()
        self._jobs.put((job, future))
        with self._lock:
            if self._thread is None:
                self._thread = self._start()
        return future

    def wait(self, future: Future[Result], seconds: float) -> Result | None:
        """The result of ``future``; None where it failed or takes longer than ``seconds``.

        While an earlier job is overdue by that measure nothing is waited for at all.
        """
        started = self._job_started
        overdue = started is not None and time.monotonic() - started > seconds
        try:
            failure = future.exception(timeout=0 if overdue else seconds)
        except TimeoutError:
            return None
        return future.result() if failure is None else None

    def _start(self) -> threading.Thread:
        previous = threading.stack_size(_STACK)
        try:
            thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            thread.start()
        finally:
            threading.stack_size(previous)
        return thread

    def _run(self) -> None:
        while True:
            job, future = self._jobs.get()
            self._job_started = time.monotonic()
            try:
                future.set_result(job())
            except BaseException as error:  # nothing that a job raises may end the thread
                future.set_exception(error)
            finally:
                self._job_started = None
