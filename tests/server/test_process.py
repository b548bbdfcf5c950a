"""The server's process: its exit code, its streams, its end when the client ends, and what a person is not bothered with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from server.texts import BAD

REPOSITORY = Path(__file__).parents[2]
SERVER = "from pallas_lsp.__main__ import main; sys.exit(main(['server', '--stdio']))"


@contextmanager
def started(*before: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose process runs the statements ``before`` first."""
    program = "\n".join(["import sys", *before, SERVER])
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", program], env=environment, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    with started() as process:
        yield process


def send(process: subprocess.Popen[bytes], method: str, params: Any = None, request: int | None = None) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if request is None else {"id": request})
    body = json.dumps(message).encode()
    assert process.stdin is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.flush()


def receive(stream: IO[bytes] | None) -> Any:
    """The next message; fails on anything between messages."""
    assert stream is not None
    length = 0
    while (line := stream.readline()) != b"\r\n":
        name, _, value = line.partition(b": ")
        assert name in (b"Content-Length", b"Content-Type"), line
        if name == b"Content-Length":
            length = int(value)
    return json.loads(stream.read(length))


def initialize(process: subprocess.Popen[bytes], **params: Any) -> Any:
    send(process, "initialize", {"processId": None, "rootUri": None, "capabilities": {}, **params}, request=1)
    answer = receive(process.stdout)
    send(process, "initialized", {})
    return answer


def open_kernel(process: subprocess.Popen[bytes], text: str = BAD) -> None:
    document = {"uri": "untitled:kernel", "languageId": "python", "version": 1, "text": text}
    send(process, "textDocument/didOpen", {"textDocument": document})


def test_shutdown_and_exit_end_with_0(server: subprocess.Popen[bytes]) -> None:
    assert initialize(server)["result"]["serverInfo"]["name"] == "pallas-lsp"
    send(server, "shutdown", request=2)
    assert receive(server.stdout) == {"jsonrpc": "2.0", "id": 2, "result": None}
    send(server, "exit")
    assert server.wait(10) == 0


def test_exit_without_shutdown_ends_with_1(server: subprocess.Popen[bytes]) -> None:
    initialize(server)
    send(server, "exit")
    assert server.wait(10) == 1


def test_a_client_that_hangs_up_ends_it(server: subprocess.Popen[bytes]) -> None:
    initialize(server)
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(10) == 1


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be asked after")
def test_it_ends_when_the_clients_process_is_gone_although_the_pipe_stays_open() -> None:
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with started("import pallas_lsp.server.stdio as stdio; stdio._LOOK_EVERY = 0.05") as server:
        initialize(server, processId=client.pid)
        time.sleep(0.3)
        assert server.poll() is None
        client.communicate(b"\n")
        assert server.wait(10) == 1


def test_what_is_printed_or_read_by_anything_else_stays_out_of_the_protocol() -> None:
    noisy = [
        "import os, pallas_lsp.analysis as module",
        "quiet = module.analyze",
        "def loud(*arguments):",
        "    print('from python'); os.write(1, b'from below'); os.system('echo from a child'); assert sys.stdin.read() == ''",
        "    return quiet(*arguments)",
        "module.analyze = loud",
    ]
    with started(*noisy) as server:
        initialize(server)
        open_kernel(server)
        message = receive(server.stdout)
        assert message["method"] == "textDocument/publishDiagnostics" and len(message["params"]["diagnostics"]) == 1, message
        send(server, "exit")
        _, errors = server.communicate(timeout=10)
    assert b"from python" in errors and b"from below" in errors and b"from a child" in errors


def test_failures_go_to_the_log_and_bother_nobody() -> None:
    failing = ["import pallas_lsp.server.session as module", "def fail(*arguments): raise ValueError('planted')", "module.hover = fail"]
    with started(*failing) as server:
        initialize(server)
        open_kernel(server)
        assert receive(server.stdout)["method"] == "textDocument/publishDiagnostics"
        send(server, "textDocument/hover", {"textDocument": {"uri": "untitled:kernel"}, "position": {"line": 0, "character": 0}}, request=3)
        messages = [receive(server.stdout), receive(server.stdout)]
        (log,) = [message for message in messages if message.get("method") == "window/logMessage"]
        assert "ValueError: planted" in log["params"]["message"]
        assert {"jsonrpc": "2.0", "id": 3, "result": None} in messages
        send(server, "textDocument/didChange", {"nonsense": 1})  # not what the protocol says
        assert receive(server.stdout)["method"] == "window/logMessage"
        send(server, "shutdown", request=4)
        assert receive(server.stdout)["id"] == 4
        send(server, "exit")
        assert server.wait(10) == 0


def test_an_unknown_option_is_refused() -> None:
    done = subprocess.run([sys.executable, "-m", "pallas_lsp", "server", "--tcp"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--tcp" in done.stderr
