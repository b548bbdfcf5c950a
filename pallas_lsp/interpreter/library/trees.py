"""``jax.tree``: pytrees of interpreted values. ``None`` is an empty subtree; instances of user classes are nodes when their fields are
known, and their static fields are no subtrees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..classes import subtrees_of
from ..machine import Machine
from ..values import Instance, Unknown, Value
from .registry import Call, models


def is_node(value: Value) -> bool:
    """Whether the value is an inner node of a pytree."""
    if isinstance(value, Instance):
        return value.cls.kind in ("namedtuple", "dataclass") and value.complete
    return isinstance(value, tuple | list | dict) or value is None


def children(value: Value) -> list[Value]:
    """The subtrees of an inner node, in JAX's order."""
    if isinstance(value, dict):
        try:
            return [value[key] for key in sorted(value)]
        except TypeError:
            return list(value.values())
    if isinstance(value, Instance):
        return [value.attrs.get(name) for name in subtrees_of(value.cls)]
    return list(value) if value is not None else []


def rebuilt(value: Value, parts: list[Value]) -> Value:
    """The same node with other subtrees."""
    if isinstance(value, dict):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        return dict(zip(keys, parts, strict=True))
    if isinstance(value, Instance):
        return Instance(value.cls, value.attrs | dict(zip(subtrees_of(value.cls), parts, strict=True)), value.complete)
    return type(value)(parts) if value is not None else None


def leaves(machine: Machine, tree: Value) -> list[Value]:
    """The leaves, settled."""
    tree = machine.settle(tree)
    return [leaf for part in children(tree) for leaf in leaves(machine, part)] if is_node(tree) else [tree]


def tree_map(machine: Machine, function: Callable[..., Value], tree: Value, *others: Value) -> Value:
    """The tree with ``function`` applied to its leaves and the subtrees of the others that stand at the same place."""
    tree = machine.settle(tree)
    if not is_node(tree):
        return function(tree, *others)
    parts = children(tree)
    columns = [children(other) if is_node(other) and len(children(other)) == len(parts) else None for other in others]
    if any(column is None for column in columns):
        return Unknown("trees of different structure", host=True)
    rows = zip(parts, *columns, strict=True)
    return rebuilt(tree, [tree_map(machine, function, *row) for row in rows])


@models("jax.tree.map", "jax.tree_util.tree_map")
def _map(call: Call) -> Value:
    if len(call.args) < 2 or "is_leaf" in call.kwargs:
        return call.unknown("a tree map with its own leaves")
    function, tree, *others = call.args
    if isinstance(call.machine.settle(tree), Unknown):
        return call.unknown("a tree of unknown structure")
    return tree_map(call.machine, lambda *row: call.call(function, *row), tree, *others)


@models("jax.tree.leaves", "jax.tree_util.tree_leaves")
def _leaves(call: Call) -> Value:
    tree = call.machine.settle(call.get(0, "tree"))
    return leaves(call.machine, tree) if is_node(tree) else call.unknown("a tree of unknown structure")


@models("jax.tree.flatten", "jax.tree_util.tree_flatten")
def _flatten(call: Call) -> Value:
    tree = call.machine.settle(call.get(0, "tree"))
    return (leaves(call.machine, tree), Structure(tree)) if is_node(tree) else call.unknown("a tree of unknown structure")


@models("jax.tree.structure", "jax.tree_util.tree_structure")
def _structure(call: Call) -> Value:
    return Structure(call.get(0, "tree"))


class Structure:
    """A treedef: remembers a tree of that structure."""

    __slots__ = ("example",)

    def __init__(self, example: Value) -> None:
        self.example = example


@models("jax.tree.unflatten", "jax.tree_util.tree_unflatten")
def _unflatten(call: Call) -> Value:
    from ..sequences import items_of

    structure, items = call.get(0, "treedef"), items_of(call.machine, call.get(1, "leaves"), call.node, call.frame)
    if not isinstance(structure, Structure) or items is None or len(leaves(call.machine, structure.example)) != len(items):
        return call.unknown("an unflattened tree")
    remaining: list[Any] = list(items)
    return tree_map(call.machine, lambda leaf: remaining.pop(0), structure.example)
