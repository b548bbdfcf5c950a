"""A large tree is checked by several processes, and nothing shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.command_line import REPOSITORY, Result

from pallas_lsp.cli.processes import ENOUGH, each

KERNEL = """import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def kernel(x_ref, o_ref):
    o_ref[0, 0] = jnp.sum(x_ref[...])


def call(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1, NUMBER), jnp.float32))(x)
"""

PROGRAM = """import os, sys
from pallas_lsp.__main__ import main
from pallas_lsp.cli import checker, processes
processes._processors = lambda: {count}
analyse = checker.Checker._analyse
def told(self, file, details):
    os.write(2, f"{os.getpid()}\\n".encode())
    if file.path.endswith("7.py"):
        raise ValueError("made up")
    return analyse(self, file, details)
checker.Checker._analyse = told
sys.exit(main(sys.argv[1:]))"""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")


def check(folder: Path, count: int, *arguments: str) -> tuple[Result, set[str]]:
    """What a check by so many processes gives, and the ids of those that analysed."""
    command = [sys.executable, "-c", PROGRAM.replace("{count}", str(count)), "check", *arguments]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
    lines = done.stderr.splitlines()
    told = "\n".join(sorted(line for line in lines if not line.isdigit()))
    return Result(done.returncode, done.stdout, told), {line for line in lines if line.isdigit()}


@on_linux
def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    for number in range(ENOUGH + 4):
        (tmp_path / f"k{number}.py").write_text(KERNEL.replace("NUMBER", str(number + 1)))
    alone, one = check(tmp_path, 1, "--output-format", "json")
    together, several = check(tmp_path, 2, "--output-format", "json")
    assert (len(one), len(several)) == (1, 2)
    assert together == alone
    assert alone.err.count("internal error") == 3
    found = json.loads(alone.out)
    assert len(found) == ENOUGH + 1 and all(finding["fix"] for finding in found)


@on_linux
def test_what_cannot_be_checked_stops_all(tmp_path: Path) -> None:
    for number in range(ENOUGH):
        (tmp_path / f"k{number}7.py").write_text(KERNEL)
    result, _ = check(tmp_path, 2)
    assert result.code == 2 and result.err.endswith("pallas-lsp: no file could be analysed")


def test_few_things_are_worth_one_process() -> None:
    assert set(each(lambda _: os.getpid(), range(ENOUGH - 1), packed=lambda _: 0)) == {os.getpid()}
