"""Where jedi says a name is defined. The only module that imports jedi, and only when it is first asked.

jedi reads files and nothing else here: it starts no interpreter, imports no module but Python's own built-in ones, and
takes its search path from the project and its environment, not from this process.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..text.source import Source
from .files import stamp_of
from .imports import LibraryName
from .owner_thread import OwnerThread

if TYPE_CHECKING:
    from .project import Project

_MEMO_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A definition: ``name`` on the 1-based ``line`` of the file ``path``; ``full_name`` is its dotted name, where jedi knows it.

    ``is_module``: it is the module that ``path`` itself is.
    """

    path: str
    line: int
    name: str
    full_name: str | None
    is_module: bool = False


# jedi keeps state per process and is not thread-safe, so all lookups share one thread.
_OWNER: OwnerThread[Place | None] = OwnerThread("jedi")


class JediLookup:
    """Asks jedi for definitions on behalf of ``project``. Every question is put once; whatever fails is answered None.

    An answer that takes longer than ``time_limit`` seconds is None for now; jedi goes on, and the same question finds the
    answer later.
    """

    def __init__(self, project: Project, time_limit: float) -> None:
        self._project = project
        self._time_limit = time_limit
        self._memo: dict[Hashable, Future[Place | None]] = {}

    def place(self, path: str, source: Source, offset: int) -> Place | None:
        """Where the name at ``offset`` of ``source`` is defined, imports followed. ``path`` is the file that ``source`` stands for."""
        return self._answer((path, source.text, offset), source.text, path, source.position(offset))

    def imported(self, name: LibraryName, importer: str) -> Place | None:
        """Where the library name that the file ``importer`` imports is defined, whatever else that file says."""
        module, _, last = name.spelled.rpartition(".")
        if not module:
            return None
        statement = f"from {module} import {last}"
        return self._answer((os.path.dirname(importer), statement), statement, importer, (0, len(statement) - len(last)))

    def forget(self) -> None:
        """Put every question again: packages were installed or removed."""
        self._memo.clear()

    def _answer(self, question: Hashable, code: str, path: str, position: tuple[int, int]) -> Place | None:
        future = self._memo.get(question)
        if future is None:
            root, search_path = self._project.project_root(path), self._search_path(path)
            future = _OWNER.submit(lambda: _goto(code, path, position, root, search_path))
            if future is None:
                return None
            while len(self._memo) >= _MEMO_LIMIT:
                del self._memo[next(iter(self._memo))]
            self._memo[question] = future
        return _OWNER.wait(future, self._time_limit)

    def _search_path(self, path: str) -> list[str]:
        return [*self._project.search_path(path), *self._project.environment.site_packages, sysconfig.get_path("stdlib")]


def _goto(code: str, path: str, position: tuple[int, int], root: str, search_path: list[str]) -> Place | None:
    """Runs in the owner thread. ``position`` is a 0-based line and a column in code points."""
    jedi = _jedi()
    project = jedi.Project(root, sys_path=search_path, smart_sys_path=False, load_unsafe_extensions=False)
    script = jedi.Script(code, path=path, project=project, environment=_text_only_environment())
    # Where following an import fails (JAX is not installed, or an import has two sources) the import itself is the place.
    for follow_imports in (True, False):
        names = script.goto(position[0] + 1, position[1], follow_imports=follow_imports)
        places = [_place_of(name, follow_imports) for name in names]
        if len({place and (place.path, place.name) for place in places}) == 1:
            return min(filter(None, places), key=lambda place: place.line, default=None)
    return None


def _place_of(name: Any, followed: bool) -> Place | None:
    if name.module_path is None or name.line is None:
        return None
    return Place(str(name.module_path), name.line, name.name, name.full_name, followed and name.type == "module")


@lru_cache(maxsize=1)
def _jedi() -> Any:
    jedi = importlib.import_module("jedi")
    jedi.settings.cache_directory = _cache_folder()
    jedi.settings.auto_import_modules = []
    return jedi


def _cache_folder() -> str:
    """A folder of the user's for the trees that jedi keeps; a temporary one where there is no such place to write to."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "pallas-lsp", "jedi")
    if os.path.isabs(folder):
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    folder = tempfile.mkdtemp(prefix="pallas-lsp-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=1)
def _text_only_environment() -> Any:
    """An environment of jedi's that finds modules by looking at files.

    jedi's own finds them with this process's import hooks, exchanging ``sys.path`` meanwhile, which other threads would
    see, and imports what has no source. Mirrors ``get_module_info`` and ``load_module`` of
    jedi/inference/compiled/subprocess/functions.py.
    """
    from jedi.api.environment import InterpreterEnvironment  # type: ignore[import-untyped]
    from jedi.file_io import KnownContentFileIO  # type: ignore[import-untyped]
    from jedi.inference.compiled.access import create_access_path  # type: ignore[import-untyped]
    from jedi.inference.compiled.subprocess import InferenceStateSameProcess  # type: ignore[import-untyped]
    from jedi.inference.compiled.subprocess.functions import ImplicitNSInfo  # type: ignore[import-untyped]

    class TextOnlyProcess(InferenceStateSameProcess):  # type: ignore[misc]
        def get_module_info(
            self,
            string: str,
            full_name: str,
            sys_path: Sequence[str] | None = None,
            path: Sequence[str] | None = None,
            is_global_search: bool = True,
        ) -> tuple[Any, bool | None]:
            if is_global_search and string in sys.builtin_module_names:
                return None, False
            folders = [os.path.join(folder, string) for folder in (sys_path if path is None else path) or ()]
            for folder in folders:
                for file, is_package in ((os.path.join(folder, "__init__.py"), True), (f"{folder}.py", False)):
                    if stamp_of(file) is not None:
                        return KnownContentFileIO(file, _bytes_of(file)), is_package
            namespaces = [folder for folder in folders if os.path.isdir(folder)]
            return (ImplicitNSInfo(full_name, namespaces), True) if namespaces else (None, None)

        def load_module(self, dotted_name: str, sys_path: Sequence[str]) -> Any:
            if dotted_name not in sys.builtin_module_names:
                return None
            return create_access_path(self._inference_state_weakref(), importlib.import_module(dotted_name))

    class TextOnlyEnvironment(InterpreterEnvironment):  # type: ignore[misc]
        def get_inference_state_subprocess(self, inference_state: Any) -> TextOnlyProcess:
            return TextOnlyProcess(inference_state)

        def get_sys_path(self) -> list[str]:
            return []

    return TextOnlyEnvironment()


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
