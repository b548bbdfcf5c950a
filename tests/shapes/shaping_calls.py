"""Calls of the functions that move elements: reshape, transpose, join, split, slice."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from shapes.against_jax import Call, call
from shapes.random_arguments import (
    DTYPES,
    INTEGERS,
    SIZES,
    Draw,
    array,
    axes,
    axis,
    calls_of,
    matching,
    number,
    operand,
    pick,
    shape,
    sometimes,
)


def permutation(draw: Draw, rank: int) -> tuple[int, ...]:
    order = draw(st.permutations(range(rank)))
    return tuple(order[:-1] if sometimes(draw, 12) and rank else order)


def new_shape(draw: Draw, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Another shape of as many elements, perhaps with a -1; now and then one that does not fit."""
    wanted = [pick(draw, SIZES), *dims] if sometimes(draw, 10) else [*dims]
    for _ in range(number(draw, 0, 2)):
        if len(wanted) > 1 and sometimes(draw, 2):
            at = number(draw, 0, len(wanted) - 2)
            wanted[at : at + 2] = [wanted[at] * wanted[at + 1]]
        else:
            wanted.insert(number(draw, 0, len(wanted)), 1)
    if wanted and sometimes(draw, 2):
        wanted[number(draw, 0, len(wanted) - 1)] = -1
    return tuple(wanted)


@calls_of("jax.numpy.reshape")
def reshape(draw: Draw) -> Call:
    dims = shape(draw)
    wanted: Any = new_shape(draw, dims)
    return call(operand(draw, dims), wanted[0] if len(wanted) == 1 else list(wanted) if sometimes(draw) else wanted)


@calls_of(".reshape")
def reshape_method(draw: Draw) -> Call:
    dims = shape(draw)
    wanted = new_shape(draw, dims)
    return call(array(draw, dims), *wanted) if wanted and sometimes(draw, 2) else call(array(draw, dims), wanted)


@calls_of("jax.lax.reshape")
def lax_reshape(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims), tuple(abs(d) for d in new_shape(draw, dims)))


@calls_of("jax.numpy.ravel", ".ravel", ".flatten", ".T", "jax.numpy.atleast_1d", "jax.numpy.atleast_2d")
def whole(draw: Draw) -> Call:
    return call(array(draw))


@calls_of("jax.numpy.matrix_transpose", ".mT")
def matrix(draw: Draw) -> Call:
    return call(array(draw, shape(draw, 1 if sometimes(draw) else 2)))


@calls_of("jax.lax.collapse")
def collapse(draw: Draw) -> Call:
    dims = shape(draw, 1)
    start = number(draw, 0, len(dims) - 1)
    return call(array(draw, dims), start) if sometimes(draw) else call(array(draw, dims), start, number(draw, start + 1, len(dims)))


@calls_of("jax.numpy.transpose")
def transpose(draw: Draw) -> Call:
    dims = shape(draw)
    order = permutation(draw, len(dims))
    if sometimes(draw):
        return call(array(draw, dims))
    return call(array(draw, dims), tuple(i - len(dims) if sometimes(draw) else i for i in order))


@calls_of("jax.numpy.permute_dims", "jax.lax.transpose")
def permute(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims), permutation(draw, len(dims)))


@calls_of(".transpose")
def transpose_method(draw: Draw) -> Call:
    dims = shape(draw)
    order = permutation(draw, len(dims))
    return call(array(draw, dims), *pick(draw, ((), (None,), (order,), order)))


@calls_of("jax.numpy.swapaxes", ".swapaxes")
def swapaxes(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), axis(draw, len(dims)), axis(draw, len(dims)))


@calls_of("jax.numpy.moveaxis")
def moveaxis(draw: Draw) -> Call:
    dims = shape(draw, 1)
    if sometimes(draw, 2):
        return call(array(draw, dims), axis(draw, len(dims)), axis(draw, len(dims)))
    count = number(draw, 1, len(dims))
    places = [tuple(draw(st.permutations(range(len(dims))))[:count]) for _ in range(2)]
    return call(array(draw, dims), *places)


