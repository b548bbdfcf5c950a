"""Telling the client that something takes long, once it does."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress

PATIENCE: Final = 1.0
"""Seconds that work may take without a word."""

_numbers = itertools.count(1)


@asynccontextmanager
async def shown(progress: Progress, title: str) -> AsyncIterator[None]:
    """Around work: where it takes longer than `PATIENCE`, the client shows ``title`` until it ends."""
    announcement = asyncio.ensure_future(_announce(progress, title))
    try:
        yield
    finally:
        announcement.cancel()


async def _announce(progress: Progress, title: str) -> None:
    """Begin after a while, and end when cancelled."""
    await asyncio.sleep(PATIENCE)
    token = f"pallas-lsp-{next(_numbers)}"
    try:
        await progress.create_async(token)
    except JsonRpcException:  # it does not want to show it
        return
    progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=False))
    try:
        await asyncio.Event().wait()
    finally:
        progress.end(token, types.WorkDoneProgressEnd())
        progress.tokens.pop(token, None)
