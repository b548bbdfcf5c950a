"""Path patterns as ``.gitignore`` writes them; the configuration's ``exclude`` and ``per-file-ignores`` use the same."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of patterns, ``text``. ``regex`` matches a path relative to their folder where ``anchored``, else a bare name."""

    text: str
    regex: re.Pattern[str]
    anchored: bool
    folders_only: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one file; they speak of what lies below ``folder`` (absolute)."""

    folder: str
    patterns: tuple[Pattern, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The patterns as they were written."""
        return tuple(pattern.text for pattern in self.patterns)

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether ``path`` (absolute, below ``folder``) is meant: the last pattern that matches decides, None where none does.

        Only ``path`` itself is asked for: who walks a tree does not go below a folder that is meant.
        """
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        name = relative.rpartition("/")[2]
        for pattern in reversed(self.patterns):
            if (is_folder or not pattern.folders_only) and pattern.regex.fullmatch(relative if pattern.anchored else name):
                return not pattern.negated
        return None

    def covers(self, path: str) -> bool:
        """Whether the file ``path`` (absolute) lies below ``folder`` and is meant, itself or by a folder it is in."""
        relative = os.path.relpath(path, self.folder)
        if relative.startswith(os.pardir):
            return False
        parts = relative.split(os.sep)
        steps = [os.path.join(self.folder, *parts[: i + 1]) for i in range(len(parts))]
        return any(self.verdict(step, is_folder=step != path) for step in steps)


def parse_patterns(folder: str, lines: Iterable[str]) -> Patterns:
    """The patterns in ``lines``; comments, empty lines and patterns that can match nothing are left out."""
    return Patterns(folder, tuple(pattern for line in lines if (pattern := _parse(line)) is not None))


@functools.cache
def _parse(line: str) -> Pattern | None:
    text = re.sub(r"(?<!\\)((?:\\\\)*) +$", r"\1", line.rstrip("\r\n"))
    if text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return None
    try:
        return Pattern(line, re.compile(_regex(text), re.DOTALL), anchored, folders_only, negated)
    except _MatchesNothing:
        return None


_STARS = re.compile(r"\*{2,}(/|$)")


class _MatchesNothing(Exception):
    """An unfinished bracket or a backslash at the end."""


def _regex(glob: str) -> str:
    """The regular expression of a glob in which ``*`` and ``?`` stop at a slash and ``**`` between slashes does not."""
    out, i = [], 0
    while i < len(glob):
        stars = _STARS.match(glob, i) if i == 0 or glob[i - 1] == "/" else None
        if stars and (i > 0 or stars[1]):
            out.append("(?:.*/)?" if stars[1] else ".+")
            i = stars.end()
        elif glob[i] == "*":
            out.append("[^/]*")
            i += 1
        elif glob[i] == "?":
            out.append("[^/]")
            i += 1
        elif glob[i] == "[":
            bracket, i = _bracket(glob, i)
            out.append(bracket)
        else:
            i += glob[i] == "\\"
            if i == len(glob):
                raise _MatchesNothing
            out.append(re.escape(glob[i]))
            i += 1
    return "".join(out)


def _bracket(glob: str, start: int) -> tuple[str, int]:
    """The regular expression of the set that opens at ``start``, and where the text goes on."""
    i = start + 1
    negated = glob[i : i + 1] in ("!", "^")
    i += negated
    members: list[str] = []
    while i < len(glob) and (glob[i] != "]" or not members):
        low, i = _member(glob, i)
        if glob[i : i + 1] == "-" and glob[i + 1 : i + 2] not in ("]", ""):
            high, i = _member(glob, i + 1)
            members.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low))
        else:
            members.append(re.escape(low))
    if i >= len(glob):
        raise _MatchesNothing
    inside = "".join(members)
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), i + 1


def _member(glob: str, i: int) -> tuple[str, int]:
    i += glob[i] == "\\"
    if i >= len(glob):
        raise _MatchesNothing
    return glob[i], i + 1
