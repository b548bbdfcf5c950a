"""Lists that get an unknown number of items: nobody may go on believing that their length is known."""

from __future__ import annotations

from collections.abc import Iterator

from .frames import Frame
from .machine import Machine
from .paths import PathEnd
from .unknowns import UnknownLength, Value
from .values import Instance


def lists_in_reach(frame: Frame) -> Iterator[tuple[str, dict[str, Value], str, list[Value]]]:
    """The lists that code in ``frame`` can get at by a name, or as an attribute of an object that has one.

    Each with that name, and with the dict and the key of it that hold the list. What a module holds is in reach of its top level only.
    """
    scope: Frame | None = frame
    while scope is not None and (scope is frame or scope.kind != "module"):
        for name, value in list(scope.names.items()):
            if isinstance(value, list):
                yield name, scope.names, name, value
            elif isinstance(value, Instance):
                for attribute, held in list(value.attrs.items()):
                    if isinstance(held, list):
                        yield name, value.attrs, attribute, held
        scope = scope.parent


def forget_length(machine: Machine, items: list[Value], frame: Frame, head: list[Value], why: str) -> bool:
    """Put a list of unknown length that starts with ``head`` in the place of ``items`` wherever it is in reach; whether it is anywhere.

    Ends the path where the list came in as an argument: the caller would go on with the old one.
    """
    grown = UnknownLength(why, head, host=machine.kernel is None)
    holders = [(holder, key) for _, holder, key, held in lists_in_reach(frame) if held is items]
    for holder, key in holders:
        holder[key] = grown
    scope: Frame | None = frame
    while scope is not None:
        if any(holder is scope.names and key in _parameters(scope) for holder, key in holders):
            raise PathEnd(why)
        scope = scope.parent
    return bool(holders)


def _parameters(frame: Frame) -> set[str]:
    if frame.function is None:
        return set()
    arguments = frame.function.node.args
    return {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
