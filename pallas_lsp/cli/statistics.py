"""How often each rule spoke."""

from __future__ import annotations

import json
from collections import Counter

from .report import Report, usable_fix


def render(report: Report, as_json: bool) -> str:
    """A line for each rule that spoke, the most frequent first: its count, severity, id, and how many findings have a fix."""
    counts = Counter((diagnostic.rule, diagnostic.severity) for diagnostic in report.diagnostics)
    fixable = Counter(diagnostic.rule for diagnostic in report.diagnostics if usable_fix(diagnostic, report.unsafe_fixes))
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if as_json:
        table = [{"code": rule, "severity": kind, "count": count, "fixable": fixable[rule]} for (rule, kind), count in rows]
        return json.dumps(table, indent=2) + "\n"
    width = max((len(str(count)) for _, count in rows), default=0)
    lines = [
        f"{count:{width}}  {kind:7}  {rule}" + (f"  ({fixable[rule]} fixable)" if fixable[rule] else "") for (rule, kind), count in rows
    ]
    return "".join(f"{line}\n" for line in lines)
