"""Whether two pytrees have one structure, as JAX asks of specs and what they are for.

Mirrors ``jax/_src/pallas/core.py``, ``get_grid_mapping`` and ``pytreedef_mismatch_err_msg``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...shapes.dims import Poly
from ..classes import subtrees_of
from ..machine import Machine
from ..values import ABSENT, Array, BlockSpec, Class, Dtype, Function, Instance, Iteration, Library, Scratch, ShapeDtype, Value
from .grids import is_absent
from .registry import PALLAS
from .specs import SEMAPHORES, SPACES
from .trees import children

_LEAF = ("leaf",)
_NO_SPECS = (Array, Iteration, ShapeDtype, Scratch, Function, Class, Dtype, Poly, int, float, str)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where two trees first differ: the path to it (``[0]['w']``), and what stands there in each."""

    path: str
    specs: Value
    arrays: Value


def mismatch(machine: Machine, specs: Value, arrays: Value, path: str = "") -> Mismatch | None:
    """The first place where the structures certainly differ; None where they agree or cannot be told apart."""
    specs, arrays = machine.settle(specs), machine.settle(arrays)
    kinds = node_kind(specs), node_kind(arrays)
    if None in kinds:
        return None
    if kinds[0] != kinds[1]:
        return Mismatch(path, specs, arrays)
    if kinds[0] == _LEAF:
        return None
    parts = children(specs), children(arrays)
    if len(parts[0]) != len(parts[1]):
        return Mismatch(path, specs, arrays)
    for name, spec, array in zip(_child_names(specs), *parts, strict=True):
        found = mismatch(machine, spec, array, f"{path}{name}")
        if found is not None:
            return found
    return None


def other_leaf(machine: Machine, specs: Value, path: str = "") -> tuple[str, Value] | None:
    """The first leaf of a tree of specs that is certainly no BlockSpec, with the path to it."""
    specs = machine.settle(specs)
    if isinstance(specs, tuple | list | dict):
        found = (other_leaf(machine, part, f"{path}{name}") for name, part in zip(_child_names(specs), children(specs), strict=True))
        return next((leaf for leaf in found if leaf is not None), None)
    is_space = isinstance(specs, Library) and (specs.name in SPACES or specs.name == f"{PALLAS}.BlockSpec")
    return (path, specs) if is_space or isinstance(specs, _NO_SPECS) else None


def node_kind(value: Value) -> tuple[object, ...] | None:
    """What a value is as a node of a pytree, equal for nodes of one kind; None where that is not known."""
    if value is None:
        return ("none",)
    if isinstance(value, tuple | list):
        return (type(value).__name__,)
    if isinstance(value, dict):
        return ("dict", frozenset(value))
    if isinstance(value, Instance):
        return ("namedtuple", id(value.cls.node)) if value.cls.kind == "namedtuple" and value.complete else None
    if isinstance(value, Array | BlockSpec | ShapeDtype | Scratch | Iteration | Poly | bool | int | float | str):
        return _LEAF
    return _LEAF if isinstance(value, Library) else None


def _child_names(value: Value) -> list[str]:
    if isinstance(value, dict):
        try:
            return [f"[{key!r}]" for key in sorted(value)]
        except TypeError:
            return [f"[{key!r}]" for key in value]
    if isinstance(value, Instance):
        return [f".{name}" for name in subtrees_of(value.cls)]
    return [f"[{index}]" for index in range(len(value))] if value is not None else []


def leaf_count(machine: Machine, tree: Value) -> int | None:
    """The number of leaves of a tree, None where it is not known."""
    tree = machine.settle(tree)
    kind = node_kind(tree)
    if kind is None:
        return None
    if kind == _LEAF:
        return 1
    counts = [leaf_count(machine, part) for part in children(tree)]
    return None if None in counts else sum(count for count in counts if count is not None)


def plain_leaves(machine: Machine, tree: Value) -> list[Value]:
    """The leaves of the tuples, lists and dicts of a tree: an object of the program's class keeps what it does with its fields to itself.
    """
    tree = machine.settle(tree)
    if not isinstance(tree, tuple | list | dict):
        return [] if tree is None or isinstance(tree, Instance) else [tree]
    return [leaf for part in children(tree) for leaf in plain_leaves(machine, part)]


def top_of(tree: Value) -> Value:
    """A tree as JAX takes it: the outermost list is a tuple, and ``no_block_spec`` for the whole is nothing given."""
    return tuple(tree) if isinstance(tree, list) else ABSENT if is_absent(tree) else tree


_NO_SCRATCH = (int, float, str, bytes, Iteration, ShapeDtype, Array, Dtype, Function, Class, BlockSpec)


def is_no_scratch(leaf: Value) -> bool:
    """Whether a leaf of ``scratch_shapes`` is certainly no piece of memory, or one without shape and dtype."""
    if isinstance(leaf, Library):
        return leaf.name in SPACES and leaf.name not in SEMAPHORES
    return isinstance(leaf, _NO_SCRATCH)
