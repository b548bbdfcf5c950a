"""What an edit makes void: never too little."""

from __future__ import annotations

import pytest

from pallas_lsp.interpreter.dependences import void_units
from pallas_lsp.text.parse import parse
from pallas_lsp.text.reparse import reparse

PROGRAM = """
import functools
import jax
from tools import register

partial = functools.partial
LIMIT = 8
TABLE = []

def helper(x):
    return x + LIMIT

def note(f):
    TABLE.append(f)

def first(x):
    return helper(x)

def second(x):
    return x

@jax.custom_vjp
def third(x):
    return second(x)

third.defvjp(first, second)
short = partial(first, 1)

def fourth(x):
    return TABLE[0](x)

def fifth(x):
    return short(x)
"""


def void_functions(before: str, after: str, text: str = PROGRAM) -> set[str] | None:
    """The functions that are void once ``before`` has become ``after``; None for all."""
    assert before in text
    parsed = parse(text)
    edited = reparse(parsed, text.replace(before, after, 1))
    void = void_units(parsed.layout, edited.layout)
    if void is None:
        return None
    pairs = zip(edited.layout.units, edited.layout.bodies, strict=True)
    return {name for unit, body in pairs for part in body if unit in void and (name := getattr(part, "name", None))}


@pytest.mark.parametrize(
    ("before", "after", "void"),
    [
        ("    return x\n", "    return x + 1\n", {"second", "third"}),
        ("TABLE[0](x)", "TABLE[1](x)", {"fourth"}),
        ("LIMIT = 8", "LIMIT = 9", {"helper", "first", "third", "fifth"}),
        ("return helper(x)", "return helper(x) + 1", {"first", "third", "fifth"}),
        ("return helper(x)", "return helper(x)  # why", set()),
        ("TABLE = []", "TABLE = [1]", {"note", "fourth"}),
        ("short = partial(first, 1)", "short = partial(second, 1)", {"fifth"}),
        ("import jax\n", "import jax as jax\n", {"third"}),
        ("def fifth", "def helper(x):\n    return x\n\ndef fifth", {"helper", "first", "third", "fifth"}),
        ("import functools", "import functools\nfrom tools import *", None),
    ],
)
def test_what_reaches_a_change_is_void(before: str, after: str, void: set[str] | None) -> None:
    assert void_functions(before, after) == void


def test_what_a_function_of_the_file_changes_is_void_with_what_it_is_given() -> None:
    noted = PROGRAM + "\nnote(second)\n"
    found = void_functions("    return x\n", "    return x + 1\n", noted)
    assert found is not None and {"note", "fourth"} <= found


@pytest.mark.parametrize("statement", ["register(second)", "@register\ndef sixth(x):\n    return second(x)"])
def test_what_another_file_is_given_it_may_show_anywhere(statement: str) -> None:
    assert void_functions("    return x\n", "    return x + 1\n", f"{PROGRAM}\n{statement}\n") is None


def test_a_comment_between_functions_makes_none_void_but_the_one_above() -> None:
    assert void_functions("\ndef fifth", "\n# about it\ndef fifth") == {"fourth"}
