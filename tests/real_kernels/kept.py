"""What JAX said of mutants, kept in a file: after a change of the checker it is asked again, and JAX is not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jax


class Kept:
    """Answers by key, one JSON line each in ``file``; without one they are kept for this run only."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, Any] = {}
        if file is not None and file.exists():
            self._known = {key: said for line in file.read_text().splitlines() for key, said in [json.loads(line)]}

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def put(self, key: str, said: Any) -> None:
        """Keep an answer."""
        self._known[key] = said
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(json.dumps([key, said]) + "\n")


def key_of(*parts: str) -> str:
    """The key of an answer of the installed JAX that depends on these."""
    return hashlib.sha256("\0".join((jax.__version__, *parts)).encode()).hexdigest()
