"""Typing a comment leaves a function what it was; typing anything else does not."""

from __future__ import annotations

import ast
import random

import pytest

from pallas_lsp.text.parse import Parsed, parse
from pallas_lsp.text.reparse import reparse

TEXT = '''import jax

@jax.jit  # twice
def f(x):
    """Rows # of x."""
    y = x + 1  # one more
    s = "#" + 'a # b'
    return (
        y,
        s,  # both
    )

Z = 1
'''


def kept(before: Parsed, text: str) -> Parsed | None:
    """The text read again where all units are still the old ones."""
    after = reparse(before, text)
    return after if list(after.layout.units) == list(before.layout.units) else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# one more", "# one more row"), ("  # one more", ""), ("x + 1  #", "x + 1 #"), ("        y,\n", "        y,  # first\n"),
        ("# twice", "# twice # no, once"), ("    )\n\n", "    )  \n\n"), ("    )\n\n", "    )\n# the end\n"), ("def f(x):\n", "def f(x):  # f\n"),
    ],
)  # fmt: skip
def test_a_comment_or_white_space_at_the_end_of_a_line_makes_no_other_unit(before: str, after: str) -> None:
    edited = kept(parse(TEXT), TEXT.replace(before, after, 1))
    assert edited is not None
    assert ast.dump(edited.tree, include_attributes=True) == ast.dump(ast.parse(edited.text), include_attributes=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Rows # of x", "Rows # of y"), ("'a # b'", "'a # c'"), ('"#"', '"#" # "'), ("x + 1  #", "x + 2  #"), ("    y = x", "    # y = x"), ("@jax.jit  #", "@jax.vmap  #"),
        ("x + 1  # one", "x  + 1  # one"), ("        y,\n", "        # y,\n"), ("# one more\n", "# one more\n    # and\n"), ("# one more", "# one\r    x = 2"),
    ],
)  # fmt: skip
def test_what_changes_the_program_or_its_positions_does(before: str, after: str) -> None:
    assert kept(parse(TEXT), TEXT.replace(before, after, 1)) is None


def whole(node: ast.AST) -> str:
    return ast.dump(node, include_attributes=True)


@pytest.mark.parametrize("seed", range(40))
def test_units_that_stay_are_the_same_program_at_the_same_place(seed: int) -> None:
    draw, before, now, stayed = random.Random(seed), parse(TEXT), TEXT, 0
    for _ in range(60):
        at = draw.randrange(len(now)) if draw.random() < 0.5 else now.find("#", draw.randrange(len(now))) + draw.randrange(3)
        now = now[:at] + draw.choice(["#", '"', "'", " ", "a", "# ", "\\", '"""']) + now[at + draw.randrange(2) :]
        after = reparse(before, now)
        old, new = (list(zip(p.layout.units, p.layout.starts, p.layout.bodies, strict=True)) for p in (before, after))
        for unit, start, body in new if not before.damaged and not after.damaged else ():
            for _, _, known in (one for one in old if one[:2] == (unit, start)):
                stayed += 1
                assert list(map(whole, known)) == list(map(whole, body))
        before = after
        if draw.random() < 0.4:
            now, before = TEXT, parse(TEXT)
    assert stayed
