"""Element types by their canonical name, and how JAX promotes them (x64 off).

A dtype is a string such as ``"float32"``, ``"int4"``, ``"float8_e4m3fn"``, ``"dma_sem"`` or ``"key<fry>"``; None is an unknown one.
Mirrors ``jax/_src/dtypes.py``: ``_type_promotion_lattice``, ``lattice_result_type``, ``itemsize_bits``, ``to_inexact_dtype``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Literal, TypeAlias

from pallas_lsp.shapes.errors import ShapeError

Kind: TypeAlias = Literal["bool", "signed", "unsigned", "float", "complex", "extended"]

_SMALL_FLOATS = {
    "float4_e2m1fn": 4,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
    "float8_e3m4": 8,
    "float8_e4m3": 8,
    "float8_e8m0fnu": 8,
    "float8_e4m3b11fnuz": 8,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
}
_WIDTHS: dict[str, tuple[Kind, int]] = {
    "bool": ("bool", 8),
    **{f"int{n}": ("signed", n) for n in (1, 2, 4, 8, 16, 32, 64)},
    **{f"uint{n}": ("unsigned", n) for n in (1, 2, 4, 8, 16, 32, 64)},
    **{name: ("float", n) for name, n in _SMALL_FLOATS.items()},
    "bfloat16": ("float", 16),
    "float16": ("float", 16),
    "float32": ("float", 32),
    "float64": ("float", 64),
    "complex64": ("complex", 64),
    "complex128": ("complex", 128),
}
_KINDS: dict[str | None, Kind] = {
    **{name: kind for name, (kind, _) in _WIDTHS.items()},
    **dict.fromkeys(("semaphore", "dma_sem", "barrier_semaphore"), "extended"),
}

# With x64 off, JAX makes the 32-bit type of every 64-bit one.
_NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
# Spellings that NumPy understands besides the names themselves.
_INTEGERS = (("byte", "short", "intc", "int"), ("b", "h", "i", "l"), ("ubyte", "ushort", "uintc", "uint"), ("B", "H", "I", "L"))
_SPELLINGS = {
    **{"bool_": "bool", "?": "bool", "b1": "bool"},
    **{"half": "float16", "single": "float32", "double": "float64", "float": "float64", "float_": "float64"},
    **{"e": "float16", "f": "float32", "d": "float64"},
    **{name: f"{'u' * (row > 1)}int{n}" for row, names in enumerate(_INTEGERS) for name, n in zip(names, (8, 16, 32, 64), strict=True)},
    **dict.fromkeys(("int_", "intp", "long", "longlong", "q"), "int64"),
    **dict.fromkeys(("uintp", "ulong", "ulonglong", "Q"), "uint64"),
    **{"csingle": "complex64", "F": "complex64"},
    **dict.fromkeys(("cdouble", "complex", "complex_", "D"), "complex128"),
    **{f"{letter}{n // 8}": f"{name}{n}" for letter, name in (("i", "int"), ("u", "uint")) for n in (8, 16, 32, 64)},
    **{f"f{n // 8}": f"float{n}" for n in (16, 32, 64)},
    **{f"c{n // 8}": f"complex{n}" for n in (64, 128)},
}


def canonical(name: str) -> str | None:
    """The canonical name of the dtype that JAX makes of ``name`` (``"f4"``, ``"<f4"``, ``"double"``, ``"float"``); None if it is none."""
    name = name.removeprefix("=").removeprefix("<").removeprefix("|")
    name = _SPELLINGS.get(name, name)
    name = _NARROWED.get(name, name)
    return name if kind(name) is not None else None


def kind(dtype: str | None) -> Kind | None:
    """The kind of a dtype; None for an unknown one."""
    known = _KINDS.get(dtype)
    return "extended" if known is None and dtype is not None and dtype.startswith("key<") else known


def bits(dtype: str | None) -> int | None:
    """The bits of one element (8 for bool); None for an unknown or an extended dtype."""
    return _WIDTHS[dtype][1] if dtype in _WIDTHS else None


# The bits of the exponent and of the fraction.
_FORMATS = {"float32": (8, 23), "bfloat16": (8, 7), "float16": (5, 10)}


def float_limit(dtype: str | None, name: str) -> float | None:
    """The number that ``finfo`` of the dtype has as ``max``, ``min``, ``eps`` or ``tiny``; None for other names and other dtypes."""
    if dtype not in _FORMATS:
        return None
    exponent, fraction = _FORMATS[dtype]
    bias = (1 << (exponent - 1)) - 1
    largest = (2.0 - 2.0**-fraction) * 2.0**bias
    return {"max": largest, "min": -largest, "eps": 2.0**-fraction, "tiny": 2.0 ** (1 - bias)}.get(name)


def is_floating(dtype: str | None) -> bool:
    """Whether it is certainly a real floating type."""
    return kind(dtype) == "float"


def is_integer(dtype: str | None) -> bool:
    """Whether it is certainly a signed or unsigned integer type (bool is not)."""
    return kind(dtype) in ("signed", "unsigned")


def is_inexact(dtype: str | None) -> bool:
    """Whether it is certainly floating or complex."""
    return kind(dtype) in ("float", "complex")


def short(dtype: str | None) -> str:
    """The name that JAX prints in ``f32[8,128]``; ``?`` for None."""
    if dtype is None:
        return "?"
    if kind(dtype) == "extended":
        return dtype
    return dtype.replace("float", "f").replace("uint", "u").replace("int", "i").replace("complex", "c")


NAMES: tuple[str, ...] = tuple(_WIDTHS)
_SHORT = {short(dtype): dtype for dtype in NAMES}


def named(name: str) -> str | None:
    """The dtype that ``f32`` or ``float32`` names before the dims of a shape; None where it names none."""
    dtype = _SHORT.get(name, name)
    return _NARROWED.get(dtype, dtype) if dtype in _WIDTHS else None


def to_inexact(dtype: str | None) -> str | None:
    """The dtype in which JAX computes a floating function of this one: integers and bool become float32
    (JAX has no rule for integers of 1 and 2 bits: None)."""
    if kind(dtype) in ("bool", "signed", "unsigned"):
        return "float32" if (bits(dtype) or 0) >= 4 else None
    return dtype


# --- promotion -------------------------------------------------------------------------------------------------------

# Nodes of the lattice: dtype names, and the weak Python scalars under these names.
_WEAK_NODE: dict[Kind, str] = {"signed": "int*", "unsigned": "int*", "float": "float*", "complex": "complex*"}
_WEAK_DTYPE = {"int*": "int32", "float*": "float32", "complex*": "complex64"}
_ABOVE: dict[str, tuple[str, ...]] = {
    "bool": ("int*",),
    "int*": ("uint8", "uint1", "uint2", "uint4", "int8", "int1", "int2", "int4"),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int32", "uint64"),
    "uint64": ("float*",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("float*",),
    "float*": (*_SMALL_FLOATS, "bfloat16", "float16", "complex*"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "complex*": ("complex64",),
    "complex64": ("complex128",),
}

Operand: TypeAlias = tuple[str | None, bool | None]


def promote(*operands: Operand) -> Operand:
    """The ``(dtype, weak)`` of JAX's promotion of operands of these; None where an unknown operand leaves it open.

    Raises ShapeError where JAX has no implicit promotion path. Mirrors ``lattice_result_type``.
    """
    if len(operands) == 1:
        return operands[0]
    known = [operand for operand in operands if operand[0] is not None]
    if len(known) < len(operands):
        # Whatever the unknown operand is, a strong inexact one keeps the result strong.
        strong = any(weak is False and is_inexact(dtype) for dtype, weak in known)
        return None, False if strong else None
    results: set[tuple[str, bool]] = set()
    failure: ShapeError | None = None
    for flags in product(*(((weak,) if weak is not None else (False, True)) for _, weak in known)):
        try:
            results.add(_promote_known(tuple((dtype, weak) for (dtype, _), weak in zip(known, flags, strict=True) if dtype)))
        except ShapeError as error:
            failure = error
    if not results and failure:
        raise failure
    dtypes, weaks = {dtype for dtype, _ in results}, {weak for _, weak in results}
    return dtypes.pop() if len(dtypes) == 1 else None, weaks.pop() if len(weaks) == 1 else None


@cache
def _promote_known(operands: tuple[tuple[str, bool], ...]) -> tuple[str, bool]:
    dtypes, weak = [dtype for dtype, _ in operands], all(weak for _, weak in operands)
    if len(set(dtypes)) == 1 and not weak:
        return dtypes[0], False
    if weak:
        return _weak_dtype(_least_upper_bound(dtypes)), "bool" not in {*dtypes} or len({*dtypes}) > 1
    node = _least_upper_bound([_node(dtype, is_weak) for dtype, is_weak in operands])
    return _weak_dtype(node), node in _WEAK_DTYPE


def _weak_dtype(node: str) -> str:
    return _WEAK_DTYPE.get(node, node)


def _node(dtype: str, weak: bool) -> str:
    of_kind = kind(dtype)
    return _WEAK_NODE.get(of_kind, dtype) if weak and of_kind else dtype


def _least_upper_bound(nodes: Iterable[str]) -> str:
    wanted = set(nodes)
    invalid = next((node for node in sorted(wanted) if node not in _upper_bounds()), None)
    if invalid is not None:
        raise ShapeError(f"{short(invalid)} takes part in no type promotion")
    common = set.intersection(*(set(_upper_bounds()[node]) for node in wanted))
    least = (common & wanted) or {node for node in common if common <= _upper_bounds()[node]}
    if len(least) != 1:
        raise ShapeError(f"there is no implicit promotion of {' and '.join(sorted(short(_weak_dtype(node)) for node in wanted))}")
    return least.pop()


@cache
def _upper_bounds() -> dict[str, frozenset[str]]:
    nodes = {*_WIDTHS, *_WEAK_DTYPE}
    bounds: dict[str, frozenset[str]] = {}

    def above(node: str) -> frozenset[str]:
        if node not in bounds:
            bounds[node] = frozenset({node}).union(*(above(upper) for upper in _ABOVE.get(node, ())))
        return bounds[node]

    for node in nodes:
        above(node)
    return bounds
