"""Functions of ``jax.experimental.pallas`` and its TPU part that compute on values.

Mirrors ``jax/_src/pallas/utils.py``, ``jax/_src/pallas/primitives.py`` and ``jax/_src/pallas/mosaic/primitives.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, arrays, dtype_of, integer, items, shape_of
from pallas_lsp.shapes.avals import Aval, ShapeError
from pallas_lsp.shapes.broadcasting import same_shape
from pallas_lsp.shapes.dims import Poly, product
from pallas_lsp.shapes.dims import cdiv as cdiv_dims
from pallas_lsp.shapes.elementwise import NUMBER, add, multiply, subtract
from pallas_lsp.shapes.lax_elementwise import strict
from pallas_lsp.shapes.table import shape_function


@shape_function("jax.experimental.pallas.cdiv")
def cdiv(a: Any, b: Any) -> Any:
    """Of ints an int, else a traced division."""
    if isinstance(a, int) and isinstance(b, int):
        return (a + b - 1) // b
    if isinstance(a, int | Poly) and isinstance(b, int | Poly):
        result = cdiv_dims(a, b)
        if result is None:
            raise Undecided
        return result
    return strict("div", (add(a, subtract(b, 1) if isinstance(b, Aval) else b), b), NUMBER)


@shape_function("jax.experimental.pallas.align_to")
def align_to(a: Any, alignment: Any) -> Any:
    parts = cdiv(a, alignment)
    if isinstance(parts, int | Poly) and isinstance(alignment, int | Poly):
        result = product((parts, alignment))
        if result is None:
            raise Undecided
        return result
    return multiply(parts, alignment)


@shape_function("jax.experimental.pallas.next_power_of_2")
def next_power_of_2(x: Any) -> int:
    number = integer(x)
    if number < 0:
        raise ShapeError("next_power_of_2 needs a number of at least 0")
    return 1 if number == 0 else 1 << (number - 1).bit_length()


@shape_function("jax.experimental.pallas.strides_from_shape")
def strides_from_shape(shape: Any) -> tuple[Any, ...]:
    dims = items(shape)
    result = tuple(product(dims[i + 1 :]) for i in range(len(dims)))
    if None in result:
        raise Undecided
    return result


@shape_function("jax.experimental.pallas.multiple_of")
def multiple_of(x: Any, values: Any) -> Aval:
    return array(x)


@shape_function("jax.experimental.pallas.program_id")
def program_id(axis: Any) -> Aval:
    return Aval((), "int32")


@shape_function("jax.experimental.pallas.num_programs")
def num_programs(axis: Any) -> Aval:
    """A Python int, thus weak, where the grid is static; traced, thus not weak, where it is not."""
    return Aval((), "int32", None)


@shape_function("jax.experimental.pallas.reciprocal", "jax.experimental.pallas.tpu.reciprocal")
def reciprocal(x: Any, *, approx: Any = False, full_range: Any = True) -> Aval:
    return array(x)


@shape_function("jax.experimental.pallas.tpu.prng_random_bits")
def prng_random_bits(shape: Any) -> Aval:
    return Aval(shape_of(shape), "int32")


@shape_function("jax.experimental.pallas.tpu.stochastic_round")
def stochastic_round(x: Any, random_bits: Any, *, target_dtype: Any) -> Aval:
    aval, noise = array(x), array(random_bits)
    if aval.dtype not in (None, "float32"):
        raise ShapeError("stochastic_round needs an f32 array")
    if noise.dtype not in (None, "uint32"):
        raise ShapeError("stochastic_round needs random bits of u32")
    return Aval(same_shape("stochastic_round", [aval.shape, noise.shape]), dtype_of(target_dtype))


@shape_function("jax.experimental.pallas.tpu.pack_elementwise")
def pack_elementwise(xs: Any, *, packed_dtype: Any) -> Aval:
    return Aval(same_shape("pack_elementwise", [x.shape for x in arrays(xs)]), "uint32")


@shape_function("jax.experimental.pallas.tpu.unpack_elementwise")
def unpack_elementwise(x: Any, *, index: Any, packed_dtype: Any, unpacked_dtype: Any) -> Aval:
    return Aval(array(x).shape, dtype_of(unpacked_dtype))


@shape_function("jax.experimental.pallas.empty")
def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> Aval:
    return Aval(shape_of(shape), dtype_of(dtype))
