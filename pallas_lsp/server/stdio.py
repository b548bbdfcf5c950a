"""The process around the server: its streams, its parent, its exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final

from pygls.io_ import StdoutWriter, run_async

if TYPE_CHECKING:
    from .connection import Server

_LOOK_EVERY: Final = 5.0
"""Seconds between looks at whether the client's process is alive."""
_AT_ONCE: Final = 1 << 20  # bytes


def serve() -> int:
    """Serve the client on standard input and output until it says ``exit`` or its end closes.

    Returns the exit code: 0 when it said ``shutdown`` before, else 1.
    """
    from .app import create_server

    # pygls warns of a request that is taken back after it was answered, which is usual; clients show our standard error as errors.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    messages_in, messages_out = _take_streams()
    server = create_server()
    server.protocol.set_writer(StdoutWriter(messages_out))
    with suppress(BrokenPipeError, asyncio.IncompleteReadError, KeyboardInterrupt, SystemExit):  # the client is gone, or said `exit`
        asyncio.run(_converse(server, messages_in))
    server.close()
    return 0 if server.asked_to_shut_down else 1


async def _converse(server: Server, messages: BinaryIO) -> None:
    """Handle messages until there are no more.

    All that has arrived is handled before anything is done on account of it: so a request that is taken back at once, or an edit that
    another one follows, costs nothing. (pygls waits for each line of a message in a thread, and lets work begin in between.)
    """
    loop, arrived = asyncio.get_running_loop(), asyncio.StreamReader()

    def read() -> None:
        with suppress(RuntimeError):  # the loop has ended
            while data := os.read(messages.fileno(), _AT_ONCE):
                loop.call_soon_threadsafe(arrived.feed_data, data)
            loop.call_soon_threadsafe(arrived.feed_eof)

    threading.Thread(target=read, name="messages", daemon=True).start()
    await run_async(threading.Event(), arrived, server.protocol, error_handler=server.report_server_error)


async def leave_with(client: int) -> None:
    """End this process when the process ``client`` has ended without a word.

    Only on POSIX, where a process can be asked after; elsewhere the end of our input has to do.
    """
    while os.name == "posix":
        await asyncio.sleep(_LOOK_EVERY)
        try:
            os.kill(client, 0)
        except ProcessLookupError:
            os._exit(1)
        except PermissionError:  # alive, and someone else's
            pass


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone: whatever else is printed goes to standard error, whatever is read is empty."""
    messages_in, messages_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return messages_in, messages_out
