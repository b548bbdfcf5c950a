"""What hover can say of a place: the value of a name there, or the library name it is."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .interpreter.modules import ModuleFile
from .interpreter.values import Array, Dtype, Ref, Unknown, Value
from .resolve.imports import LibraryName, import_targets
from .resolve.project import Project
from .rules.diagnostic import Related
from .rules.words import SPACES, array, decided
from .shapes.avals import Aval
from .shapes.dims import Poly, render
from .text.parse import Parsed
from .text.source import Source
from .text.span import Span


@dataclass(frozen=True, slots=True)
class ValueNote:
    """The value of the name at ``span``: ``text`` in short (``f32[8,128] in VMEM``), ``origin``: the places that decided it."""

    span: Span
    name: str
    text: str
    origin: tuple[Related, ...] = ()


@dataclass(frozen=True)
class Notes:
    """The noted values of one document."""

    source: Source
    parsed: Parsed
    module: ModuleFile | None
    values: Mapping[tuple[int, int], Value] = field(default_factory=dict)

    @classmethod
    def empty(cls, source: Source, parsed: Parsed) -> Notes:
        """The notes of a file in which nothing was interpreted."""
        return cls(source, parsed, None)

    @cached_property
    def _names(self) -> list[tuple[Span, ast.AST]]:
        found = [
            (self.source.span_of(node), node) for node in ast.walk(self.parsed.tree) if isinstance(node, ast.Name | ast.Attribute | ast.arg)
        ]
        return sorted(found, key=lambda item: (item[0].end - item[0].start, item[0]))

    def _node_at(self, offset: int) -> tuple[Span, ast.AST] | None:
        return next(((span, node) for span, node in self._names if offset in span), None)

    def value_at(self, offset: int) -> ValueNote | None:
        """The value of the innermost name at ``offset``, None when nothing worth saying is known."""
        found = self._node_at(offset)
        if found is None:
            return None
        span, node = found
        value = self.values.get((node.lineno, node.col_offset))  # type: ignore[attr-defined]
        if isinstance(node, ast.Attribute):
            value = None
        text = describe(value)
        if text is None:
            return None
        name = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else ""
        width = Span(span.start, span.start + len(name))
        return ValueNote(width, name, text, _origin(value))

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
        target = self._imports.get(node.id)
        for part in reversed(parts):
            target = target.member(part) if target is not None else None
        return target.dotted if target is not None else None

    @cached_property
    def _imports(self) -> dict[str, LibraryName]:
        found: dict[str, LibraryName] = {}
        for node in ast.walk(self.parsed.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name, target in import_targets(node, self.source.path, Project()).items():
                    if isinstance(target, LibraryName):
                        found[name] = target
        return found


def describe(value: Value) -> str | None:
    """A value in short, None when there is nothing to say."""
    if isinstance(value, Ref):
        where = SPACES.get(value.root.space or "", "unknown memory space")
        return f"{array(Array(Aval(value.shape, value.dtype)))} in {where}"
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
