"""What a call tells of the arrays it gets: how many dims they have, where the other arguments leave no choice.

The program runs, so an operand has the rank without which JAX refuses the call: as many dims as ``transpose`` is given axes, as ``pad`` is
given pairs, as an operand of ``einsum`` has letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..values import Condition, Unknown, UnknownShape, Value
from .registry import Call

_Ranks = Iterator[tuple[Value, int]]


def learn_ranks(call: Call) -> None:
    """Teach the path the ranks that the call tells, and put what is known then in the place of its arguments."""
    told = _TELLS.get(call.name)
    if told is None or not call.arguments.exact or call.machine.kernel is not None:
        return
    for value, rank in told(call):
        if isinstance(value, Unknown) and not isinstance(value, UnknownShape | Condition) and value.host and value.key is not None:
            call.machine.path.facts.learn_rank(value.key, rank)
    call.args[:] = [call.machine.settle(value) for value in call.args]


def _as_long_as(position: int, name: str) -> Callable[[Call], _Ranks]:
    """The first operand has as many dims as the argument at ``position`` has entries."""

    def told(call: Call) -> _Ranks:
        entries = call.get(position, name)
        if isinstance(entries, tuple | list):
            yield call.get(0, "operand"), len(entries)

    return told


def _padded(call: Call) -> _Ranks:
    """A pair for each dim; a single one is for all."""
    widths = call.get(1, "pad_width")
    if isinstance(widths, tuple | list) and len(widths) > 1 and all(isinstance(pair, tuple | list) for pair in widths):
        yield call.get(0, "array"), len(widths)


def _named_dims(call: Call) -> _Ranks:
    """A letter for each dim, but for those of an ellipsis."""
    letters = call.get(0, "subscripts")
    terms = letters.partition("->")[0].replace(" ", "").split(",") if isinstance(letters, str) else []
    if len(terms) == len(call.args) - 1:
        yield from ((value, len(term)) for value, term in zip(call.args[1:], terms, strict=True) if "." not in term)


_TELLS: dict[str, Callable[[Call], _Ranks]] = {
    "jax.numpy.transpose": _as_long_as(1, "axes"),
    "jax.numpy.pad": _padded,
    "jax.numpy.einsum": _named_dims,
    "jax.lax.transpose": _as_long_as(1, "permutation"),
    "jax.lax.pad": _as_long_as(2, "padding_config"),
    "jax.lax.broadcast_in_dim": _as_long_as(2, "broadcast_dimensions"),
    "jax.lax.slice": _as_long_as(1, "start_indices"),
    "jax.lax.dynamic_slice": _as_long_as(1, "start_indices"),
}
