"""The scheduler: one job a document, the latest edit wins, nothing superseded is delivered."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from pallas_lsp.server.schedule import Schedule

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

    def steps(_: object) -> Iterator[str]:
        for item in ("own", "reader", "importer"):
            threads.add(threading.get_ident())
            yield item

    schedule.restart("a.py", steps, delivered.append)
    schedule.restart("b.py", lambda _: naps("other"), delivered.append)
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
        schedule.restart("a.py", lambda _, version=version: steps(version), delivered.append)  # type: ignore[misc]
        await asyncio.sleep(0)
    await schedule.settled()
    assert delivered == ["v19", "v19 again"]
    assert len(started) <= 3, "a job that was superseded before it began never runs"


async def test_a_newer_edit_waits_for_one_step_not_for_the_whole_job(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda _: naps(*"abcdefghij", seconds=0.05), delivered.append)
    await asyncio.sleep(0.02)
    began = time.perf_counter()
    schedule.restart("a.py", lambda _: naps("new"), delivered.append)
    await schedule.settled()
    assert delivered == ["new"]
    assert time.perf_counter() - began < 0.3


async def test_something_can_be_done_around_each_job(schedule: Schedule) -> None:
    schedule.restart("a.py", lambda _: naps("a"), lambda _: schedule.entered.append("a is there"))  # type: ignore[attr-defined]
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
        schedule.restart("a.py", lambda _, version=version: steps(version), delivered.append)  # type: ignore[misc]
        await asyncio.sleep(0.001)
    await schedule.settled()
    assert delivered[-1] == "v19" and len(started) <= 2, "the first, which nobody could know to be followed, and the last"


async def test_two_documents_share_the_worker_step_by_step(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda _: naps("a1", "a2", "a3", seconds=0.01), delivered.append)
    schedule.restart("b.py", lambda _: naps("b1", "b2", "b3", seconds=0.01), delivered.append)
    await schedule.settled()
    assert delivered.index("b1") < delivered.index("a3")


async def test_what_a_step_tells_early_is_delivered_while_it_goes_on(schedule: Schedule) -> None:
    delivered: list[str] = []
    end = threading.Event()

    def steps(early: Callable[[str], None]) -> Iterator[str]:
        early("first")
        end.wait(10)
        yield "all"

    schedule.restart("a.py", steps, delivered.append)
    await schedule.told("a.py")
    assert delivered == ["first"]
    await schedule.told("a.py")
    end.set()
    await schedule.settled()
    assert delivered == ["first", "all"]


async def test_what_a_superseded_step_tells_is_not_delivered(schedule: Schedule) -> None:
    delivered: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def steps(early: Callable[[str], None]) -> Iterator[str]:
        begun.set()
        go_on.wait(10)
        early("old")
        yield "old too"

    schedule.restart("a.py", steps, delivered.append)
    while not begun.is_set():
        await asyncio.sleep(0.001)
    schedule.restart("a.py", lambda _: naps("new"), delivered.append)
    told = asyncio.ensure_future(schedule.told("a.py"))
    await asyncio.sleep(0.01)
    assert not told.done()
    go_on.set()
    await told
    assert delivered == ["new"]


async def test_who_waits_for_a_key_without_a_job_waits_for_all(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda _: naps("a1", "a2", seconds=0.02), delivered.append)
    await schedule.told("b.py")
    assert delivered == ["a1", "a2"]


async def test_a_step_that_raises_is_told_and_stops_only_its_job(schedule: Schedule) -> None:
    delivered: list[str] = []

    def fails(_: object) -> Iterator[str]:
        yield "first"
        raise ValueError("broken")

    schedule.restart("a.py", fails, delivered.append)
    schedule.restart("b.py", lambda _: naps("b"), delivered.append)
    await schedule.settled()
    assert sorted(delivered) == ["b", "first"]
    assert [str(error) for error in schedule.failures] == ["broken"]  # type: ignore[attr-defined]
    schedule.restart("a.py", lambda _: naps("again"), delivered.append)
    await schedule.settled("a.py")
    assert delivered[-1] == "again"


async def test_settled_waits_for_jobs_asked_for_in_the_meantime(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda _: naps("old", seconds=0.05), delivered.append)
    waiting = asyncio.ensure_future(schedule.settled("a.py"))
    await asyncio.sleep(0.01)
    schedule.restart("a.py", lambda _: naps("new", seconds=0.02), delivered.append)
    await waiting
    assert delivered == ["new"]


async def test_a_waiter_that_is_cancelled_leaves_the_job_alone(schedule: Schedule) -> None:
    delivered: list[str] = []
    schedule.restart("a.py", lambda _: naps("result", seconds=0.05), delivered.append)
    waiting = asyncio.ensure_future(schedule.settled())
    await asyncio.sleep(0.01)
    waiting.cancel()
    await schedule.settled()
    assert delivered == ["result"]
