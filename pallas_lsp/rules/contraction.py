"""Products that sum over dims, in the one form that JAX lowers them in: ``dot_general``.

Mirrors ``jax/_src/numpy/tensor_contractions.py`` (``dot``, ``matmul``, ``tensordot``, ``vdot``, ``inner``), ``jax/_src/numpy/einsum.py``
(``_einsum``) and ``canonicalize_precision`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..interpreter.operation_events import Operation
from ..interpreter.truth import dtype_of
from ..interpreter.values import Array, Library, Value
from ..shapes.dims import MaybeDim

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """An operand: its dtype, its dims, and which of them are contracted and which are batches."""

    dtype: str | None
    shape: tuple[MaybeDim, ...]
    contracted: Axes
    batch: Axes

    @property
    def free(self) -> Axes:
        """The dims that are left in the result."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.contracted + self.batch)


@dataclass(frozen=True, slots=True)
class Contraction:
    """``dot_general`` of two operands. ``result``: its dtype; ``preferred``: the one asked for, None where none is;

    ``precision``: one of ``DEFAULT HIGH HIGHEST``, ``pair`` (two that differ), ``algorithm``, or None where it is not known or not given.
    """

    left: Side
    right: Side
    result: str | None
    preferred: str | None
    precision: str | None

    @property
    def rank(self) -> int:
        """The rank of the result."""
        return len(self.left.batch) + len(self.left.free) + len(self.right.free)


def contraction_of(event: Operation) -> Contraction | None:
    """The ``dot_general`` that a call of a product becomes; None where it is none, or not all that decides its form is known."""
    maker = _MAKERS.get(event.function)
    sides = maker(event) if maker is not None else None
    if sides is None:
        return None
    result = event.result.dtype if isinstance(event.result, Array) else None
    wanted = event.kwargs.get("preferred_element_type")
    preferred = dtype_of(wanted) if wanted is not None else None
    if wanted is not None and preferred is None:
        return None
    if not event.function.startswith("jax.lax."):
        preferred = preferred or result
    return Contraction(*sides, result, preferred, precision_of(event))


def _operand(value: Value) -> tuple[str | None, tuple[MaybeDim, ...]] | None:
    return (value.dtype, value.shape) if isinstance(value, Array) and value.shape is not None else None


def _pair(
    event: Operation, left: Value, right: Value, contracted: tuple[Axes, Axes], batch: tuple[Axes, Axes] = ((), ())
) -> tuple[Side, Side] | None:
    a, b = _operand(left), _operand(right)
    return (Side(*a, contracted[0], batch[0]), Side(*b, contracted[1], batch[1])) if a is not None and b is not None else None


def _ranks(event: Operation) -> tuple[int, int] | None:
    a, b = _operand(event.get(0, "a")), _operand(event.get(1, "b"))
    return (len(a[1]), len(b[1])) if a is not None and b is not None else None


def _dot(event: Operation) -> tuple[Side, Side] | None:
    ranks = _ranks(event)
    if ranks is None or 0 in ranks:
        return None
    return _pair(event, event.get(0, "a"), event.get(1, "b"), ((ranks[0] - 1,), (max(ranks[1] - 2, 0),)))


def _matmul(event: Operation) -> tuple[Side, Side] | None:
    ranks = _ranks(event)
    if ranks is None or 0 in ranks:
        return None
    left, right = event.get(0, "a"), event.get(1, "b")
    if max(ranks) <= 2 or min(ranks) <= 2:
        return _dot(event) if ranks[1] <= 2 else None
    # Batch dims of size 1 are dropped where the other side's is not 1.
    front = [left.shape[:-2], right.shape[:-2]]
    if ranks[0] != ranks[1] or any(not isinstance(size, int) or size == 1 for part in front for size in part):
        return None
    batch = tuple(range(ranks[0] - 2))
    return _pair(event, left, right, ((ranks[0] - 1,), (ranks[1] - 2,)), (batch, batch))


def _vdot(event: Operation) -> tuple[Side, Side] | None:
    a, b = _operand(event.get(0, "a")), _operand(event.get(1, "b"))
    if a is None or b is None:
        return None
    return Side(a[0], (None,), (0,), ()), Side(b[0], (None,), (0,), ())


def _tensordot(event: Operation) -> tuple[Side, Side] | None:
    ranks, axes = _ranks(event), event.get(2, "axes", 2)
    if ranks is None:
        return None
    if isinstance(axes, int):
        contracted = tuple(range(ranks[0] - axes, ranks[0])), tuple(range(axes))
    elif isinstance(axes, tuple | list) and len(axes) == 2:
        parts = [_axes(part, rank) for part, rank in zip(axes, ranks, strict=True)]
        if parts[0] is None or parts[1] is None:
            return None
        contracted = parts[0], parts[1]
    else:
        return None
    return _pair(event, event.get(0, "a"), event.get(1, "b"), contracted)


def _inner(event: Operation) -> tuple[Side, Side] | None:
    ranks = _ranks(event)
    return _pair(event, event.get(0, "a"), event.get(1, "b"), ((ranks[0] - 1,), (ranks[1] - 1,))) if ranks and 0 not in ranks else None


def _axes(value: Value, rank: int) -> Axes | None:
    axes = value if isinstance(value, tuple | list) else (value,)
    return tuple(axis % rank for axis in axes) if rank and all(isinstance(axis, int) for axis in axes) else None


