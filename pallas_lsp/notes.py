"""What hover can say of a place: the value of a name there, or the library name it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from .interpreter.modules import ModuleFile
from .interpreter.noted import Noted
from .interpreter.values import Array, Dtype, Ref, Unknown, Value
from .interpreter.written import kept_with_node
from .resolve.imports import LibraryName, import_targets
from .resolve.project import Project
from .rules.diagnostic import Related
from .rules.words import SPACES, array, decided
from .shapes.avals import Aval
from .shapes.dims import Poly, render
from .text.parse import Parsed
from .text.source import Source
from .text.span import Span
from .text.trees import walk


@dataclass(frozen=True, slots=True)
class ValueNote:
    """The value of the name at ``span``: ``text`` in short (``f32[8,128] in VMEM``), ``origin``: the places that decided it."""

    span: Span
    name: str
    text: str
    origin: tuple[Related, ...] = ()


@dataclass(frozen=True)
class Notes:
    """The noted values of one document, which ``find`` works out when they are first asked for."""

    source: Source
    parsed: Parsed
    module: ModuleFile | None
    find: Callable[[], Noted] = Noted

    @classmethod
    def empty(cls, source: Source, parsed: Parsed) -> Notes:
        """The notes of a file in which nothing was interpreted."""
        return cls(source, parsed, None)

    @cached_property
    def noted(self) -> Noted:
        """The values at places, and where other runs of the same text had another one."""
        return self.find()

    def statements(self, within: Span) -> Iterator[ast.stmt]:
        """The top-level statements of the units that ``within`` touches."""
        layout = self.parsed.layout
        for number in sorted(layout.touching([within], self.source)) if layout.units else ():
            yield from layout.bodies[number]

    def _names(self, within: Span) -> Iterator[tuple[Span, ast.AST]]:
        return ((self.source.span_of(node), node) for part in self.statements(within) for node in _names_in(part))

    def _node_at(self, offset: int) -> tuple[Span, ast.AST] | None:
        """The innermost name there."""
        found = (item for item in self._names(Span(offset, offset)) if offset in item[0])
        return min(found, key=lambda item: (item[0].end - item[0].start, item[0]), default=None)

    def is_name(self, offset: int) -> bool:
        """Whether a name, of a variable or behind a dot, is at ``offset``."""
        return self.source.text[offset : offset + 1].isidentifier() and self._node_at(offset) is not None

    def value_at(self, offset: int) -> ValueNote | None:
        """The value of the innermost name at ``offset``, None when nothing worth saying is known."""
        found = self._node_at(offset)
        if found is None:
            return None
        span, node = found
        value = None if isinstance(node, ast.Attribute) else self.value_of(node)
        text = describe(value)
        if text is None:
            return None
        name = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else ""
        width = Span(span.start, span.start + len(name))
        return ValueNote(width, name, text, _origin(value))

    def value_of(self, node: ast.AST) -> Value:
        """The noted value of a name or parameter."""
        return self.noted.values.get((node.lineno, node.col_offset))  # type: ignore[attr-defined]

    def bound(self, within: Span) -> Iterator[tuple[Span, Value]]:
        """The names that functions and statements around there bind, with their values where every run had the same.

        Not those that a statement only changes, and not those of lambdas, which have no room for more.
        """
        values, trees = self.noted.values, [node for part in self.statements(within) for node in walk(part)]
        elsewhere = {id(node.target) for node in trees if isinstance(node, ast.AugAssign)}
        elsewhere |= {id(part) for node in trees if isinstance(node, ast.Lambda) for part in ast.walk(node.args)}
        for span, node in self._names(within):
            if id(node) not in elsewhere and (isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)):
                name: str = getattr(node, "arg", "") or getattr(node, "id", "")
                place = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
                if name.strip("_") and place in values and place not in self.noted.varied:
                    yield Span(span.start, span.start + len(name)), values[place]

    def ref_at(self, offset: int) -> tuple[Span, Ref] | None:
        """The name at ``offset`` and the ref that it is, None where it is none."""
        found = self._node_at(offset)
        value = self.value_of(found[1]) if found is not None and not isinstance(found[1], ast.Attribute) else None
        return (found[0], value) if found is not None and isinstance(value, Ref) else None

    def library_name_at(self, offset: int) -> str | None:
        """The canonical dotted name of the library function or class at ``offset``."""
        found = self._node_at(offset)
        if found is None:
            return None
        parts: list[str] = []
        node = found[1]
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        target = self.imports.get(node.id)
        for part in reversed(parts):
            target = target.member(part) if target is not None else None
        return target.dotted if target is not None else None

    @cached_property
    def imports(self) -> dict[str, LibraryName]:
        """What the names stand for that the text imports from libraries."""
        found: dict[str, LibraryName] = {}
        for node in (node for part in self.parsed.tree.body for node in _imports_in(part)):
            for name, target in import_targets(node, self.source.path, Project()).items():
                if isinstance(target, LibraryName):
                    found[name] = target
        return found


@kept_with_node
def _names_in(statement: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(node for node in walk(statement) if isinstance(node, ast.Name | ast.Attribute | ast.arg))


@kept_with_node
def _imports_in(statement: ast.AST) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(node for node in ast.walk(statement) if isinstance(node, ast.Import | ast.ImportFrom))


def _cause(ref: Ref) -> str:
    """Why the shape of a ref is not known, where that is so."""
    return f", shape unknown: {ref.root.why}" if ref.shape is None and ref.root.why and not ref.is_view else ""


def describe(value: Value) -> str | None:
    """A value in short, None when there is nothing to say."""
    if isinstance(value, Ref):
        where = SPACES.get(value.root.space or "", "unknown memory space")
        return f"{array(Array(Aval(value.shape, value.dtype, named=value.named)))} in {where}{_cause(value)}"
    if isinstance(value, Array):
        return array(value)
    if isinstance(value, Poly):
        return f"int = {render(value)}"
    if isinstance(value, Dtype):
        return f"dtype {value.name}"
    if isinstance(value, bool | int | float | str) and len(str(value)) < 60:
        return repr(value)
    if isinstance(value, tuple) and value and all(isinstance(part, int | Poly | Unknown) for part in value):
        return f"({', '.join(render(part) if isinstance(part, int | Poly) else '?' for part in value)})"
    return None


def _origin(value: Value) -> tuple[Related, ...]:
    return decided(value) if isinstance(value, Ref) else ()
