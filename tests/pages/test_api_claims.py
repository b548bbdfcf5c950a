"""What the API pages say, tried on JAX: lowered, refused, compiled, and a few things run on the CPU."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from pages.api_accepted import API_ACCEPTED, API_COMPILED
from pages.api_refused import API_REFUSED
from pages.kernels import module
from pages.reading import named
from referee import Verdict, compile_many, jax_version, libtpu_installed, lower

from pallas_lsp.pages import _stems

X = np.arange(1024, dtype=np.float32).reshape(8, 128)
SIMULATED = "pltpu.InterpretParams()"


def run(source: str, *operands: np.ndarray) -> np.ndarray:
    """The result of the module's ``run``, on the CPU."""
    namespace: dict = {}
    exec(source, namespace)
    return np.asarray(namespace["run"](*operands))


def test_claims_are_about_names_with_a_page() -> None:
    assert {claim[0] for claim in (*API_ACCEPTED, *API_REFUSED, *API_COMPILED)} <= set(_stems("api"))


@pytest.mark.parametrize("source", named(API_ACCEPTED))
def test_jax_accepts(source: str) -> None:
    assert lower(source) == Verdict(ok=True)


@pytest.mark.parametrize(("message", "source"), named(API_REFUSED))
def test_jax_refuses(message: str, source: str) -> None:
    verdict = lower(source)
    assert not verdict.ok and message in verdict.message, verdict


def test_no_block_spec_in_a_list_changed_its_meaning() -> None:
    verdict = lower(module("o_ref[...] = x_ref[...]", in_specs="[pl.no_block_spec]"))
    assert verdict.ok == (jax_version() < (0, 12))


def test_floats_in_placeholders_of_debug_print() -> None:
    verdict = lower(module('pl.debug_print("x {}", x_ref[0, 0])\no_ref[...] = x_ref[...]'))
    assert verdict.ok == (jax_version() >= (0, 12))


def test_a_dma_semaphore_is_not_optional() -> None:
    assert not lower(module("pltpu.make_async_copy(x_ref, o_ref).start()")).ok


def test_cdiv_of_numbers_is_a_number() -> None:
    assert (pl.cdiv(9, 8), pl.cdiv(8, 8), type(pl.cdiv(9, 8))) == (2, 1, int)


def test_get_tpu_info_needs_a_tpu() -> None:
    with pytest.raises(ValueError, match="Unsupported TPU device kind: cpu"):
        pltpu.get_tpu_info()
    told = {"num_lanes", "num_sublanes", "vmem_capacity_bytes", "smem_capacity_bytes", "chip_version"}
    assert told <= set(pltpu.TpuInfo.__annotations__)


def test_bitcast_changes_the_rows() -> None:
    shaped = jax.eval_shape(lambda x: pltpu.bitcast(x, jnp.bfloat16), jax.ShapeDtypeStruct((8, 128), jnp.float32))
    assert (shaped.shape, shaped.dtype) == ((16, 128), jnp.bfloat16)


def test_tile_is_what_repeat_was() -> None:
    assert np.array_equal(jnp.tile(X, (1, 2)), np.concatenate([X, X], axis=1))


def test_roll_goes_as_jnp_roll_does() -> None:
    assert np.array_equal(run(module("o_ref[...] = pltpu.roll(x_ref[...], 1, 0)", interpret="True"), X), np.roll(X, 1, 0))


def test_loop_gives_the_last_carry() -> None:
    body = """\
@pl.loop(0, 8, init_carry=jnp.float32(0))
def total(i, acc):
    return acc + x_ref[i, 0]
o_ref[...] = jnp.full(o_ref.shape, total)"""
    assert run(module(body, interpret="True"), X)[0, 0] == X[:, 0].sum()


def test_scratch_outlives_a_program_and_starts_without_values() -> None:
    body = "s_ref[...] = jnp.where(pl.program_id(0) == 0, x_ref[...], s_ref[...] + x_ref[...])\no_ref[...] = s_ref[...]"
    scratch = ["pltpu.VMEM((8, 128), jnp.float32)"]
    assert np.array_equal(run(module(body, grid="(3,)", scratch=scratch, interpret=SIMULATED), X), 3 * X)
    assert np.isnan(run(module("o_ref[...] = s_ref[...]", scratch=scratch, interpret=SIMULATED), X)).all()


def test_the_last_axis_of_the_grid_is_the_fastest() -> None:
    body = "o_ref[pl.program_id(0), pl.program_id(1)] = s_ref[0]\ns_ref[0] = s_ref[0] + 1.0"
    first = "@pl.when((pl.program_id(0) == 0) & (pl.program_id(1) == 0))\ndef _():\n    s_ref[0] = 0.0\n"
    places = {"out": "f32[2,4]", "out_specs": "SMEM", "scratch": ["pltpu.SMEM((1,), jnp.float32)"]}
    source = module(first + body, grid="(2, 4)", interpret=SIMULATED, **places)
    assert np.array_equal(run(source, X), np.arange(8.0).reshape(2, 4))


def test_a_masked_store_leaves_the_rest() -> None:
    body = "o_ref[...] = jnp.zeros_like(o_ref)\npltpu.store(o_ref, x_ref[...], mask=x_ref[...] > 500)"
    assert np.array_equal(run(module(body, interpret=SIMULATED), X), np.where(X > 500, X, 0))


def test_the_simulator_takes_scalar_stores_and_notices_reads_beyond_the_end() -> None:
    scalar = "o_ref[...] = jnp.zeros_like(o_ref)\no_ref[0, 0] = x_ref[1, 1]"
    assert run(module(scalar, interpret=SIMULATED), X)[0, 0] == X[1, 1]
    with pytest.raises(Exception, match=r"(?i)out.of.bounds"):
        run(module("o_ref[...] = x_ref[20]", out="f32[128]", interpret=SIMULATED), X)


def test_the_simulator_refuses_direct_reads_of_hbm() -> None:
    with pytest.raises(Exception, match="cannot be referenced directly"):
        run(module("o_ref[...] = x_ref[...]", in_specs="[ANY]", interpret=SIMULATED), X)
    assert np.array_equal(run(module("o_ref[...] = x_ref[...]", in_specs="[ANY]", interpret="True"), X), X)


@pytest.fixture(scope="module")
def compiled() -> dict[str, Verdict]:
    sources = [claim[3] for claim in API_COMPILED]
    return dict(zip(sources, compile_many(sources), strict=True))


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
@pytest.mark.parametrize(("outcome", "source"), named(API_COMPILED))
def test_the_tpu_compiler(outcome: bool | str, source: str, compiled: dict[str, Verdict]) -> None:
    verdict = compiled[source]
    assert verdict.ok is True if outcome is True else outcome in f"{verdict.exc}: {verdict.message}", verdict
