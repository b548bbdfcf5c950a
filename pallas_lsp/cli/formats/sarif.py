"""SARIF 2.1.0, the exchange format of code scanning services."""

from __future__ import annotations

import json
import os
from urllib.parse import quote

from ... import __version__
from ...pages import load_rule_page
from ...rules.diagnostic import Diagnostic, Fix, Related
from ...text.span import Edit, Location
from ..places import Places, display
from ..report import Report

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render(report: Report) -> str:
    rules = sorted({diagnostic.rule for diagnostic in report.diagnostics})
    driver = {"name": "pallas-lsp", "version": __version__, "rules": [_rule(rule) for rule in rules]}
    results = [_result(diagnostic, rules.index(diagnostic.rule), report.places) for diagnostic in report.diagnostics]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rule(rule_id: str) -> dict[str, object]:
    page = load_rule_page(rule_id)
    if page is None:
        return {"id": rule_id}
    return {"id": rule_id, "shortDescription": {"text": page.summary}, "helpUri": page.docs}


def _result(diagnostic: Diagnostic, rule_index: int, places: Places) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": diagnostic.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": diagnostic.message},
        "locations": [_location(diagnostic.location, places)],
    }
    if diagnostic.related:
        result["relatedLocations"] = [_related(related, places) for related in diagnostic.related]
    if diagnostic.fixes:
        result["fixes"] = [_fix(fix, places) for fix in diagnostic.fixes]
    return result


def _related(related: Related, places: Places) -> dict[str, object]:
    return {**_location(related.location, places), "message": {"text": related.message}}


def _location(location: Location, places: Places) -> dict[str, object]:
    return {"physicalLocation": {"artifactLocation": _artifact(location.path), "region": _region(location, places)}}


def _fix(fix: Fix, places: Places) -> dict[str, object]:
    paths = dict.fromkeys(edit.path for edit in fix.edits)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": [_replacement(e, places) for e in fix.edits if e.path == path]}
            for path in paths
        ],
    }


def _replacement(edit: Edit, places: Places) -> dict[str, object]:
    region = _region(Location(edit.path, edit.span), places)
    return {"deletedRegion": region, "insertedContent": {"text": edit.content}}


def _artifact(path: str) -> dict[str, object]:
    """The file as an URI: relative where it lies below the current folder, which services take for the repository's."""
    shown = display(path)
    uri = quote(os.fsencode(shown).replace(os.sep.encode(), b"/"))
    return {"uri": f"file://{uri}" if os.path.isabs(shown) else uri}


def _region(location: Location, places: Places) -> dict[str, object]:
    start, end = places.start(location), places.end(location)
    return {"startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column}
