"""Which files a command reads: what the user names, and below folders what people take for the project's own Python files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ..patterns import Patterns, parse_patterns

# Folders of other people's and of generated code; hidden folders and virtual environments are known by their looks.
_NOT_OWN = frozenset({"__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"})


class Tree:
    """The project's own Python files below ``folder`` (absolute): what git ignores is passed over, and what ``excludes`` says.

    ``.gitignore`` files count from the repository's top down, or from ``folder`` where it is in none. Linked folders are not
    entered, so a loop of links cannot hold anyone. ``folder`` itself is never passed over.
    """

    def __init__(self, folder: str, excludes: Callable[[str, bool], bool]) -> None:
        self.folder = folder
        self._excludes = excludes
        self._top = _repository(folder) or folder
        self._ignores: dict[str, tuple[Patterns, ...]] = {}

    def files(self) -> Iterator[str]:
        """The files, folder by folder in alphabetical order; a folder on the way that cannot be read is passed over.

        Raises OSError where ``folder`` itself cannot be read.
        """
        yield from self._walk(self.folder)

    def holds(self, path: str) -> bool:
        """Whether `files` gives ``path`` (absolute), if it is a Python file."""
        relative = os.path.relpath(path, self.folder)
        if relative.split(os.sep)[0] == os.pardir:
            return False
        parts = relative.split(os.sep)
        steps = [os.path.join(self.folder, *parts[: i + 1]) for i in range(len(parts))]
        return all(self._is_own(step, is_folder=step != path) for step in steps)

    def _walk(self, folder: str) -> Iterator[str]:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        for entry in ordered:
            if entry.is_dir(follow_symlinks=False):
                if self._is_own(entry.path, is_folder=True) and os.access(entry.path, os.R_OK | os.X_OK):
                    yield from self._walk(entry.path)
            elif entry.name.endswith(".py") and entry.is_file() and self._is_own(entry.path, is_folder=False):
                yield entry.path

    def _is_own(self, path: str, is_folder: bool) -> bool:
        name = os.path.basename(path)
        if is_folder and (name.startswith(".") or name in _NOT_OWN or os.path.exists(os.path.join(path, "pyvenv.cfg"))):
            return False
        return not self._excludes(path, is_folder) and not self._is_ignored(path, is_folder)

    def _is_ignored(self, path: str, is_folder: bool) -> bool:
        verdicts = (patterns.verdict(path, is_folder) for patterns in self._ignores_in(os.path.dirname(path)))
        return next((verdict for verdict in verdicts if verdict is not None), False)

    def _ignores_in(self, folder: str) -> tuple[Patterns, ...]:
        """The patterns that speak of what is in ``folder``, the nearest first."""
        if folder not in self._ignores:
            own = (_read_patterns(folder, ".gitignore"),)
            above = (_read_patterns(folder, ".git/info/exclude"),) if folder == self._top else self._ignores_in(os.path.dirname(folder))
            self._ignores[folder] = own + above
        return self._ignores[folder]


def _read_patterns(folder: str, name: str) -> Patterns:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as file:
            return parse_patterns(folder, file.read().split("\n"))
    except OSError:
        return Patterns(folder, ())


def _repository(folder: str) -> str | None:
    """The top of the git repository around ``folder``, None where there is none."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
