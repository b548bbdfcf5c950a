"""Every shape function, operator and method against JAX itself: on random arguments, known, and with knowledge taken away."""

from __future__ import annotations

import importlib
import operator as operators
from collections.abc import Callable
from typing import Any

import jax
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shapes import creating_calls, elementwise_calls, pallas_calls, reduction_calls, shaping_calls
from shapes.against_jax import Call, Refused, agrees, fully_known, in_kernel, jax_answer, on_axis, with_values
from shapes.erasing import Eraser
from shapes.random_arguments import CALLS

from pallas_lsp.shapes import table
from pallas_lsp.shapes.avals import UNKNOWN, ShapeError

# Importing these fills CALLS.
assert all((creating_calls, elementwise_calls, pallas_calls, reduction_calls, shaping_calls))

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
    "//": operators.floordiv,
    "%": operators.mod,
    "**": operators.pow,
    "@": operators.matmul,
    "&": operators.and_,
    "|": operators.or_,
    "^": operators.xor,
    "<<": operators.lshift,
    ">>": operators.rshift,
    "<": operators.lt,
    "<=": operators.le,
    "==": operators.eq,
    "!=": operators.ne,
    ">": operators.gt,
    ">=": operators.ge,
    "unary -": operators.neg,
    "unary +": operators.pos,
    "~": operators.invert,
    "abs": operators.abs,
}


# Functions that JAX calls only inside a kernel, or only on a mapped axis.
ON_AXIS = ("axis_index", "psum", "pmax", "pmin", "pmean", "ppermute", "all_gather", "psum_scatter")
WHERE = {"program_id": in_kernel, "num_programs": in_kernel, **dict.fromkeys(ON_AXIS, on_axis)}

# Functions whose weakness of dtype hangs on what a call does not show: the grid, the version, or how JAX made the start indices.
PARTLY = {
    "jax.experimental.pallas.num_programs",
    *(f"jax.lax.{name}" for name in ON_AXIS),
    *("jax.numpy.hypot", "jax.numpy.log2", "jax.random.permutation"),
    *(f"jax.lax.dynamic_update_{what}" for what in ("slice", "slice_in_dim", "index_in_dim")),
}


def ours(name: str, made: Call) -> Any:
    """Our answer, or the ShapeError."""
    try:
        if name in OPERATORS:
            return table.operator(name, *made.args)
        if name.startswith("."):
            return table.method(name[1:], made.args[0], made.args[1:], made.kwargs)
        return table.evaluate(name, made.args, made.kwargs)
    except ShapeError as error:
        return error


def theirs(name: str) -> Callable[..., Any] | None:
    """JAX's own function, None where this JAX has none of this name."""
    if name in OPERATORS:
        return OPERATORS[name]
    if name.startswith("."):
        return lambda x, *args, **kwargs: _member(x, name[1:], args, kwargs)
    module, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(module), attribute, None)
    return WHERE.get(attribute, lambda same: same)(function) if function else None


def _member(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    member = getattr(x, name)
    return member(*args, **kwargs) if callable(member) and not isinstance(member, jax.Array) else member


def registered_names() -> list[str]:
    functions, operations, methods = table.registered()
    return [*functions, *operations, *(f".{name}" for name in methods)]


def test_every_registered_name_has_random_calls() -> None:
    assert sorted(registered_names()) == sorted(CALLS)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype", "ignore:jax.experimental.pallas", "ignore:.*is deprecated")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_agrees_with_jax(name: str) -> None:
    function = theirs(name)
    if function is None:
        pytest.skip("this JAX has no function of this name")
    accepted, known = [], []

    @settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
    @given(st.composite(lambda draw: CALLS[name](draw))(), st.integers(0, 2**32))
    def agree(made: Call, seed: int) -> None:
        answer = jax_answer(function, made)
        claim = ours(name, made)
        if isinstance(answer, Refused):
            return
        accepted.append(made)
        assert not isinstance(claim, ShapeError), f"JAX gives {answer}"
        assert agrees(claim, answer), f"JAX gives {answer}, we claim {claim}"
        if fully_known(claim):
            known.append(made)
        for shift in range(3):
            eraser = Eraser(seed + shift)
            erased = eraser.call(made)
            weaker = ours(name, erased)
            assert not isinstance(weaker, ShapeError), f"JAX gives {answer} for {erased}"
            assert agrees(with_values(weaker, eraser.env), answer), f"JAX gives {answer}, we claim {weaker} for {erased}"

    agree()
    assert len(accepted) >= 5
    if name not in PARTLY:
        assert len(known) >= 0.8 * len(accepted), f"only {len(known)} of {len(accepted)} accepted calls are fully known"


def test_an_unknown_name_is_unknown() -> None:
    assert table.evaluate("jax.numpy.no_such_function", (), {}) is UNKNOWN
