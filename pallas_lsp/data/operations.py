"""What JAX's lowering refuses, by public function: ``operations.toml`` and, for the subcores of SparseCores, ``operations_vector.toml`` and
``operations_scalar.toml``, generated from installed versions of JAX."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .versions import KNOWN, Version, parse_version

Argument = Callable[[int, str], Any]
"""Gives the argument of a call at a position or of a name; ``MISSING`` where it has none."""

MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Refused:
    """One line of the table: for which dtypes (None: all), by which versions, and with which arguments the function is refused."""

    reason: str
    dtypes: frozenset[str] | None
    versions: frozenset[Version]
    arguments: tuple[tuple[int, str, tuple[Any, ...]], ...] = ()

    def covers(self, dtype: str | None, version: Version, argument: Argument) -> bool:
        """Whether this is about operands of ``dtype`` (None: not known) in ``version``."""
        return (
            version in self.versions
            and (self.dtypes is None or self._is_of(dtype))
            and all(argument(position, name) in values for position, name, values in self.arguments)
        )


    def _is_of(self, dtype: str | None) -> bool:
        """Whether the line is about ``dtype``. The table leaves floats of 8 bits out: they are refused where float16 is for its width."""
        like = "float16" if dtype is not None and dtype.startswith("float8") and self.reason in _FOR_THEIR_WIDTH else dtype
        return self.dtypes is not None and like in self.dtypes


_FOR_THEIR_WIDTH = frozenset({"argmax", "is_finite", "nextafter", "erf_inv"})


@dataclass(frozen=True, slots=True)
class Operations:
    """``versions``: the JAX versions asked, oldest first; ``refused``: the lines of each function that some of them refuses."""

    versions: tuple[Version, ...]
    refused: dict[str, tuple[Refused, ...]]

    def reason(self, function: str, dtype: str | None, version: Version | None, argument: Argument) -> str | None:
        """Why JAX ``version`` (None: any known one) refuses the function, None where it may accept it.

        Between two versions that were asked both must refuse; what is newer than all is taken for the newest, what is older must be
        refused by all.
        """
        lines = self.refused.get(function)
        if lines is None:
            return None
        found: str | None = None
        for asked in _asked(self.versions, version):
            found = next((line.reason for line in lines if line.covers(dtype, asked, argument)), None)
            if found is None:
                return None
        return found


def _asked(versions: tuple[Version, ...], version: Version | None) -> tuple[Version, ...]:
    """The versions among those asked that answer for ``version``."""
    if version is None:
        return KNOWN
    if version in versions:
        return (version,)
    if version < versions[0]:
        return versions
    before = max(asked for asked in versions if asked < version)
    after = next((asked for asked in versions if asked > version), before)
    return (before, after)


_SPELLED = re.compile(r"([\w.]+)(?:\((.*)\))?$")
_ARGUMENT = re.compile(r"(\w+)@(\d+)(\?)?=(.*)$")


@lru_cache(maxsize=3)
def load_operations(core: str) -> Operations:
    """Read the table of a kind of core (``tensor``, ``vector`` or ``scalar``), once a process."""
    name = "operations.toml" if core == "tensor" else f"operations_{core}.toml"
    table = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    refused: dict[str, list[Refused]] = {}
    for row in table["refused"]:
        dtypes = None if row["dtypes"] == "*" else frozenset(row["dtypes"].split())
        versions = frozenset(filter(None, map(parse_version, row["versions"].split())))
        for text in row["functions"].split():
            name, arguments = spelled(text)
            refused.setdefault(name, []).append(Refused(row["reason"], dtypes, versions, arguments))
    asked = tuple(sorted(filter(None, map(parse_version, table["versions"]))))
    return Operations(asked, {name: tuple(lines) for name, lines in refused.items()})


def spelled(text: str) -> tuple[str, tuple[tuple[int, str, tuple[Any, ...]], ...]]:
    """``jax.nn.gelu(approximate@1=False)`` as the function's name and its decisive arguments: position, name, values.

    With ``?=`` the value is the default, so that the argument may be left out.
    """
    match = _SPELLED.match(text)
    assert match is not None, text
    parts = [_ARGUMENT.match(part) for part in match[2].split(",")] if match[2] else []
    values = ((part, (ast.literal_eval(part[4]), *([MISSING] if part[3] else []))) for part in parts if part is not None)
    return match[1], tuple((int(part[2]), part[1], wanted) for part, wanted in values)


_ALSO = frozenset({"jax.lax.associative_scan", "jax.numpy.partition", "jax.numpy.argpartition", "jax.numpy.delete", "jax.numpy.choose"})


def gives_array(function: str) -> bool:
    """Whether the function computes an array of whatever shape: it is one of the table's, or of a rule's own."""
    return function in _ALSO or function in load_operations("tensor").refused


@lru_cache(maxsize=1)
def load_compiled() -> dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]]:
    """What lowers and is refused by the TPU compiler: function → (dtypes, chips) of whole arrays. Read once a process."""
    table = tomllib.loads(Path(__file__).with_name("compiled.toml").read_text(encoding="utf-8"))
    found: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    for row in table["refused"]:
        for name in row["functions"].split():
            found.setdefault(name, []).append((frozenset(row["dtypes"].split()), frozenset(row["chips"].split())))
    return {name: tuple(rows) for name, rows in found.items()}


@dataclass(frozen=True, slots=True)
class Lowered:
    """``versions``: the JAX versions asked; ``rows``: (function, ``scalar`` or ``vector``) → the versions that lower it, by dtype."""

    versions: tuple[Version, ...]
    rows: dict[tuple[str, str], dict[str, frozenset[Version]]]

    def covers(self, function: str, of: str, dtype: str | None, version: Version | None) -> bool:
        """Whether JAX ``version`` (None: every known one) lowers the function of operands of ``dtype``; one that was not asked counts as
        what both the one before and the one after it do."""
        having = self.rows.get((function, of), {}).get(dtype or "", frozenset())
        return all(asked in having for asked in _asked(self.versions, version))


@lru_cache(maxsize=1)
def load_lowered() -> Lowered:
    """Read the table, once a process."""
    table = tomllib.loads(Path(__file__).with_name("lowered.toml").read_text(encoding="utf-8"))
    rows: dict[tuple[str, str], dict[str, frozenset[Version]]] = {}
    for row in table["lowered"]:
        versions = frozenset(filter(None, map(parse_version, row["versions"].split())))
        for name in row["functions"].split():
            by_dtype = rows.setdefault((name, row["of"]), {})
            by_dtype |= {dtype: by_dtype.get(dtype, frozenset()) | versions for dtype in row["dtypes"].split()}
    return Lowered(tuple(sorted(filter(None, map(parse_version, table["versions"])))), rows)
