"""The Python environment of a workspace, found by looking at its files: no interpreter is started, nothing imported."""

from __future__ import annotations

import glob
import os
import re
import shutil
from dataclasses import dataclass

_LINE_LIMIT = 200  # of the head of a configuration file
_SITE_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages", "Lib/site-packages")
_JAX_FOLDER = re.compile(r"jax-(\d[^-]*)\.dist-info")


@dataclass(frozen=True, slots=True)
class Environment:
    """``site_packages``: the folders that installed packages are imported from, most important first."""

    site_packages: tuple[str, ...] = ()


def find_environment(root: str, explicit: str | None = None) -> Environment | None:
    """The environment of the workspace folder ``root``, None where there is no sign of one.

    ``explicit`` (the path of an interpreter or of an environment's folder, or a command on ``PATH``) is obeyed where it is
    given; else ``.venv`` and ``venv`` under ``root``, then the activated environment (``VIRTUAL_ENV``, ``CONDA_PREFIX``).
    """
    if explicit is not None:
        path = os.path.join(root, os.path.expanduser(explicit))
        return _environment_at(_prefix_of(path if os.path.exists(path) else shutil.which(explicit) or path))
    activated = (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"))
    for prefix in (os.path.join(root, ".venv"), os.path.join(root, "venv"), *filter(None, activated)):
        environment = _environment_at(prefix)
        if environment is not None:
            return environment
    return None


def jax_version(environment: Environment) -> str | None:
    """The version of JAX that ``environment`` has installed, by its ``dist-info`` folder; None where it has none."""
    for folder in environment.site_packages:
        for name in _names_in(folder):
            if match := _JAX_FOLDER.fullmatch(name):
                return _metadata_version(os.path.join(folder, name, "METADATA")) or match[1]
    return None


def _prefix_of(path: str) -> str:
    """The folder of the environment that the interpreter ``path`` starts; links are not followed, as Python does not."""
    return path if os.path.isdir(path) else os.path.dirname(os.path.dirname(path))


def _environment_at(prefix: str) -> Environment | None:
    folders = _site_packages_under(prefix)
    config = _pyvenv_config(prefix)
    if config.get("include-system-site-packages", "").lower() == "true" and "home" in config:
        folders += _site_packages_under(os.path.dirname(config["home"]))
    if not folders:
        return None
    return Environment(tuple(dict.fromkeys(folders + [added for folder in folders for added in _path_files(folder)])))


def _site_packages_under(prefix: str) -> list[str]:
    return [
        os.path.normpath(found)
        for pattern in _SITE_PACKAGES
        for found in sorted(glob.glob(os.path.join(glob.escape(prefix), pattern)), reverse=True)
        if os.path.isdir(found)
    ]


def _pyvenv_config(prefix: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in _lines(os.path.join(prefix, "pyvenv.cfg")))
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _path_files(folder: str) -> list[str]:
    """The folders that the ``.pth`` files of ``folder`` add, as editable installs do. Their ``import`` lines are code: ignored."""
    lines = (
        os.path.join(folder, line.strip())
        for name in _names_in(folder)
        if name.endswith(".pth")
        for line in _lines(os.path.join(folder, name))
        if line.strip() and not line.startswith(("import ", "import\t", "#"))
    )
    return [os.path.normpath(line) for line in lines if "\0" not in line and os.path.isdir(line)]


def _metadata_version(path: str) -> str | None:
    for line in _lines(path):
        if line.startswith("Version:"):
            return line.partition(":")[2].strip() or None
    return None


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def _lines(path: str) -> list[str]:
    """The first lines of a small text file; none where it is no readable regular file."""
    if not os.path.isfile(path):
        return []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LINE_LIMIT * 100).splitlines()[:_LINE_LIMIT]
    except OSError:
        return []
