"""The fixes and the ignoring of findings, as edits whose result is analysed again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from features.analysed import BAD, PATH, analysed, edited, span_of

from pallas_lsp.features.actions import Action, actions
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
        ("a", False), ("b", True), ("c", False), (f"Ignore `{RULE}` on this line", False)
    ]  # fmt: skip
    assert all(action.diagnostics == (finding,) for action in found)


def test_the_fixes_of_a_real_finding_take_it_away() -> None:
    *fixes, _ = offered(BAD)
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
    assert all(not action.title.startswith("Ignore") for action in offered(text))
