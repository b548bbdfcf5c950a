"""Rules: a module a family, a rule a short function on one event. Importing a family registers its rules; the package is scanned."""

from __future__ import annotations

from .diagnostic import Diagnostic, Fix, Related
from .registry import RULES, Rule, load_rules

load_rules()

__all__ = ["RULES", "Diagnostic", "Fix", "Related", "Rule"]
