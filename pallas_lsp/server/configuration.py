"""Where the settings come from: the client's answer, what it pushes, what it said at the start; asked for anew whenever they may differ."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .log import Log
from .options import SECTION, Options, read_options

PATIENCE: Final = 2.0
"""Seconds that the client has to answer what its settings are, before the work starts without them."""

Ask = Callable[[types.ConfigurationParams], Awaitable[object]]


class Configuration:
    """The client's settings. ``ask`` sends ``workspace/configuration``, None for a client that answers no such question."""

    def __init__(self, initial: object, log: Log) -> None:
        self.ask: Ask | None = None
        self._initial: Mapping[str, object] = initial if isinstance(initial, Mapping) else {}
        self._pushed: object = None
        self._log = log

    def take(self, settings: object) -> None:
        """Keep the settings that came with ``workspace/didChangeConfiguration``."""
        if isinstance(settings, Mapping):
            self._pushed = settings.get(SECTION)

    async def options(self, scopes: list[str | None]) -> list[Options]:
        """The settings that hold now for each scope: a folder's URI, or None for what is in no folder."""
        if self.ask is None:
            return [self._options(self._pushed)] * len(scopes)
        return [self._options(section) for section in await self._answers(self.ask, scopes)]

    async def _answers(self, ask: Ask, scopes: list[str | None]) -> list[object]:
        asked = types.ConfigurationParams([types.ConfigurationItem(scope_uri=scope, section=SECTION) for scope in scopes])
        try:
            answer = await asyncio.wait_for(ask(asked), PATIENCE)
        except (TimeoutError, JsonRpcException) as error:
            self._log.write("warning", f"the client did not tell its settings: {error!r}")
            answer = None
        known = list(answer) if isinstance(answer, list | tuple) else []
        return [*known, *[None] * len(scopes)][: len(scopes)]

    def _options(self, section: object) -> Options:
        """A section of settings over the initial ones; what is wrong with them is logged once."""
        chosen = {key: value for key, value in section.items() if value not in (None, "", [])} if isinstance(section, Mapping) else {}
        options, problems = read_options({**self._initial, **chosen})
        for problem in problems:
            self._log.once("warning", f"settings: {problem}")
        return options
