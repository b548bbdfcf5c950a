"""The fixes and the ignoring of findings, as edits whose result is analysed again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from features.analysed import PATH, analysed, edited, span_of
from small_kernel import BAD, HEAD

from pallas_lsp.analysis import Analysis
from pallas_lsp.features.actions import Action, actions, fix_all, fix_all_action
from pallas_lsp.rules.diagnostic import Fix
from pallas_lsp.text.span import Edit, Location, Span

STORE = "o_ref[0, 0] = jnp.sum(x_ref[...])"
RULE = "store-scalar-to-vmem"


def offered(text: str, needle: str = "o_ref[0, 0]") -> list[Action]:
    return actions(analysed(text), span_of(text, needle))


def ignored(text: str) -> str:
    """``text`` with its one finding ignored."""
    (action,) = [action for action in offered(text) if action.title == f"Ignore `{RULE}` on this line"]
    return edited(text, action.edits)


@pytest.mark.parametrize("needle", ["o_ref[0, 0]", "ref[0, 0]", "_ref[", STORE, "    " + STORE + "\n\n"])
def test_actions_are_offered_wherever_the_finding_is_touched(needle: str) -> None:
    assert offered(BAD, needle) != []


def test_and_nowhere_else() -> None:
    analysis = analysed(BAD)
    (finding,) = analysis.diagnostics
    span = finding.location.span
    assert actions(analysis, Span(span.start, span.start)) and actions(analysis, Span(span.end, span.end))
    assert actions(analysis, Span(0, span.start - 1)) == []
    assert actions(analysis, Span(span.end + 1, len(BAD))) == []
    elsewhere = replace(finding, location=Location("/project/other.py", span))
    assert actions(replace(analysis, diagnostics=[elsewhere]), span) == []


def test_fixes_come_best_first_and_the_first_safe_one_is_preferred() -> None:
    analysis = analysed(BAD)
    fixes = tuple(Fix(title, kind, (Edit(PATH, Span(0, 0), title),)) for title, kind in [("a", "unsafe"), ("b", "safe"), ("c", "safe")])
    finding = replace(analysis.diagnostics[0], fixes=fixes)
    found = actions(replace(analysis, diagnostics=[finding]), finding.location.span)
    assert [(action.title, action.preferred) for action in found] == [
        ("a (unsafe)", False), ("b", True), ("c", False), (f"Ignore `{RULE}` on this line", False), (f"Ignore `{RULE}` in this file", False),
        (f"Explain `{RULE}`", False),
    ]  # fmt: skip
    assert all(action.diagnostics == (finding,) for action in found)


def test_the_fixes_of_a_real_finding_take_it_away() -> None:
    fixes = [action for action in offered(BAD) if action.kind == "fix"]
    assert fixes
    for fix in fixes:
        assert analysed(edited(BAD, fix.edits)).diagnostics == [], fix.title


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (STORE, f"{STORE}  # pallas: ignore[{RULE}]"),
        (f"{STORE}  # why", f"{STORE}  # why  # pallas: ignore[{RULE}]"),
        (f"{STORE}  # noqa: E501", f"{STORE}  # noqa: E501  # pallas: ignore[{RULE}]"),
        (f"{STORE}  # pallas: ignore[ref-index-bounds]", f"{STORE}  # pallas: ignore[ref-index-bounds, {RULE}]"),
        (f"{STORE}  # pallas: ignore[ ref-index-bounds ]  # why", f"{STORE}  # pallas: ignore[ ref-index-bounds, {RULE} ]  # why"),
        (f'{STORE}; s = "# pallas: ignore[a]"', f'{STORE}; s = "# pallas: ignore[a]"  # pallas: ignore[{RULE}]'),
    ],
)
def test_ignoring_keeps_what_is_on_the_line(line: str, after: str) -> None:
    text = ignored(BAD.replace(STORE, line))
    assert text == BAD.replace(STORE, after)
    assert [finding.rule for finding in analysed(text).diagnostics if finding.rule != "unused-suppression"] == []


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_ignoring_keeps_the_line_ending(ending: str) -> None:
    text = BAD.replace("\n", ending)
    assert ignored(text) == text.replace(STORE, f"{STORE}  # pallas: ignore[{RULE}]")


def test_in_a_statement_of_many_lines_the_comment_goes_where_the_finding_is() -> None:
    text = BAD.replace(STORE, "o_ref[0, 0] = (\n        jnp.sum(x_ref[...])\n    )")
    assert "    o_ref[0, 0] = (  # pallas: ignore" in ignored(text)
    assert analysed(ignored(text)).diagnostics == []


def test_where_neither_line_can_take_one_ignoring_is_not_offered() -> None:
    text = BAD.replace("o_ref[0, 0] =", "o_ref[0, 0] = \\\n        ")
    assert all("on this line" not in action.title for action in offered(text))


def ignored_in_file(text: str) -> str:
    (action,) = [action for action in offered(text) if action.title == f"Ignore `{RULE}` in this file"]
    return edited(text, action.edits)


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("", f"# pallas: ignore-file[{RULE}]\n"),
        ("# Copyright\n", f"# pallas: ignore-file[{RULE}]\n# Copyright\n"),
        ("#!/usr/bin/env python\n", f"#!/usr/bin/env python\n# pallas: ignore-file[{RULE}]\n"),
        ("#!/bin/python\r\n# -*- coding: utf-8 -*-\r\n", f"#!/bin/python\r\n# -*- coding: utf-8 -*-\r\n# pallas: ignore-file[{RULE}]\r\n"),
        ("\ufeff", f"\ufeff# pallas: ignore-file[{RULE}]\n"),
        ('"""Kernels."""\n', f'# pallas: ignore-file[{RULE}]\n"""Kernels."""\n'),
        ("# pallas: ignore-file[top-k]  # why\n", f"# pallas: ignore-file[top-k, {RULE}]  # why\n"),
    ],
)
def test_ignoring_in_the_file(head: str, after: str) -> None:
    body = BAD.replace("\n", "\r\n") if "\r" in head else BAD
    text = ignored_in_file(head + body)
    assert text == after + body
    assert [finding.rule for finding in analysed(text).diagnostics if finding.rule != "unused-suppression"] == []


def test_a_rule_is_explained_and_ignored_in_the_file_once() -> None:
    text = BAD.replace(STORE, f"{STORE}\n    o_ref[1, 1] = jnp.sum(x_ref[...])")
    found = actions(analysed(text), Span(0, len(text)))
    assert [action.kind for action in found if action.kind != "fix"] == ["ignore", "ignore", "ignore", "explain"]


SEVERAL = BAD.replace(STORE, f"{STORE}\n    o_ref[1, 1] = jnp.sum(x_ref[...])") + "# pallas: ignore[top-k]\nx = 1\n# pallas: ignore[conv]\n"


def test_all_safe_fixes_of_a_file() -> None:
    analysis = analysed(SEVERAL)
    assert fix_all_action(analysis) is not None
    assert len(analysis.diagnostics) == 4
    assert all(any(fix.applicability == "safe" for fix in finding.fixes) for finding in analysis.diagnostics)
    assert analysed(edited(SEVERAL, fix_all(analysis, analysed))).diagnostics == []


def test_fixes_that_do_not_go_together_are_not_made_together() -> None:
    analysis = analysed(SEVERAL)
    asked: list[str] = []

    def again(text: str) -> Analysis:
        asked.append(text)
        return analysed(text) if len(asked) > 1 else analysis

    edits = fix_all(analysis, again)
    assert len(asked) == 2 and set(edits) < set(fix_all(analysis, analysed)), "the first half of them"
    assert len(analysed(edited(SEVERAL, edits)).diagnostics) == 2


def test_where_nothing_is_found_nothing_is_offered() -> None:
    assert fix_all_action(analysed(HEAD)) is None
    assert fix_all(analysed(HEAD), analysed) == ()


def test_fixes_of_other_files_are_left_alone() -> None:
    analysis = analysed(BAD)
    fix = Fix("elsewhere", "safe", (Edit("/project/other.py", Span(0, 0), "x"),))
    assert fix_all(replace(analysis, diagnostics=[replace(analysis.diagnostics[0], fixes=(fix,))]), analysed) == ()
