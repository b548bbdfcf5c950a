"""Colours of the terminal."""

from __future__ import annotations

import os
from typing import TextIO

from ..rules.diagnostic import Severity

_SEVERITIES = {"error": "1;31", "warning": "1;33", "info": "1;34"}


class Paint:
    """Wraps text in colours, or leaves it alone where they are not ``on``."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def severity(self, severity: Severity, text: str) -> str:
        return self._wrap(_SEVERITIES[severity], text)

    def bold(self, text: str) -> str:
        return self._wrap("1", text)

    def frame(self, text: str) -> str:
        return self._wrap("34", text)

    def hint(self, text: str) -> str:
        return self._wrap("36", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on and text else text


def wants_colour(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal that shows colours and the user has not asked for none (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
