"""``--fix``, ``--unsafe-fixes`` and ``--diff``."""

from __future__ import annotations

import codecs
import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.command_line import Found, Run, find_words

from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Diagnostic, Fix
from pallas_lsp.settings import Settings
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Edit, Location, Span

Install = Callable[[Found], None]


@pytest.mark.usefixtures("words")
class TestWords:
    def test_safe_fixes_only(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "a.py"
        file.write_text("pallas fault doubt\n")
        result = run("check", "--fix")
        assert file.read_text() == "pallas right doubt\n"
        assert result.code == 1
        last = result.out.splitlines()[-1]
        assert last == "Found 1 warning in 1 file (1 file checked). 1 finding fixed. 1 can be fixed with --fix --unsafe-fixes."

    def test_unsafe_fixes_too(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "a.py"
        file.write_text("pallas fault doubt\n")
        result = run("check", "--fix", "--unsafe-fixes")
        assert file.read_text() == "pallas right sure\n"
        assert (result.code, result.out) == (0, "Nothing found in 1 file. 2 findings fixed.\n")

    def test_unsafe_fixes_alone_writes_nothing(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("pallas fault doubt\n")
        assert run("check", "--unsafe-fixes").code == 1
        assert (tmp_path / "a.py").read_text() == "pallas fault doubt\n"

    def test_the_diff_is_what_fix_does(self, run: Run, tmp_path: Path) -> None:
        text = "first\npallas fault\r\nform\x0cfeed fault\n\u2028\n\n\n\nlast fault"
        for name in ("a.py", "b.py"):
            (tmp_path / name).write_text(text, newline="")
        result = run("check", "--diff", "a.py")
        assert result.code == 1
        assert result.err == "Nothing found in 1 file. 3 findings would be fixed.\n"
        assert (tmp_path / "a.py").read_bytes() == text.encode()
        run("check", "--fix", "b.py")
        assert (tmp_path / "b.py").read_bytes() == text.replace("fault", "right").encode()
        if shutil.which("git"):
            subprocess.run(["git", "apply", "-p0"], input=result.out.encode(), cwd=tmp_path, check=True)
            assert (tmp_path / "a.py").read_bytes() == (tmp_path / "b.py").read_bytes()

    def test_a_diff_of_nothing(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("pallas\n")
        result = run("check", "--diff")
        assert (result.code, result.out) == (0, "")

    def test_standard_input_comes_back_fixed(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("pallas é fault\r\n".encode())))
        result = run("check", "--fix", "-")
        assert (result.code, result.out, result.err) == (0, "pallas é right\r\n", "Nothing found in 1 file. 1 finding fixed.\n")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (codecs.BOM_UTF8 + "pallas é fault\r\n".encode(), codecs.BOM_UTF8 + "pallas é right\r\n".encode()),
            ("# coding: latin-1\npallas é fault\n".encode("latin-1"), "# coding: latin-1\npallas é right\n".encode("latin-1")),
            (b"pallas fault\rno end", b"pallas right\rno end"),
        ],
        ids=["mark and CRLF", "latin-1", "CR"],
    )
    def test_bytes_beside_the_fix_stay(self, run: Run, tmp_path: Path, before: bytes, after: bytes) -> None:
        (tmp_path / "a.py").write_bytes(before)
        run("check", "--fix")
        assert (tmp_path / "a.py").read_bytes() == after

    def test_a_file_that_is_not_text_is_not_written(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"pallas \xff fault\n")
        assert run("check", "--fix").code == 1
        assert (tmp_path / "a.py").read_bytes() == b"pallas \xff fault\n"


def test_a_file_that_changed_meanwhile_is_left_alone(run: Run, tmp_path: Path, analysis: Install) -> None:
    file = tmp_path / "a.py"

    def meddling(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        file.write_text("someone else's\n")
        return find_words(source, project, settings)

    file.write_text("pallas fault\n")
    analysis(meddling)
    result = run("check", "--fix")
    assert file.read_text() == "someone else's\n"
    assert "a.py was not fixed: it changed while it was checked" in result.err


def test_fixes_that_touch_take_turns(run: Run, tmp_path: Path, analysis: Install) -> None:
    """Each ``(`` is a finding whose fix takes it and its neighbour away: neighbours cannot go in the same round."""
    rounds = []

    def brackets(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        rounds.append(source.text)
        return [
            Diagnostic("masked-load", "error", "a bracket", Location(source.path, Span(i, i + 1)), fixes=(_edit(source, i, i + 1, ""),))
            for i, char in enumerate(source.text) if char == "("
        ]  # fmt: skip

    analysis(brackets)
    (tmp_path / "a.py").write_text("pallas((((")
    assert run("check", "--fix").code == 0
    assert rounds == ["pallas((((", "pallas((", "pallas(", "pallas"]


def test_an_edit_that_two_fixes_share_is_made_once(run: Run, tmp_path: Path, analysis: Install) -> None:
    def shared(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        if "SMEM" in source.text:
            return []
        fix = _edit(source, 6, 6, ".SMEM")
        return [Diagnostic("masked-load", "error", f"finding {i}", Location(source.path, Span(i, i)), fixes=(fix,)) for i in range(2)]

    analysis(shared)
    (tmp_path / "a.py").write_text("pallas\n")
    run("check", "--fix")
    assert (tmp_path / "a.py").read_text() == "pallas.SMEM\n"


def test_a_fix_that_does_not_help_is_taken_back(run: Run, tmp_path: Path, analysis: Install) -> None:
    """The fix of ``bad`` makes another finding; that of ``fault`` beside it is made all the same."""

    def one_bad(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        found = find_words(source, project, settings)
        for word in ("bad", "worse"):
            if (at := source.text.find(word)) >= 0:
                place = Location(source.path, Span(at, at + len(word)))
                found.insert(0, Diagnostic("masked-load", "error", word, place, fixes=(_edit(source, at, at + len(word), "worse worse"),)))
        return found

    analysis(one_bad)
    (tmp_path / "a.py").write_text("pallas bad fault fault\n")
    assert run("check", "--fix").code == 1
    assert (tmp_path / "a.py").read_text() == "pallas bad right right\n"


def test_fixes_end_though_they_never_settle(run: Run, tmp_path: Path, analysis: Install) -> None:
    calls = []

    def endless(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        calls.append(source.text)
        place = Location(source.path, Span(0, 0))
        return [Diagnostic("masked-load", "error", "again", place, fixes=(_edit(source, 0, 0, "#"),))]

    analysis(endless)
    (tmp_path / "a.py").write_text("pallas\n")
    assert run("check", "--fix").code == 1
    assert (tmp_path / "a.py").read_text() == "pallas\n"
    assert len(calls) < 30


def test_only_files_of_the_project_are_edited(run: Run, tmp_path: Path, analysis: Install) -> None:
    def elsewhere(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        path = str(tmp_path / source.text.split()[1])
        other = project.read(path)
        if other is None or "old" not in other.text:
            return []
        fix = Fix("Edit", "safe", (Edit(path, Span(0, 3), "new"),))
        return [Diagnostic("masked-load", "error", "found", Location(source.path, Span(0, 1)), fixes=(fix,))]

    analysis(elsewhere)
    (tmp_path / "p/.venv").mkdir(parents=True)
    (tmp_path / "p/pyproject.toml").write_text("")
    names = ("p/specs.py", "p/.venv/jax.py", "outside.py")
    for i, name in enumerate(names):
        (tmp_path / name).write_text("old")
        (tmp_path / f"p/{i}.py").write_text(f"pallas {name}\n")
    run("check", "--fix", "p")
    assert [(tmp_path / name).read_text() for name in names] == ["new", "old", "old"]


def test_new_lines_end_as_the_files_do(run: Run, tmp_path: Path, analysis: Install) -> None:
    def one(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
        if "import" in source.text:
            return []
        fix = _edit(source, 0, 0, "import a\nimport b\n")
        return [Diagnostic("masked-load", "error", "found", Location(source.path, Span(0, 1)), fixes=(fix,))]

    analysis(one)
    (tmp_path / "a.py").write_bytes(b"pallas\r\n")
    run("check", "--fix")
    assert (tmp_path / "a.py").read_bytes() == b"import a\r\nimport b\r\npallas\r\n"


def _edit(source: Source, start: int, end: int, content: str) -> Fix:
    return Fix("Edit", "safe", (Edit(source.path, Span(start, end), content),))
