"""What a kernel computes: as JAX's interpreter runs it, and as Python does, where the program asks what only Python can answer."""

from __future__ import annotations

import math
import types
from collections.abc import Sequence
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

SEEDS = (0, 1, 2)


def interpreted(text: str, seeds: Sequence[int] = SEEDS) -> list[np.ndarray]:
    """The outputs of the program's call for operands made of seeds, by JAX's interpreter of kernels."""
    call = pl.pallas_call
    with mock.patch.object(pl, "pallas_call", lambda *args, **kwargs: call(*args, **kwargs, interpret=True)):
        return _outputs(text, seeds)


def executed(text: str) -> list[np.ndarray]:
    """The same by Python itself: the kernel and its loops run on refs that hold numbers."""
    with jax.disable_jit(), mock.patch.object(pl, "pallas_call", _eager):
        return _outputs(text, SEEDS)


def _outputs(text: str, seeds: Sequence[int]) -> list[np.ndarray]:
    module = types.ModuleType("kernel")
    exec(compile(text, "kernel.py", "exec"), module.__dict__)
    runs = [module.run(*(_operand(seed + position, struct) for position, struct in enumerate(module.ARGS))) for seed in seeds]
    return [np.asarray(array.astype(jnp.float32)) for made in runs for array in jax.tree.leaves(made)]


def _operand(seed: int, struct: jax.ShapeDtypeStruct) -> jax.Array:
    numbers = np.random.default_rng(seed)
    if jnp.issubdtype(struct.dtype, jnp.floating):
        return jnp.asarray(numbers.normal(size=struct.shape)).astype(struct.dtype)
    if struct.dtype == jnp.int8:
        return jnp.asarray(numbers.integers(-128, 128, struct.shape)).astype(struct.dtype)
    return ((jnp.arange(math.prod(struct.shape)) + seed) % 3).reshape(struct.shape).astype(struct.dtype)


class _Ref:
    """A ref that holds numbers."""

    def __init__(self, value: jax.Array) -> None:
        self.value = value

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)

    def __getitem__(self, index: Any) -> jax.Array:
        return self.value[_plain(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.value = self.value.at[_plain(index)].set(value)


def _plain(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_plain, index))
    return slice(int(index.start), int(index.start) + index.size) if isinstance(index, pl.Slice) else index


def _eager(kernel: Any, out_shape: jax.ShapeDtypeStruct, **others: Any) -> Any:
    def call(*operands: jax.Array) -> jax.Array:
        refs = [_Ref(operand) for operand in operands]
        out = _Ref(jnp.zeros(out_shape.shape, out_shape.dtype))
        kernel(*refs, out)
        return out.value

    return call
