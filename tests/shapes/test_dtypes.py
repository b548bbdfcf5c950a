"""Names, widths and promotion of dtypes against JAX's own."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import pytest

from pallas_lsp.shapes import dtypes
from pallas_lsp.shapes.avals import Aval, aval_text
from pallas_lsp.shapes.dims import symbol
from pallas_lsp.shapes.errors import ShapeError

NAMES = (
    *("bool", "int4", "int8", "int16", "int32", "uint4", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32", "complex64"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn"),
)
SPELLINGS = (
    *("f2", "f4", "f8", "<f4", "=i4", "|u1", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "b1", "?", "c8", "c16", "e", "f", "d", "b", "h"),
    *(
        "i",
        "l",
        "q",
        "B",
        "H",
        "I",
        "L",
        "Q",
        "F",
        "D",
        "half",
        "single",
        "double",
        "float",
        "int",
        "bool",
        "complex",
        "uint",
        "intp",
        "long",
    ),
    *("float64", "int64", "uint64", "complex128", "byte", "short", "intc", "longlong", "ubyte", "ushort", "uintc", "ulong", "ulonglong"),
)
PYTHON = {"int32": 1, "float32": 1.0, "complex64": 1j}


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
@pytest.mark.parametrize("spelling", (*NAMES, *SPELLINGS))
def test_canonical_is_the_dtype_that_jax_makes(spelling: str) -> None:
    assert dtypes.canonical(spelling) == jnp.zeros((), spelling).dtype.name


def test_canonical_knows_what_is_no_dtype() -> None:
    assert dtypes.canonical("str") is None
    assert dtypes.canonical("dma_sem") == "dma_sem"
    assert dtypes.canonical("key<fry>") == "key<fry>" == jax.random.key(0).dtype.name


@pytest.mark.parametrize("name", NAMES)
def test_kind_and_width(name: str) -> None:
    assert dtypes.bits(name) == jax.dtypes.itemsize_bits(jnp.dtype(name))
    assert dtypes.is_floating(name) == jnp.issubdtype(name, jnp.floating)
    assert dtypes.is_integer(name) == jnp.issubdtype(name, jnp.integer)
    assert dtypes.is_inexact(name) == jnp.issubdtype(name, jnp.inexact)
    assert (dtypes.kind(name) == "unsigned") == jnp.issubdtype(name, jnp.unsignedinteger)


@pytest.mark.parametrize("name", (None, "dma_sem", "key<fry>"))
def test_what_has_no_width(name: str | None) -> None:
    assert dtypes.bits(name) is None
    assert dtypes.kind(name) == (None if name is None else "extended")


def operand(name: str, weak: bool) -> jax.Array:
    return jnp.asarray(PYTHON[name]) if weak else jnp.zeros((), name)


OPERANDS = (*((name, False) for name in NAMES), *((name, True) for name in PYTHON))


def jax_promotion(*operands: tuple[str, bool]) -> tuple[str, bool] | None:
    try:
        dtype, weak = jax.dtypes.result_type(*(operand(*one) for one in operands), return_weak_type_flag=True)
    except ValueError:
        return None
    return dtype.name, weak


def our_promotion(*operands: tuple[str, bool | None]) -> tuple[str | None, bool | None] | None:
    try:
        return dtypes.promote(*operands)
    except ShapeError:
        return None


@pytest.mark.parametrize("first", OPERANDS, ids=str)
def test_promotion_of_pairs(first: tuple[str, bool]) -> None:
    for second in OPERANDS:
        assert our_promotion(first, second) == jax_promotion(first, second), second


def test_promotion_of_triples() -> None:
    some = [("bool", False), ("int8", False), ("uint16", False), ("int32", True), ("bfloat16", False), ("float32", True)]
    for operands in itertools.product(some, repeat=3):
        assert our_promotion(*operands) == jax_promotion(*operands), operands


def test_promotion_of_unknown_operands() -> None:
    assert dtypes.promote((None, None), ("float32", False)) == (None, False)
    assert dtypes.promote((None, None), ("int32", False)) == (None, None)
    assert dtypes.promote(("float32", None), ("float32", False)) == ("float32", False)
    assert dtypes.promote(("float32", None), ("bfloat16", False)) == (None, False)
    assert dtypes.promote(("int32", None), ("bfloat16", False)) == ("bfloat16", False)


def test_semaphores_take_part_in_no_promotion() -> None:
    with pytest.raises(ShapeError):
        dtypes.promote(("dma_sem", False), ("int32", True))


@pytest.mark.parametrize("name", NAMES)
def test_text_is_that_of_jax(name: str) -> None:
    assert aval_text(Aval((8, 128), name)) == jax.typeof(jnp.zeros((8, 128), name)).str_short(short_dtypes=True)


def test_text_of_unknown_parts() -> None:
    assert aval_text(Aval((symbol("n"), None), "float32")) == "f32[n,?]"
    assert aval_text(Aval(None, None)) == "?[?...]"


@pytest.mark.parametrize("name", ["max", "min", "eps", "tiny"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_limits_of_floats(dtype: str, name: str) -> None:
    assert dtypes.float_limit(dtype, name) == float(getattr(jnp.finfo(dtype), name))
    assert dtypes.float_limit("int32", name) is None


@pytest.mark.parametrize("dtype", [d for d in NAMES if d != "complex64"])
def test_the_names_before_the_dims_of_a_shape(dtype: str) -> None:
    """What JAX prints, or the whole name; with x64 off the wide ones mean the narrow ones."""
    printed = jax.core.ShapedArray((), jnp.dtype(dtype)).str_short()
    assert dtypes.named(printed.partition("[")[0]) == dtypes.named(dtype) == dtype
    assert dtypes.named("f64") == "float32"
    assert dtypes.named("f31") is None
