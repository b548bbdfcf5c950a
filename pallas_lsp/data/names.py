"""The names of JAX: which versions have them, and which are one thing under several names.

``public_names.toml`` is generated from JAX's sources; ``names.toml`` holds what is not a fact about one object.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

Version = tuple[int, ...]

_RELEASE = re.compile(r"\d+(?:\.\d+)*")


def version_key(version: str) -> Version:
    """The release part of a version as numbers to compare: "0.10.0.dev1" → (0, 10). Raises ValueError where it has none."""
    match = _RELEASE.match(version)
    if match is None:
        raise ValueError(f"not a version: {version!r}")
    numbers = [int(part) for part in match[0].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class Names:
    """``versions``: the JAX versions read, oldest first. ``present``: module → name → the versions, of these, that have it.

    ``canonical``: another dotted name of a thing, or of a class or module that holds it → the one to use.
    """

    versions: tuple[Version, ...]
    present: dict[str, dict[str, frozenset[Version]]]
    canonical: dict[str, str]

    def exists(self, module: str, name: str, version: str) -> bool | None:
        """Whether ``module`` has ``name`` in JAX ``version``; None where the versions read on both sides of it do not say the same."""
        key = version_key(version)
        if module not in self.present or not self.versions[0] <= key <= self.versions[-1]:
            return None
        having = self.present[module].get(name, frozenset())
        after = bisect_left(self.versions, key)
        if self.versions[after] == key:
            return key in having
        before, behind = self.versions[after - 1] in having, self.versions[after] in having
        return before if before == behind else None


@lru_cache(maxsize=1)
def load_names() -> Names:
    """Read the tables, once a process."""
    generated, written = _table("public_names.toml"), _table("names.toml")
    versions = tuple(version_key(version) for version in generated["versions"])
    present = {module: _presence(runs, versions) for module, runs in generated["present"].items()}
    canonical: dict[str, str] = {}
    for module, owners in generated["names"].items():
        for owner, words in owners.items():
            for spelled, _, name in (word.partition("=") for word in words.split()):
                canonical[f"{owner}.{spelled}"] = f"{module}.{name or spelled}"
    for row in written["same"]:
        canonical.pop(row["name"], None)
        canonical |= dict.fromkeys(row["also"], row["name"])
    return Names(versions, present, canonical)


def _presence(runs: dict[str, str], versions: tuple[Version, ...]) -> dict[str, frozenset[Version]]:
    found: dict[str, frozenset[Version]] = {}
    for run, words in runs.items():
        bounds = [tuple(map(version_key, part.split(".."))) for part in run.split()]
        having = frozenset(version for version in versions if any(first <= version <= last for first, last in bounds))
        found |= dict.fromkeys(words.split(), having)
    return found


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
