"""GitLab's Code Quality report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from ...rules.diagnostic import Diagnostic
from ..places import Places, Position, display
from ..report import Report

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report) -> str:
    seen: Counter[str] = Counter()
    return json.dumps([_issue(diagnostic, report.places, seen) for diagnostic in report.diagnostics], indent=2) + "\n"


def _issue(diagnostic: Diagnostic, places: Places, seen: Counter[str]) -> dict[str, object]:
    """GitLab follows an issue from run to run by its fingerprint, so that must not change when lines move."""
    path = display(diagnostic.location.path)
    same = f"{path}\0{diagnostic.rule}\0{diagnostic.message}"
    seen[same] += 1
    return {
        "check_name": diagnostic.rule,
        "description": diagnostic.message,
        "severity": _SEVERITIES[diagnostic.severity],
        "fingerprint": hashlib.sha256(f"{same}\0{seen[same]}".encode(errors="surrogateescape")).hexdigest(),
        "location": {
            "path": path,
            "positions": {"begin": _position(places.start(diagnostic.location)), "end": _position(places.end(diagnostic.location))},
        },
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}
