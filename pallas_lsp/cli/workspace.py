"""What a run of a command knows of the disk: the files to look at, and each one's project and configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..config import Config, find_config
from ..errors import CannotRun
from ..resolve.environment import find_environment
from ..resolve.project import Project
from .files import Tree

STDIN = "-"


@dataclass(frozen=True, slots=True)
class File:
    """A file to look at (absolute path), and the root of the project it was named in."""

    path: str
    root: str


class Workspace:
    """Projects and configurations, each found once in a run."""

    def __init__(self) -> None:
        self._configs: dict[str, Config] = {}
        self._projects: dict[str, Project] = {}
        self._trees: dict[str, Tree] = {}

    def config(self, path: str) -> Config:
        """The configuration that holds for the file or folder ``path`` (absolute). Raises ConfigError where it is wrong."""
        folder = os.path.dirname(path)
        if folder not in self._configs:
            self._configs[folder] = find_config(folder)
        return self._configs[folder]

    def project(self, root: str) -> Project:
        """The project at ``root``, with the environment that its folder shows."""
        if root not in self._projects:
            self._projects[root] = Project((root,), find_environment(root))
        return self._projects[root]

    def project_of(self, path: str) -> Project:
        """The project around the file ``path`` (absolute)."""
        return self.project(_root(path))

    def tree(self, folder: str) -> Tree:
        """The Python files below ``folder``."""
        if folder not in self._trees:
            self._trees[folder] = Tree(folder, self._excludes)
        return self._trees[folder]

    def files(self, paths: Iterable[str]) -> list[File]:
        """The files that ``paths`` name, each once: a file whatever it is, a folder's own Python files.

        Raises CannotRun for a path that cannot be read.
        """
        found: dict[str, File] = {}
        for path in paths:
            absolute = os.path.abspath(path)
            is_folder = os.path.isdir(absolute)
            root = _root(os.path.join(absolute, "_") if is_folder else absolute)
            try:
                for file in self.tree(absolute).files() if is_folder else (_readable(absolute),):
                    found.setdefault(os.path.realpath(file), File(file, root))
            except (OSError, ValueError) as error:
                raise CannotRun(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
        return list(found.values())

    def standard_input(self, name: str | None) -> File:
        """Standard input as the file ``name``, whose text on the disk it takes the place of."""
        path = os.path.abspath(name or "<stdin>")
        file = File(path, _root(path))
        self.project(file.root).set_overlay(path, sys.stdin.buffer.read().decode("utf-8", "replace"))
        return file

    def _excludes(self, path: str, is_folder: bool) -> bool:
        exclude = self.config(path).exclude
        return exclude is not None and exclude.verdict(path, is_folder) is True


def named_files(workspace: Workspace, paths: Sequence[str], stdin_name: str | None) -> list[File]:
    """The files that a command line names: ``paths``, ``-`` alone for standard input, or the current folder where it names none."""
    if stdin_name is not None and list(paths) != [STDIN]:
        raise CannotRun("--stdin-filename goes with '-' as the only path")
    if STDIN not in paths:
        return workspace.files(paths or (os.curdir,))
    if len(paths) > 1:
        raise CannotRun("'-' (standard input) must be the only path")
    return [workspace.standard_input(stdin_name)]


def _root(path: str) -> str:
    """The nearest folder above the file ``path`` that has the marks of a project, else the folder that it is in."""
    return Project().project_root(path)


def _readable(path: str) -> str:
    with open(path, "rb"):
        return path
