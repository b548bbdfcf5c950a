"""What an editor says of the settings, in ``initializationOptions`` or its section ``pallas-lsp``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ..config import jax_version, rule_set, target
from ..errors import CannotRun, did_you_mean
from ..settings import Settings

SECTION: Final = "pallas-lsp"


@dataclass(frozen=True, slots=True)
class Options:
    """The editor's choices, None where it makes none.

    ``interpreter`` names the Python whose installed packages are read; it is only looked at, never started.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] | None = None
    jax_version: str | None = None
    target: str | None = None
    interpreter: str | None = None

    def over(self, settings: Settings) -> Settings:
        """``settings`` of the project with the editor's choices before them."""
        return replace(
            settings,
            select=settings.select if self.select is None else self.select,
            ignore=(settings.ignore - (self.select or frozenset())) | (self.ignore or frozenset()),
            jax_version=self.jax_version or settings.jax_version,
            target=self.target or settings.target,
        )


def read_options(section: object) -> tuple[Options, list[str]]:
    """The choices in an editor's settings, and one line for each that cannot be obeyed; those are left out.

    A value of null or "" is no choice, and so is an empty ``select``: editors show a list that is not set as an empty one.
    """
    if not isinstance(section, Mapping):
        return Options(), [] if section is None else [f"the settings are no table: {section!r}"]
    chosen: dict[str, Any] = {}
    problems = []
    for key, (name, read) in _KEYS.items():
        value = section.get(key)
        if not value:
            continue
        try:
            chosen[name] = read(value)
        except CannotRun as error:
            problems.append(f"{key}: {error}")
    unknown = [key for key in section if key not in _KEYS and key not in _OF_THE_EDITOR]
    problems += [f"there is no setting {key!r}{did_you_mean(key, _KEYS)}" for key in unknown]
    return Options(**chosen), problems


def _rules(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise CannotRun(f"expected a list of rules, found {value!r}")
    return rule_set(value)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise CannotRun(f"expected a string, found {value!r}")
    return value


_KEYS: Final[dict[str, tuple[str, Callable[[object], object]]]] = {
    "select": ("select", _rules),
    "ignore": ("ignore", _rules),
    "jaxVersion": ("jax_version", lambda value: jax_version(_string(value))),
    "target": ("target", lambda value: target(_string(value))),
    "interpreter": ("interpreter", _string),
}
_OF_THE_EDITOR: Final = frozenset({"trace"})  # the VS Code extension's own
