"""JUnit XML: a suite for each file, a failed case for each finding."""

from __future__ import annotations

import re
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from ...rules.diagnostic import Diagnostic
from ..places import Places, display
from ..report import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    count = len(report.diagnostics)
    suites = [_suite(path, list(found), report.places) for path, found in groupby(report.diagnostics, lambda d: d.location.path)]
    if not suites:  # a report without any case counts as a run that did not happen
        suites = ['  <testsuite name="pallas-lsp" tests="1" failures="0">\n    <testcase name="nothing found"/>\n  </testsuite>\n']
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="pallas-lsp" tests="{count or 1}" failures="{count}">\n'
    return head + "".join(suites) + "</testsuites>\n"


def _suite(path: str, found: list[Diagnostic], places: Places) -> str:
    cases = "".join(_case(diagnostic, places) for diagnostic in found)
    return f'  <testsuite name={_attribute(display(path))} tests="{len(found)}" failures="{len(found)}">\n{cases}  </testsuite>\n'


def _case(diagnostic: Diagnostic, places: Places) -> str:
    row, column = places.start(diagnostic.location)
    message = _attribute(" ".join(diagnostic.message.split()))
    place = escape(_printable(f"{display(diagnostic.location.path)}:{row}:{column}: {diagnostic.severity}[{diagnostic.rule}]"))
    return (
        f'    <testcase name={_attribute(diagnostic.rule)} line="{row}" column="{column}">\n'
        f"      <failure message={message}>{place}</failure>\n"
        "    </testcase>\n"
    )


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))


def _printable(text: str) -> str:
    """``text`` without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
