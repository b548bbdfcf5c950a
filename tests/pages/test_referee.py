"""The referee itself: where JAX points, what stage it was, and that each chip answers for itself."""

from __future__ import annotations

import pytest
from pages.kernels import module
from referee import CHIPS, Verdict, compile_many, libtpu_installed, lower

COPY = module("o_ref[...] = x_ref[...]")
ROW = module("o_ref[...] = x_ref[...]", x="f32[256]", out="f32[256]", grid="(2,)", in_specs="[pl.BlockSpec((128,), lambda i: (i,))]")
LANES = module("o_ref[...] = x_ref[...] * pltpu.get_tpu_info().num_lanes")


def test_stages() -> None:
    assert lower("import nothing_of_that_name").stage == "import"
    assert lower("def run(:").stage == "import"
    assert lower(module("o_ref[...] = 0.0")).stage == "trace"
    assert lower(module("o_ref[0, 0] = 0.0")).stage == "lower"
    assert lower(COPY) == Verdict(ok=True)


@pytest.mark.parametrize("body", ["o_ref[...] = 0.0", "o_ref[0, 0] = 0.0", "def helper(r):\n    r[0, 0] = 0.0\nhelper(o_ref)"])
def test_the_line_is_that_of_the_fault(body: str) -> None:
    source = module(f"x = x_ref[...]\n{body}")
    verdict = lower(source, "some_kernel.py")
    assert verdict.line is not None and source.splitlines()[verdict.line - 1].strip().endswith("= 0.0")


def test_the_lowering_may_ask_for_the_chip() -> None:
    assert lower(LANES).ok
    assert lower(ROW).message.startswith("Invalid shape")  # and not: unsupported device kind


@pytest.mark.parametrize("chip", CHIPS)
def test_each_chip_answers_for_itself(chip: str) -> None:
    source = module("assert pltpu.get_tpu_info().generation == {}\no_ref[...] = x_ref[...]".format("".join(filter(str.isdigit, chip))))
    assert lower(source, chip=chip) == Verdict(ok=True)


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
@pytest.mark.parametrize("chip", CHIPS)
def test_each_chip_compiles(chip: str) -> None:
    crash = module("o_ref[0] = x_ref[jnp.float32(1)]")
    verdicts = compile_many([COPY, crash, module("o_ref[0, 0] = 0.0"), COPY], chip)
    assert [(verdict.ok, verdict.stage) for verdict in verdicts] == [(True, None), (False, "crash"), (False, "lower"), (True, None)]
