"""Calls of the functions of Pallas that compute on values; they are traced inside a kernel."""

from __future__ import annotations

from shapes.against_jax import Call, call
from shapes.random_arguments import Draw, array, calls_of, number, pick, shape, sometimes


@calls_of("jax.experimental.pallas.cdiv", "jax.experimental.pallas.align_to")
def cdiv(draw: Draw) -> Call:
    a, b = number(draw, -3, 20), -2 if sometimes(draw, 10) else number(draw, 1, 8)
    return call(*pick(draw, ((a, b), (a, b), (array(draw, (), ("int32",)), b), (a, array(draw, (), ("int32",))))))


@calls_of("jax.experimental.pallas.next_power_of_2")
def next_power_of_2(draw: Draw) -> Call:
    return call(number(draw, -1, 70))


@calls_of("jax.experimental.pallas.strides_from_shape")
def strides_from_shape(draw: Draw) -> Call:
    return call(shape(draw))


@calls_of("jax.experimental.pallas.multiple_of")
def multiple_of(draw: Draw) -> Call:
    return call(array(draw, (), ("int32",)), pick(draw, (8, (8, 128))))


@calls_of("jax.experimental.pallas.program_id", "jax.experimental.pallas.num_programs")
def program_id(draw: Draw) -> Call:
    return call(number(draw, 0, 1))


@calls_of("jax.experimental.pallas.reciprocal", "jax.experimental.pallas.tpu.reciprocal")
def reciprocal(draw: Draw) -> Call:
    return call(array(draw, dtypes=("float32", "bfloat16")), approx=sometimes(draw, 2))


@calls_of("jax.experimental.pallas.tpu.prng_random_bits")
def prng_random_bits(draw: Draw) -> Call:
    return call(shape(draw))


@calls_of("jax.experimental.pallas.tpu.stochastic_round")
def stochastic_round(draw: Draw) -> Call:
    dims = shape(draw)
    noise = array(draw, dims if not sometimes(draw, 6) else shape(draw), ("uint32",))
    return call(array(draw, dims, ("float32",)), noise, target_dtype=pick(draw, ("bfloat16", "float8_e5m2", "float8_e4m3fn")))


@calls_of("jax.experimental.pallas.tpu.pack_elementwise")
def pack_elementwise(draw: Draw) -> Call:
    dims = shape(draw)
    return call([array(draw, dims, ("float32",)) for _ in range(2)], packed_dtype="bfloat16")


@calls_of("jax.experimental.pallas.tpu.unpack_elementwise")
def unpack_elementwise(draw: Draw) -> Call:
    made = {"index": number(draw, 0, 1), "packed_dtype": "bfloat16", "unpacked_dtype": "float32"}
    return call(array(draw, dtypes=("uint32",)), **made)


@calls_of("jax.experimental.pallas.empty")
def empty(draw: Draw) -> Call:
    return call(shape(draw), pick(draw, ("float32", "int32", "bfloat16")))
