"""GitHub Actions' workflow commands: each finding becomes an annotation on the changed line."""

from __future__ import annotations

from ...rules.diagnostic import Diagnostic
from ..places import Places, display
from ..report import Report

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    return "".join(f"{_annotation(diagnostic, report.places)}\n" for diagnostic in report.diagnostics)


def _annotation(diagnostic: Diagnostic, places: Places) -> str:
    path, start, end = display(diagnostic.location.path), places.start(diagnostic.location), places.end(diagnostic.location)
    fields = {"title": f"pallas-lsp ({diagnostic.rule})", "file": path, "line": start.row, "endLine": end.row}
    if start.row == end.row:  # GitHub refuses columns where an annotation spans lines
        fields |= {"col": start.column, "endColumn": end.column}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
    text = f"{path}:{start.row}:{start.column}: {diagnostic.rule} {diagnostic.message}"
    return f"::{_COMMANDS[diagnostic.severity]} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
