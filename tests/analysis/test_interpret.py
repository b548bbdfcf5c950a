"""Interpret mode that depends on where the program runs: the kernel is judged for a TPU."""

from __future__ import annotations

import pytest
from checker import analysis_of
from referee import lower

TEXT = """\
import os

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def interpreted():
    return os.environ.get("PALLAS_INTERPRET", "").strip().lower() in ("1", "true")


def kernel(x_ref, o_ref):
    o_ref[0, 0] = x_ref[0, 0]


def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), interpret={interpret})(x)


ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""
ON_A_TPU = (
    'jax.default_backend() != "tpu"', 'jax.default_backend() == "cpu"', 'not jax.default_backend() == "tpu"',
    'jax.default_backend() in ("cpu", "gpu")', 'jax.default_backend() not in ("tpu",)', 'jax.devices()[0].platform != "tpu"',
    "interpreted()", 'os.environ.get("PALLAS_INTERPRET") == "1"', "False",
)  # fmt: skip
ELSEWHERE = ('jax.default_backend() == "tpu"', "True", 'jax.default_backend() in ("tpu",)')


@pytest.mark.parametrize("interpret", ON_A_TPU)
def test_a_kernel_that_a_tpu_compiles_is_judged(interpret: str) -> None:
    analysis = analysis_of(TEXT.format(interpret=interpret))
    assert {finding.rule for finding in analysis.diagnostics} == {"store-scalar-to-vmem"}
    assert {site.verdict for site in analysis.sites} == {"fails"}
    fine = analysis_of(TEXT.format(interpret=interpret).replace("[0, 0]", "[...]"))
    assert not fine.diagnostics
    assert "lowers" in {site.verdict for site in fine.sites}


@pytest.mark.parametrize("interpret", ELSEWHERE)
def test_a_kernel_that_a_tpu_interprets_is_not(interpret: str) -> None:
    analysis = analysis_of(TEXT.format(interpret=interpret))
    assert not analysis.diagnostics
    assert {site.verdict for site in analysis.sites} == {"undecided"}


def test_jax_refuses_what_is_not_interpreted() -> None:
    assert lower(TEXT.format(interpret="False")).stage == "lower"
    assert lower(TEXT.format(interpret="True")).ok
