"""Functions that bring their own derivative: ``jax.custom_vjp``.

Mirrors ``jax/_src/custom_derivatives.py``, ``custom_vjp.__call__``, ``_flatten_fwd`` and ``_flatten_bwd``: what is differentiated runs the
forward rule in the function's place, and the backward rule on its residuals.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from ...shapes import dtypes
from ...shapes.avals import Aval
from ..calls import BindingFault, bind_arguments
from ..frames import Frame
from ..machine import Arguments, Machine
from ..sequences import items_of
from ..values import Array, Function, Transformed, Unknown, Value
from .trees import leaves, tree_map


def define_rules(value: Transformed, arguments: Arguments) -> None:
    """``f.defvjp(fwd, bwd)``."""
    if arguments.get(2, "symbolic_zeros", False) is False and arguments.exact:
        value.options |= {"fwd": arguments.get(0, "fwd"), "bwd": arguments.get(1, "bwd")}


def call_with_rules(machine: Machine, value: Transformed, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Call a function with rules of its own: by them where the derivative of an operand is surely taken."""
    taken = "fwd" in value.options and any(machine.around.taker(leaf) for arg in arguments.args for leaf in leaves(machine, arg))
    args = _by_position(machine, value.func, arguments) if taken else None
    constant = _constant_positions(machine, value, len(args), node, frame) if args is not None else None
    if args is None or constant is None:
        with machine.around.with_own_derivative():
            return machine.call(value.func, arguments, node, frame)
    with _as_they_are(machine):
        result = machine.call(value.options["fwd"], Arguments(args), node, frame)
        if not isinstance(result, tuple) or len(result) != 2:
            return Unknown("the result of a forward rule", host=True)
        out, residuals = result
        cotangent = tree_map(machine, _cotangent, out)
        machine.call(value.options["bwd"], Arguments([*(args[i] for i in constant), residuals, cotangent]), node, frame)
        return out


@contextmanager
def _as_they_are(machine: Machine) -> Iterator[None]:
    """Around the rules of a function: under one derivative and nothing else, what they compute is what is lowered."""
    saved = machine.transformed
    if saved == len(machine.around.differentiated) == 1:
        machine.transformed = 0
    try:
        with machine.around.with_own_derivative():
            yield
    finally:
        machine.transformed = saved


def _by_position(machine: Machine, function: Value, arguments: Arguments) -> list[Value] | None:
    """All arguments in the order of the parameters, defaults too; None where they are not known."""
    if not isinstance(function, Function) or not arguments.exact or function.node.args.kwonlyargs or function.node.args.kwarg:
        return None
    try:
        names = bind_arguments(machine, function, arguments).names
    except BindingFault:
        return None
    spec = function.node.args
    args = [names[parameter.arg] for parameter in (*spec.posonlyargs, *spec.args)]
    return [*args, *names[spec.vararg.arg]] if spec.vararg is not None else args


def _constant_positions(machine: Machine, value: Transformed, count: int, node: ast.AST, frame: Frame) -> list[int] | None:
    """The positions that are not differentiated, which the backward rule gets first; None where they are not known."""
    positions, names = (value.options.get(option, ()) for option in ("nondiff_argnums", "nondiff_argnames"))
    given = [[one] if isinstance(one, int | str) else items_of(machine, one, node, frame) for one in (positions, names)]
    if given[0] is None or given[1] is None or not isinstance(value.func, Function):
        return None
    spec = value.func.node.args
    parameters = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
    found = {parameters.index(one) if one in parameters else one for one in (*given[0], *given[1])}
    return sorted(found) if all(isinstance(one, int) and 0 <= one < count for one in found) else None


def _cotangent(leaf: Value) -> Value:
    """What the backward rule gets for an output."""
    if isinstance(leaf, Array) and dtypes.is_inexact(leaf.dtype):
        return Array(Aval(leaf.shape, leaf.dtype, False))
    return Unknown("the cotangent of what has no derivative", host=True)