@calls_of("jax.numpy.expand_dims", "jax.lax.expand_dims")
def expand_dims(draw: Draw) -> Call:
    dims = shape(draw)
    count = number(draw, 1, 2)
    return call(array(draw, dims), tuple(axis(draw, len(dims) + count) for _ in range(count)))


@calls_of("jax.numpy.squeeze", ".squeeze")
def squeeze(draw: Draw) -> Call:
    dims = shape(draw, 0, 3, (1, 1, 2, 8))
    ones = [i for i, d in enumerate(dims) if d == 1]
    if sometimes(draw, 6) or not ones:
        return call(array(draw, dims), axes(draw, len(dims)))
    return call(array(draw, dims), pick(draw, (None, ones[0], ones[-1] - len(dims), tuple(ones))))


@calls_of("jax.lax.squeeze")
def lax_squeeze(draw: Draw) -> Call:
    dims = shape(draw, 0, 3, (1, 1, 2, 8))
    return call(array(draw, dims), tuple(i for i, d in enumerate(dims) if d == 1 or sometimes(draw, 10)))


@calls_of("jax.numpy.broadcast_to")
def broadcast_to(draw: Draw) -> Call:
    target = shape(draw)
    return call(operand(draw, matching(draw, target)), target[0] if len(target) == 1 and sometimes(draw, 2) else target)


@calls_of("jax.experimental.pallas.broadcast_to")
def pl_broadcast_to(draw: Draw) -> Call:
    target = shape(draw)
    return call(array(draw, target if sometimes(draw, 2) else matching(draw, target)), target)


@calls_of("jax.numpy.broadcast_arrays")
def broadcast_arrays(draw: Draw) -> Call:
    dims = shape(draw)
    return call(*(operand(draw, matching(draw, dims)) for _ in range(number(draw, 1, 3))))


@calls_of("jax.lax.broadcast")
def lax_broadcast(draw: Draw) -> Call:
    return call(operand(draw), shape(draw, 0, 2))


@calls_of("jax.lax.broadcast_in_dim")
def broadcast_in_dim(draw: Draw) -> Call:
    target = shape(draw)
    places = tuple(i for i in range(len(target)) if sometimes(draw, 2))
    dims = tuple(1 if sometimes(draw) else pick(draw, SIZES) if sometimes(draw, 12) else target[i] for i in places)
    return call(array(draw, dims), target, places)


@calls_of("jax.numpy.flip")
def flip(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), axes(draw, len(dims)))


@calls_of("jax.lax.rev")
def rev(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), tuple(i for i in range(len(dims)) if sometimes(draw, 2)))


@calls_of("jax.numpy.roll")
def roll(draw: Draw) -> Call:
    dims = shape(draw)
    shift = array(draw, (), ("int32",)) if sometimes(draw) else number(draw, -3, 3)
    return call(array(draw, dims), shift, axis=None if sometimes(draw) else axis(draw, len(dims)))


@calls_of("jax.experimental.pallas.tpu.roll")
def tpu_roll(draw: Draw) -> Call:
    dims = shape(draw, 1)
    shift = array(draw, (), ("int32",)) if sometimes(draw, 2) else number(draw, -1, 3)
    return call(array(draw, dims), shift, axis=number(draw, 0, len(dims) - 1) if not sometimes(draw, 8) else axis(draw, len(dims)))


@calls_of("jax.numpy.rot90")
def rot90(draw: Draw) -> Call:
    return call(array(draw, shape(draw, 2)), number(draw, -1, 4))


# --- joining and splitting -------------------------------------------------------------------------------------------


def alike(draw: Draw, dims: tuple[int, ...], free: int | None, dtypes: tuple[str, ...]) -> list[Any]:
    """Arrays that may differ along one axis; now and then along another too."""
    made = []
    for _ in range(number(draw, 1, 3)):
        sizes = [pick(draw, SIZES) if i == free or sometimes(draw, 25) else d for i, d in enumerate(dims)]
        made.append(array(draw, tuple(sizes), dtypes))
    return made


