"""The table of models, by canonical public name, and the call of a library name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..frames import Frame
from ..machine import CALL, Arguments, Machine
from ..operations import note_operation
from ..operators import cause_of, made_on_host
from ..values import Library, Unknown, Value


@dataclass(slots=True)
class Call:
    """One call of a library function as its model sees it."""

    machine: Machine
    name: str
    arguments: Arguments
    node: ast.AST
    frame: Frame

    @property
    def args(self) -> list[Value]:
        """The positional arguments."""
        return self.arguments.args

    @property
    def kwargs(self) -> dict[str, Value]:
        """The keyword arguments."""
        return self.arguments.kwargs

    def get(self, position: int, name: str, default: Value = None) -> Value:
        """The argument at ``position`` or of that name."""
        return self.arguments.get(position, name, default)

    @property
    def result(self) -> str:
        """What the call gives, in words."""
        return f"the result of `{self.name.rpartition('.')[2]}`"

    def unknown(self, why: str | None = None) -> Unknown:
        """A result that is not known, because an argument is not or else because of the function."""
        return Unknown(why or cause_of(self.args) or self.result, host=self.machine.kernel is None)

    def number(self, operands: Sequence[Value]) -> Unknown:
        """A result that is a number computed from ``operands``, not all of which are known."""
        nodes = self.arguments.arg_nodes if len(self.arguments.arg_nodes) == len(operands) else [self.node] * len(operands)
        for value, node in zip(operands, nodes, strict=True):
            if isinstance(value, Unknown):
                value.learn_number(lambda node=node: self.machine.path.name(node))  # type: ignore[misc]
        why = cause_of(operands) or self.result
        return self.machine.number(why, self.node) if all(map(made_on_host, operands)) else self.unknown(why)

    def call(self, function: Value, *args: Value, **kwargs: Value) -> Value:
        """Call a value from here."""
        return self.machine.call(function, Arguments(list(args), kwargs), self.node, self.frame)


Model = Callable[[Call], Value]
_Function = TypeVar("_Function", bound=Model)
MODELS: dict[str, Model] = {}
FALLBACK: list[Callable[[Call], Value]] = []
"""What answers for a name without a model of its own (the shape table, set by ``arrays``)."""


def models(*names: str) -> Callable[[_Function], _Function]:
    """Register the decorated function as the model of these library functions."""

    def register(function: _Function) -> _Function:
        for name in names:
            MODELS[name] = function
        return function

    return register


def _call_library(machine: Machine, function: Library, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    call = Call(machine, function.name, arguments, node, frame)
    model = MODELS.get(function.name)
    result = model(call) if model is not None else FALLBACK[0](call)
    if function.name.startswith("jax.") and arguments.exact:
        note_operation(machine, function.name, tuple(arguments.args), arguments.kwargs, result, node, frame)
    return result


CALL[Library] = _call_library

PALLAS = "jax.experimental.pallas"
TPU = "jax.experimental.pallas.tpu"
SPARSE = "jax.experimental.pallas.tpu_sc"
