"""``inspect --call``: one function traced with the shapes that a person gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from given.kernels import OPS

from pallas_lsp.__main__ import main


@pytest.fixture
def ops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pallas-lsp]\njax-version = '0.10.2'\n")
    (tmp_path / "ops.py").write_text(OPS)
    return tmp_path / "ops.py"


def inspected(capsys: pytest.CaptureFixture[str], call: str) -> list[dict[str, Any]]:
    assert main(["inspect", "ops.py", "--call", call, "--output-format", "json"]) == 0
    sites: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return sites


def refs(site: dict[str, Any]) -> list[str]:
    return [f"{ref['role']} {ref['dtype']}{ref['shape']} {ref['memory_space']}" for ref in site["refs"]]


def test_every_ref_is_concrete(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site,) = inspected(capsys, "scale(f32[64,128], causal=True)")
    assert site["grid"] == [8]
    assert refs(site) == ["input float32[8, 128] vmem", "output float32[8, 128] vmem"]
    assert site["vmem_bytes"] == 2 * 2 * 8 * 128 * 4


def test_positions_keywords_and_other_dtypes(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site,) = inspected(capsys, "scale(bf16[64,256], factor=bfloat16[1,256], block=16)")
    assert site["grid"] == [4]
    assert refs(site) == ["input bfloat16[16, 256] vmem", "input bfloat16[1, 256] vmem", "output bfloat16[16, 256] vmem"]


def test_what_a_dim_may_be(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number, a constant of the module, what Python makes of both, or a symbol."""
    (site,) = inspected(capsys, "scale(jnp.float32[4 * ROWS, width])")
    assert site["grid"] == [8]
    assert refs(site) == ["input float32[8, 'width'] vmem", "output float32[8, 'width'] vmem"]


def test_operands_in_containers_and_expressions_around_the_function(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for call in ("pair({'x': f32[64,128], 'factor': f32[1,128]})", "(lambda x, f: scale(x, f))(f32[64,128], f32[1,128])"):
        (site,) = inspected(capsys, call)
        assert len(site["refs"]) == 3
        assert site["refs"][1]["shape"] == [1, 128]


def test_a_scalar_has_no_dims(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspected(capsys, "scale(f32[])") == []  # `rows, columns = x.shape` raises


def test_only_the_call_is_inspected(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [site["kernel"]["name"] for site in inspected(capsys, "total(f32[8,128], True)")] == ["_total_kernel"]


def test_functions_of_a_file_that_does_not_name_pallas(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops.with_name("model.py").write_text("import ops\n\ndef layer(x):\n    return ops.scale(x * 2)\n")
    assert main(["inspect", "model.py", "--call", "layer(f32[64,128])", "--output-format", "json"]) == 0
    (site,) = json.loads(capsys.readouterr().out)
    assert (Path(site["filename"]).name, refs(site)) == ("ops.py", ["input float32[8, 128] vmem", "output float32[8, 128] vmem"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("scale(f32[8,128]", "'scale(f32[8,128]' is no call: '(' was never closed"),
        ("f32[8,128]", "'f32[8,128]' is no call (expected one like 'f(f32[8,128], causal=True)')"),
        ("scal(f32[8,128])", "there is no 'scal' in ops.py (did you mean 'scale'?)"),
        ("scale(f31[8,128])", "there is no 'f31' in ops.py (did you mean 'f32'?)"),
        ("scale(f32[8,128.5])", "'128.5' in 'f32[8, 128.5]' is no size"),
        ("scale(f32[8,-1])", "'-1' in 'f32[8, -1]' is no size"),
        ("ROWS(f32[8,128])", "'ROWS' is no function"),
        ("scale()", "scale() missing 1 required positional argument: 'x'"),
        ("scale(f32[8,128], casual=True)", "scale() got an unexpected keyword argument 'casual'"),
    ],
)
def test_a_bad_call_is_one_clear_line(ops: Path, capsys: pytest.CaptureFixture[str], call: str, message: str) -> None:
    assert main(["inspect", "ops.py", "--call", call]) == 2
    assert capsys.readouterr() == ("", f"pallas-lsp: {message}\n")


@pytest.mark.parametrize("paths", [[], ["."], ["ops.py", "ops.py"]])
def test_a_call_is_of_one_file(ops: Path, capsys: pytest.CaptureFixture[str], paths: list[str]) -> None:
    assert main(["inspect", *paths, "--call", "scale(f32[8,128])"]) == 2
    assert capsys.readouterr().err == "pallas-lsp: --call goes with the one file that has the function\n"


def test_a_call_that_reaches_no_kernel_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ops.py").write_text(OPS + "\n\ndef nothing(x):\n    return x\n")
    assert main(["inspect", str(tmp_path / "ops.py"), "--call", "nothing(f32[8,128])"]) == 0
    assert capsys.readouterr().out == "No kernel call is reached by `nothing(f32[8,128])`.\n"
