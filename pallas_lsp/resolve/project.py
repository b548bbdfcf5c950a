"""The files of the user's project: their text, their trees, and the modules that import statements name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..text.parse import Parsed, parse
from ..text.reparse import reparse
from ..text.source import Source
from .environment import Environment
from .exports import Exports, exports_of
from .files import Derived, Files
from .importers import ImporterScan
from .imports import STAR, LibraryName, ProjectAttribute, ProjectModule, Target, import_targets

if TYPE_CHECKING:
    from .installed import InstalledNames

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_INSTALLED = ("site-packages", "dist-packages")
_INIT = "__init__.py"


class Project:
    """The project's files as the user sees them now; open buffers stand before the disk.

    ``roots``: the workspace folders. ``environment``: where its packages are installed, None for nowhere.
    ``overlay``: the texts of open buffers by absolute path. ``patience``: how many seconds jedi may take for one name of an
    installed package, which is unknown after that. Nothing here raises on account of a file.
    """

    def __init__(
        self,
        roots: Iterable[str] = (),
        environment: Environment | None = None,
        overlay: Mapping[str, str] | None = None,
        *,
        patience: float = 20.0,
    ) -> None:
        self.roots = tuple(dict.fromkeys(os.path.abspath(root) for root in roots))
        self.environment = environment or Environment()
        self.generation = 0
        """Changes when a file may have come, gone or changed without being read."""
        self._files = Files()
        self._patience = patience
        self._parsed: Derived[Parsed] = Derived(lambda source, before: reparse(before, source.text) if before else parse(source.text))
        self._exports: Derived[Exports] = Derived(lambda source, _: exports_of(self._parsed.of(source).tree))
        self._search_path: dict[str, tuple[str, ...]] = {}
        self._importers = ImporterScan(self)
        self._installed: InstalledNames | None = None
        for path, text in (overlay or {}).items():
            self.set_overlay(path, text)

    def read(self, path: str) -> Source | None:
        """The text of ``path``; None where it is missing, unreadable, not a regular file or bigger than 2 MB."""
        return self._files.read(os.path.abspath(path))

    def parsed(self, path: str) -> Parsed | None:
        """The tree of ``path``, the same object until its text changes; None where it cannot be read."""
        source = self.read(path)
        return self._parsed.of(source) if source else None

    def exports(self, path: str) -> Exports | None:
        """What the top level of ``path`` binds; None where it cannot be read."""
        source = self.read(path)
        return self._exports.of(source) if source else None

    def set_overlay(self, path: str, text: str | None) -> None:
        """Let ``text`` stand for the file ``path``, or with None take the disk's text again."""
        path = os.path.abspath(path)
        if self._files.is_open(path) != (text is not None):
            self._search_path.clear()
            self.generation += 1
        self._files.set_open(path, text)

    def is_open(self, path: str) -> bool:
        """Whether an open buffer stands for ``path``."""
        return self._files.is_open(path)

    def open_paths(self) -> list[str]:
        """The files that an open buffer stands for."""
        return self._files.open_paths()

    def invalidate(self, path: str) -> None:
        """Forget what was read of ``path``: it was written, made, moved or deleted."""
        self._files.forget(os.path.abspath(path))
        self._search_path.clear()
        self.generation += 1

    def find_module(self, dotted: str, importer_path: str, level: int = 0) -> str | None:
        """The file of the module that ``importer_path`` imports as ``dotted`` with ``level`` leading dots.

        A package is its ``__init__.py``, a namespace package its folder. None where the project has no such module.
        """
        parts = dotted.split(".") if dotted else []
        importer_path = os.path.abspath(importer_path)
        if level:
            folder = os.path.dirname(importer_path)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._module_under(folder, parts)
        return self._absolute_module(parts, self.search_path(importer_path)) if parts else None

    def search_path(self, importer_path: str) -> tuple[str, ...]:
        """The folders that absolute imports of ``importer_path`` start from, most important first."""
        folder = os.path.dirname(os.path.abspath(importer_path))
        known = self._search_path.get(folder)
        if known is None:
            known = self._search_path[folder] = tuple(dict.fromkeys(self._search_folders(folder)))
        return known

    def project_root(self, path: str) -> str:
        """The folder of the project that ``path`` belongs to: the workspace folder around it, else the nearest with a project file."""
        folder = os.path.dirname(os.path.abspath(path))
        inside = [root for root in self.roots if _is_inside(folder, root)]
        return max(inside, key=len) if inside else _marked_folder(folder) or folder

    def submodule(self, package: str, name: str) -> str | None:
        """The file of the submodule ``name`` of ``package`` (an ``__init__.py``, or a folder); None where there is none."""
        if os.path.basename(package) == _INIT:
            return self._module_under(os.path.dirname(package), [name])
        return None if package.endswith(".py") else self._module_under(package, [name])

    def member(self, path: str, name: str, importer: str | None = None) -> ProjectAttribute | ProjectModule | None:
        """What ``from module import name`` takes from the module ``path``: its attribute, else its submodule.

        A package that imports from itself (``importer`` is ``path``) has not bound the name yet, so it gets the submodule.
        None where a namespace package has no such submodule.
        """
        if path != importer and self.binds(path, name):
            return ProjectAttribute(path, name)
        submodule = self.submodule(path, name)
        if submodule:
            return ProjectModule(submodule)
        return ProjectAttribute(path, name) if path.endswith(".py") else None

    def binds(self, path: str, name: str) -> bool:
        """Whether the top level of ``path`` binds ``name``, by star imports of other project files too."""
        return self._binds(path, name, set())

    def star_modules(self, path: str) -> list[Target]:
        """The modules that ``path`` star-imports from, in order."""
        exports = self.exports(path)
        return [import_targets(star, path, self)[STAR] for star in exports.stars] if exports else []

    def installed(self, name: LibraryName, importer: str) -> Target | None:
        """What ``name``, of a package of the environment, denotes for the file ``importer``; None where it is not found in time.

        jedi is imported when the first name is asked for whose package is there.
        """
        top = name.spelled.partition(".")[0]
        places = [os.path.join(folder, entry) for folder in self.environment.site_packages for entry in (f"{top}.py", f"{top}/{_INIT}")]
        if not top or not any(map(self._files.exists, places)):
            return None
        if self._installed is None:
            from .installed import InstalledNames
            from .jedi_lookup import JediLookup

            self._installed = InstalledNames(self, JediLookup(self, self._patience))
        return self._installed.resolve(name, importer)

    def importers(self, path: str) -> list[str]:
        """The files of the project, sorted, that concern Pallas and import ``path``, directly or from a module that re-exports it."""
        return self._importers.of(os.path.abspath(path))

    def may_import(self, path: str, module: str) -> bool:
        """Whether the file ``path`` concerns Pallas and has an import statement with the name of the file ``module`` in it."""
        stem = os.path.basename(os.path.dirname(module) if os.path.basename(module) == _INIT else module).removesuffix(".py")
        mentions = self._importers.mentions(os.path.abspath(path))
        return mentions is not None and mentions.pallas and stem in mentions.words

    def _binds(self, path: str, name: str, seen: set[str]) -> bool:
        exports = self.exports(path)
        if exports is None or path in seen:
            return False
        seen.add(path)
        if name in exports.bindings:
            return True
        return any(self._star_gives(module, name, seen) for module in self.star_modules(path))

    def _star_gives(self, module: Target, name: str, seen: set[str]) -> bool:
        match module:
            case ProjectModule(path):
                exports = self.exports(path)
                return exports is not None and exports.is_public(name) and self._binds(path, name, seen)
            case LibraryName():
                return module.has(name)
            case ProjectAttribute():
                return False

    def _search_folders(self, folder: str) -> Iterable[str]:
        package_roots = self._package_roots(folder)
        if any(part in _INSTALLED for part in folder.split(os.sep)):
            yield from package_roots or [folder]  # what is installed beside it, not the project around the environment
            return
        yield from package_roots
        marked = _marked_folder(folder)
        for root in ([marked] if marked else []) + [root for root in self.roots if _is_inside(folder, root)]:
            yield root
            yield os.path.join(root, "src")
        if not self._files.exists(os.path.join(folder, _INIT)):
            yield folder  # a module of a package does not see its neighbours under their bare names

    def _package_roots(self, folder: str) -> list[str]:
        """The folders around ``folder`` that hold a package which it is in, nearest first.

        There may be several: a folder without an ``__init__.py`` between two that have one is a namespace package of the outer.
        """
        found: list[str] = []
        is_package = self._files.exists(os.path.join(folder, _INIT))
        while (parent := os.path.dirname(folder)) != folder:
            parent_is_package = self._files.exists(os.path.join(parent, _INIT))
            if is_package and not parent_is_package:
                found.append(parent)
            folder, is_package = parent, parent_is_package
        return found

    def _absolute_module(self, parts: list[str], folders: Iterable[str]) -> str | None:
        """As Python searches: the first folder with a regular module or package of the name wins, else the first namespace package."""
        namespace = None
        for folder in folders:
            found = self._module_under(folder, parts)
            first = self._module_under(folder, parts[:1])
            if first and first.endswith(".py"):
                return found
            namespace = namespace or found
        return namespace

    def _module_under(self, folder: str, parts: list[str]) -> str | None:
        """The module ``parts`` starting in ``folder``: with no parts, the package that the folder is."""
        init = os.path.join(folder, _INIT)
        if not parts:
            return init if self._files.exists(init) else folder if os.path.isdir(folder) else None
        *packages, last = parts
        below = os.path.join(folder, *packages)
        package = os.path.join(below, last, _INIT)
        if self._files.exists(package):
            return package
        module = os.path.join(below, f"{last}.py")
        if self._files.exists(module):
            return module
        namespace = os.path.join(below, last)
        return namespace if os.path.isdir(namespace) else None


def _marked_folder(folder: str) -> str | None:
    while True:
        if any(os.path.exists(os.path.join(folder, marker)) for marker in _MARKERS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _is_inside(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)