def dtypes_of(draw: Draw) -> tuple[str, ...]:
    return DTYPES if sometimes(draw, 3) else (pick(draw, DTYPES),)


@calls_of("jax.numpy.concatenate", "jax.numpy.concat")
def concatenate(draw: Draw) -> Call:
    dims = shape(draw, 1)
    along = axis(draw, len(dims))
    arrays = alike(draw, dims, along % len(dims), dtypes_of(draw))
    return call(tuple(arrays) if sometimes(draw, 2) else arrays, axis=None if sometimes(draw, 8) else along)


@calls_of("jax.numpy.append")
def append(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), array(draw, matching(draw, dims)), *(() if sometimes(draw, 2) else (axis(draw, len(dims)),)))


@calls_of("jax.lax.concatenate")
def lax_concatenate(draw: Draw) -> Call:
    dims = shape(draw, 1)
    along = number(draw, 0, len(dims) - 1)
    return call(alike(draw, dims, along, dtypes_of(draw)), along)


@calls_of("jax.numpy.stack")
def stack(draw: Draw) -> Call:
    dims = shape(draw)
    if sometimes(draw, 8):
        return call(array(draw, (2, *dims)), axis=0)
    options = {"dtype": pick(draw, DTYPES)} if sometimes(draw) else {}
    return call(alike(draw, dims, None, dtypes_of(draw)), axis=axis(draw, len(dims) + 1), **options)


@calls_of("jax.numpy.hstack", "jax.numpy.vstack")
def hstack(draw: Draw) -> Call:
    dims = shape(draw)
    return call(alike(draw, dims, None if sometimes(draw, 2) else max(len(dims) - 1, 0), dtypes_of(draw)))


@calls_of("jax.numpy.split")
def split(draw: Draw) -> Call:
    dims = shape(draw, 1, 3, (2, 4, 8))
    along = axis(draw, len(dims))
    sections: Any = pick(draw, (1, 2, 2, 4)) if sometimes(draw, 2) else sorted(number(draw, 0, 2) for _ in range(number(draw, 0, 2)))
    return call(array(draw, dims), sections, axis=along)


@calls_of("jax.lax.split")
def lax_split(draw: Draw) -> Call:
    dims = shape(draw, 1, 3, (2, 4, 8))
    along = number(draw, 0, len(dims) - 1)
    first = number(draw, 0, dims[along])
    return call(array(draw, dims), (first, dims[along] - first + sometimes(draw, 8)), along)


@calls_of("jax.numpy.tile")
def tile(draw: Draw) -> Call:
    return call(operand(draw), number(draw, 0, 3) if sometimes(draw) else tuple(number(draw, 0, 3) for _ in range(number(draw, 0, 4))))


@calls_of("jax.numpy.repeat", ".repeat")
def repeat(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims), number(draw, 0, 3), axis=None if sometimes(draw) else axis(draw, len(dims)))


@calls_of("jax.experimental.pallas.tpu.repeat")
def tpu_repeat(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), number(draw, 1, 3), axis=axis(draw, len(dims)))


@calls_of("jax.numpy.pad")
def pad(draw: Draw) -> Call:
    dims = shape(draw)
    low, high = number(draw, 0, 2), number(draw, 0, 2)
    pairs = tuple((number(draw, 0, 2), number(draw, 0 if not sometimes(draw, 12) else -1, 2)) for _ in dims)
    return call(array(draw, dims), pick(draw, (pairs, pairs, list(pairs), low, (low,), (low, high), ((low, high),))))


@calls_of("jax.lax.pad")
def lax_pad(draw: Draw) -> Call:
    dims = shape(draw)
    dtype = pick(draw, DTYPES)
    config = [(number(draw, -1, 2), number(draw, 0, 2), number(draw, 0, 1)) for _ in dims]
    return call(array(draw, dims, (dtype,)), array(draw, (), (dtype,)), config)


