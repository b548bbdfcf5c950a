"""Kernels of meshes and pipelines are sites: what is known of their refs is what JAX hands to their bodies, and their verdicts are JAX's."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import jax
import pytest
from checker import analysis_of
from corpus.recording import SeenRef
from referee import jax_version, lower, on_chip

_SPACES = {"any": "any", "hbm": "hbm", "vmem": "vmem", "smem": "smem", "vmem_shared": "vmem_shared", "semaphore_mem": "semaphore", "None": "any"}
_TENSOR = "pltpu.TensorCoreMesh(axis_name='c', num_cores=1)" if jax_version() >= (0, 11) else "pltpu.create_tensorcore_mesh('c', num_cores=1)"
_VECTOR = "plsc.VectorSubcoreMesh(core_axis_name='c', subcore_axis_name='s')"
_SCALAR = "plsc.ScalarSubcoreMesh(axis_name='c')"
_HEAD = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import tpu_sc as plsc


def seen(*refs, **named):
    pass

"""
_END = """

ARGS = [jax.ShapeDtypeStruct((16, 128), jnp.float32)]

if __name__ == '__main__':
    jax.jit(run).lower(*ARGS)
"""
# Each program with the kernels that run in it, in the order of the text of their calls.
PROGRAMS = {
    "one output": f"""
        def body(x_ref, o_ref, buffer, sem):
            seen(x_ref, o_ref, buffer, sem)

        def run(x):
            out = jax.ShapeDtypeStruct((16, 128), jnp.bfloat16)
            return pl.kernel(body, out, mesh={_VECTOR}, scratch_types=[pltpu.VMEM((8, 16), jnp.int32), pltpu.SemaphoreType.DMA])(x)
        """,
    "several outputs and a dict of scratch": f"""
        def body(x_ref, y_ref, first_ref, second_ref, *, total, counts):
            seen(x_ref, y_ref, first_ref, second_ref, total, counts)

        def run(x):
            outs = (x, jax.ShapeDtypeStruct((32,), jnp.int32))
            scratch = dict(total=pltpu.VMEM_SHARED((32,), jnp.float32), counts=pltpu.SMEM((4,), jnp.int32))
            return pl.kernel(body, outs, mesh={_VECTOR}, scratch_types=scratch)(x, x)
        """,
    "a decorator over scalar subcores": f"""
        def run(x):
            @pl.kernel(out_type=jax.ShapeDtypeStruct((4,), jnp.int32), mesh={_SCALAR}, scratch_types=[pltpu.SMEM((4,), jnp.int32)])
            def body(x_ref, o_ref, numbers):
                seen(x_ref, o_ref, numbers)
            return body(x)
        """,
    "TensorCores, a ref of the program's and a pytree": f"""
        def body(pair, o_ref):
            seen(pair[0], pair[1], o_ref)

        def run(x):
            return pl.kernel(body, x, mesh={_TENSOR})((x, jax.new_ref(x)))
        """,
    "core_map with scratch": f"""
        def run(x):
            ref = jax.new_ref(x)
            @pl.core_map({_TENSOR}, scratch_shapes=[pltpu.VMEM((16, 128), jnp.float32)])
            def body(buffer):
                seen(buffer, ref)
                pltpu.sync_copy(buffer, ref)
            return ref[...]
        """,
    "a pipeline in a kernel": f"""
        def block(a_ref, b_ref):
            seen(a_ref, b_ref)

        def body(x_ref, o_ref):
            spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
            pltpu.emit_pipeline(block, grid=(2,), in_specs=[spec], out_specs=[spec])(x_ref, o_ref)
            seen(x_ref, o_ref)

        def run(x):
            return pl.kernel(body, x, mesh={_TENSOR})(x)
        """,
}
each_program = pytest.mark.parametrize("name", PROGRAMS)


def text_of(name: str) -> str:
    return _HEAD + dedent(PROGRAMS[name]) + _END


def seen_by_jax(text: str) -> list[tuple[SeenRef, ...]]:
    """The refs of each body, as JAX traces them, innermost bodies first."""
    found: list[tuple[SeenRef, ...]] = []
    names: dict[str, Any] = {}
    with on_chip("tpu7x"):
        exec(text, names)
        names["seen"] = lambda *refs, **named: found.append(tuple(map(as_seen, (*refs, *named.values()))))
        jax.jit(names["run"]).trace(*names["ARGS"])
    return list(dict.fromkeys(found))


def as_seen(ref: Any) -> SeenRef:
    """A ref, or the view that a pipeline makes of its buffers."""
    return SeenRef(tuple(ref.shape), str(ref.dtype), str(jax.typeof(getattr(ref, "ref", ref)).memory_space))


@each_program
def test_what_is_known_of_the_refs_is_what_jax_hands_over(name: str) -> None:
    sites = analysis_of(text_of(name)).sites
    known = [sorted((ref.shape, ref.dtype, ref.memory_space) for ref in site.refs) for site in sites if all(ref.shape is not None for ref in site.refs)]
    seen = [sorted((ref.shape, ref.dtype, _SPACES[ref.space]) for ref in refs) for refs in seen_by_jax(text_of(name))]
    assert [refs for refs in seen if refs not in known] == []
    assert len({site.location for site in sites}) == len(seen)


@each_program
def test_no_verdict_contradicts_jax(name: str) -> None:
    jax_says = lower(text_of(name))
    words = {site.verdict for site in analysis_of(text_of(name)).sites}
    assert ("fails" if jax_says.ok else "lowers") not in words


def test_a_pipeline_has_its_own_grid() -> None:
    grids = [site.grid for site in analysis_of(text_of("a pipeline in a kernel")).sites if site.refs]
    assert (2,) in grids and () in grids


def test_the_kernel_of_a_tensorcore_mesh_has_a_verdict() -> None:
    text = text_of("a pipeline in a kernel").replace("seen(a_ref, b_ref)", "b_ref[...] = a_ref[...] + 1.0").replace("seen(x_ref, o_ref)", "pass")
    assert lower(text).ok
    assert {site.verdict for site in analysis_of(text).sites} >= {"lowers"}
    refused = text.replace("pass\n", "o_ref[...] = x_ref[...]\n")
    assert not lower(refused).ok
    assert "fails" in {site.verdict for site in analysis_of(refused).sites}
