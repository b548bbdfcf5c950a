"""The command itself: what it starts, what it costs, how it ends."""

from __future__ import annotations

import gc
import os
import re
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from cli.command_line import REPOSITORY, Run

from pallas_lsp import __version__
from pallas_lsp.__main__ import main

VERSION_CPU_SECONDS = 0.060


def test_version_is_printed_and_imports_nothing_else(start: Run) -> None:
    assert start("--version").out == f"pallas-lsp {__version__}\n"
    imported = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pallas_lsp", "--version"],
        env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not re.search(r"\| +(argparse|ast|typing|dataclasses|re|json|pallas_lsp\.\w+)$", imported.stderr, re.MULTILINE)


def test_a_check_that_meets_no_kernel_loads_no_rule(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    imported = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pallas_lsp", "check", str(tmp_path)],
        env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "pallas_lsp.rules.diagnostic" in imported.stderr
    needless = r"\| +(pallas_lsp\.(interpreter|fixes|analysis|rules\.registry)|multiprocessing|concurrent)$"
    assert not re.search(needless, imported.stderr, re.MULTILINE)


def test_version_costs_little_cpu() -> None:
    def cpu_seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "pallas_lsp", "--version"]
        subprocess.run(command, env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert statistics.median(cpu_seconds() for _ in range(7)) <= VERSION_CPU_SECONDS


def test_the_end_of_the_process_does_not_look_for_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["pallas-lsp", "--version"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    try:
        assert main() == 0
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_help_names_every_command(run: Run) -> None:
    result = run("--help")
    assert result.code == 0
    for command in ("check", "inspect", "explain", "rules", "config", "server"):
        assert f"  {command} " in result.out


@pytest.mark.parametrize("command", ["check", "inspect", "explain", "rules", "config", "server"])
def test_every_command_has_help(start: Run, command: str) -> None:
    result = start(command, "--help")
    assert result.code == 0
    assert result.out.startswith(f"usage: pallas-lsp {command}")


def test_no_command_is_not_a_success(run: Run) -> None:
    assert run().code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chekc"], "there is no command 'chekc' (did you mean 'check'?) (see pallas-lsp --help)"),
        (["check", "--selct", "x"], "there is no option --selct (did you mean '--select'?) (see pallas-lsp check --help)"),
        (["check", "--select", "store-scalar-to-vmen"], "there is no rule 'store-scalar-to-vmen' (did you mean 'store-scalar-to-vmem'?)"),
        (["check", "--ignore", "q9-q9"], "there is no rule 'q9-q9'"),
        (["check", "--target", "v3"], "there is no target 'v3' (there are v4, v5e, v5p, v6e, tpu7x)"),
        (["check", "--jax-version", "new"], "'new' is no JAX version (expected one like 0.10.2)"),
        (["check", "missing.py"], "cannot read missing.py: No such file or directory"),
        (["check", "--statistics", "--output-format", "sarif"], "--statistics has no sarif format (it has full and json)"),
        (["check", "-", "a.py"], "'-' (standard input) must be the only path"),
        (["check", "--stdin-filename", "a.py", "."], "--stdin-filename goes with '-' as the only path"),
    ],
)
def test_what_cannot_be_run_ends_with_two_and_one_line(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert (result.code, result.out, result.err) == (2, "", f"pallas-lsp: {message}\n")


def test_a_reader_that_goes_away_leaves_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m pallas_lsp rules | true; echo ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", cwd=tmp_path, env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "141")  # 0 where the reader went only after everything was written


def test_a_closed_output_ends_with_141() -> None:
    program = "import os, sys; sys.path.insert(0, sys.argv[1]); from pallas_lsp.__main__ import main; sys.exit(main(['rules']))"
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([sys.executable, "-c", program, str(REPOSITORY)], stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_interrupt_ends_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("pallas_lsp.cli.rules.run", interrupted)
    assert run("rules").code == 130
