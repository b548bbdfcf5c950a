"""Underlines stand under what they mean."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pallas_lsp.cli.excerpt import excerpt
from pallas_lsp.cli.places import Places
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Location, Span


def shown(text: str, start: int, end: int, around: int = 0) -> list[str]:
    source = Source("a.py", text)
    same = str
    return list(excerpt(Location("a.py", Span(start, end)), Places(lambda path: source), same, same, around))


def width(text: str) -> int:
    """Columns of the screen, for characters that are neither controls nor of ambiguous width."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def test_tabs() -> None:
    assert shown("\tx\ty = 1\n", 3, 4) == ["  |", "1 |     x   y = 1", "  |         ^", "  |"]


def test_wide_and_combining_characters() -> None:
    assert shown("'中文e\u0301' + x\n", 9, 10) == ["  |", "1 | '中文e\u0301' + x", "  |           ^", "  |"]


def test_an_empty_place_still_shows() -> None:
    assert shown("ab\n", 2, 2) == ["  |", "1 | ab", "  |   ^", "  |"]


def test_the_numbers_are_aligned() -> None:
    text = "\n" * 8 + "nine\nten\n"
    assert shown(text, 8, 12, around=1)[1:] == [" 8 |", " 9 | nine", "   | ^^^^", "10 | ten", "   |"]


def test_a_long_place_shows_where_it_begins_and_ends() -> None:
    text = "".join(f"line{i}\n" for i in range(1, 11))
    assert shown(text, 0, len(text) - 1) == [
        "   |",
        " 1 | line1",
        "   | ^^^^^",
        " 2 | line2",
        "   | ^^^^^",
        " 3 | line3",
        "   | ^^^^^",
        "   | ...",
        "10 | line10",
        "   | ^^^^^^",
        "   |",
    ]


@given(st.text("ab é中𝛼\u0301", min_size=1, max_size=12), st.data())
def test_the_underline_begins_and_ends_under_the_place(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(start + 1, len(line)))
    underline = shown(f"{line}x\n", start, end)[2].removeprefix("  | ")
    assert len(underline) - len(underline.lstrip()) == width(line[:start])
    assert underline.count("^") == max(width(line[start:end]), 1)
