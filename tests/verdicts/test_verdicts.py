"""No ``lowers`` that JAX refuses and no ``fails`` that it accepts; and most programs are decided."""

from __future__ import annotations

from call.block_cases import BLOCKS
from call.function_cases import FUNCTIONS
from call.spec_cases import SPECS
from call.surrounding_cases import SURROUNDINGS
from cases.literate import CASES
from ops.copy_cases import COPIES
from ops.lowering_cases import LOWERING
from ops.traced_cases import TRACED
from random_kernels.families import ACCESSES, CALLS, MESHES
from verdicts.forms import random_form
from verdicts.judging import tally_of
from verdicts.operations import kernels

from pallas_lsp.rules.certain import FIELDS


def test_of_kernel_calls() -> None:
    tally = tally_of(text for _, _, text in (*SPECS, *BLOCKS, *FUNCTIONS, *SURROUNDINGS))
    assert tally.wrong == []
    assert tally.decided >= 0.8


def test_of_operations() -> None:
    tally = tally_of(text for _, _, text in (*TRACED, *LOWERING, *COPIES))
    assert tally.wrong == []
    assert tally.refused["fails"] >= 0.9 * tally.refused.total()


def test_of_literate_cases() -> None:
    tally = tally_of(case.text for case in CASES)
    assert tally.wrong == []
    assert tally.decided >= 0.7


def test_of_single_operations() -> None:
    tally = tally_of(kernels())
    assert tally.wrong == []
    assert tally.accepted["lowers"] >= 0.9 * tally.accepted.total()


def test_of_random_forms() -> None:
    tally = tally_of(random_form(seed) for seed in range(300))
    assert tally.wrong == []
    assert tally.accepted["lowers"] >= 0.85 * tally.accepted.total()


def test_of_random_kernels() -> None:
    tally = tally_of(kernel.text for seed in range(300) for family in (ACCESSES, CALLS) if (kernel := family.make(seed)).stated)
    assert tally.wrong == []
    assert tally.decided >= 0.75


PARAMETERS = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def run(x):
    params = pltpu.CompilerParams({})
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), compiler_params=params)(x)


ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


def test_of_compiler_parameters() -> None:
    flags = [name for name in sorted(FIELDS) if name.split("_")[0] in ("has", "disable", "skip", "shape", "needs", "fuse")]
    given = [f"{name}={value}" for name in flags for value in (True, False)]
    given += ["vmem_limit_bytes=1 << 20", "internal_scratch_in_bytes=4096", "dimension_semantics=None"]
    assert {text.partition("=")[0] for text in given} == FIELDS
    tally = tally_of(PARAMETERS.format(text) for text in given)
    assert tally.wrong == []
    assert set(tally.accepted) == {"lowers"} and not tally.refused


def test_of_random_kernels_of_meshes() -> None:
    tally = tally_of(MESHES.make(f"v{seed}").text for seed in range(40))
    assert tally.wrong == []
    assert tally.refused["fails"] >= 0.9 * tally.refused.total()
    assert tally.accepted["lowers"] > 0
