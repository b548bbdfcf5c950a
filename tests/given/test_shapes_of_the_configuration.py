"""``[tool.pallas-lsp.shapes]``: calls that the source does not make."""

from __future__ import annotations

from pathlib import Path

import pytest
from given.kernels import OPS

from pallas_lsp.__main__ import main

TABLE = "[tool.pallas-lsp]\njax-version = '0.10.2'\n\n[tool.pallas-lsp.shapes]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/ops.py").write_text(OPS)
    return tmp_path


def check(folder: Path, shapes: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    (folder / "pyproject.toml").write_text(TABLE + shapes)
    code = main(["check", "--output-format", "concise"])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_fault_that_only_the_given_shapes_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "block-tiling" not in check(folder, "", capsys)[1]
    for name in ("ops.scale", "pkg.ops.scale"):
        code, out, _ = check(folder, f'"{name}" = ["f32[64,128]", "block=4"]\n', capsys)
        assert code == 1
        assert "block-tiling" in out
    assert "block-tiling" not in check(folder, '"ops.scale" = ["f32[64,128]", "block=16"]\n', capsys)[1]
    assert "block-tiling" in check(folder, '"ops.scale" = [["f32[64,128]"], ["f32[64,128]", "block=4"]]\n', capsys)[1]


def test_another_modules_function_is_not_meant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "block-tiling" not in check(folder, '"other.scale" = ["f32[64,128]", "block=4"]\n', capsys)[1]


def test_what_the_module_does_not_have_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(folder, '"ops.scal" = ["f32[64,128]"]\n', capsys)
    assert (code, out) == (2, "")
    path = folder / "pyproject.toml"
    assert err == f"pallas-lsp: {path}: [tool.pallas-lsp] shapes: there is no 'scal' in ops.py (did you mean 'scale'?)\n"
