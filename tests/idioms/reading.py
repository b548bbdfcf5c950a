"""The idioms: short Python blocks in Markdown, and the modules around them."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

FOLDER = Path(__file__).parent

IMPORTS = """\
import abc, contextlib, copy, dataclasses, enum, functools, itertools, math, operator, os, types, typing
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

"""

_AROUND_A_BODY = """\
SCALE, ENABLED = 2.0, True

def kernel(x_ref, y_ref, s_ref, out_ref, total_ref, buf, n_ref):
{body}
def run(x, y, s):
    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(
        kernel,
        grid=(2,),
        in_specs=[pl.BlockSpec(), pl.BlockSpec(), smem],
        out_specs=[pl.BlockSpec(), smem],
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((1, 4), jnp.float32)],
        scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32), pltpu.SMEM((2,), jnp.int32)],
    )(x, y, s)

ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32), jax.ShapeDtypeStruct((8, 128), jnp.float32), jax.ShapeDtypeStruct((4,), jnp.int32)]
"""

_ARGS = "\n\nARGS = [jax.ShapeDtypeStruct((16, 128), jnp.float32), jax.ShapeDtypeStruct((16, 128), jnp.float32)]\n"
_CALL = '\nif __name__ == "__main__":\n    jax.jit(run).lower(*ARGS)\n'

_BLOCK = re.compile(r"^## (.*?)$.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STORE = re.compile(r"^( *)out_ref\[\.\.\.\] = .*$", re.MULTILINE)


def blocks(name: str) -> dict[str, str]:
    """The blocks of a file by the heading that they stand under."""
    return dict(_BLOCK.findall((FOLDER / name).read_text()))


def around_body(body: str) -> str:
    """The module of a kernel with this body."""
    return IMPORTS + _AROUND_A_BODY.format(body=indent(body, "    ")) + _CALL


def with_arguments(module: str) -> str:
    """The module of calls, with the imports and the arguments."""
    return IMPORTS + module + _ARGS + _CALL


def with_a_fault(module: str) -> str | None:
    """The module whose first store of a whole block became one of a number; None where it has none."""
    return _STORE.sub(r"\1out_ref[...] = 1.0", module, count=1) if _STORE.search(module) else None
