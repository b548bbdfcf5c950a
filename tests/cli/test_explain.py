"""``explain`` and ``rules``."""

from __future__ import annotations

import json

import pytest
from cli.command_line import Run

from pallas_lsp.pages import find_rules_by_message, load_rule_page, plain, rule_ids
from pallas_lsp.rules import RULES


def test_a_rule_by_its_id(run: Run) -> None:
    page = load_rule_page("store-scalar-to-vmem")
    assert page is not None
    result = run("explain", "store-scalar-to-vmem")
    assert (result.code, result.out, result.err) == (0, plain(page), "")


@pytest.mark.parametrize(
    "words", [["Can only load scalars from SMEM"], ["can", "only", "load", "scalars"], ["ValueError: Can only load scalars from SMEM"]]
)
def test_a_rule_by_what_jax_says(run: Run, words: list[str]) -> None:
    result = run("explain", *words)
    assert result.code == 0
    assert result.out.startswith("load-vector-from-smem\n")


def test_a_word_of_many_messages_shows_three_pages_and_names_the_others(run: Run) -> None:
    found = find_rules_by_message("shape")
    assert len(found) > 3
    result = run("explain", "shape")
    assert result.code == 0
    assert [line for line in result.out.splitlines() if line in rule_ids()] == found[:3]
    assert result.out.splitlines()[-1] == f"See also: {', '.join(found[3:])}"


def test_nothing_found_names_the_nearest(run: Run) -> None:
    result = run("explain", "load-vector-form-smem")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "pallas-lsp: no rule and no known message of JAX is called 'load-vector-form-smem'"
        " (did you mean 'load-vector-from-smem'?) (pallas-lsp rules lists the rules)\n"
    )


def test_rules_lists_each_in_one_line(run: Run) -> None:
    lines = run("rules").out.splitlines()
    assert [line.split()[0] for line in lines] == sorted([*RULES, "unused-suppression"])
    page = load_rule_page("store-scalar-to-vmem")
    assert page is not None
    assert [line.split(maxsplit=2) for line in lines if line.startswith("store-scalar-to-vmem ")] == [[page.id, "error", page.summary]]


def test_rules_as_json(run: Run) -> None:
    table = json.loads(run("rules", "--output-format", "json").out)
    assert [row["code"] for row in table] == sorted([*RULES, "unused-suppression"])
    assert set(table[0]) == {"code", "severity", "summary"}
