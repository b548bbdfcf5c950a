"""Offsets, lines and columns in every way of counting, and back."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from text.texts import HARD_TEXT

from pallas_lsp.text.source import Encoding, Source
from pallas_lsp.text.span import Span

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def units(text: str, encoding: Encoding) -> int:
    codec, width = CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // width


@given(HARD_TEXT)
def test_lines_end_at_line_feeds_and_carriage_returns_only(text: str) -> None:
    source = Source("f.py", text)
    lines = re.split(r"\r\n|\n|\r", text)
    assert [source.line_text(line0) for line0 in range(source.line_count)] == lines
    assert [source.slice(source.line_span(line0)) for line0 in range(source.line_count)] == lines


@given(HARD_TEXT)
def test_every_offset_survives_the_way_through_a_position(text: str) -> None:
    source = Source("f.py", text)
    for offset in range(len(text) + 1):
        line0, column = source.position(offset)
        # Between `\r` and `\n` there is no position: the line's end is before both.
        expected = offset - 1 if text[max(offset - 1, 0) : offset + 1] == "\r\n" else offset
        assert source.offset(line0, column) == expected
        for encoding in ENCODINGS:
            assert source.offset_from(*source.position_in(offset, encoding), encoding) == expected


@given(HARD_TEXT | st.text(st.characters(categories=["Cs", "So", "Lu"])))
def test_columns_count_what_the_encoding_writes(text: str) -> None:
    source = Source("f.py", text)
    for offset in range(len(text) + 1):
        line0, column = source.position(offset)
        before = source.line_text(line0)[:column]
        for encoding in ENCODINGS:
            assert source.position_in(offset, encoding) == (line0, units(before, encoding))


@given(HARD_TEXT, st.integers(-2, 30), st.integers(-2, 60), st.sampled_from(ENCODINGS))
def test_any_position_is_clamped_to_its_line(text: str, line0: int, character: int, encoding: Encoding) -> None:
    source = Source("f.py", text)
    offset = source.offset_from(line0, character, encoding)
    if line0 < 0:
        assert offset == 0
    elif line0 >= source.line_count:
        assert offset == len(text)
    else:
        line = source.line_span(line0)
        assert line.start <= offset <= line.end
        # The furthest character that starts at the column or before it.
        before = [end for end in range(line.start, line.end + 1) if units(text[line.start : end], encoding) <= max(character, 0)]
        assert offset == before[-1]


def test_a_column_between_surrogates_is_at_the_characters_start() -> None:
    source = Source("f.py", "a🜁b")
    assert [source.offset_from(0, column, "utf-16") for column in range(5)] == [0, 1, 1, 2, 3]
    assert [source.offset_from(0, column, "utf-8") for column in range(7)] == [0, 1, 1, 1, 1, 2, 3]


def test_offsets_outside_the_text_are_clamped() -> None:
    source = Source("f.py", "ab\nc")
    assert source.position(-1) == (0, 0)
    assert source.position(9) == (1, 1)
    assert source.line_span(-1) == Span(0, 2)
    assert source.line_span(7) == Span(4, 4)


def test_the_newline_to_write_is_the_files_own() -> None:
    assert Source("f.py", "a\r\nb\n").newline == "\r\n"
    assert Source("f.py", "a").newline == "\n"
