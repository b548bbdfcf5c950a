"""``inspect``: every kernel call, for a person and for a program."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest
from cli.command_line import Run

from pallas_lsp.kernels.budget import Budget, Part
from pallas_lsp.kernels.refs import RefInfo
from pallas_lsp.kernels.site import KernelSite
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.shapes.dims import symbol
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Location, Span

TEXT = "# pallas\ndef kernel(): pass\n\ncall\nother\n"


@pytest.fixture(autouse=True)
def _two_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis that finds two calls in a file, the one that stands last first and twice."""
    (tmp_path / "ops.py").write_text(TEXT)

    def at(source: Source, text: str) -> Location:
        start = source.text.index(text)
        return Location(source.path, Span(start, start + len(text)))

    def analyze(source: Source, project: Project, settings: Settings, **options: bool) -> types.SimpleNamespace:
        refs = (
            RefInfo("lengths_ref", "prefetch", (16,), "int32", "smem"),
            RefInfo("x_ref", "input", (symbol("batch"), None, 128), "float32", "vmem"),
            RefInfo("o_ref", "output", None, None, None, "parameter `o` is not known here"),
        )
        limits = (("v5e", 16 << 20), ("v6e", 32 << 20))
        parts = (
            Part("x_ref", (64, 100), (64, 128), "float32", 2, 1 << 20, None, 0.21875),
            Part("acc_ref", (8, 128), (8, 128), "float32", 1, 1 << 19, None, 0.0),
        )
        budget = Budget(parts, 3 << 19, limits)
        known = KernelSite(at(source, "call"), "kernel", at(source, "def kernel"), (4, 2), refs, 3 << 19, "lowers", (), budget=budget)
        unknowns, conditions = ("the kernel `f` is not known", "the grid"), ("`causal` is true",)
        open_ = KernelSite(at(source, "other"), None, None, None, (), None, "undecided", unknowns, conditions)
        return types.SimpleNamespace(diagnostics=[], sites=[open_, known, open_], wrong_calls=())

    module = types.ModuleType("pallas_lsp.analysis")
    module.analyze = analyze  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pallas_lsp.analysis", module)


def test_for_a_person(run: Run) -> None:
    result = run("inspect", "ops.py")
    assert (result.code, result.err) == (0, "")
    assert result.out == """\
ops.py:4: kernel (ops.py:2): lowers
  grid     (4, 2), 8 steps
  prefetch lengths_ref  int32[16]             smem
  input    x_ref        float32[batch,?,128]  vmem
  output   o_ref        ?[...]                ?
  VMEM     x_ref    1 MiB    2 buffers  filled up to [64,128], 22% padding
           acc_ref  512 KiB  1 buffer
  total    1.5 MiB: 9% of 16 MiB on v5e; 5% of 32 MiB on v6e

ops.py:5: a kernel that is not known: undecided
  when     `causal` is true
  grid     ?
  unknown  the kernel `f` is not known
  unknown  the grid
"""


def test_for_a_program(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "ops.py")
    known, unknown = json.loads(run("inspect", "--output-format", "json").out)
    assert known == {
        "filename": path,
        "row": 4,
        "kernel": {"name": "kernel", "filename": path, "row": 2},
        "grid": [4, 2],
        "refs": [
            {"name": "lengths_ref", "role": "prefetch", "shape": [16], "dtype": "int32", "memory_space": "smem"},
            {"name": "x_ref", "role": "input", "shape": ["batch", "?", 128], "dtype": "float32", "memory_space": "vmem"},
            {"name": "o_ref", "role": "output", "shape": None, "dtype": None, "memory_space": None},
        ],
        "vmem_bytes": 3 << 19,
        "vmem": {
            "parts": [
                {"name": "x_ref", "block": [64, 100], "padded": [64, 128], "dtype": "float32", "buffers": 2, "bytes": 1 << 20, "lost": 0.2188},
                {"name": "acc_ref", "block": [8, 128], "padded": [8, 128], "dtype": "float32", "buffers": 1, "bytes": 1 << 19, "lost": 0.0},
            ],
            "formula": None,
            "limits": {"v5e": 16 << 20, "v6e": 32 << 20},
            "fits": {},
            "sizes": {},
            "assumed_dtype": None,
        },
        "verdict": "lowers",
        "unknowns": [],
        "conditions": [],
    }
    assert unknown["kernel"] == {"name": None, "filename": None, "row": None}
    assert (unknown["grid"], unknown["vmem_bytes"], unknown["verdict"]) == (None, None, "undecided")
    assert unknown["conditions"] == ["`causal` is true"]
    assert unknown["unknowns"] == ["the kernel `f` is not known", "the grid"]


def test_statistics(run: Run) -> None:
    assert run("inspect", "--statistics").out.splitlines() == [
        "2 kernel calls",
        "    1  lowers",
        "    1  undecided",
        "what would decide the undecided ones:",
        "    1  the kernel `f` is not known",
        "3 refs",
        "    2  with a known memory space",
        "    2  with a known rank",
        "    2  with a known dtype",
        "why something of the others is unknown:",
        "    1  parameter `o` is not known here",
    ]
    assert json.loads(run("inspect", "--statistics", "--output-format", "json").out) == {
        "sites": 2,
        "verdicts": {"lowers": 1, "undecided": 1},
        "first_unknowns": [{"unknown": "the kernel `f` is not known", "count": 1}],
        "refs": {"count": 3, "memory_space": 2, "rank": 2, "dtype": 2},
        "causes": [{"cause": "parameter `o` is not known here", "count": 1}],
    }


def test_nothing_to_inspect(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("nothing\n")
    assert run("inspect").out == "No kernel calls found.\n"
