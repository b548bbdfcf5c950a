"""What an editor shows between the words of the text: shapes, dtypes and memory spaces of refs and values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..interpreter.values import Array, Ref
from ..kernels.joined import joined_refs
from ..rules.words import count
from ..shapes import dims
from ..shapes.avals import Aval, aval_text
from ..shapes.dims import render
from ..text.span import Span
from ..text.trees import walk

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..kernels.refs import RefInfo


@dataclass(frozen=True, slots=True)
class Hint:
    """``label``, to show at ``offset``; ``detail``: lines of plain text to show on demand."""

    offset: int
    label: str
    detail: tuple[str, ...] = ()


def hints(analysis: Analysis, within: Span, *, refs: bool = True, values: bool = False) -> list[Hint]:
    """The hints for ``within``, in the order of the text.

    ``refs``: beside the parameters of kernels, and where another name is bound to a ref; ``values``: where a name is bound to an array in a
    function that has refs. Nothing is said of what is not known at all, or of what is another thing each time.
    """
    found = {hint.offset: hint for hint in _bound(analysis, within, refs, values)}
    found |= {hint.offset: hint for hint in (_parameters(analysis) if refs else ())}
    return [hint for offset, hint in sorted(found.items()) if within.start <= offset <= within.end]


_LONGEST: Final = 60
"""Letters that a hint should have at most."""
_LONGEST_DIMS: Final = (24, 12, 6)
"""Letters that a dim may have in it; fewer where the hint is too long."""


def _parameters(analysis: Analysis) -> Iterator[Hint]:
    for parameter, refs in joined_refs([*analysis.sites, *analysis.uses]).items():
        if parameter.path != analysis.source.path:
            continue
        described = tuple(f"{ref.name}: {text}" for ref in refs if (text := _ref_text(aval_of(ref), ref.memory_space)))
        if refs[0].name != analysis.source.slice(parameter.span):  # a tuple, a dict or *refs: as many as there are
            yield Hint(parameter.span.end, f": {count(len(refs), 'ref')}", described)
        elif described:
            label = _short_text(aval_of(refs[0]), refs[0].memory_space)
            yield Hint(parameter.span.end, f": {label}", (*described, *_origin(refs[0])))


def _origin(ref: RefInfo) -> Iterator[str]:
    if ref.window is not None and ref.window.array is not None and ref.window.array != ref.shape:
        yield f"a window of {_array_text(replace(aval_of(ref), shape=ref.window.array))}"


def _bound(analysis: Analysis, within: Span, refs: bool, values: bool) -> Iterator[Hint]:
    inside = _functions_with_refs(analysis, within) if values else []
    for span, value in analysis.notes.bound(within):
        if isinstance(value, Ref) and refs:
            aval, space = Aval(value.shape, value.dtype, named=value.named), value.root.space
        elif isinstance(value, Array) and any(function.covers(span) for function in inside):
            aval, space = value.aval, None
        else:
            continue
        if label := _short_text(aval, space):
            whole = _ref_text(aval, space)
            yield Hint(span.end, f": {label}", () if whole == label else (whole,))


def _functions_with_refs(analysis: Analysis, within: Span) -> list[Span]:
    """The functions around there of which a parameter is known to be a ref."""
    source, notes = analysis.source, analysis.notes
    nodes = (node for part in notes.statements(within) for node in walk(part))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.Lambda))
    return [source.span_of(node) for node in functions if any(isinstance(notes.value_of(arg), Ref) for arg in _arguments(node))]


def _arguments(node: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def aval_of(ref: RefInfo) -> Aval:
    """What a ref holds."""
    return Aval(ref.shape, ref.dtype, named=ref.dtype_name)


def _short_text(aval: Aval, space: str | None) -> str:
    """As `_ref_text`, with an ellipsis in the place of dims that are long formulas."""
    text = _ref_text(aval, space)
    for longest in _LONGEST_DIMS if aval.shape is not None else ():
        shape = tuple(dim if len(render(dim)) <= longest else dims.symbol("…") for dim in aval.shape or ())
        text = _ref_text(replace(aval, shape=shape), space)
        if len(text) <= _LONGEST:
            break
    return text


def _ref_text(aval: Aval, space: str | None) -> str:
    """``f32[8,128] vmem``; empty where none of it is known."""
    return " ".join(filter(None, (_array_text(aval), space)))


def _array_text(aval: Aval) -> str:
    """``f32[8,128]``; empty where neither shape nor dtype is known."""
    return "" if aval.shape is None and aval.dtype is None else aval_text(aval)
