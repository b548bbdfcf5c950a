"""Calls of the functions that make, multiply, sort, draw and query arrays."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from shapes.against_jax import Call, call
from shapes.random_arguments import (
    DTYPES,
    FLOATS,
    INTEGERS,
    SIZES,
    Draw,
    array,
    axis,
    calls_of,
    matching,
    number,
    operand,
    pick,
    scalar,
    shape,
    sometimes,
)

from pallas_lsp.shapes.avals import Aval


def maybe_dtype(draw: Draw, dtypes: tuple[str, ...] = DTYPES) -> dict[str, Any]:
    return {"dtype": pick(draw, dtypes)} if sometimes(draw, 2) else {}


def wanted_shape(draw: Draw) -> Any:
    dims = shape(draw)
    return pick(draw, (dims, list(dims), dims[0] if len(dims) == 1 else dims))


# --- creation --------------------------------------------------------------------------------------------------------


@calls_of("jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.empty")
def zeros(draw: Draw) -> Call:
    return call(wanted_shape(draw), **maybe_dtype(draw))


@calls_of("jax.numpy.full")
def full(draw: Draw) -> Call:
    dims = shape(draw)
    return call(dims, operand(draw, matching(draw, dims) if sometimes(draw) else ()), **maybe_dtype(draw))


@calls_of("jax.lax.full")
def lax_full(draw: Draw) -> Call:
    return call(shape(draw), operand(draw, ()), **maybe_dtype(draw))


@calls_of("jax.numpy.zeros_like", "jax.numpy.ones_like", "jax.numpy.empty_like")
def zeros_like(draw: Draw) -> Call:
    return call(operand(draw), **maybe_dtype(draw), **({"shape": shape(draw)} if sometimes(draw) else {}))


@calls_of("jax.numpy.full_like")
def full_like(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims), operand(draw, matching(draw, dims) if sometimes(draw) else ()), **maybe_dtype(draw))


@calls_of("jax.lax.full_like")
def lax_full_like(draw: Draw) -> Call:
    return call(array(draw), scalar(draw), **maybe_dtype(draw))


@calls_of("jax.lax.iota")
def iota(draw: Draw) -> Call:
    return call(pick(draw, DTYPES[:-1]), number(draw, 0, 8))


@calls_of("jax.lax.broadcasted_iota")
def broadcasted_iota(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(pick(draw, DTYPES[:-1]), dims, number(draw, 0, len(dims) - 1 + sometimes(draw, 12)))


@calls_of("jax.numpy.arange")
def arange(draw: Draw) -> Call:
    whole = sometimes(draw, 2)
    bounds = [number(draw, -2, 9) if whole else pick(draw, (0, 1, 2.5, -1.5, 8)) for _ in range(number(draw, 1, 2))]
    if len(bounds) == 2 and sometimes(draw, 2):
        bounds.append(pick(draw, (1, 2, 3, -1) if whole else (0.5, 2, -1)))
    return call(*bounds, **maybe_dtype(draw))


@calls_of("jax.numpy.eye", "jax.numpy.tri")
def eye(draw: Draw) -> Call:
    return call(pick(draw, SIZES), *(() if sometimes(draw, 2) else (pick(draw, SIZES),)), **maybe_dtype(draw))


@calls_of("jax.numpy.identity")
def identity(draw: Draw) -> Call:
    return call(pick(draw, SIZES), **maybe_dtype(draw))


@calls_of("jax.numpy.tril", "jax.numpy.triu")
def tril(draw: Draw) -> Call:
    return call(array(draw, shape(draw, 1 if sometimes(draw, 6) else 2)), k=number(draw, -1, 1))


@calls_of("jax.numpy.linspace")
def linspace(draw: Draw) -> Call:
    dims = shape(draw, 0, 2)
    options = {"axis": axis(draw, len(dims) + 1)} if sometimes(draw) else {}
    return call(operand(draw, dims), operand(draw, matching(draw, dims)), number(draw, 1, 5), **options, **maybe_dtype(draw))


@calls_of("jax.numpy.meshgrid")
def meshgrid(draw: Draw) -> Call:
    options = {"indexing": pick(draw, ("xy", "ij"))} if sometimes(draw, 2) else {}
    return call(*(array(draw, shape(draw, 1, 1)) for _ in range(number(draw, 1, 3))), sparse=sometimes(draw), **options)


@calls_of("jax.numpy.array", "jax.numpy.asarray")
def array_of(draw: Draw) -> Call:
    dims = shape(draw, 0, 1)
    value: Any = operand(draw)
    if not sometimes(draw, 3):
        value = [operand(draw, dims) if dims else pick(draw, (1, 2.0, True, array(draw, ()))) for _ in range(number(draw, 0, 3))]
    if sometimes(draw):
        value = [value, value]
    return call(value, **maybe_dtype(draw))


@calls_of(
    *(f"jax.numpy.float{n}" for n in (16, 32, 64)),
    *(f"jax.numpy.{sign}int{n}" for sign in ("", "u") for n in (4, 8, 16, 32, 64)),
    *("jax.numpy.bool_", "jax.numpy.bfloat16", "jax.numpy.int_", "jax.numpy.uint", "jax.numpy.float_"),
    *("jax.numpy.half", "jax.numpy.single", "jax.numpy.double"),
    *("jax.numpy.float8_e4m3fn", "jax.numpy.float8_e5m2", "jax.numpy.float8_e4m3b11fnuz"),
)
def scalar_type(draw: Draw) -> Call:
    return call(pick(draw, (0, True, 1, 0.0)) if sometimes(draw) else array(draw))


# --- products --------------------------------------------------------------------------------------------------------


def factors(draw: Draw) -> tuple[str, ...]:
    return DTYPES if sometimes(draw, 3) else (pick(draw, DTYPES),)


def preferred(draw: Draw) -> dict[str, Any]:
    return {"preferred_element_type": pick(draw, ("float32", "float32", "int32", "bfloat16"))} if sometimes(draw, 2) else {}


def chain(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of two factors that mostly fit."""
    inner = pick(draw, SIZES)
    batch = shape(draw, 0, 1)
    left = (*(batch if sometimes(draw, 2) else ()), *shape(draw, 0, 1), inner)
    if sometimes(draw):
        return left, (inner,)
    right = (*(batch if sometimes(draw, 2) else ()), pick(draw, SIZES) if sometimes(draw, 12) else inner, pick(draw, SIZES))
    return left, right


