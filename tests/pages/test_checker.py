"""The checker and the pages agree: it reports a page's rule on the marked line of its example, and nothing on what to use instead."""

from __future__ import annotations

import pytest
from checker import PATH, findings
from pages.api_accepted import API_ACCEPTED
from pages.reading import has_its_names, holds_for_this_jax, marked_line, named, page_of
from pages.rule_accepted import ACCEPTED
from referee import Verdict, lower

from pallas_lsp.pages import rule_ids
from pallas_lsp.rules import RULES, Fix

CHECKED = [rule_id for rule_id in rule_ids() if (rule_id in RULES or rule_id == "unused-suppression") and has_its_names(page_of(rule_id))]


def fixed(text: str, fix: Fix) -> str:
    """The text after the edits of a fix."""
    for edit in sorted(fix.edits, reverse=True):
        assert edit.path == PATH
        text = text[: edit.span.start] + edit.content + text[edit.span.end :]
    return text


def without_advice(text: str, target: str | None) -> set[str]:
    """The rules with a finding that is more than information: a lean example may waste memory."""
    return {finding.rule for finding in findings(text, target) if finding.severity != "info"}


@pytest.mark.parametrize("rule_id", CHECKED)
def test_the_example_has_exactly_this_finding(rule_id: str) -> None:
    page = page_of(rule_id)
    found = [finding for finding in findings(page.example, page.target) if finding.rule in (rule_id, *without_advice(page.example, page.target))]
    if not holds_for_this_jax(page):  # JAX takes it by now, or another rule speaks of it
        assert rule_id not in {finding.rule for finding in found}
        assert lower(page.example).ok == all(finding.severity != "error" for finding in found)
        return
    places = [(finding.rule, page.example.count("\n", 0, finding.location.span.start) + 1) for finding in found]
    assert places == [(rule_id, marked_line(page))]
    assert all(finding.severity == page.severity for finding in found)


@pytest.mark.parametrize("rule_id", CHECKED)
def test_what_to_use_instead_has_no_finding(rule_id: str) -> None:
    page = page_of(rule_id)
    assert without_advice(page.use_instead, page.target) == set()


@pytest.mark.parametrize("rule_id", CHECKED)
def test_jax_lowers_the_example_after_the_first_fix(rule_id: str) -> None:
    page = page_of(rule_id)
    text = page.example
    fixes = [fix for finding in findings(text, page.target) for fix in finding.fixes]
    if not fixes:
        pytest.skip("no fix is offered")
    assert lower(fixed(text, fixes[0])) == Verdict(ok=True)


@pytest.mark.parametrize("source", named([*ACCEPTED, *API_ACCEPTED]))
def test_no_error_where_the_pages_say_that_all_is_well(source: str) -> None:
    assert [finding for finding in findings(source) if finding.severity == "error"] == []


def test_every_rule_has_a_page() -> None:
    assert set(RULES) <= set(rule_ids())
