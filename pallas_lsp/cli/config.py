"""``pallas-lsp config``: the settings in force for a file, and where each comes from."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..config import Config
from ..errors import CannotRun
from ..resolve.environment import jax_version
from .options import Choices, Parser, add_choices, read_choices
from .places import display
from .workspace import Workspace


def run(arguments: Sequence[str]) -> int:
    """Print the settings that `check` with the same options obeys for a file or folder."""
    parser = Parser("config", "Show the settings in force and where each comes from.")
    parser.add_argument("path", nargs="?", default=os.curdir, metavar="PATH", help="a file or folder (default: the current folder)")
    add_choices(parser)
    options = parser.read(arguments)
    choices = read_choices(options)
    path = os.path.abspath(options.path)
    if not os.path.exists(path):
        raise CannotRun(f"cannot read {options.path}: No such file or directory")
    inside = os.path.join(path, "_") if os.path.isdir(path) else path
    workspace = Workspace()
    config = workspace.config(inside)
    rows = [("configuration", display(config.path) if config.path else "none found", "")]
    rows += [*_settings(config, choices, workspace, inside), *_files(config)]
    name_width, value_width = (max(len(row[i]) for row in rows) for i in (0, 1))
    sys.stdout.write("".join(f"{name:{name_width}}  {value:{value_width}}  {origin}".rstrip() + "\n" for name, value, origin in rows))
    return 0


def _settings(config: Config, choices: Choices, workspace: Workspace, path: str) -> list[tuple[str, str, str]]:
    settings = choices.over(config.settings)
    version, version_origin = settings.jax_version, _origin("jax-version", choices.jax_version, config)
    if version is None:
        environment = workspace.project_of(path).environment
        version = jax_version(environment)
        version_origin = f"installed in {display(environment.site_packages[0])}" if version else "no environment with JAX found"
    return [
        ("select", "all rules" if settings.select is None else _listed(settings.select), _origin("select", choices.select, config)),
        ("ignore", _listed(settings.ignore), _origin("ignore", choices.ignore or None, config)),
        ("jax-version", version or "what all known versions agree on", version_origin),
        ("target", settings.target or "every chip", _origin("target", choices.target, config)),
    ]


def _files(config: Config) -> list[tuple[str, str, str]]:
    return [
        ("exclude", _listed(config.exclude.texts if config.exclude else ()), _origin("exclude", None, config)),
        *(("per-file-ignores", f"{_listed(p.texts)}: {_listed(rules)}", "configuration") for p, rules in config.per_file_ignores),
    ]


def _listed(names: Sequence[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _origin(key: str, choice: object, config: Config) -> str:
    if choice is not None:
        return "command line"
    return "configuration" if key in config.keys else "default"
