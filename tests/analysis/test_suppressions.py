"""Suppression comments in the analysis of a file."""

from __future__ import annotations

from pathlib import Path

from analysis.projects import HEAD, analysed, findings, write

from pallas_lsp.text.edits import apply

TEXT = (
    HEAD
    + """

def kernel(x_ref, o_ref):
    o_ref[0, 0] = jnp.sum(x_ref[...])  {comment}


def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1, 1), jnp.float32))(x)
"""
)


def test_a_comment_silences_its_rule(tmp_path: Path) -> None:
    write(tmp_path, kernels=TEXT.format(comment="# pallas: ignore[store-scalar-to-vmem]"))
    assert findings(analysed(tmp_path, "kernels.py")) == []


def test_a_comment_that_silences_nothing_is_reported_with_its_removal(tmp_path: Path) -> None:
    text = TEXT.format(comment="# pallas: ignore[store-scalar-to-vmem, load-vector-from-smem]")
    write(tmp_path, kernels=text)
    (found,) = analysed(tmp_path, "kernels.py").diagnostics
    assert (found.rule, found.severity) == ("unused-suppression", "warning")
    edited = apply(text, found.fixes[0].edits)
    assert "# pallas: ignore[store-scalar-to-vmem]" in edited
    write(tmp_path, kernels=edited)
    assert findings(analysed(tmp_path, "kernels.py")) == []


def test_a_comment_used_by_a_caller_in_another_file_is_used(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    kernels = "import jax.numpy as jnp\n\n\ndef total(x_ref, o_ref):\n    o_ref[0, 0] = 1.0  # pallas: ignore[store-scalar-to-vmem]\n"
    ops = HEAD + "from kernels import total\n\n\ndef run(x):\n    return pl.pallas_call(total, out_shape=jax.ShapeDtypeStruct((1, 1), jnp.float32))(x)\n"
    write(tmp_path, kernels=kernels, ops=ops)
    assert findings(analysed(tmp_path, "kernels.py")) == []
