"""``check``: which findings are reported, once, in order, and the exit code."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.command_line import Found, Run, find_words

from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Diagnostic
from pallas_lsp.settings import Settings
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Location, Span

Install = Callable[[Found], None]


def concise(run: Run, *arguments: str) -> list[str]:
    return run("check", "--output-format", "concise", *arguments).out.splitlines()


@pytest.mark.usefixtures("words")
class TestExitCode:
    def test_nothing_found(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("pallas\n")
        result = run("check")
        assert (result.code, result.out, result.err) == (0, "Nothing found in 1 file.\n", "")

    @pytest.mark.parametrize("word", ["fault", "doubt", "waste"])
    def test_something_found(self, run: Run, tmp_path: Path, word: str) -> None:
        (tmp_path / "a.py").write_text(f"pallas {word}\n")
        assert run("check").code == 1

    def test_no_file_is_no_finding(self, run: Run) -> None:
        assert run("check").code == 0
        assert run("check", "--output-format", "json").out == "[]\n"

    def test_a_path_that_cannot_be_read(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("pallas fault\n")
        result = run("check", "a.py", "b.py")
        assert (result.code, result.out, result.err) == (2, "", "pallas-lsp: cannot read b.py: No such file or directory\n")


    def test_a_file_that_is_data(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "big.py").write_text("# pallas\n" + "x = 1\n" * 400_000)
        result = run("check", "big.py")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"pallas-lsp: cannot read {tmp_path / 'big.py'}: not a text of at most 2 MB\n")
        (tmp_path / "a.py").write_text("pallas\n")
        assert run("check").code == 0


@pytest.mark.usefixtures("words")
class TestWhichFindings:
    def test_in_order_of_place_over_files(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "b.py").write_text("pallas fault\n")
        (tmp_path / "a.py").write_text("pallas\n\n doubt fault\n")
        assert concise(run, "b.py", "a.py") == [
            "a.py:3:2: warning[masked-load] a doubt",
            "a.py:3:8: error[store-scalar-to-vmem] a fault",
            "b.py:1:8: error[store-scalar-to-vmem] a fault",
        ]

    def test_a_file_given_twice_is_one_file(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("pallas fault\n")
        (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
        assert len(concise(run, "a.py", "./a.py", ".", str(tmp_path / "a.py"), "link.py")) == 1

    def test_a_file_named_by_the_user_is_checked_whatever_it_is(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text('[tool.pallas-lsp]\nexclude = ["kernel"]\n')
        (tmp_path / ".gitignore").write_text("kernel\n")
        (tmp_path / "kernel").write_text("pallas fault\n")
        assert len(concise(run, "kernel")) == 1

    def test_a_file_that_does_not_say_pallas_is_not_analysed(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("fault\n")
        assert concise(run) == []

    def test_select_and_ignore_before_the_configuration(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text('[tool.pallas-lsp]\nignore = ["masked-load"]\n')
        (tmp_path / "a.py").write_text("pallas fault doubt waste\n")
        assert len(concise(run)) == 2
        assert concise(run, "--select", "masked-load") == ["a.py:1:14: warning[masked-load] a doubt"]
        assert concise(run, "--ignore", "store-scalar-to-vmem, ref-index-bounds") == []
        assert len(concise(run, "--select", "masked-load,ref-index-bounds", "--select", "store-scalar-to-vmem")) == 3

    def test_excluded_and_per_file_ignored(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text(
            '[tool.pallas-lsp]\nexclude = ["old"]\nper-file-ignores = { "test_*.py" = ["store-scalar-to-vmem"] }\n'
        )
        for name in ("a.py", "test_a.py", "old/b.py"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("pallas fault waste\n")
        assert concise(run, "--select", "store-scalar-to-vmem") == ["a.py:1:8: error[store-scalar-to-vmem] a fault"]
        assert "test_a.py:1:14: info[ref-index-bounds] a waste" in concise(run)

    def test_each_file_under_its_own_configuration(self, run: Run, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "k.py").write_text("pallas fault\n")
        (tmp_path / "b/pyproject.toml").write_text('[tool.pallas-lsp]\nignore = ["store-scalar-to-vmem"]\n')
        assert concise(run) == ["a/k.py:1:8: error[store-scalar-to-vmem] a fault"]


class TestFindingsInOtherFiles:
    """An analysis of ``ops.py`` that finds something in the file whose name stands in its last line."""

    @pytest.fixture(autouse=True)
    def _analysis(self, analysis: Install) -> None:
        def elsewhere(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
            path = os.path.normpath(os.path.join(os.path.dirname(source.path), source.text.splitlines()[-1]))
            return [Diagnostic("masked-load", "error", "found", Location(path, Span(0, 1)))]

        analysis(elsewhere)

    @pytest.mark.parametrize("other", ["kernels.py", "pkg/kernels.py"])
    def test_in_the_project_they_are_shown_once(self, run: Run, tmp_path: Path, other: str) -> None:
        (tmp_path / "pyproject.toml").write_text("")
        (tmp_path / "pkg").mkdir()
        (tmp_path / other).write_text("x = 1\n")
        for name in ("ops.py", "more_ops.py"):
            (tmp_path / name).write_text(f"pallas\n{other}\n")
        assert concise(run, "ops.py", "more_ops.py") == [f"{other}:1:1: error[masked-load] found"]

    @pytest.mark.parametrize("other", ["../outside.py", ".venv/lib/jax.py", "generated.py"])
    def test_outside_and_among_others_code_they_are_not(self, run: Run, tmp_path: Path, other: str) -> None:
        project = tmp_path / "project"
        (project / ".venv/lib").mkdir(parents=True)
        (project / ".git").mkdir()
        (project / ".gitignore").write_text("generated.py\n")
        (project / other).write_text("x = 1\n")
        (project / "ops.py").write_text(f"pallas\n{other}\n")
        assert concise(run, "project/ops.py") == []
        assert len(concise(run, "project/ops.py", f"project/{other}")) == 1


class TestStandardInput:
    @pytest.fixture
    def given(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
        def give(text: str) -> None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="ascii"))

        return give

    @pytest.mark.usefixtures("words")
    def test_it_is_checked_under_the_name_given(self, run: Run, tmp_path: Path, given: Callable[[str], None]) -> None:
        (tmp_path / "pyproject.toml").write_text('[tool.pallas-lsp]\nper-file-ignores = { "a.py" = ["masked-load"] }\n')
        (tmp_path / "a.py").write_text("nothing\n")
        given("pallas é fault doubt\n")
        assert concise(run, "-", "--stdin-filename", "a.py") == ["a.py:1:10: error[store-scalar-to-vmem] a fault"]

    @pytest.mark.usefixtures("words")
    def test_without_a_name(self, run: Run, given: Callable[[str], None]) -> None:
        given("pallas fault\n")
        assert concise(run, "-") == ["<stdin>:1:8: error[store-scalar-to-vmem] a fault"]


class TestMistakesOfOurs:
    @pytest.fixture(autouse=True)
    def _analysis(self, analysis: Install) -> None:
        def fails(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
            if "crash" in source.text:
                raise ValueError("of the\nanalysis")
            return find_words(source, project, settings)

        analysis(fails)

    def test_one_file_does_not_take_the_others_findings_away(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("pallas crash\n")
        (tmp_path / "b.py").write_text("pallas fault\n")
        result = run("check", "--output-format", "json")
        assert result.code == 1
        assert [finding["code"] for finding in json.loads(result.out)] == ["store-scalar-to-vmem"]
        assert result.err == (
            f"pallas-lsp: internal error in {tmp_path / 'a.py'}: ValueError: of the analysis (PALLAS_LSP_TRACEBACK=1 shows where)\n"
        )

    def test_nothing_analysed_is_not_clean(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PALLAS_LSP_TRACEBACK", "1")
        (tmp_path / "a.py").write_text("pallas crash\n")
        result = run("check")
        assert (result.code, result.out) == (2, "")
        assert "Traceback" in result.err
        assert result.err.endswith("pallas-lsp: no file could be analysed\n")


@pytest.mark.usefixtures("words")
def test_statistics(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("pallas fault fault doubt waste\n")
    result = run("check", "--statistics")
    assert result.code == 1
    assert result.out.splitlines() == [
        "2  error    store-scalar-to-vmem  (2 fixable)",
        "1  warning  masked-load",
        "1  info     ref-index-bounds",
    ]
    assert json.loads(run("check", "--statistics", "--output-format", "json", "--unsafe-fixes").out) == [
        {"code": "store-scalar-to-vmem", "severity": "error", "count": 2, "fixable": 2},
        {"code": "masked-load", "severity": "warning", "count": 1, "fixable": 1},
        {"code": "ref-index-bounds", "severity": "info", "count": 1, "fixable": 0},
    ]


def test_a_file_without_pallas_costs_less_than_a_millisecond(run: Run, tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"m{i}.py").write_text("import numpy as np\n\n\ndef f(x):\n    return np.sum(x) + 1\n" * 60)
    run("check", "m0.py")  # what is loaded once
    before = time.process_time()
    assert run("check").code == 0
    assert (time.process_time() - before) / 300 < 0.001
