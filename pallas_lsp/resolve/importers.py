"""Which files of a project import a given file: a bounded look over their texts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from .files import SIZE_LIMIT, stamp_of
from .imports import STAR, is_known_library

if TYPE_CHECKING:
    from .project import Project

FILE_LIMIT = 2000
_FOLDER_LIMIT = 4000
_ENTRY_LIMIT = 20_000
_SKIPPED = {"site-packages", "dist-packages", "node_modules", "build", "dist", "venv", "__pycache__"}

# An import statement wherever a line starts with one. A docstring's is found too: at worst a file more is looked at.
# No part can match far past where it fails, so the time is linear in the text whatever it holds.
_IMPORT = re.compile(
    r"^[ \t]*(from[ \t]+[.\w \t]+import[ \t]*(?:\((?:[\w\s,]|#.*)*+\)|(?:[^\n\\#;(]|\\\r?\n)+)|import[ \t]+(?:[^\n\\#;(]|\\\r?\n)+)",
    re.MULTILINE,
)
_BARE_RELATIVE = re.compile(r"from[ \t]*\.+[ \t]*import")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Mentions:
    """What a file says of others: its import statements, their words ("." for ``from . import``), and whether it says "pallas"."""

    imports: tuple[str, ...]
    words: frozenset[str]
    pallas: bool


class ImporterScan:
    """Finds the importers of files of ``project``; what a file mentions is read again only when the file changes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._mentions: dict[str, tuple[object, _Mentions]] = {}

    def of(self, path: str) -> list[str]:
        """The files that import ``path``, or import one of its names from a module that took it from there.

        Where ``path`` does not say "pallas", only files that do or that import one that does. Sorted; at most ``FILE_LIMIT`` files
        are looked at, those nearest to ``path`` first.
        """
        files = {file: mentions for file in self._files_near(path) if (mentions := self.mentions(file))}
        return _Search(self._project, files).importers(path)

    def mentions(self, path: str) -> _Mentions | None:
        """What ``path`` mentions; None where it cannot be read."""
        source = self._project.read(path) if self._project.is_open(path) else None
        key = source or stamp_of(path)
        if key is None:
            return None
        known = self._mentions.get(path)
        if known is None or known[0] != key:
            known = self._mentions[path] = (key, _mentions_in(source.text if source else _text_of(path)))
        return known[1]

    def _files_near(self, path: str) -> list[str]:
        """The Python files of the project around ``path``: its own folder and what is below, then a folder further up, and so on."""
        root = self._project.project_root(path)
        folder = os.path.dirname(path)
        found = dict.fromkeys([path, *self._project.open_paths()])
        seen: set[str] = set()
        while True:
            for file in _python_files(folder, seen):
                if len(found) >= FILE_LIMIT:
                    return list(found)
                found[file] = None
            if folder == root:
                return list(found)
            folder = os.path.dirname(folder)


@dataclass(frozen=True, slots=True)
class _Import:
    """``name`` is bound to what the file ``module`` calls ``taken``: None for the module itself, a star for all its names."""

    name: str
    module: str
    taken: str | None


class _Search:
    """One look for importers among ``files``, during which no file changes.

    It reads no module to see what a name in it is, so it may name a file too many, never one too few.
    """

    def __init__(self, project: Project, files: dict[str, _Mentions]) -> None:
        self._project = project
        self._files = files
        self._found_modules: dict[tuple[str, str, int], str | None] = {}
        self._found_imports: dict[str, list[_Import]] = {}

    def importers(self, path: str) -> list[str]:
        found: set[str] = set()
        for direct in self._importing(path):
            found.add(direct)
            names = {entry.name for entry in self._imports(direct) if entry.module == path}
            found.update(user for user in self._importing(direct) if self._takes(user, direct, names))
        pallas = path in self._files and self._files[path].pallas
        return sorted(file for file in found - {path} if pallas or self._concerns_pallas(file))

    def _importing(self, path: str) -> list[str]:
        """The files with an import that leads to ``path``. Each has the module's name in it, or imports from its own package."""
        folder, name = os.path.split(path)
        package = name == "__init__.py"
        word = os.path.basename(folder) if package else name.removesuffix(".py")
        candidates = [file for file, mentions in self._files.items() if word in mentions.words or (package and "." in mentions.words)]
        return [file for file in candidates if any(entry.module == path for entry in self._imports(file))]

    def _imports(self, file: str) -> list[_Import]:
        if file not in self._found_imports:
            statements = [statement for text in self._files[file].imports for statement in _parsed_imports(text)]
            self._found_imports[file] = [entry for statement in statements for entry in self._entries(statement, file)]
        return self._found_imports[file]

    def _entries(self, statement: ast.Import | ast.ImportFrom, file: str) -> Iterator[_Import]:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                top = alias.name.partition(".")[0]
                # ``import a.b`` binds ``a``, and both modules can be reached by it.
                for dotted in dict.fromkeys([alias.name] if alias.asname else [alias.name, top]):
                    module = self._module(dotted, file, 0)
                    if module:
                        yield _Import(alias.asname or top, module, None)
            return
        module = self._module(statement.module or "", file, statement.level)
        if module is None:
            return
        for alias in statement.names:
            yield _Import(alias.asname or alias.name, module, alias.name)
            submodule = self._project.submodule(module, alias.name)
            if submodule:
                yield _Import(alias.asname or alias.name, submodule, None)

    def _module(self, dotted: str, file: str, level: int) -> str | None:
        key = (os.path.dirname(file), dotted, level)
        if key not in self._found_modules:
            known = level == 0 and is_known_library(dotted)
            self._found_modules[key] = None if known else self._project.find_module(dotted, file, level)
        return self._found_modules[key]

    def _takes(self, user: str, module: str, names: set[str]) -> bool:
        """Whether ``user`` may reach one of ``names`` of ``module``: it imports the whole module, all its names, or that name."""
        taken = {entry.taken for entry in self._imports(user) if entry.module == module}
        return None in taken or STAR in taken or STAR in names or not taken.isdisjoint(names)

    def _concerns_pallas(self, file: str) -> bool:
        concerned = [file, *(entry.module for entry in self._imports(file))]
        return any(self._files[other].pallas for other in concerned if other in self._files)


def _python_files(folder: str, seen: set[str]) -> Iterator[str]:
    """The ``.py`` files at and below ``folder``, breadth first; links to folders are not followed, ``seen`` folders not entered."""
    waiting = [folder]
    for current in waiting:
        if current in seen:
            continue
        if len(seen) >= _FOLDER_LIMIT:
            return
        seen.add(current)
        try:
            with os.scandir(current) as listing:
                entries = sorted(islice(listing, _ENTRY_LIMIT), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _SKIPPED:
                    waiting.append(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.path


@lru_cache(maxsize=8192)  # most files say the same
def _parsed_imports(text: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(statement for statement in body if isinstance(statement, ast.Import | ast.ImportFrom))


def _mentions_in(text: str) -> _Mentions:
    imports = tuple(match[1].strip() for match in _IMPORT.finditer(text))
    words = {word for statement in imports for word in _WORD.findall(statement)}
    if any(_BARE_RELATIVE.match(statement) for statement in imports):
        words.add(".")
    return _Mentions(imports, frozenset(words), "pallas" in text)


def _text_of(path: str) -> str:
    """The text as far as import statements go: their keywords and module names are ASCII in every encoding in use."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(SIZE_LIMIT)
    except OSError:
        return ""


