"""Files as bytes: marks, coding cookies, and bytes that fit no codec."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.texts import HARD_TEXT

from pallas_lsp.text.source import read_source


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reading") / "f.py"


@given(text=HARD_TEXT, mark=st.booleans())
def test_what_is_read_can_be_written_back(file: Path, text: str, mark: bool) -> None:
    data = ("\ufeff" * mark + text).encode("utf-8")
    file.write_bytes(data)
    source = read_source(file)
    assert source.path == str(file)
    assert source.encoding == "utf-8"
    assert source.text.encode(source.encoding) == data


@given(data=st.binary(max_size=40), head=st.sampled_from([b"", b"# coding: latin-1\n", b"# coding: no-such\n", b"\n# coding: ascii\r"]))
def test_any_bytes_can_be_read(file: Path, data: bytes, head: bytes) -> None:
    file.write_bytes(head + data)
    source = read_source(file)
    if source.encoding is not None:
        assert source.text.encode(source.encoding) == head + data


def test_a_coding_cookie_is_obeyed_under_any_line_ending(file: Path) -> None:
    for ending in (b"\n", b"\r\n", b"\r"):
        file.write_bytes(ending.join([b"#!/usr/bin/env python", b"# -*- coding: latin-1 -*-", b'x = "\xe9"', b""]))
        source = read_source(file)
        assert source.encoding == "iso-8859-1"
        assert source.text.endswith('x = "é"' + ending.decode())


def test_undecodable_bytes_are_replaced_and_the_text_is_not_for_writing(file: Path) -> None:
    file.write_bytes(b'x = "\xff"\n')
    source = read_source(file)
    assert (source.text, source.encoding) == ('x = "\ufffd"\n', None)


def test_a_codec_that_is_not_for_text_does_not_raise(file: Path) -> None:
    for cookie in ("hex", "idna", "undefined", "utf-16", "rot13", "zlib", "unicode_escape"):
        file.write_bytes(f"# coding: {cookie}\nx = '\\N'\n".encode())
        assert read_source(file).text


def test_a_missing_file_is_an_oserror(file: Path) -> None:
    with pytest.raises(OSError):
        read_source(file.parent / "missing.py")
