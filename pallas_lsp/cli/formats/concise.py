"""A line for each finding, as compilers print them and editors parse them."""

from __future__ import annotations

from ...rules.diagnostic import Diagnostic
from ..places import Places, display
from ..report import Report


def render(report: Report) -> str:
    return "".join(f"{headline(diagnostic, report.places)}\n" for diagnostic in report.diagnostics)


def headline(diagnostic: Diagnostic, places: Places) -> str:
    """``path:row:column: severity[rule] message`` in one line."""
    row, column = places.start(diagnostic.location)
    message = " ".join(diagnostic.message.split())
    return f"{display(diagnostic.location.path)}:{row}:{column}: {diagnostic.severity}[{diagnostic.rule}] {message}"