# --- slices ----------------------------------------------------------------------------------------------------------


@calls_of("jax.lax.slice")
def lax_slice(draw: Draw) -> Call:
    dims = shape(draw)
    starts = tuple(number(draw, 0, d - 1) for d in dims)
    limits = tuple(number(draw, start, d + sometimes(draw, 20)) for start, d in zip(starts, dims, strict=True))
    return call(array(draw, dims), starts, limits, *(() if sometimes(draw, 2) else (tuple(number(draw, 1, 3) for _ in dims),)))


@calls_of("jax.lax.slice_in_dim")
def slice_in_dim(draw: Draw) -> Call:
    dims = shape(draw, 1)
    along = axis(draw, len(dims))
    size = dims[along % len(dims)]
    start, limit = number(draw, 0, size - 1), number(draw, 0, size)
    bounds: Any = (None, limit) if sometimes(draw) else (start, None) if sometimes(draw) else (start, max(start, limit))
    return call(array(draw, dims), *bounds, stride=number(draw, 1, 2), axis=along)


@calls_of("jax.lax.index_in_dim", "jax.lax.dynamic_index_in_dim")
def index_in_dim(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), 0, axis=axis(draw, len(dims)), keepdims=sometimes(draw, 2))


def starts(draw: Draw, rank: int) -> list[Any]:
    return [array(draw, (), ("int32",)) if sometimes(draw, 2) else 0 for _ in range(rank)]


@calls_of("jax.lax.dynamic_slice")
def dynamic_slice(draw: Draw) -> Call:
    dims = shape(draw)
    sizes = tuple(number(draw, 0, d + sometimes(draw, 12)) for d in dims)
    return call(array(draw, dims), starts(draw, len(dims)), sizes)


@calls_of("jax.lax.dynamic_slice_in_dim")
def dynamic_slice_in_dim(draw: Draw) -> Call:
    dims = shape(draw, 1)
    along = axis(draw, len(dims))
    return call(array(draw, dims), starts(draw, 1)[0], number(draw, 1, dims[along % len(dims)] + sometimes(draw, 12)), along)


@calls_of("jax.lax.dynamic_update_slice")
def dynamic_update_slice(draw: Draw) -> Call:
    dims = shape(draw)
    sizes = tuple(number(draw, 1, d + sometimes(draw, 12)) for d in dims)
    dtypes = dtypes_of(draw)
    return call(array(draw, dims, dtypes), array(draw, sizes, dtypes), starts(draw, len(dims)))


@calls_of("jax.lax.dynamic_update_slice_in_dim")
def dynamic_update_slice_in_dim(draw: Draw) -> Call:
    dims = shape(draw, 1)
    dtypes = dtypes_of(draw)
    return call(array(draw, dims, dtypes), array(draw, dims, dtypes), starts(draw, 1)[0], axis(draw, len(dims)))


@calls_of("jax.lax.dynamic_update_index_in_dim")
def dynamic_update_index_in_dim(draw: Draw) -> Call:
    dims = shape(draw, 1)
    dtypes = dtypes_of(draw)
    return call(array(draw, dims, dtypes), array(draw, dims[1:], dtypes), starts(draw, 1)[0], 0)


@calls_of("jax.numpy.take", ".take")
def take(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), array(draw, shape(draw, 0, 2), INTEGERS), axis=None if sometimes(draw) else axis(draw, len(dims)))


@calls_of("jax.numpy.take_along_axis")
def take_along_axis(draw: Draw) -> Call:
    dims = shape(draw, 1)
    along = axis(draw, len(dims))
    wanted = tuple(pick(draw, SIZES) if i == along % len(dims) or sometimes(draw, 15) else d for i, d in enumerate(dims))
    return call(array(draw, dims), array(draw, wanted, INTEGERS), axis=along)
