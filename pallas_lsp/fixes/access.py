"""An access of a ref as it is written, and how to write it with another index or value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..interpreter.events import Access, IndexEntry
from ..interpreter.refs import axes, entries_of
from ..interpreter.values import Array
from ..shapes.dims import MaybeDim, Shape, Truth
from ..text.edits import wrap
from ..text.span import Edit
from .code import PALLAS, Code, Named

FULL = "full"
"""A part of an index that takes all of its dim."""


@dataclass(frozen=True, slots=True)
class One:
    """A part of an index that takes a slice of one element, from ``start``."""

    start: str


Part = ast.expr | str | One
"""What indexes one dim: an expression that stays as it is, the text of an integer, a slice of one element, or `FULL`."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A dim of the indexed ref; the entry that indexes it, None where all of it is taken; how many elements that takes, and whether the
    dim is kept (an integer drops it)."""

    size: MaybeDim
    entry: IndexEntry | None
    taken: MaybeDim
    kept: bool

    @property
    def part(self) -> Part:
        """The entry as it is written."""
        return self.entry.node if self.entry is not None and isinstance(self.entry.node, ast.expr) else FULL


@dataclass(frozen=True, slots=True)
class Written:
    """An access as it is written.

    ``holder``: the ref, without a trailing ``.at[...]``; ``index``: the index expression, None where there is none to replace;
    ``in_brackets``: it stands in brackets, else it is an argument; ``value``: what is stored; ``axes``: the dims of the holder, None where
    the index is not one of integers and slices that are written one by one.
    """

    code: Code
    event: Access
    holder: ast.expr
    index: ast.expr | None
    in_brackets: bool
    value: ast.expr | None
    axes: tuple[Axis, ...] | None

    @property
    def dims(self) -> tuple[Axis, ...]:
        """The dims of the holder, as far as the index tells."""
        return self.axes or ()

    @property
    def holder_text(self) -> str:
        """The ref as it is written."""
        return self.code.text(self.holder)

    @property
    def is_whole(self) -> bool:
        """Whether all of the ref is accessed."""
        full = (axis.kept and (axis.entry is None or self._is_full_slice(axis)) for axis in self.dims)
        return self.axes is not None and all(full)

    def _is_full_slice(self, axis: Axis) -> bool:
        return self.event.where.facts.same(axis.size, axis.taken) is Truth.YES

    def is_one(self, size: MaybeDim) -> bool:
        """Whether a size is certainly 1."""
        return self.event.where.facts.same(size, 1) is Truth.YES

    def is_unit(self) -> bool:
        """Whether the holder has one element, and some dim."""
        return bool(self.dims) and all(self.is_one(axis.size) for axis in self.dims)

    # -- other indices --------------------------------------------------------------------------------------------------------------

    def integers(self) -> list[Part] | None:
        """The index with an integer for every dim, where each dim has one element or one is taken; None where that is not known."""
        if self.axes is None:
            return None
        parts: list[Part] = []
        for axis in self.axes:
            if not axis.kept:
                parts.append(axis.part)
            elif not self.is_one(axis.taken):
                return None
            else:
                parts.append(self._start(axis))
        return parts

    def _start(self, axis: Axis) -> str:
        node = axis.entry.node if axis.entry is not None else None
        if isinstance(node, ast.Slice):
            return self.code.text(node.lower) if node.lower is not None else "0"
        if isinstance(node, ast.Call) and len(node.args) > 1:
            return self.code.text(node.args[0])
        return "0"

    def with_slices(self, last: int = 1) -> list[Part]:
        """The index with slices of one element for the ``last`` of its dims that an integer indexes."""
        indexed = [position for position, axis in enumerate(self.dims) if not axis.kept][-last:]
        starts = {position: self._start_of_slice(self.dims[position]) for position in indexed}
        return [One(start) if (start := starts.get(position)) else axis.part for position, axis in enumerate(self.dims)]

    def _start_of_slice(self, axis: Axis) -> str | None:
        """Where a slice starts that takes what an integer takes; JAX takes no ``pl.ds`` of an array that it need not trace."""
        node, value = axis.part, axis.entry.value if axis.entry is not None else None
        if isinstance(value, Array) and value.constant is not None:
            node = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else FULL
            return self.code.text(node) if isinstance(node, ast.Constant) else None
        return self.code.text(node) if isinstance(node, ast.expr) else None

    def write_index(self, parts: Sequence[Part]) -> tuple[Edit, ...] | None:
        """The edits that give the access this index; None where it cannot be written."""
        if self.index is None or self.axes is None:
            return None
        entries = self.index.elts if isinstance(self.index, ast.Tuple) else [self.index]
        nodes = [axis.part for axis in self.axes]
        slices = self._slice_names(parts)
        if slices is None:
            return None
        if len(entries) == len(parts) and nodes == entries and any(part is not FULL for part in parts):
            changed = [(node, part) for node, part in zip(entries, parts, strict=True) if part is not node]
            return (*slices.edits, *(self.code.replace(node, self._entry(part, slices.text)) for node, part in changed))
        return (*slices.edits, self.code.replace(self.index, self._index_text(parts, slices.text)))

    def _index_text(self, parts: Sequence[Part], ds: str) -> str:
        kept = list(parts)
        while kept and kept[-1] is FULL:
            kept.pop()
        if not kept:
            return "..."
        texts = [self._entry(part, ds) for part in kept]
        if self.in_brackets:
            return ", ".join(texts)
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _entry(self, part: Part, ds: str) -> str:
        if isinstance(part, ast.expr):
            return self.code.text(part)
        if part is FULL:
            return ":" if self.in_brackets else "slice(None)"
        if isinstance(part, One):
            if part.start.isdecimal():
                bounds = part.start, str(int(part.start) + 1)
                return ":".join(bounds) if self.in_brackets else f"slice({', '.join(bounds)})"
            return f"{ds}({part.start}, 1)"
        assert isinstance(part, str)
        return part

    def _slice_names(self, parts: Sequence[Part]) -> Named | None:
        """How ``pl.ds`` is written, where a part needs it."""
        if not any(isinstance(part, One) and not part.start.isdecimal() for part in parts):
            return Named("")
        return self.code.name(f"{PALLAS}.ds")

    # -- other values ---------------------------------------------------------------------------------------------------------------

    def wrap_value(self, prefix: str, suffix: str) -> tuple[Edit, ...] | None:
        """The edits that write ``prefix`` before and ``suffix`` behind the stored value."""
        return wrap(self.code.module.source, self.value, prefix, suffix) if self.value is not None else None

    def shape_text(self) -> str | None:
        """The shape of what is accessed, in the terms of the kernel: ``o_ref.shape``, or numbers."""
        if self.is_whole or self.axes is None:
            return f"{self.holder_text}.shape" if self.is_whole else None
        indexed = sum(not axis.kept for axis in self.axes)
        leading, rest = self.axes[:indexed], self.axes[indexed:]
        if not any(axis.kept for axis in leading) and all(axis.entry is None or self._is_full_slice(axis) for axis in rest):
            return f"{self.holder_text}.shape[{indexed}:]"
        sizes = [self.event.where.facts.resolve(axis.taken) for axis in self.axes if axis.kept]
        if all(isinstance(size, int) for size in sizes):
            return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
        return None


def written(event: Access) -> Written | None:
    """The access as it is written; None where the ref is not to be seen there."""
    code = Code(event.where.module)
    found = _parts(event)
    if found is None:
        return None
    holder, index, in_brackets, shape, entries = found
    value = event.value_node if isinstance(event.value_node, ast.expr) else None
    return Written(code, event, holder, index, in_brackets, value, _axes(event, shape, entries))


def _parts(event: Access) -> tuple[ast.expr, ast.expr | None, bool, Shape, tuple[IndexEntry, ...]] | None:
    """The ref, its index and what that index selects from."""
    node = event.target_node if event.target_node is not None else event.where.node
    if isinstance(node, ast.Subscript):
        return _view(event, node.value) or (node.value, node.slice, True, event.ref.shape, event.entries)
    if not isinstance(node, ast.Call):
        return None
    holder = _receiver(event, node)
    if holder is None:
        return None
    index = _index_argument(event, node)
    values = tuple(entry.value for entry in event.entries)
    entries = entries_of(values if len(values) != 1 else values[0], index) if values else ()
    return _view(event, holder) or (holder, index, False, event.ref.shape, entries)


def _uses_view(event: Access) -> bool:
    """Whether the index of a trailing ``.at[...]`` is the one that counts."""
    return len(event.transforms) < len(event.ref.transforms)


def _view(event: Access, holder: ast.expr) -> tuple[ast.expr, ast.expr | None, bool, Shape, tuple[IndexEntry, ...]] | None:
    """The parts of ``ref.at[...]``, where the holder is written so."""
    if not _uses_view(event) or not isinstance(holder, ast.Subscript):
        return None
    if not isinstance(holder.value, ast.Attribute) or holder.value.attr != "at":
        return None
    key = event.ref.key or ()
    entries = entries_of(key if len(key) != 1 else key[0], holder.slice)
    return holder.value.value, holder.slice, True, event.ref.before, entries


def _receiver(event: Access, call: ast.Call) -> ast.expr | None:
    """The ref that a call accesses, as it is written."""
    if event.api == "method":
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    given = call.args[0] if call.args else next((keyword.value for keyword in call.keywords if keyword.arg == "ref"), None)
    return given if not isinstance(given, ast.Starred) else None


def _index_argument(event: Access, call: ast.Call) -> ast.expr | None:
    """The ``idx`` argument of a call."""
    position = {"method": 0 if event.op == "load" else 1, "jax.ref": 1, "pl": 1}.get(event.api)
    if position is None:
        return None
    if position < len(call.args) and not any(isinstance(argument, ast.Starred) for argument in call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "idx"), None)


def _axes(event: Access, shape: Shape, entries: tuple[IndexEntry, ...]) -> tuple[Axis, ...] | None:
    """The dims of what is indexed, each with its entry; None where the indexer is not one of integers and slices, written one by one."""
    if shape is None or event.shape is None or any(entry.kind not in ("int", "slice", "ds", "ellipsis") for entry in entries):
        return None
    if len({id(entry.node) for entry in entries}) < len(entries):
        return None
    by_axis = {axis: entry for axis, entry in zip(axes(shape, entries), entries, strict=True) if axis is not None}
    found, taken = [], iter(event.shape)
    for axis, size in enumerate(shape):
        entry = by_axis.get(axis)
        kept = entry is None or entry.kind != "int"
        found.append(Axis(size, entry, next(taken, None) if kept else None, kept))
    return tuple(found)
