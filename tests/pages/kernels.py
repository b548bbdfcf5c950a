"""Whole modules around the body of a kernel, for tests that try one statement."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from referee import jax_version

DMA = "pltpu.SemaphoreType.DMA"
REGULAR = "pltpu.SemaphoreType.REGULAR"
KEY = "jax.random.key(seed)"
COPY = "o_ref[...] = x_ref[...]"
ZEROS = "o_ref[...] = jnp.zeros_like(o_ref)"
ROWS = {"x": "f32[16,128]", "grid": "(2,)", "out_specs": "pl.BlockSpec((8, 128), lambda i: (0, 0))"}  # two blocks of eight rows
SPEC = "pl.BlockSpec((8, 128), lambda i: (i, 0){})".format  # their spec, with further arguments

_MODULE = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)
ANY = pl.BlockSpec(memory_space=pl.ANY)
VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)


def kernel({parameters}):
{body}


def run(*operands):
    return pl.pallas_call(
        kernel,
        out_shape={out},
        scratch_shapes=[{scratch}],{keywords}
    )(*operands)


ARGS = [{arguments}]
"""

_WITH_KEY = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def noise(key_ref, o_ref):
    o_ref[...] = jax.random.uniform(key_ref[{index}], o_ref.shape, jnp.float32)


def run(seed):
    keys = {keys}
    spec = pl.BlockSpec(memory_space={space})
    return pl.pallas_call(noise, in_specs=[spec], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(keys)


ARGS = [jax.ShapeDtypeStruct((), jnp.int32)]
"""

_UNDER_A_MESH = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def body(x_ref, o_ref):
{body}


def run(x):
    return pl.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), mesh={mesh})(x)


ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32)]
"""


def module(
    body: str, *, x: str = "f32[8,128]", y: str | None = None, out: str = "f32[8,128]", scratch: Sequence[str] = (), **keywords: str
) -> str:
    """A module with the kernel ``body``.

    Its refs are ``x_ref`` and, if given, ``y_ref`` of the dtypes and shapes told as in ``bf16[8,128]``; ``o_ref``; and ``s_ref``,
    ``t_ref`` for each text of ``scratch``. ``keywords`` are further arguments of ``pallas_call``, as texts.
    """
    operands = [x, y] if y else [x]
    names = [*("x_ref", "y_ref")[: len(operands)], "o_ref", *("s_ref", "t_ref")[: len(scratch)]]
    return _MODULE.format(
        parameters=", ".join(names),
        body=indent(body, "    "),
        out=_struct(out),
        scratch=", ".join(scratch),
        keywords="".join(f"\n        {name}={text}," for name, text in keywords.items()),
        arguments=", ".join(map(_struct, operands)),
    )


def _struct(described: str) -> str:
    short, _, dims = described.removesuffix("]").partition("[")
    dtype = {"f32": "float32", "bf16": "bfloat16", "i32": "int32", "u32": "uint32", "i8": "int8", "i16": "int16", "bool": "bool_"}[short]
    return f"jax.ShapeDtypeStruct(({dims}{',' if dims else ''}), jnp.{dtype})"


def module_with_key(keys: str, index: str, space: str) -> str:
    """A module whose kernel reads ``key_ref[index]`` of the expression ``keys`` (of ``seed``), which is in the memory space ``space``."""
    return _WITH_KEY.format(keys=keys, index=index, space=space)


def module_under_a_mesh(body: str) -> str:
    """A module that runs ``body``, of ``x_ref`` and ``o_ref`` in HBM, with ``pl.kernel`` on a TensorCore mesh."""
    return _UNDER_A_MESH.format(body=indent(body, "    "), mesh=_mesh())


def module_with_core_map(used: str) -> str:
    """A module whose body under ``pl.core_map`` adds the expression ``used``, of ``ref`` and the array ``x``."""
    return f"""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def run(x):
    ref, out = jax.new_ref(x), jax.new_ref(jnp.zeros_like(x))

    @pl.core_map({_mesh()})
    def _():
        def body(buffer):
            pltpu.sync_copy(ref, buffer)
            buffer[...] = buffer[...] + {used}
            pltpu.sync_copy(buffer, out)

        pl.run_scoped(body, pltpu.VMEM((8, 128), jnp.float32))

    return out[...]


ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32)]
"""


def module_with_prefetch(index_map: str, in_specs: str = "[spec]") -> str:
    """A module whose input has the index map given, in a grid with one prefetched operand."""
    return f"""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(idx_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...] * idx_ref[0]


def run(idx, x):
    spec = pl.BlockSpec((8, 128), {index_map})
    out = pl.BlockSpec((8, 128), lambda i, idx_ref: (i, 0))
    grid_spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,), in_specs={in_specs}, out_specs=out)
    return pl.pallas_call(kernel, grid_spec=grid_spec, out_shape=jax.ShapeDtypeStruct((16, 128), jnp.float32))(idx, x)


ARGS = [jax.ShapeDtypeStruct((2,), jnp.int32), jax.ShapeDtypeStruct((64, 128), jnp.float32)]
"""


def _mesh() -> str:
    """A mesh of one TensorCore with the axis ``c``, as the installed JAX spells it."""
    new = jax_version() >= (0, 11)
    return "pltpu.TensorCoreMesh(axis_name='c', num_cores=1)" if new else "pltpu.create_tensorcore_mesh('c', num_cores=1)"