def _dot_general(event: Operation) -> tuple[Side, Side] | None:
    left, right, numbers = event.get(0, "lhs"), event.get(1, "rhs"), event.get(2, "dimension_numbers")
    try:
        (a, b), (c, d) = numbers
        parts = [tuple(part) for part in (a, b, c, d)]
    except (TypeError, ValueError):
        return None
    if not all(isinstance(axis, int) for part in parts for axis in part):
        return None
    return _pair(event, left, right, (parts[0], parts[1]), (parts[2], parts[3]))


def _lax_dot(event: Operation) -> tuple[Side, Side] | None:
    left, right = event.get(0, "lhs"), event.get(1, "rhs")
    a, b = _operand(left), _operand(right)
    if a is None or b is None or "dimension_numbers" in event.kwargs:
        return _dot_general(event) if "dimension_numbers" in event.kwargs else None
    return _pair(event, left, right, ((len(a[1]) - 1,), (0,))) if a[1] and b[1] else None


def _pl_dot(event: Operation) -> tuple[Side, Side] | None:
    flags = event.get(2, "trans_a", False), event.get(3, "trans_b", False)
    if not all(isinstance(flag, bool) for flag in flags):
        return None
    return _pair(event, event.get(0, "a"), event.get(1, "b"), ((0 if flags[0] else 1,), (1 if flags[1] else 0,)))


def _batch_matmul(event: Operation) -> tuple[Side, Side] | None:
    a, b = _operand(event.get(0, "lhs")), _operand(event.get(1, "rhs"))
    if a is None or b is None or len(a[1]) < 3 or len(a[1]) != len(b[1]):
        return None
    batch = tuple(range(len(a[1]) - 2))
    return _pair(event, event.get(0, "lhs"), event.get(1, "rhs"), ((len(a[1]) - 1,), (len(a[1]) - 2,)), (batch, batch))


@dataclass
class _Term:
    """An operand of an einsum: the names of its dims and their sizes."""

    names: str
    dims: dict[str, MaybeDim] = field(default_factory=dict)


def _einsum(event: Operation) -> tuple[Side, Side] | None:
    """Two operands, every name once in each, no ellipsis: names in one operand only are summed before."""
    text = event.args[0] if event.args else None
    if not isinstance(text, str) or len(event.args) != 3 or "." in text or "->" not in text:
        return None
    inputs, _, output = text.replace(" ", "").partition("->")
    names = inputs.split(",")
    operands = [_operand(value) for value in event.args[1:]]
    if len(names) != 2 or operands[0] is None or operands[1] is None or any(len(set(part)) != len(part) for part in (*names, output)):
        return None
    if any(len(part) != len(operand[1]) for part, operand in zip(names, operands, strict=True) if operand is not None):
        return None
    kept = ["".join(n for n in part if n in output or n in other) for part, other in (names, names[::-1])]
    shared = [n for n in kept[0] if n in kept[1]]
    contracted, batch = [n for n in shared if n not in output], [n for n in shared if n in output]
    sizes = [dict(zip(part, operand[1], strict=True)) for part, operand in zip(names, operands, strict=True) if operand is not None]
    if any(not isinstance(size[n], int) or (size[n] == 1) for size in sizes for n in shared):
        return None  # dims of size 1 are squeezed or stretched first
    sides = [
        Side(operand[0], tuple(size[n] for n in part), tuple(part.index(n) for n in contracted), tuple(part.index(n) for n in batch))
        for part, operand, size in zip(kept, operands, sizes, strict=True)
        if operand is not None
    ]
    return sides[0], sides[1]


_MAKERS: dict[str, Callable[[Operation], tuple[Side, Side] | None]] = {
    "jax.numpy.dot": _dot,
    "jax.numpy.matmul": _matmul,
    "jax.numpy.vdot": _vdot,
    "jax.numpy.tensordot": _tensordot,
    "jax.numpy.inner": _inner,
    "jax.numpy.einsum": _einsum,
    "jax.lax.dot_general": _dot_general,
    "jax.lax.dot": _lax_dot,
    "jax.lax.batch_matmul": _batch_matmul,
    "jax.experimental.pallas.dot": _pl_dot,
}
_PRECISIONS = {
    "default": "DEFAULT", "fastest": "DEFAULT", "bfloat16": "DEFAULT", "high": "HIGH", "bfloat16_3x": "HIGH", "tensorfloat32": "HIGH",
    "highest": "HIGHEST", "float32": "HIGHEST",
}  # fmt: skip


def precision_of(event: Operation) -> str | None:
    """The precision that a product asks for, as ``Contraction`` has it."""
    position = {"jax.lax.dot_general": 3, "jax.lax.dot": 2}.get(event.function, 99)
    return _precision(event.get(position, "precision"))


def _precision(value: Value) -> str | None:
    if isinstance(value, tuple | list) and len(value) == 2:
        both = [_precision(part) for part in value]
        if None in both:
            return None
        return both[0] if both[0] == both[1] else "pair"
    if isinstance(value, str):
        return _PRECISIONS.get(value.lower(), "algorithm" if value.isupper() else None)
    if isinstance(value, Library):
        owner, _, name = value.name.rpartition(".")
        if owner.endswith("Precision"):
            return name
        return "algorithm" if owner.endswith("DotAlgorithmPreset") else None
    return None
