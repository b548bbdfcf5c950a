"""Applying edits, telling which may not be made together, and showing them as a diff."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.texts import HARD_TEXT

from pallas_lsp.text.edits import apply, conflict, diff
from pallas_lsp.text.span import Edit, Span


def edit(start: int, end: int, content: str = "", path: str = "f.py") -> Edit:
    return Edit(path, Span(start, end), content)


def test_edits_are_made_in_any_order_and_insertions_at_one_place_in_theirs() -> None:
    edits = [edit(4, 6, "E"), edit(0, 1, "A"), edit(2, 2, "x"), edit(2, 2, "y"), edit(4, 4, "z"), edit(6, 6, "!")]
    assert apply("abcdef", edits) == "AbxycdzE!"
    assert apply("abc", []) == "abc"


@pytest.mark.parametrize(
    "edits", [[edit(0, 2), edit(1, 3)], [edit(0, 2), edit(1, 1, "x")], [edit(0, 2), edit(0, 2)], [edit(2, 9)], [edit(2, 1)], [edit(-1, 1)]]
)
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another or lies outside"):
        apply("abcd", edits)


@given(HARD_TEXT, st.data())
def test_pieces_of_a_text_are_replaced_and_the_rest_stays(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    bounds = [0, *cuts, len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    chosen = data.draw(st.sets(st.sampled_from(range(len(pieces)))))
    edits = [edit(bounds[index], bounds[index + 1], f"<{index}>") for index in chosen if pieces[index]]
    expected = "".join(f"<{index}>" if index in chosen and piece else piece for index, piece in enumerate(pieces))
    assert apply(text, data.draw(st.permutations(edits))) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (edit(0, 2), edit(1, 3), True),
        (edit(0, 2), edit(2, 3), False),
        (edit(0, 2), edit(2, 2, "x"), True),  # before or behind what replaces [0, 2)?
        (edit(1, 1, "x"), edit(1, 1, "x"), True),
        (edit(1, 1, "x"), edit(2, 2, "x"), False),
        (edit(0, 2), edit(0, 2, path="g.py"), False),
    ],
)
def test_conflicts(one: Edit, other: Edit, expected: bool) -> None:
    assert conflict([one], [edit(7, 8), other]) is conflict([other, edit(8, 8)], [one]) is expected


SPANS = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda ends: edit(min(ends), max(ends), "x"))


@given(st.lists(SPANS, max_size=3), st.lists(SPANS, max_size=3))
def test_edits_without_a_conflict_can_be_made_together_in_either_order(one: list[Edit], other: list[Edit]) -> None:
    text = "abcdef"
    try:
        apply(text, one)
        apply(text, other)
    except ValueError:
        return
    if not conflict(one, other):
        assert apply(text, [*one, *other]) == apply(text, [*other, *one])


LINE = re.compile(r"[^\n]*\n|[^\n]+")


def patched(before: str, patch: str) -> str:
    """What a unified diff makes of a text: the lines it keeps and adds, at the places it names."""
    old, new, at = LINE.findall(before), [], 0
    lines = LINE.findall(patch)[2:]
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        content = line[1:-1] if below.startswith("\\") else line[1:]
        if header := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            first = int(header[1]) - (header[2] != "0")
            new += old[at:first]
            at = first
        elif line[0] == "+":
            new.append(content)
        elif line[0] in " -":
            assert old[at] == content
            at += 1
            new += [content] if line[0] == " " else []
    return "".join([*new, *old[at:]])


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d\fe\n", "\u2028\n", "\n", "f\rg\n"]), max_size=14).map("".join)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_a_diff_leads_from_one_text_to_the_other(before: str, after: str, cut_before: bool, cut_after: bool) -> None:
    before, after = before[: len(before) - cut_before], after[: len(after) - cut_after]
    patch = diff("f.py", before, after)
    assert (patch == "") == (before == after)
    if patch:
        assert patch.startswith("--- f.py\n+++ f.py\n@@ ")
        assert patched(before, patch) == after


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
def test_patch_reads_a_diff(tmp_path: Path) -> None:
    before, after = "a\nb\n" * 20 + "end", "a\nB\n" + "a\nb\n" * 19 + "end."
    (tmp_path / "f.py").write_text(before)
    subprocess.run(["patch", "-p0"], input=diff("f.py", before, after), text=True, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "f.py").read_text() == after
