"""What a check found, ready to be printed in any format."""

from __future__ import annotations

from dataclasses import dataclass

from ..rules.diagnostic import Diagnostic, Fix
from .places import Places


@dataclass(frozen=True, slots=True)
class Report:
    """The findings in the order to show them.

    ``checked`` is the number of files looked at, ``fixed`` that of findings just fixed. ``unsafe_fixes``: whether the user takes
    unsafe fixes too. ``colour``: whether the output goes to a terminal that shows colours.
    """

    diagnostics: tuple[Diagnostic, ...]
    places: Places
    checked: int
    fixed: int = 0
    unsafe_fixes: bool = False
    colour: bool = False


def usable_fix(diagnostic: Diagnostic, unsafe_fixes: bool) -> Fix | None:
    """The best fix of the finding that the user takes, None where there is none."""
    return next((fix for fix in diagnostic.fixes if unsafe_fixes or fix.applicability == "safe"), None)
