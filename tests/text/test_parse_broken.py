"""Kernels broken at random: a tree always comes back, at the right places, and what the edit hit is damaged."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
import referee
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from text.breaking import Broken, broken, covers, definitions
from text.samples import KERNELS
from text.texts import HARD_TEXT

from pallas_lsp.text.parse import parse
from pallas_lsp.text.source import Source

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape")
SCRAPS = ["(", "]", "def f(", "if x", ":", "\n", "\n  ", "\n\t", '"""', "'", "x", "=", "\\", "@", "0", "\0", "é", "%", "#"]
many = settings(max_examples=200)


def is_sound(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", KERNELS)
def test_the_samples_are_kernels_that_jax_lowers(name: str) -> None:
    assert referee.lower(KERNELS[name], f"{name}.py").ok


@many
@given(broken())
def test_a_broken_kernel_parses_and_what_is_left_has_not_moved(case: Broken) -> None:
    parsed = parse(case.after)
    source = Source("f.py", case.after)
    assert len(parsed.text) == len(case.after)
    assert ast.dump(ast.parse(parsed.text), include_attributes=True) == ast.dump(parsed.tree, include_attributes=True)
    for node in ast.walk(parsed.tree):
        if isinstance(node, ast.Name):
            assert source.slice(source.span_of(node)) == node.id
        elif isinstance(node, ast.Attribute):
            assert source.slice(source.span_of(node)).endswith(node.attr)
    # Nothing was lost outside the damage.
    blanked = [at for at, (old, new) in enumerate(zip(case.after, parsed.text, strict=True)) if old != new and old.isprintable()]
    if parsed.error is not None:
        assert all(any(at in span for span in parsed.damaged) for at in blanked)
        assert 0 <= parsed.error[1] <= len(case.after)


@many
@given(broken())
def test_a_function_that_the_edit_broke_is_damaged_or_gone(case: Broken) -> None:
    parsed = parse(case.after)
    assume(parsed.error is not None)
    source = Source("f.py", case.before)
    left = dict(definitions(parsed.tree))
    before = list(definitions(ast.parse(case.before)))
    names = Counter(name for name, _ in before)
    for name, node in before:
        if name in left and names[name] == 1 and covers(source, node, case.at):
            assert parsed.is_damaged(left[name]), name


@many
@given(broken())
def test_an_edit_in_one_top_level_definition_leaves_the_others(case: Broken) -> None:
    assume(not is_sound(case.after))
    source, tree = Source("f.py", case.before), ast.parse(case.before)
    left = {name for name, _ in definitions(parse(case.after).tree)}
    body = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    hit = next((node for node in body if covers(source, node, case.at)), None)
    assume(hit is not None)
    assert {node.name for node in body if node is not hit} <= left


@given(broken(), st.integers(0, 3000), st.sampled_from("([{\"'\0\n"))
def test_two_edits_do_not_raise_either(case: Broken, at: int, inserted: str) -> None:
    parsed = parse(case.after[:at] + inserted + case.after[at:])
    assert isinstance(parsed.tree, ast.Module)


@settings(max_examples=200)
@given(HARD_TEXT | st.lists(st.sampled_from(SCRAPS)).map("".join))
def test_no_text_at_all_raises(text: str) -> None:
    parsed = parse(text)
    assert len(parsed.text) == len(text)
    assert (parsed.error is None) == (parsed.damaged == ())


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
@given(broken())
def test_line_endings_do_not_matter(ending: str, case: Broken) -> None:
    assume(not case.after.endswith("\\\n"))  # Python 3.11 takes that before `\r\n` alone
    parsed, other = parse(case.after), parse(case.after.replace("\n", ending))
    assert ast.dump(parsed.tree, include_attributes=True) == ast.dump(other.tree, include_attributes=True)
    assert len(parsed.damaged) == len(other.damaged)
