"""Fixtures that run the command line."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.command_line import REPOSITORY, Found, Result, Run, find_words

from pallas_lsp.__main__ import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in ``tmp_path``, in this process."""
    monkeypatch.chdir(tmp_path)

    def run_main(*arguments: str | Path) -> Result:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return run_main


@pytest.fixture
def start(tmp_path: Path) -> Run:
    """Starts the command as a process of its own, in ``tmp_path``."""

    def start_process(*arguments: str) -> Result:
        command = [sys.executable, "-m", "pallas_lsp", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
        return Result(done.returncode, done.stdout, done.stderr)

    return start_process


@pytest.fixture
def analysis(monkeypatch: pytest.MonkeyPatch) -> Callable[[Found], None]:
    """Puts ``found(source, project, settings)`` in the place of the real analysis."""

    def install(found: Found) -> None:
        module = types.ModuleType("pallas_lsp.analysis")
        module.analyze = lambda *given, **options: types.SimpleNamespace(diagnostics=found(*given), sites=[], wrong_calls=())  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pallas_lsp.analysis", module)

    return install


@pytest.fixture
def words(analysis: Callable[[Found], None]) -> None:
    """`find_words` in the place of the real analysis."""
    analysis(find_words)
