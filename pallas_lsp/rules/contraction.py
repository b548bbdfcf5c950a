"""Products that sum over dims, in the one form that JAX lowers them in: ``dot_general``.

Mirrors ``jax/_src/numpy/tensor_contractions.py`` (``dot``, ``matmul``, ``tensordot``, ``vdot``, ``inner``), ``jax/_src/numpy/einsum.py``
(``_einsum``) and ``canonicalize_precision`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..interpreter.operation_events import Operation
from ..interpreter.truth import dtype_of
from ..interpreter.values import Array, Library, Value
from ..shapes.avals import as_aval
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
    maker = PRODUCTS.get(event.function)
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
    if isinstance(value, int | float):
        return as_aval(value).dtype, ()
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
    if ranks is None:
        return None
    contracted = ((), ()) if 0 in ranks else ((ranks[0] - 1,), (max(ranks[1] - 2, 0),))
    return _pair(event, event.get(0, "a"), event.get(1, "b"), contracted)


def _matmul(event: Operation) -> tuple[Side, Side] | None:
    """Leading dims are batches where both sides have them, and dims of 1 are squeezed."""
    operands = _operand(event.get(0, "a")), _operand(event.get(1, "b"))
    if operands[0] is None or operands[1] is None or () in (operands[0][1], operands[1][1]):
        return None
    fronts = [shape[:-2] for _, shape in (operands[0], operands[1])]
    count = max(map(len, fronts))
    kept: tuple[list[MaybeDim], list[MaybeDim]] = [], []
    batch: tuple[list[int], list[int]] = [], []
    for index in range(count):
        at = [index - count + len(front) for front in fronts]
        sizes = [front[place] if place >= 0 else 1 for front, place in zip(fronts, at, strict=True)]
        if min(at) >= 0 and not all(isinstance(size, int) for size in sizes):
            return None
        if 1 not in sizes:
            for side in (0, 1):
                batch[side].append(len(kept[side]))
        for side in (0, 1):
            if at[side] >= 0 and (sizes[side] != 1 or at[1 - side] < 0):
                kept[side].append(sizes[side])
    sides = [
        Side(dtype, (*front, *shape[-2:]), (len(front) + min(len(shape), 2) - 1 - last,), tuple(batches))
        for (dtype, shape), front, batches, last in zip((operands[0], operands[1]), kept, batch, (0, int(len(operands[1][1]) > 1)), strict=True)
    ]
    return sides[0], sides[1]


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


def _einsum(event: Operation) -> tuple[Side, Side] | None:
    """Two operands, every name once in each, no ellipsis: names in one operand only are summed before.

    The operands change places unless the result is ordered as they are: ``_einsum`` of JAX tries to do without a transposition.
    """
    text = event.args[0] if event.args else None
    if not isinstance(text, str) or len(event.args) != 3 or "." in text:
        return None
    inputs, arrow, output = text.replace(" ", "").partition("->")
    names = inputs.split(",")
    if not arrow:
        output = "".join(sorted(name for name in set(inputs) - {","} if inputs.count(name) == 1))
    operands = [_operand(value) for value in event.args[1:]]
    if len(names) != 2 or operands[0] is None or operands[1] is None or any(len(set(part)) != len(part) for part in (*names, output)):
        return None
    if any(len(part) != len(operand[1]) for part, operand in zip(names, (operands[0], operands[1]), strict=True)):
        return None
    terms = [dict(zip(part, operand[1], strict=True)) for part, operand in zip(names, (operands[0], operands[1]), strict=True)]
    if any(not isinstance(term[name], int) for term in terms for name in terms[0] if name in terms[1]):
        return None
    for one, other in ((1, 0), (0, 1)):  # a dim of 1 that meets a longer one is squeezed
        terms[one] = {name: size for name, size in terms[one].items() if size != 1 or terms[other].get(name, 1) == 1}
    shared = [name for name in terms[0] if name in terms[1]]
    contracted, batch = sorted(name for name in shared if name not in output), [name for name in output if name in shared]
    sides = []
    for operand, term in zip((operands[0], operands[1]), terms, strict=True):
        kept = [name for name in term if name in output or name in shared]
        sides.append(Side(operand[0], tuple(term[n] for n in kept), tuple(map(kept.index, contracted)), tuple(map(kept.index, batch))))
    free = [name for term in terms for name in term if name in output and name not in shared]
    return (sides[0], sides[1]) if [*batch, *free] == list(output) else (sides[1], sides[0])


PRODUCTS: dict[str, Callable[[Operation], tuple[Side, Side] | None]] = {
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