@calls_of("jax.numpy.dot", "jax.numpy.matmul", ".dot")
def dot(draw: Draw) -> Call:
    left, right = chain(draw)
    dtypes = factors(draw)
    return call(array(draw, left, dtypes), array(draw, right, dtypes), **preferred(draw))


@calls_of("@")
def matmul_operator(draw: Draw) -> Call:
    left, right = chain(draw)
    dtypes = factors(draw)
    return call(array(draw, left, dtypes), array(draw, right, dtypes))


@calls_of("jax.lax.dot")
def lax_dot(draw: Draw) -> Call:
    inner = pick(draw, SIZES)
    left, right = (*shape(draw, 0, 1), inner), (pick(draw, SIZES) if sometimes(draw, 12) else inner, *shape(draw, 0, 1))
    dtypes = factors(draw)
    return call(array(draw, left, dtypes), array(draw, right, dtypes), **preferred(draw))


@calls_of("jax.experimental.pallas.dot")
def pl_dot(draw: Draw) -> Call:
    inner = pick(draw, SIZES)
    left, right = (pick(draw, SIZES), inner), (inner, pick(draw, SIZES))
    options = {}
    if sometimes(draw, 2):
        left, options["trans_a"] = left[::-1], True
    if sometimes(draw, 2):
        right, options["trans_b"] = right[::-1], True
    dtypes = (pick(draw, ("float32", "bfloat16", "int8", "int32")),)
    return call(array(draw, left, dtypes), array(draw, right, dtypes), **options)


@calls_of("jax.lax.dot_general")
def dot_general(draw: Draw) -> Call:
    """Shared dimensions at random places, each batched, contracted, or (wrongly) of another size."""
    shared = [pick(draw, SIZES) for _ in range(number(draw, 0, 3))]
    batched = [sometimes(draw, 2) for _ in shared]
    sides = []
    for _ in range(2):
        dims = [*shared, *shape(draw, 0, 1)]
        order = draw(st.permutations(range(len(dims))))
        if sometimes(draw, 25) and dims:
            dims[0] += 1
        sides.append((tuple(dims[i] for i in order), [order.index(i) for i in range(len(shared))]))

    def axes_of(want_batch: bool) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(places[i] for i, is_batch in enumerate(batched) if is_batch == want_batch) for _, places in sides)

    dtypes = factors(draw)
    operands = (array(draw, dims, dtypes) for dims, _ in sides)
    return call(*operands, (axes_of(False), axes_of(True)), **preferred(draw))


@calls_of("jax.numpy.tensordot")
def tensordot(draw: Draw) -> Call:
    shared = shape(draw, 0, 2)
    left, right = (*shape(draw, 0, 1), *shared), (*shared, *shape(draw, 0, 1))
    count = len(shared) + sometimes(draw, 15)
    last = tuple(range(len(left) - len(shared), len(left))), tuple(range(len(shared)))
    dtypes = factors(draw)
    return call(array(draw, left, dtypes), array(draw, right, dtypes), pick(draw, (count, last)), **preferred(draw))


