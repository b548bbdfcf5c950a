"""``[tool.pallas-lsp]`` in pyproject.toml: the options of the command line under the same names, and what only a project can say."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from .errors import CannotRun, did_you_mean
from .given import GivenCall, read_call
from .pages import rule_ids
from .patterns import Patterns, parse_patterns
from .settings import TARGETS, Settings

FILE_NAME = "pyproject.toml"
TABLE = "tool.pallas-lsp"
KEYS = ("select", "ignore", "jax-version", "target", "exclude", "per-file-ignores", "shapes")


class ConfigError(CannotRun):
    """The configuration is wrong; the text names the file, the key and what was expected."""


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that holds for a file.

    ``settings`` are those of the table, ``keys`` the keys that it has. ``exclude``: what `check` passes over when it walks a folder.
    ``per_file_ignores``: rules not to report in the files that the patterns mean. ``path``: the pyproject.toml, None where no file
    above has the table.
    """

    settings: Settings = field(default_factory=Settings)
    keys: frozenset[str] = frozenset()
    exclude: Patterns | None = None
    per_file_ignores: tuple[tuple[Patterns, frozenset[str]], ...] = ()
    path: str | None = None

    def ignores(self, path: str, rule: str) -> bool:
        """Whether the file ``path`` (absolute) is one in which ``rule`` is not to be reported."""
        return any(rule in rules and patterns.covers(path) for patterns, rules in self.per_file_ignores)

    def excludes(self, path: str) -> bool:
        """Whether ``path`` (absolute) is excluded, itself or by a folder it is in."""
        return self.exclude is not None and self.exclude.covers(path)


def find_config(folder: str) -> Config:
    """The configuration of the nearest pyproject.toml with the table, in ``folder`` (absolute) or above it.

    Raises `ConfigError`, also where a pyproject.toml on the way cannot be read: it might have had the table.
    """
    while True:
        config = load_config(os.path.join(folder, FILE_NAME))
        parent = os.path.dirname(folder)
        if config is not None:
            return config
        if parent == folder:
            return Config()
        folder = parent


def load_config(path: str) -> Config | None:
    """The configuration in the pyproject.toml at ``path``, None where there is no such file or it has no such table."""
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    tool = document.get("tool")
    table = tool.get("pallas-lsp") if isinstance(tool, dict) else None
    if table is None:
        return None
    try:
        return _read(table, os.path.dirname(path), path)
    except _Wrong as wrong:
        raise ConfigError(f"{path}: [{TABLE}] {wrong}") from None


def rule_set(names: Iterable[str]) -> frozenset[str]:
    """The rules of these ids; `CannotRun` names the first that is none, and the nearest that is."""
    for name in names:
        if name not in rule_ids():
            raise CannotRun(f"there is no rule {name!r}{did_you_mean(name, rule_ids())}")
    return frozenset(names)


def jax_version(text: str) -> str:
    """``text`` where it can be a version of JAX, such as ``0.10.2``; `CannotRun` otherwise."""
    if not re.fullmatch(r"\d+(\.\d+){1,3}", text):
        raise CannotRun(f"{text!r} is no JAX version (expected one like 0.10.2)")
    return text


def target(text: str) -> str:
    """``text`` where it names a TPU generation; `CannotRun` otherwise."""
    if text not in TARGETS:
        raise CannotRun(f"there is no target {text!r} (there are {', '.join(TARGETS)})")
    return text


class _Wrong(Exception):
    """What is wrong with the table, without the file's name."""


def _read(table: object, folder: str, path: str) -> Config:
    values = _table(table)
    for key in values:
        if key not in KEYS:
            raise _Wrong(f"has no key {key!r}{did_you_mean(key, KEYS)}")
    settings = Settings()
    config = Config(path=path, keys=frozenset(values))
    for key, value in values.items():
        try:
            match key:
                case "select":
                    settings = replace(settings, select=rule_set(_strings(value)))
                case "ignore":
                    settings = replace(settings, ignore=rule_set(_strings(value)))
                case "jax-version":
                    settings = replace(settings, jax_version=jax_version(_string(value)))
                case "target":
                    settings = replace(settings, target=target(_string(value)))
                case "exclude":
                    config = replace(config, exclude=parse_patterns(folder, _strings(value)))
                case "per-file-ignores":
                    rules = {pattern: rule_set(_strings(names)) for pattern, names in _table(value).items()}
                    config = replace(config, per_file_ignores=tuple((parse_patterns(folder, [p]), r) for p, r in rules.items()))
                case "shapes":
                    calls = [_call(name, arguments) for name, given in _table(value).items() for arguments in _configurations(given)]
                    settings = replace(settings, shapes=tuple(calls))
        except (CannotRun, _Wrong) as wrong:
            raise _Wrong(f"{key}: {wrong}") from None
    return replace(config, settings=settings)


def _configurations(value: object) -> list[list[str]]:
    """The arguments of one call, or a list of such lists."""
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        return [_strings(item) for item in value]
    return [_strings(value)]


def _call(name: str, arguments: list[str]) -> GivenCall:
    """The call of the function ``module.function``."""
    module, _, function = name.rpartition(".")
    if not module or not all(part.isidentifier() for part in name.split(".")):
        raise _Wrong(f"expected the name of a function with its module ('ops.attention'), found {name!r}")
    return read_call(f"{function}({', '.join(arguments)})", module)


def _table(value: object) -> Mapping[str, object]:
    if isinstance(value, dict):
        return value
    raise _Wrong(f"expected a table, found {_kind(value)}")


def _strings(value: object) -> list[str]:
    if isinstance(value, list):
        return [_string(item) for item in value]
    raise _Wrong(f"expected a list of strings, found {_kind(value)}")


def _string(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _Wrong(f"expected a string, found {_kind(value)}")


def _kind(value: object) -> str:
    """What TOML calls a value of this type."""
    kinds = {bool: "a boolean", str: "a string", int: "an integer", float: "a float", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date or time")
