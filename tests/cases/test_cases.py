"""The literate cases, judged by the checker and by JAX."""

from __future__ import annotations

import pytest
from cases.literate import CASES, Case
from cases.revealing import REVEALED
from checker import analysis_of
from referee import lower

each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@each_case
def test_the_checker_finds_what_the_lines_say(case: Case) -> None:
    analysis = analysis_of(case.text)
    located = ((analysis.source.line_of(d.location.span.start) + 1, d.severity, d.rule, d.message) for d in analysis.diagnostics)
    found = sorted(finding for finding in located if finding[1] != "info")
    marks = sorted(case.marks)
    assert [finding[:3] for finding in found] == [(mark.line, mark.severity, mark.rule) for mark in marks], found
    for mark, finding in zip(marks, found, strict=True):
        assert mark.message in finding[3]


@each_case
def test_jax_agrees(case: Case) -> None:
    verdict = lower(case.text)
    errors = [mark.line for mark in case.marks if mark.severity == "error"]
    assert verdict.ok == (not errors), verdict
    assert not errors or verdict.line in errors, verdict


@pytest.mark.parametrize("case", [case for case in CASES if case.reveals], ids=[case.name for case in CASES if case.reveals])
def test_the_values_are_known(case: Case) -> None:
    analysis = analysis_of(case.text)
    for line, value in case.reveals.items():
        start = analysis.source.line_span(line - 1).start
        text = analysis.source.line_text(line - 1)
        note = analysis.notes.value_at(start + len(text) - len(text.lstrip()))
        assert note is not None, text
        assert note.text.replace("int = ", "").replace(" in ", "@").replace(", ", ",").lower() == value, text
    REVEALED.clear()
    lower(case.revealing)
    assert case.reveals == REVEALED