@calls_of("jax.numpy.inner")
def inner(draw: Draw) -> Call:
    last = pick(draw, SIZES)
    return call(array(draw, (*shape(draw, 0, 1), last)), array(draw, () if sometimes(draw) else (*shape(draw, 0, 1), last)))


@calls_of("jax.lax.batch_matmul")
def batch_matmul(draw: Draw) -> Call:
    batch, inner = shape(draw, 0, 2), pick(draw, SIZES)
    left, right = (*batch, pick(draw, SIZES), inner), (*batch, pick(draw, SIZES) if sometimes(draw, 12) else inner, pick(draw, SIZES))
    dtypes = factors(draw)
    return call(array(draw, left, dtypes), array(draw, right[1:] if sometimes(draw, 12) else right, dtypes))


@calls_of("jax.numpy.outer", "jax.numpy.kron")
def outer(draw: Draw) -> Call:
    return call(operand(draw), operand(draw))


@calls_of("jax.numpy.vdot")
def vdot(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), array(draw, dims if not sometimes(draw, 6) else shape(draw, 1)))


EINSUMS = (
    *("ij,jk->ik", "ij,jk", "bij,bjk->bik", "i,i->", "i,j->ij", "ij->ji", "ij->i", "ii->i", "...ij,...jk->...ik", "...i->..."),
    *("ij, kj -> ik", "bhqd,bhkd->bhqk", "ij,jk,kl->il", "i,i", "ij,jk->iz", "...ij->...ji", "b...,b...->b..."),
)


@calls_of("jax.numpy.einsum")
def einsum(draw: Draw) -> Call:
    subscripts = pick(draw, EINSUMS)
    sizes = {name: pick(draw, SIZES) for name in "abcdefghijklmnopqrstuvwxyz"}
    batch = shape(draw, 0, 2)
    dtypes = factors(draw)
    operands = []
    for term in subscripts.replace(" ", "").partition("->")[0].split(","):
        before, dots, after = term.partition("...")
        front, back = (tuple(1 if sometimes(draw, 12) else sizes[name] for name in names) for names in (before, after))
        dims = front + (batch if dots else ()) + back
        operands.append(array(draw, (*dims, 2) if sometimes(draw, 25) else dims, dtypes))
    return call(subscripts, *operands, **preferred(draw))


# --- sorting, drawing ------------------------------------------------------------------------------------------------


@calls_of("jax.numpy.sort", ".sort", "jax.numpy.argsort", ".argsort")
def sort(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), axis=None if sometimes(draw) else axis(draw, len(dims)))


@calls_of("jax.lax.sort")
def lax_sort(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), axis(draw, len(dims)))


@calls_of("jax.numpy.searchsorted")
def searchsorted(draw: Draw) -> Call:
    return call(array(draw, shape(draw, 1, 1 + sometimes(draw, 10))), operand(draw))


@calls_of("jax.lax.top_k")
def top_k(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), number(draw, 0, dims[-1] + sometimes(draw, 10)))


def key(draw: Draw) -> Aval:
    """An old-style or a new-style key."""
    return pick(draw, (Aval((2,), "uint32"), Aval((), "key<fry>")))


@calls_of("jax.random.key")
def new_key(draw: Draw) -> Call:
    return call(number(draw, 0, 9), **({"impl": pick(draw, ("threefry2x32", "rbg", "unsafe_rbg"))} if sometimes(draw, 2) else {}))


@calls_of("jax.random.PRNGKey")
def seed(draw: Draw) -> Call:
    return call(number(draw, 0, 9))


@calls_of("jax.random.split")
def split_key(draw: Draw) -> Call:
    return call(key(draw), *(() if sometimes(draw) else (number(draw, 1, 4),) if sometimes(draw, 2) else (shape(draw, 1, 2),)))


@calls_of("jax.random.key_data")
def key_data(draw: Draw) -> Call:
    return call(Aval(shape(draw), "key<fry>"))


@calls_of("jax.random.fold_in")
def fold_in(draw: Draw) -> Call:
    return call(key(draw), pick(draw, (3, array(draw, (), ("int32", "uint32")))))


@calls_of("jax.random.normal", "jax.random.exponential", "jax.random.gumbel", "jax.random.uniform")
def normal(draw: Draw) -> Call:
    return call(key(draw), *(() if sometimes(draw) else (shape(draw),)), **maybe_dtype(draw, FLOATS))


