"""Many messages at once: bursts of edits, requests that are taken back, work that takes long."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest
from server.wire import Wire, after, started
from small_kernel import BAD, GOOD

COUNTING = """\
import sys, time, pallas_lsp.server.connection as module
class Counted(module.Remembering):
    def __call__(self, source, *arguments, **options):
        print('ANALYSED', len(source.text), file=sys.stderr, flush=True)
        time.sleep(SLEEP)
        return super().__call__(source, *arguments, **options)
module.Remembering = Counted"""

URI = "untitled:kernel"


def counting(sleep: float) -> tuple[str, str]:
    """A server that says on standard error when it analyses, and takes this long for it."""
    return after(COUNTING.replace("SLEEP", str(sleep)))


def edit(server: Wire, version: int, text: str) -> None:
    server.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]})


def hover(server: Wire) -> Any:
    return server.request("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})


def published(server: Wire) -> list[tuple[int, int]]:
    """The versions for which findings were published, with their number."""
    found = [message["params"] for message in server.received if message.get("method") == "textDocument/publishDiagnostics"]
    return [(params["version"], len(params["diagnostics"])) for params in found]


@pytest.mark.parametrize("sleep", [0.0, 0.1], ids=["quick", "slow"])
def test_twenty_edits_are_analysed_at_most_twice(sleep: float) -> None:
    with started(*counting(sleep)) as server:
        server.initialize()
        server.open(URI, GOOD)
        hover(server)
        with server.at_once():
            for version in range(2, 21):
                edit(server, version, (GOOD if version % 2 else BAD) + f"# {version}\n")
            edit(server, 21, BAD)
        hover(server)
        assert server.end() == 0
        assert server.process.stderr is not None
        analysed = [int(line.split()[1]) for line in server.process.stderr.read().decode().splitlines() if line.startswith("ANALYSED")]
    assert len(analysed) <= 3, "the text that was opened, and at most two of those that came at once"
    assert analysed[-1] == len(BAD)
    assert published(server)[-1] == (21, 1)


SLOW_HOVER = """\
import time, pallas_lsp.server.answers as answers
hover = answers.hover
answers.hover = lambda *arguments: (time.sleep(0.05), hover(*arguments))[1]"""


def test_two_hundred_requests_that_are_taken_back_are_not_worked_out() -> None:
    with started(*after(SLOW_HOVER)) as server:
        server.initialize()
        server.open(URI, BAD)
        hover(server)
        params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        with server.at_once():
            for number in range(200):
                server.ask(f"taken-back-{number}", "textDocument/hover", params)
                server.notify("$/cancelRequest", {"id": f"taken-back-{number}"})
        began = time.perf_counter()
        hover(server)
        assert time.perf_counter() - began < 5, "all of them would take ten seconds"
        assert server.end() == 0
    errors = [message["error"]["code"] for message in server.received if "error" in message]
    assert set(errors) == {-32800} and len(errors) > 150


def test_requests_that_are_taken_back_are_answered_as_such() -> None:
    with started(*counting(0.3)) as server:
        server.initialize()
        server.open(URI, BAD)
        server.ask("one", "textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
        server.notify("$/cancelRequest", {"id": "one"})
        answer = server.wait_for(lambda message: message.get("id") == "one")
        assert answer["error"]["code"] == -32800
        assert server.end() == 0


@pytest.mark.parametrize(("sleep", "patience", "told"), [(0.6, 0.2, True), (0.0, 0.5, False)], ids=["long", "short"])
def test_what_takes_long_is_shown_and_taken_away_again(sleep: float, patience: float, told: bool) -> None:
    patient = f"import pallas_lsp.server.progress as progress; progress.PATIENCE = {patience}"
    with started(*after(patient, COUNTING.replace("SLEEP", str(sleep)))) as server:
        server.initialize(capabilities={"window": {"workDoneProgress": True}})
        server.open("file:///work/kernel.py", BAD)
        if told:
            create = server.wait_for("window/workDoneProgress/create")
            server.answer(create["id"], None)
            begin, end = (server.wait_for("$/progress")["params"] for _ in range(2))
            assert begin["value"] == {"kind": "begin", "title": "Checking kernel.py", "cancellable": False}
            assert end["value"] == {"kind": "end"} and begin["token"] == end["token"] == create["params"]["token"]
        assert server.end() == 0
    assert Counter(message["method"] for message in server.received if "method" in message)["$/progress"] == 0


def test_a_client_without_progress_is_told_of_none() -> None:
    patient = "import pallas_lsp.server.progress as progress; progress.PATIENCE = 0.05"
    with started(*after(patient, COUNTING.replace("SLEEP", "0.3"))) as server:
        server.initialize()
        server.open(URI, BAD)
        hover(server)
        assert server.end() == 0
    assert {message["method"] for message in server.received} <= {"textDocument/publishDiagnostics", "window/logMessage"}
