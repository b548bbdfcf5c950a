"""Parsing again after an edit gives what parsing anew gives, and keeps what the edit does not touch."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text.breaking import HALF_TYPED, INSERTED
from text.samples import KERNELS

from pallas_lsp.text.parse import Parsed, parse
from pallas_lsp.text.reparse import reparse
from pallas_lsp.text.source import Source

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape")

MODULE = "\n\n".join([*list(KERNELS.values())[:2], "LIMIT = (\n    3,\n)\nif LIMIT:\n    a = 1; b = 2\nelse:\n    a = 2\n\n# the end\n"])


def same(a: Parsed, b: Parsed) -> bool:
    def told(parsed: Parsed) -> object:
        return ast.dump(parsed.tree, include_attributes=True), parsed.text, parsed.damaged, parsed.mostly_lost, parsed.error is None

    return told(a) == told(b)


def keeps_more(a: Parsed, b: Parsed) -> bool:
    def lost(parsed: Parsed) -> set[int]:
        return {at for at, (left, written) in enumerate(zip(parsed.text, parsed.source.text, strict=True)) if left != written}

    return a.error is not None and lost(a) < lost(b)


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[float, int, str]]:
    """Edits one after the other: where, as a share of the text, how many characters go, and what comes in their place."""
    inserted = st.sampled_from([*INSERTED, *HALF_TYPED, "\nx = 1\n", "    y = 2\n", "def new():\n    pass\n\n", "\r\n", "", ""])
    gone = st.sampled_from([0, 0, 0, 1, 1, 3, 40])
    return draw(st.lists(st.tuples(st.floats(0, 1), gone, inserted), min_size=1, max_size=5))


@settings(max_examples=60)
@given(edits(), st.booleans())
def test_parsing_again_is_parsing_anew(changes: list[tuple[float, int, str]], at_line_starts: bool) -> None:
    text, parsed = MODULE, parse(MODULE)
    for where, gone, inserted in changes:
        at = round(where * len(text))
        if at_line_starts:
            at = text.rfind("\n", 0, at) + 1
        text = text[:at] + inserted + text[at + gone :]
        parsed = reparse(parsed, text)
        anew = parse(text)
        # Where several places are broken, reading all of the text may give up more of it than reading the part around an edit.
        assert same(parsed, anew) or (anew.error and keeps_more(parsed, anew)), text


def test_units_are_kept_outside_of_an_edit() -> None:
    text = "import jax\n\ndef f(x):\n    return x\n\n@jax.jit\ndef g(x):\n    return x\n\nY = 1\n"
    before = parse(text)
    after = reparse(before, text.replace("def f(x):\n    return x", "def f(x):\n    return x + 1"))
    kept = [unit in after.layout.units for unit in before.layout.units]
    assert kept == [True, False, True, True]
    assert after.tree.body[2] is before.tree.body[2]
    moved = reparse(after, after.text.replace("def f(x):\n", "def f(x):\n    # a line\n"))
    assert [unit in after.layout.units for unit in moved.layout.units] == [True, False, True, True]
    assert list(moved.layout.starts) == [0, 2, 6, 10]


def test_a_function_that_is_broken_or_mended_is_another_unit() -> None:
    text = "def f(x):\n    return x\n\ndef g(x):\n    return x\n\ndef h(x):\n    return x\n"
    sound = parse(text)
    broken = reparse(sound, text.replace("def g(x):\n    return x", "def g(x):\n    return x["))
    mended = reparse(broken, text)
    assert broken.damaged and not mended.damaged
    assert [unit in broken.layout.units for unit in sound.layout.units] == [True, False, True]
    assert [unit in mended.layout.units for unit in sound.layout.units] == [True, False, True]


def test_a_place_in_a_unit_stays_when_lines_come_above_it() -> None:
    text = "A = 1\n\nB = 2\n\ndef f(x):\n    return x\n"
    before = parse(text)
    after = reparse(before, text.replace("A = 1\n", "A = 1\nA2 = 1\nA3 = 1\n"))
    returns = [next(node for node in ast.walk(parsed.tree) if isinstance(node, ast.Return)) for parsed in (before, after)]
    assert before.layout.place(returns[0]) == after.layout.place(returns[1])
    assert Source("", after.text).span_of(returns[1]).start != Source("", text).span_of(returns[0]).start
