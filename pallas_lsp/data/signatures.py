"""Which parameters the functions and classes that make up a kernel call take, by JAX version.

``signatures.toml`` is generated from JAX's sources.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .names import Version, version_key
from .versions import KNOWN


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function: those that may be positional, those that may not, and which of them have no default."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    required: frozenset[str]

    def fault(self, count: int, keywords: Collection[str]) -> Fault | None:
        """Why ``count`` positional arguments and these keywords do not fit, None when they do. Python's order of checks."""
        for name in keywords:
            if name not in self.positional and name not in self.keyword_only:
                return Fault("unexpected", (name,))
        if count > len(self.positional):
            return Fault("too many", (), len(self.positional), count)
        given = {*self.positional[:count], *keywords}
        for group in (self.positional, self.keyword_only):
            missing = tuple(name for name in group if name in self.required and name not in given)
            if missing:
                return Fault("missing", missing)
        return None


@dataclass(frozen=True, slots=True)
class Fault:
    """Arguments that do not fit: ``kind`` is ``unexpected``, ``too many`` or ``missing``; ``names`` the parameters it is about;
    ``takes`` and ``given`` the numbers of positional arguments."""

    kind: str
    names: tuple[str, ...]
    takes: int = 0
    given: int = 0


def argument_fault(function: str, count: int, keywords: Collection[str], jax_version: str | None) -> Fault | None:
    """The fault of a call of ``function`` (a canonical dotted name) in the stated JAX.

    Without a stated version, one that every known version finds. None too where the versions read do not say: a function that is not
    listed, or a version between two that differ.
    """
    versions = KNOWN if jax_version is None else (version_key(jax_version),)
    found = [_fault_in(function, count, keywords, version) for version in versions]
    return found[0] if all(found) else None


def parameters(function: str, version: Version | None) -> tuple[str, ...]:
    """The parameters of a function in the newest JAX read that is not newer than ``version`` (None: of all)."""
    versions, table = _load()
    known = [s for v, s in zip(versions, table.get(function, ()), strict=False) if s is not None and (version is None or v <= version)]
    return (*known[-1].positional, *known[-1].keyword_only) if known else ()


def _fault_in(function: str, count: int, keywords: Collection[str], version: Version) -> Fault | None:
    versions, table = _load()
    if function not in table or not versions[0] <= version <= versions[-1]:
        return None
    after = bisect_left(versions, version)
    around = {after} if versions[after] == version else {after - 1, after}
    signatures = [table[function][index] for index in around]
    faults = [signature.fault(count, keywords) if signature is not None else None for signature in signatures]
    return faults[-1] if all(faults) else None


@lru_cache(maxsize=1)
def _load() -> tuple[tuple[Version, ...], dict[str, tuple[Signature | None, ...]]]:
    """The versions read, oldest first, and for each function its signature in each of them (None: that version has no such function)."""
    read = tomllib.loads(Path(__file__).with_name("signatures.toml").read_text(encoding="utf-8"))
    versions = tuple(version_key(version) for version in read["versions"])
    table: dict[str, tuple[Signature | None, ...]] = {}
    for function, runs in read["signatures"].items():
        found: list[Signature | None] = [None] * len(versions)
        for run, text in runs.items():
            first, last = (versions.index(version_key(bound)) for bound in run.split(".."))
            found[first : last + 1] = [_parsed(text)] * (last + 1 - first)
        table[function] = tuple(found)
    return versions, table


def _parsed(text: str) -> Signature:
    positional, _, keyword_only = (part.split() for part in text.partition("*"))
    bare = [tuple(word.removesuffix("=") for word in group) for group in (positional, keyword_only)]
    return Signature(bare[0], bare[1], frozenset(word for word in (*positional, *keyword_only) if not word.endswith("=")))