@calls_of("jax.random.truncated_normal")
def truncated_normal(draw: Draw) -> Call:
    return call(key(draw), -1.0, 1.0, *(() if sometimes(draw) else (shape(draw),)), **maybe_dtype(draw, FLOATS))


@calls_of("jax.random.randint")
def randint(draw: Draw) -> Call:
    return call(key(draw), shape(draw), 0, 9, **maybe_dtype(draw, INTEGERS))


@calls_of("jax.random.bits")
def bits(draw: Draw) -> Call:
    return call(key(draw), shape(draw), **maybe_dtype(draw, ("uint8", "uint16", "uint32")))


@calls_of("jax.random.bernoulli")
def bernoulli(draw: Draw) -> Call:
    return call(key(draw), 0.5, shape(draw)) if sometimes(draw, 2) else call(key(draw), array(draw, None, FLOATS))


@calls_of("jax.random.permutation")
def permutation(draw: Draw) -> Call:
    return call(key(draw), pick(draw, (4, array(draw, shape(draw, 1)))))


# --- questions -------------------------------------------------------------------------------------------------------


@calls_of("jax.numpy.shape", "jax.numpy.ndim", "jax.numpy.size")
def question(draw: Draw) -> Call:
    return call(operand(draw))


@calls_of("jax.lax.stop_gradient", "jax.block_until_ready", "jax.lax.optimization_barrier")
def unchanged(draw: Draw) -> Call:
    return call(array(draw))


@calls_of("jax.ad_checkpoint.checkpoint_name")
def checkpoint_name(draw: Draw) -> Call:
    return call(array(draw), "a name")


@calls_of("jax.lax.axis_index")
def axis_index(draw: Draw) -> Call:
    return call("x")


@calls_of("jax.lax.psum", "jax.lax.pmax", "jax.lax.pmin", "jax.lax.pmean")
def psum(draw: Draw) -> Call:
    return call(array(draw), "x")


@calls_of("jax.lax.psum_scatter")
def psum_scatter(draw: Draw) -> Call:
    dims = (2, *shape(draw))
    return call(array(draw, dims), "x", scatter_dimension=0, tiled=sometimes(draw, 2))


@calls_of("jax.numpy.isscalar")
def isscalar(draw: Draw) -> Call:
    return call(pick(draw, (operand(draw), 1, 2.5, "text", None, (1, 2))))


@calls_of("jax.numpy.array_equal", "jax.numpy.allclose")
def compared(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims), array(draw, dims if sometimes(draw) else None))


@calls_of("jax.numpy.histogram")
def histogram(draw: Draw) -> Call:
    return call(array(draw, None, (*FLOATS, *INTEGERS)), number(draw, 1, 9))


@calls_of("jax.lax.ppermute")
def ppermute(draw: Draw) -> Call:
    return call(array(draw), "x", [(0, 1), (1, 0)])


@calls_of("jax.lax.all_gather")
def all_gather(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), "x", axis=axis(draw, len(dims)), tiled=sometimes(draw, 2))


@calls_of("jax.numpy.broadcast_shapes")
def broadcast_shapes(draw: Draw) -> Call:
    dims = shape(draw)
    return call(*(matching(draw, dims) for _ in range(number(draw, 1, 3))))


ALL_DTYPES = (*DTYPES, "complex64", "uint16", "int4", "float8_e4m3fn")


@calls_of("jax.numpy.dtype", "jax.dtypes.itemsize_bits")
def one_dtype(draw: Draw) -> Call:
    return call(pick(draw, ALL_DTYPES))


@calls_of("jax.numpy.finfo")
def finfo(draw: Draw) -> Call:
    return call(pick(draw, (*FLOATS, "float8_e4m3fn")))


@calls_of("jax.numpy.iinfo")
def iinfo(draw: Draw) -> Call:
    return call(pick(draw, (*INTEGERS, "int4", "uint16")))


@calls_of("jax.numpy.result_type")
def result_type(draw: Draw) -> Call:
    return call(*(operand(draw) if sometimes(draw, 2) else pick(draw, ALL_DTYPES) for _ in range(number(draw, 1, 3))))


@calls_of("jax.numpy.promote_types")
def promote_types(draw: Draw) -> Call:
    return call(pick(draw, ALL_DTYPES), pick(draw, ALL_DTYPES))


@calls_of("jax.numpy.issubdtype", "jax.dtypes.issubdtype")
def issubdtype(draw: Draw) -> Call:
    kinds = ("generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating")
    return call(pick(draw, ALL_DTYPES), pick(draw, (*(f"jax.numpy.{name}" for name in kinds), "float32", "int8")))
