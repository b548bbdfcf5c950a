"""Rules: a module a family, a rule a short function on one event.

Importing a family registers its rules. The package is scanned for them when ``RULES`` or a `RuleTable` is first asked for: most files of
a project hold no kernel, and a check that meets none needs no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .diagnostic import Diagnostic, Fix, Related

if TYPE_CHECKING:
    from .registry import RULES, Rule

__all__ = ["RULES", "Diagnostic", "Fix", "Related", "Rule"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import registry

    registry.load_rules()
    return getattr(registry, name)
