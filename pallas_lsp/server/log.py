"""What the server writes to the client's log, as much as the client asks for."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Final

from lsprotocol import types

from .options import LEVELS

_TYPES: Final = dict(
    zip(LEVELS, (types.MessageType.Error, types.MessageType.Warning, types.MessageType.Info, types.MessageType.Log), strict=True)
)


class Log:
    """``window/logMessage`` and ``$/logTrace``, from whichever thread; ``level`` and ``tracing`` say how much is sent.

    Before `start` tells the event loop, nothing is: there is nobody to send to.
    """

    def __init__(self, send: Callable[[types.LogMessageParams], None], send_trace: Callable[[types.LogTraceParams], None]) -> None:
        self.level = "info"
        self.tracing = False
        self._send = send
        self._send_trace = send_trace
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: set[str] = set()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send from now on, on ``loop``."""
        self._loop = loop

    def write(self, level: str, message: str) -> None:
        """Log a message of one of `LEVELS`."""
        if LEVELS.index(level) <= LEVELS.index(self.level):
            self.later(lambda: self._send(types.LogMessageParams(_TYPES[level], message)))

    def once(self, level: str, message: str) -> bool:
        """Log a message that has not been logged before; whether this is the first time."""
        first = message not in self._told
        if first:
            self._told.add(message)
            self.write(level, message)
        return first

    def exception(self, error: BaseException) -> None:
        """Log an exception with its traceback."""
        self.write("error", "".join(traceback.format_exception(error)))

    def trace(self, message: str) -> None:
        """Say what the server did, to a client that asked for it with ``$/setTrace``."""
        if self.tracing:
            self.later(lambda: self._send_trace(types.LogTraceParams(message)))

    def later(self, send: Callable[[], None]) -> None:
        """Call ``send`` on the event loop, from whichever thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(send)
