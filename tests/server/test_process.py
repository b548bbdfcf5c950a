"""The server's process: its exit code, its streams, its end when the client ends, and what a person is not bothered with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from server.wire import PATIENCE, REPOSITORY, Wire, after, started
from small_kernel import BAD


@pytest.fixture
def server() -> Iterator[Wire]:
    with started() as wire:
        yield wire


def test_shutdown_and_exit_end_with_0(server: Wire) -> None:
    assert server.initialize()["serverInfo"]["name"] == "pallas-lsp"
    assert server.end() == 0


def test_exit_without_shutdown_ends_with_1(server: Wire) -> None:
    server.initialize()
    server.notify("exit")
    assert server.process.wait(PATIENCE) == 1


def test_a_client_that_hangs_up_ends_it(server: Wire) -> None:
    server.initialize()
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(PATIENCE) == 1


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be asked after")
def test_it_ends_when_the_clients_process_is_gone_although_the_pipe_stays_open() -> None:
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with started(*after("import pallas_lsp.server.stdio as stdio; stdio._LOOK_EVERY = 0.05")) as server:
        server.initialize(processId=client.pid)
        time.sleep(0.3)
        assert server.process.poll() is None
        client.communicate(b"\n")
        assert server.process.wait(PATIENCE) == 1


NOISY = """\
import os, sys, pallas_lsp.analysis as module
quiet = module.analyze
def loud(*arguments, **options):
    print('from python'); os.write(1, b'from below'); os.system('echo from a child'); assert sys.stdin.read() == ''
    return quiet(*arguments, **options)
module.analyze = loud"""


def test_what_is_printed_or_read_by_anything_else_stays_out_of_the_protocol() -> None:
    with started(*after(NOISY)) as server:
        server.initialize()
        server.open("untitled:kernel", BAD)
        assert len(server.wait_for("textDocument/publishDiagnostics")["params"]["diagnostics"]) == 1
        server.notify("exit")
        _, errors = server.process.communicate(timeout=PATIENCE)
    assert b"from python" in errors and b"from below" in errors and b"from a child" in errors


FAILING = """\
import pallas_lsp.server.answers as module
def fail(*arguments): raise ValueError('planted')
module.hover = fail"""


def test_failures_go_to_the_log_and_bother_nobody() -> None:
    with started(*after(FAILING)) as server:
        server.initialize()
        server.open("untitled:kernel", BAD)
        hover = {"textDocument": {"uri": "untitled:kernel"}, "position": {"line": 0, "character": 0}}
        assert server.request("textDocument/hover", hover) is None
        server.notify("textDocument/didChange", {"nonsense": 1})  # not what the protocol says
        server.wait_for(lambda message: "Invalid Params" in str(message))
        assert server.end() == 0
    logged = [message["params"]["message"] for message in server.received if message.get("method") == "window/logMessage"]
    assert len(logged) == 1 and "ValueError: planted" in logged[0]
    assert {message["method"] for message in server.received} == {"window/logMessage", "textDocument/publishDiagnostics"}


def test_a_request_taken_back_too_late_is_no_news(server: Wire) -> None:
    server.initialize()
    server.notify("$/cancelRequest", {"id": 1})  # `initialize`, which is answered
    server.request("shutdown")
    server.notify("exit")
    _, errors = server.process.communicate(timeout=PATIENCE)
    assert errors == b""


BUSY = """\
import sys, pallas_lsp.server.connection as module
module._IDLE = 0.05
def fail(*arguments): raise ValueError('planted beside')
module.hover = fail"""


def test_what_fails_beside_the_messages_is_logged_too() -> None:
    with started(*after(BUSY)) as server:
        server.initialize()
        server.open("untitled:kernel", BAD)
        assert server.wait_for(lambda message: "planted beside" in str(message))["method"] == "window/logMessage"
        assert server.end() == 0


def test_an_unknown_option_is_refused() -> None:
    done = subprocess.run([sys.executable, "-m", "pallas_lsp", "server", "--tcp"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--tcp" in done.stderr
