"""The process around the server: its streams, its parent, its exit code."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import BinaryIO, Final

_LOOK_EVERY: Final = 5.0
"""Seconds between looks at whether the client's process is alive."""


def serve() -> int:
    """Serve the client on standard input and output until it says ``exit`` or its end closes.

    Returns the exit code: 0 when it said ``shutdown`` before, else 1.
    """
    from .app import create_server

    messages_in, messages_out = _take_streams()
    server = create_server()
    server.start_io(messages_in, messages_out)
    server.schedule.close()
    return 0 if server.asked_to_shut_down else 1


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
