"""``pallas-lsp check --fix`` with the real fixes."""

from __future__ import annotations

import json
from pathlib import Path

import jax
import pytest
from fixes.kernels import program
from referee import Verdict, lower

from pallas_lsp.__main__ import main

FAULTY = program(
    "o_ref[...] = 0\np_ref[0, 0] = jnp.sum(x_ref[...])\ns_ref[0] = 1\no_ref[...] += x_ref * s_ref[0]",
    out=("f32[8,128]", "f32[1,1]"),
    scratch_shapes="[pltpu.VMEM((1,), jnp.float32)]",
)

FIXED = (
    FAULTY.replace("o_ref[...] = 0\n", "o_ref[...] = jnp.zeros_like(o_ref)\n")
    .replace("p_ref[0, 0] = jnp.sum(x_ref[...])", "p_ref[...] = jnp.sum(x_ref[...], keepdims=True)")
    .replace("s_ref[0] = 1\n", "s_ref[0] = 1.0\n")
    .replace("x_ref * s_ref", "x_ref[...] * s_ref")
    .replace("pltpu.VMEM((1,)", "pltpu.SMEM((1,)")
)


def check(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["check", "--jax-version", jax.__version__, *map(str, arguments)])
    return code, capsys.readouterr().out


def test_faults_of_many_kinds_in_one_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(FAULTY)
    code, out = check(capsys, "--fix", tmp_path)
    assert file.read_text() == FIXED
    assert (code, out.splitlines()[-1]) == (0, "Nothing found in 1 file. 4 findings fixed.")
    assert lower(FIXED) == Verdict(ok=True)


def test_unsafe_fixes_are_made_only_where_they_are_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kernel.py"
    text = program("o_ref[...] = x_ref[...]", in_specs="[pl.BlockSpec(memory_space=pl.ANY)]")
    file.write_text(text)
    code, out = check(capsys, "--fix", tmp_path)
    assert (code, file.read_text()) == (1, text)
    assert out.splitlines()[-1].endswith("1 can be fixed with --fix --unsafe-fixes.")
    code, out = check(capsys, "--fix", "--unsafe-fixes", tmp_path)
    assert (code, file.read_text()) == (0, text.replace("memory_space=pl.ANY", ""))


def test_the_fix_in_json_has_every_edit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(program("o_ref[0, 0] = 1.5", out="f32[1,1]"))
    code, out = check(capsys, "--output-format", "json", tmp_path)
    (found,) = json.loads(out)
    assert code == 1
    assert (found["fix"]["applicability"], found["fix"]["message"]) == ("safe", "Store a vector of one element to all of `o_ref`")
    assert [(edit["content"], edit["location"]["row"]) for edit in found["fix"]["edits"]] == [
        ("...", 8), ("jnp.full(o_ref.shape, ", 8), (")", 8)
    ]  # fmt: skip
    assert {edit["filename"] for edit in found["fix"]["edits"]} == {str(file)}


def test_a_spec_in_another_file_is_edited_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import specs\n" + program("o_ref[...] = jnp.sum(x_ref[...])", out="f32[1,1]", out_specs="specs.SCALAR")
    specs = "from jax.experimental import pallas as pl\n\nSCALAR = pl.BlockSpec((None, None), lambda: (0, 0))\n"
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "kernel.py").write_text(text)
    (tmp_path / "specs.py").write_text(specs)
    code, _ = check(capsys, "--fix", tmp_path)
    assert (code, (tmp_path / "kernel.py").read_text()) == (0, text)
    added = "from jax.experimental import pallas as pl\nfrom jax.experimental.pallas import tpu as pltpu\n"
    assert (tmp_path / "specs.py").read_text() == added + "\nSCALAR = pl.BlockSpec((None, None), lambda: (0, 0), memory_space=pltpu.SMEM)\n"


def test_operations_in_one_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(program("x = x_ref[...]\no_ref[...] = x @ x @ y_ref[...]", x="bf16[128,128]", y="bf16[128,128]", out="bf16[128,128]"))
    code, out = check(capsys, "--fix", tmp_path)
    inner = "jnp.dot(x, x, preferred_element_type=jnp.float32).astype(x.dtype)"
    outer = f"jnp.dot({inner}, y_ref[...], preferred_element_type=jnp.float32).astype(o_ref.dtype)"
    assert f"    o_ref[...] = {outer}\n" in file.read_text()
    assert (code, out.splitlines()[-1]) == (0, "Nothing found in 1 file. 2 findings fixed.")
    assert lower(file.read_text()) == Verdict(ok=True)
