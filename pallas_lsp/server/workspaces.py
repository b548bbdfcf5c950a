"""The projects that documents belong to, one a workspace folder, and the settings that hold in each."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields

from ..config import FILE_NAME, Config, ConfigError, find_config
from ..resolve.environment import find_environment, jax_version
from ..resolve.files import Stamp, stamp_of
from ..resolve.project import Project
from ..settings import Settings
from .options import Options

# Seconds an editor waits for one look-up of jedi's; the answer is used when it is there.
_PATIENCE = 0.5


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder and what the files below it are analysed with."""

    root: str
    project: Project
    options: Options


class Workspaces:
    """Finds the workspace and the configuration of a file. ``complain`` is told of a configuration that is wrong."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._folders: dict[str, Options] = {}
        self._elsewhere = Options()
        self._workspaces: dict[str, Workspace] = {}
        self._overlays: dict[str, str] = {}
        self._configs: dict[str, tuple[tuple[Stamp | None, ...], Config]] = {}

    def configure(self, folders: dict[str, Options], elsewhere: Options) -> None:
        """Take these workspace folders with their options, and ``elsewhere`` for files outside of all of them."""
        self._folders = {os.path.abspath(folder): options for folder, options in folders.items()}
        self._elsewhere = elsewhere
        self._workspaces.clear()

    def of(self, path: str) -> Workspace:
        """The workspace of the file ``path``: the innermost folder around it, else the project that its own folder is in."""
        folder = self.folder_of(path)
        root = folder or Project().project_root(path)
        if root not in self._workspaces:
            options = self._folders[folder] if folder else self._elsewhere
            environment = find_environment(root, options.interpreter)
            self._workspaces[root] = Workspace(root, Project((root,), environment, self._overlays, patience=_PATIENCE), options)
        return self._workspaces[root]

    def folder_of(self, path: str) -> str | None:
        """The innermost workspace folder around ``path``, None where there is none."""
        around = [folder for folder in self._folders if path.startswith(folder.rstrip(os.sep) + os.sep)]
        return max(around, key=len, default=None)

    def set_overlay(self, path: str, text: str | None) -> None:
        """Let ``text`` stand for the file in every project, or with None the disk's text again."""
        if text is None:
            self._overlays.pop(path, None)
        else:
            self._overlays[path] = text
        for workspace in self._workspaces.values():
            workspace.project.set_overlay(path, text)

    def invalidate(self, path: str) -> None:
        """Let every project forget what it read of ``path``."""
        for workspace in self._workspaces.values():
            workspace.project.invalidate(path)

    def settings(self, path: str) -> Settings:
        """The settings for the file: the editor's choices before the project's."""
        return self.of(path).options.over(self.config(path).settings)

    def config(self, path: str) -> Config:
        """The configuration for the file, read again when a pyproject.toml above it has changed; the default where it is wrong."""
        folder = os.path.dirname(path)
        stamps = _stamps_above(folder)
        known = self._configs.get(folder)
        if known is None or known[0] != stamps:
            known = self._configs[folder] = (stamps, self._read_config(folder))
        return known[1]

    def _read_config(self, folder: str) -> Config:
        try:
            return find_config(folder)
        except ConfigError as error:
            self._complain(str(error))
            return Config()

    def described(self) -> list[str]:
        """The folders, with what their files are analysed with, in a line each."""
        folders = [*self._folders, *(root for root in self._workspaces if root not in self._folders)]
        return [self._described(folder) for folder in folders]

    def _described(self, folder: str) -> str:
        inside = os.path.join(folder, FILE_NAME)
        environment, config = self.of(inside).project.environment, self.config(inside)
        packages = ", ".join(environment.site_packages) or "nowhere"
        chosen = {**_chosen(config.settings, Settings()), **_chosen(self.of(inside).options, Options())}
        settings = ", ".join(f"{name} {sorted(value) if isinstance(value, frozenset) else value}" for name, value in chosen.items())
        return (
            f"{folder}: packages in {packages}, JAX {jax_version(environment) or 'not among them'}; "
            f"configuration {config.path or 'of no file'}; settings {settings or 'as they come'}"
        )


def _chosen(settings: Settings | Options, plain: Settings | Options) -> dict[str, object]:
    """The choices that are not ``plain``."""
    return {item.name: value for item in fields(settings) if (value := getattr(settings, item.name)) != getattr(plain, item.name)}


def _stamps_above(folder: str) -> tuple[Stamp | None, ...]:
    """What changes when a pyproject.toml in ``folder`` or above it does."""
    stamps = []
    while True:
        stamps.append(stamp_of(os.path.join(folder, FILE_NAME)))
        parent = os.path.dirname(folder)
        if parent == folder:
            return tuple(stamps)
        folder = parent
