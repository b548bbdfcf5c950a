"""The scheduler: one job a document, the latest edit wins, nothing superseded is delivered."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from pallas_lsp.server.schedule import BURST, PAUSE, SLOW, Schedule

pytestmark = pytest.mark.asyncio(loop_scope="function")


@pytest_asyncio.fixture(loop_scope="function")
async def schedule() -> AsyncIterator[Schedule]:
    failures: list[Exception] = []
    entered: list[str] = []

    @asynccontextmanager
    async def around(key: str) -> AsyncIterator[None]:
        entered.append(f"{key} begins")
        yield
        entered.append(f"{key} ends")

    schedule = Schedule(failures.append, around)
    schedule.entered = entered  # type: ignore[attr-defined]
    schedule.failures = failures  # type: ignore[attr-defined]
    yield schedule
    schedule.close()


def naps(*items: str, seconds: float = 0.0) -> Iterator[str]:
    for item in items:
        time.sleep(seconds)
        yield item


async def test_results_come_in_order_from_one_worker_thread(schedule: Schedule) -> None:
    delivered: list[str] = []
    threads: set[int] = set()

    def steps() -> Iterator[str]:
        for item in ("own", "reader", "importer"):
            threads.add(threading.get_ident())
            yield item

    schedule.restart("a.py", steps, delivered.append)
    schedule.restart("b.py", lambda: naps("other"), delivered.append)
    await schedule.settled()
    assert [item for item in delivered if item != "other"] == ["own", "reader", "importer"]
    assert "other" in delivered
    assert len(threads) == 1 and threading.get_ident() not in threads


async def test_of_a_burst_only_the_last_is_delivered(schedule: Schedule) -> None:
    delivered: list[str] = []
    started: list[int] = []

    def steps(version: int) -> Iterator[str]:
        started.append(version)
        yield from naps(f"v{version}", f"v{version} again", seconds=0.02)

    for version in range(20):
        schedule.restart("a.py", lambda version=version: steps(version), delivered.append)  # type: ignore[misc]
        await asyncio.sleep(0)
    await schedule.settled()
    assert delivered == ["v19", "v19 again"]
    assert len(started) <= 3, "a job that was superseded before it began never runs"


async def test_a_newer_edit_waits_for_one_step_not_for_the_whole_job(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda: naps(*"abcdefghij", seconds=0.05), delivered.append)
    await asyncio.sleep(0.02)
    began = time.perf_counter()
    schedule.restart("a.py", lambda: naps("new"), delivered.append)
    await schedule.settled()
    assert delivered == ["new"]
    assert time.perf_counter() - began < 0.3


async def test_something_can_be_done_around_each_job(schedule: Schedule) -> None:
    schedule.restart("a.py", lambda: naps("a"), lambda _: schedule.entered.append("a is there"))  # type: ignore[attr-defined]
    await schedule.settled()
    assert schedule.entered == ["a.py begins", "a is there", "a.py ends"]  # type: ignore[attr-defined]


async def test_edits_in_a_burst_are_one_change_even_where_each_is_quick(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pallas_lsp.server.schedule.BURST", 0.5)  # a machine may be busy
    started: list[int] = []

    def steps(version: int) -> Iterator[str]:
        started.append(version)
        yield f"v{version}"

    delivered: list[str] = []
    for version in range(20):
        schedule.restart("a.py", lambda version=version: steps(version), delivered.append)  # type: ignore[misc]
        await asyncio.sleep(0.001)
    await schedule.settled()
    assert delivered[-1] == "v19" and len(started) <= 2, "the first, which nobody could know to be followed, and the last"


async def test_two_documents_share_the_worker_step_by_step(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda: naps("a1", "a2", "a3", seconds=0.01), delivered.append)
    schedule.restart("b.py", lambda: naps("b1", "b2", "b3", seconds=0.01), delivered.append)
    await schedule.settled()
    assert delivered.index("b1") < delivered.index("a3")


async def test_only_a_slow_document_waits_for_a_pause(schedule: Schedule) -> None:
    def nothing(_: str) -> None:
        pass

    def delay(key: str, later: float = 0.0) -> float:
        return schedule.delay(key, asyncio.get_running_loop().time() + later)

    assert delay("a.py") == 0.0
    schedule.restart("a.py", lambda: naps("quick", seconds=0.05), nothing)
    await schedule.settled()
    assert delay("a.py", later=BURST) == 0.0
    schedule.restart("b.py", lambda: naps("slow", seconds=SLOW + 0.05), nothing)
    await schedule.settled()
    assert delay("b.py") == PAUSE
    assert delay("b.py", later=1.0) == 0.0, "the first edit after a pause is answered at once"
    assert delay("c.py") == 0.0


async def test_a_step_that_raises_is_told_and_stops_only_its_job(schedule: Schedule) -> None:
    delivered: list[str] = []

    def fails() -> Iterator[str]:
        yield "first"
        raise ValueError("broken")

    schedule.restart("a.py", fails, delivered.append)
    schedule.restart("b.py", lambda: naps("b"), delivered.append)
    await schedule.settled()
    assert sorted(delivered) == ["b", "first"]
    assert [str(error) for error in schedule.failures] == ["broken"]  # type: ignore[attr-defined]
    schedule.restart("a.py", lambda: naps("again"), delivered.append)
    await schedule.settled("a.py")
    assert delivered[-1] == "again"


async def test_settled_waits_for_jobs_asked_for_in_the_meantime(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda: naps("old", seconds=0.05), delivered.append)
    waiting = asyncio.ensure_future(schedule.settled("a.py"))
    await asyncio.sleep(0.01)
    schedule.restart("a.py", lambda: naps("new", seconds=0.02), delivered.append)
    await waiting
    assert delivered == ["new"]


async def test_a_waiter_that_is_cancelled_leaves_the_job_alone(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda: naps("result", seconds=0.05), delivered.append)
    waiting = asyncio.ensure_future(schedule.settled())
    await asyncio.sleep(0.01)
    waiting.cancel()
    await schedule.settled()
    assert delivered == ["result"]
