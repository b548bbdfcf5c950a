"""A JSON list of findings, for programs; its keys are part of the tool's contract."""

from __future__ import annotations

import json

from ...rules.diagnostic import Diagnostic, Fix
from ...text.span import Location
from ..places import Places, Position
from ..report import Report


def render(report: Report) -> str:
    return json.dumps([_finding(diagnostic, report.places) for diagnostic in report.diagnostics], indent=2) + "\n"


def _finding(diagnostic: Diagnostic, places: Places) -> dict[str, object]:
    return {
        "code": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "filename": diagnostic.location.path,
        **_range(diagnostic.location, places),
        "related": [
            {"filename": related.location.path, "location": _position(places.start(related.location)), "message": related.message}
            for related in diagnostic.related
        ],
        "fix": _fix(diagnostic.fixes[0], places) if diagnostic.fixes else None,
        "url": None,
    }


def _fix(fix: Fix, places: Places) -> dict[str, object]:
    return {
        "applicability": fix.applicability,
        "message": fix.title,
        "edits": [
            {"filename": edit.path, "content": edit.content, **_range(Location(edit.path, edit.span), places)} for edit in fix.edits
        ],
    }


def _range(location: Location, places: Places) -> dict[str, object]:
    return {"location": _position(places.start(location)), "end_location": _position(places.end(location))}


def _position(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}
