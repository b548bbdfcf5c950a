"""``jax.random``: shapes and dtypes of keys and of what is drawn.

Mirrors the functions of the same names of ``jax/_src/random``; new-style keys are ``key<fry>``, the default generator's.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, dim, dtype_or, shape_of
from pallas_lsp.shapes.avals import Aval
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dtypes import kind
from pallas_lsp.shapes.table import shape_function

# The short names of the generators, as they stand in the dtype of their keys.
_GENERATORS = {None: "fry", "threefry2x32": "fry", "rbg": "rbg", "unsafe_rbg": "urbg"}


@shape_function("jax.random.key")
def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Aval:
    if dtype is not None or impl not in _GENERATORS:
        raise Undecided
    return Aval((), f"key<{_GENERATORS[impl]}>")


@shape_function("jax.random.PRNGKey")
def prng_key(seed: Any, *, impl: Any = None) -> Aval:
    if impl is not None:
        raise Undecided
    return Aval((2,), "uint32")


@shape_function("jax.random.split")
def split(key: Any, num: Any = 2) -> Aval:
    """More keys, in front of what a key is made of."""
    one, count = array(key), shape_of(num)
    return Aval(None if one.shape is None or count is None else count + one.shape, one.dtype)


@shape_function("jax.random.key_data")
def key_data(keys: Any) -> Aval:
    one = array(keys)
    if one.dtype != "key<fry>":
        raise Undecided
    return Aval(None if one.shape is None else (*one.shape, 2), "uint32")


@shape_function("jax.random.fold_in")
def fold_in(key: Any, data: Any) -> Aval:
    one = array(key)
    if kind(one.dtype) is None:
        raise Undecided
    return Aval(one.shape, one.dtype)


@shape_function("jax.random.normal", "jax.random.exponential")
def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Aval:
    return Aval(shape_of(shape), dtype_or(dtype, ("float32", False))[0])


@shape_function("jax.random.gumbel")
def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: Any = None, *, out_sharding: Any = None) -> Aval:
    return normal(key, shape, dtype)


@shape_function("jax.random.uniform")
def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, *, out_sharding: Any = None) -> Aval:
    return normal(key, shape, dtype)


@shape_function("jax.random.truncated_normal")
def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Aval:
    wanted = broadcast(array(lower).shape, array(upper).shape) if shape is None else shape_of(shape)
    return Aval(wanted, dtype_or(dtype, ("float32", False))[0])


@shape_function("jax.random.randint")
def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None) -> Aval:
    return Aval(shape_of(shape), dtype_or(dtype, ("int32", False))[0])


@shape_function("jax.random.bits")
def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Aval:
    return Aval(shape_of(shape), dtype_or(dtype, ("uint32", False))[0])


@shape_function("jax.random.bernoulli")
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: Any = "low", *, out_sharding: Any = None) -> Aval:
    return Aval(array(p).shape if shape is None else shape_of(shape), "bool")


@shape_function("jax.random.permutation")
def permutation(key: Any, x: Any, axis: Any = 0, independent: Any = False, *, out_sharding: Any = None) -> Aval:
    if isinstance(x, Aval):
        return Aval(x.shape, x.dtype, None if x.weak else x.weak)
    return Aval((dim(x),), "int32")
