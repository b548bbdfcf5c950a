"""What an editor says of the settings, in ``initializationOptions`` or its section ``pallas-lsp``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ..config import jax_version, rule_set, target
from ..errors import CannotRun, did_you_mean
from ..pages import repeats_type_checkers
from ..settings import Settings

SECTION: Final = "pallas-lsp"

LEVELS: Final = ("error", "warning", "info", "debug")
"""How much is logged, from least to most."""


@dataclass(frozen=True, slots=True)
class Options:
    """The editor's choices, None where it makes none.

    ``interpreter`` names the Python whose installed packages are read; it is only looked at, never started. ``type_checker_rules``: report
    too what a type checker reports of the same text. ``ref_hints``, ``value_hints``, ``code_lens``: what to show in the text.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] | None = None
    jax_version: str | None = None
    target: str | None = None
    interpreter: str | None = None
    type_checker_rules: bool = False
    ref_hints: bool = True
    value_hints: bool = False
    code_lens: bool = True
    log_level: str = "info"

    def over(self, settings: Settings) -> Settings:
        """``settings`` of the project with the editor's choices before them.

        Rules that repeat a type checker are left out where neither names rules to report.
        """
        select = settings.select if self.select is None else self.select
        repeated = repeats_type_checkers() if select is None and not self.type_checker_rules else frozenset()
        return replace(
            settings,
            select=select,
            ignore=(settings.ignore - (self.select or frozenset())) | (self.ignore or frozenset()) | repeated,
            jax_version=self.jax_version or settings.jax_version,
            target=self.target or settings.target,
        )


def read_options(section: object) -> tuple[Options, list[str]]:
    """The choices in an editor's settings, and one line for each that cannot be obeyed; those are left out.

    A value of null or "" is no choice, and so is an empty ``select``: editors show a list that is not set as an empty one. A key of a
    nested table (``inlayHints``) may also be written with a dot.
    """
    if not isinstance(section, Mapping):
        return Options(), [] if section is None else [f"the settings are no table: {section!r}"]
    chosen: dict[str, Any] = {}
    problems = []
    flat = _flat(section)
    for key, (name, read) in KEYS.items():
        value = flat.get(key)
        if value is None or value in ("", []):
            continue
        try:
            chosen[name] = read(value)
        except CannotRun as error:
            problems.append(f"{key}: {error}")
    unknown = [key for key in flat if key not in KEYS and key.partition(".")[0] not in _OF_THE_EDITOR]
    problems += [f"there is no setting {key!r}{did_you_mean(key, KEYS)}" for key in unknown]
    return Options(**chosen), problems


def _flat(section: Mapping[str, object]) -> dict[str, object]:
    """The settings with the keys of nested tables joined by dots."""
    found: dict[str, object] = {}
    for key, value in section.items():
        found |= {f"{key}.{inner}": below for inner, below in _flat(value).items()} if isinstance(value, Mapping) else {key: value}
    return found


def _rules(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise CannotRun(f"expected a list of rules, found {value!r}")
    return rule_set(value)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise CannotRun(f"expected a string, found {value!r}")
    return value


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise CannotRun(f"expected true or false, found {value!r}")
    return value


def _level(value: object) -> str:
    if value not in LEVELS:
        raise CannotRun(f"expected one of {', '.join(LEVELS)}, found {value!r}")
    return str(value)


KEYS: Final[dict[str, tuple[str, Callable[[object], object]]]] = {
    "select": ("select", _rules),
    "ignore": ("ignore", _rules),
    "jaxVersion": ("jax_version", lambda value: jax_version(_string(value))),
    "target": ("target", lambda value: target(_string(value))),
    "interpreter": ("interpreter", _string),
    "typeCheckerRules": ("type_checker_rules", _switch),
    "inlayHints.refs": ("ref_hints", _switch),
    "inlayHints.values": ("value_hints", _switch),
    "codeLens": ("code_lens", _switch),
    "logLevel": ("log_level", _level),
}
_OF_THE_EDITOR: Final = frozenset({"enable", "importStrategy", "path", "trace"})  # of the extensions of editors
