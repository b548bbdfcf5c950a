"""JAX versions: how they compare, and which ones our facts were measured on."""

from __future__ import annotations

import re
from functools import cache

Version = tuple[int, ...]

KNOWN: tuple[Version, ...] = ((0, 10, 2), (0, 12, 0, 1))
"""The versions that the tests run; a rule that differs between them needs a stated version."""


def parse_version(text: str) -> Version | None:
    """``"0.10.2"`` as numbers that compare; None when it does not start like a version."""
    found = re.match(r"\d+(\.\d+)*", text.strip())
    return tuple(int(part) for part in found.group().split(".")) if found else None


@cache
def satisfies(version: Version | None, since: str | None, until: str | None) -> bool:
    """Whether ``since <= version < until``; without a version, whether that holds for every known one."""
    low, high = (parse_version(bound) if bound else None for bound in (since, until))
    versions = KNOWN if version is None else (version,)
    return all((low is None or v >= low) and (high is None or v < high) for v in versions)
