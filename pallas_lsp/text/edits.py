"""Edits of a file's text: applying and showing them, and writing minimal ones that keep the author's layout."""

from __future__ import annotations

import ast
import difflib
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .source import BOM, Source
from .span import Edit, Span

_PIECE_OF_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LAST_WORD = re.compile(r"\w+$")


# --- applying and showing --------------------------------------------------------------------------------------------


def apply(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with the edits of its one file made, in any order given; insertions at one place keep their order.

    Raises ValueError where two overlap or one lies outside the text.
    """
    pieces, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if not end <= edit.span.start <= edit.span.end <= len(text):
            raise ValueError(f"edit at {edit.span.start} to {edit.span.end} overlaps another or lies outside the text")
        pieces += [text[end : edit.span.start], edit.content]
        end = edit.span.end
    return "".join([*pieces, text[end:]])


def conflict(edits_a: Iterable[Edit], edits_b: Iterable[Edit]) -> bool:
    """Whether two sets of edits may not be made together: some overlap, or an insertion meets another edit's end.

    The same edit in both is a conflict as well: whether it is wanted once or twice only a second round can tell.
    """
    others = list(edits_b)
    return any(edit.path == other.path and _meet(edit.span, other.span) for edit in edits_a for other in others)


def _meet(one: Span, other: Span) -> bool:
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.overlaps(other)


def diff(path: str, before: str, after: str) -> str:
    """The unified diff from ``before`` to ``after``, as ``patch`` reads it; empty where they are equal."""
    lines = difflib.unified_diff(_PIECE_OF_LINE.findall(before), _PIECE_OF_LINE.findall(after), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


# --- the arguments of a call -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Slot:
    """One argument as it is written, redundant parentheses included, and the offset of the comma after it."""

    span: Span
    comma: int | None


def insert_keyword(source: Source, call: ast.Call, name: str, value_text: str) -> Edit:
    """Append ``name=value_text`` to the arguments of ``call``.

    Where the last argument starts a line the new one gets a line of its own, as deep; a trailing comma is kept.
    Raises ValueError where the call has the keyword.
    """
    if any(present.arg == name for present in call.keywords):
        raise ValueError(f"the call has the keyword {name} already")
    opening, slots = _slots(source, call)
    new = f"{name}={value_text}"
    if not slots:
        return Edit(source.path, Span(opening + 1, opening + 1), new)
    last = slots[-1]
    generator = call.args[-1] if not call.keywords else None
    if isinstance(generator, ast.GeneratorExp) and source.span_of(generator).start == opening:
        return Edit(source.path, last.span, f"({source.slice(last.span)}), {new}")
    indentation = _before_on_line(source, last.span.start)
    if indentation.strip():
        if last.comma is None:
            return Edit(source.path, Span(last.span.end, last.span.end), f", {new}")
        return Edit(source.path, Span(last.comma + 1, last.comma + 1), f" {new},")
    written = last.span.end if last.comma is None else last.comma + 1
    line_end = source.line_span(source.line_of(written)).end
    if source.span_of(call).end <= line_end:
        line_end = written
    # What is left of the line is a comment on the last argument, which stays with it.
    if last.comma is not None:
        return Edit(source.path, Span(line_end, line_end), f"{source.newline}{indentation}{new},")
    remark = source.text[written:line_end]
    return Edit(source.path, Span(written, line_end), f",{remark}{source.newline}{indentation}{new}")


def replace_argument(source: Source, argument: ast.expr | ast.keyword, text: str) -> Edit:
    """Write ``text`` in the place of an argument's value; a keyword keeps its name."""
    value = argument.value if isinstance(argument, ast.keyword) else argument
    return Edit(source.path, source.span_of(value), text)


def remove_argument(source: Source, call: ast.Call, argument: ast.expr | ast.keyword) -> Edit:
    """Take an argument of ``call`` away with its comma, and with its lines where it has lines of its own."""
    opening, slots = _slots(source, call)
    if len(slots) == 1:
        return Edit(source.path, Span(opening + 1, source.span_of(call).end - 1), "")
    place = source.span_of(argument).start
    index = next(index for index, slot in enumerate(slots) if place < slot.span.end)
    slot = slots[index]
    written = slot.span.end if slot.comma is None else slot.comma + 1
    first0, last0 = source.line_of(slot.span.start), source.line_of(written)
    starts_line = not _before_on_line(source, slot.span.start).strip()
    rest = source.text[written : source.line_span(last0).end].strip()
    if starts_line and (not rest or rest.startswith("#")):
        return Edit(source.path, Span(source.line_span(first0).start, source.line_span(last0 + 1).start), "")
    if index == 0 or (starts_line and index + 1 < len(slots)):
        removal = Span(slot.span.start, slots[index + 1].span.start)
        between = Span(written, removal.end)
    else:
        removal = Span(slots[index - 1].span.end, slot.span.end)
        between = Span(removal.start, slot.span.start)
    if "#" in source.slice(between):  # a comment on another argument stays
        removal = Span(slot.span.start, written)
    return Edit(source.path, removal, "")


def _before_on_line(source: Source, offset: int) -> str:
    return source.text[source.line_span(source.line_of(offset)).start : offset]


def _slots(source: Source, call: ast.Call) -> tuple[int, list[_Slot]]:
    """The offset of the call's opening parenthesis and its arguments in the order they are written.

    Raises ValueError where the tree does not say where they are.
    """
    closing = source.span_of(call).end - 1
    opening = next((at for at, char in code_characters(source.text, source.span_of(call.func).end, closing) if char == "("), None)
    if opening is None:  # Python 3.11 misplaces calls inside f-strings
        raise ValueError("the call is not where the tree says it is")
    places = sorted(source.span_of(argument) for argument in [*call.args, *call.keywords])
    slots = []
    start = opening + 1
    for index, place in enumerate(places):
        # A generator that is the only argument has the call's own parentheses.
        inner = Span(max(place.start, start), min(place.end, closing))
        limit = places[index + 1].start if index + 1 < len(places) else closing
        comma = next((at for at, char in code_characters(source.text, inner.end, limit) if char == ","), None)
        first = next((at for at, _ in code_characters(source.text, start, inner.start)), inner.start)
        last = max((at + 1 for at, _ in code_characters(source.text, inner.end, limit if comma is None else comma)), default=inner.end)
        slots.append(_Slot(Span(first, last), comma))
        start = limit if comma is None else comma + 1
    return opening, slots


def code_characters(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The characters between expressions, brackets and commas, without white space and comments."""
    while start < end:
        if text[start] == "#":
            while start < end and text[start] not in "\r\n":
                start += 1
        elif not text[start].isspace() and text[start] != "\\":
            yield start, text[start]
        start += 1


# --- expressions -----------------------------------------------------------------------------------------------------

# What a suffix such as ``.astype(x)`` or ``[None]`` may follow without parentheses.
_PRIMARY = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set, ast.JoinedStr,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant,
)  # fmt: skip


def wrap(source: Source, node: ast.expr, prefix: str, suffix: str) -> tuple[Edit, ...]:
    """Write ``prefix`` before and ``suffix`` behind an expression, which gets parentheses where they would bind less of it.

    Together they make a call, an attribute, a subscript or a display of it: something that may stand wherever the
    expression does. A prefix that ends in an open bracket with a suffix that ends an argument needs no parentheses.
    """
    span = source.span_of(node)
    outer = grouped(source.text, span)
    if isinstance(node, ast.GeneratorExp):  # its parentheses may be those of a call
        span, outer = Span(span.start + 1, span.end - 1), None
    as_argument = prefix.rstrip().endswith(("(", "[", "{", ",")) and suffix.startswith((")", "]", "}", ","))
    if outer is None and not (_is_argument(source, node) if as_argument else _is_primary(source, node)):
        prefix, suffix = f"{prefix}(", f"){suffix}"
    span = outer or span
    if _touch(source.text[:span.start][-1:], prefix[:1]):
        prefix = f" {prefix}"
    if _touch(suffix[-1:], source.text[span.end : span.end + 1]):
        suffix = f"{suffix} "
    edits = (Edit(source.path, Span(span.start, span.start), prefix), Edit(source.path, Span(span.end, span.end), suffix))
    return tuple(edit for edit in edits if edit.content)


def _is_primary(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return isinstance(node.value, bool)  # `1.astype` is no attribute of 1
    return isinstance(node, _PRIMARY) or (isinstance(node, ast.Tuple) and _has_parentheses(source, node))


def _is_argument(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return _has_parentheses(source, node)
    return not isinstance(node, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.GeneratorExp)


def _has_parentheses(source: Source, node: ast.Tuple) -> bool:
    """Whether a tuple has parentheses of its own: in ``(a), b`` those of the first element are not."""
    span = source.span_of(node)
    if not node.elts:
        return True
    first = source.span_of(node.elts[0])
    opened = sum(char == "(" for _, char in code_characters(source.text, span.start, first.start))
    closed = 0
    for _, char in code_characters(source.text, first.end, span.end):
        if char != ")":
            break
        closed += 1
    return opened > closed


def grouped(text: str, span: Span) -> Span | None:
    """The span with the parentheses around it, where they only group: no call's, no tuple's; None where there are none."""
    start, end = len(text[: span.start].rstrip()) - 1, span.end
    while end < len(text) and text[end].isspace():
        end += 1
    if start < 0 or end == len(text) or text[start] != "(" or text[end] != ")":
        return None
    before = text[max(start - 40, 0) : start].rstrip()
    word = _LAST_WORD.search(before)
    called = before.endswith((")", "]", "}", '"', "'")) or (word is not None and not keyword.iskeyword(word.group()))
    return None if called else Span(start, end + 1)


def operator_between(source: Source, left: ast.expr, right: ast.expr) -> Span:
    """Where the operator between two operands is written."""
    between = code_characters(source.text, source.span_of(left).end, source.span_of(right).start)
    places = [at for at, char in between if char not in "()"]
    return Span(places[0], places[-1] + 1)


def comma_for_operator(source: Source, node: ast.BinOp) -> tuple[Edit, ...]:
    """Write a comma in the place of the operator, behind the left operand; each operand stays on its line."""
    operator = operator_between(source, node.left, node.right)
    end = source.span_of(node.left).end
    left = max((at + 1 for at, _ in code_characters(source.text, end, operator.start)), default=end)
    if source.line_of(left) == source.line_of(operator.start):
        return (Edit(source.path, Span(left, operator.end), ","),)
    end = operator.end
    while source.text[end] in " \t":
        end += 1
    return Edit(source.path, Span(left, left), ","), Edit(source.path, Span(operator.start, end), "")


def _touch(left: str, right: str) -> bool:
    """Whether two characters side by side would become one word."""
    return (left + "x").isidentifier() and ("x" + right).isidentifier() and bool(left and right)


# --- imports ---------------------------------------------------------------------------------------------------------


def add_import(source: Source, tree: ast.Module, module: str, name: str | None = None, alias: str | None = None) -> Edit | None:
    """The edit that adds ``import module [as alias]`` or ``from module import name [as alias]``; None where it is there.

    It goes below the last import of the same package, else below the last import, else below the docstring.
    """
    qualified, bound = f"{module}.{name}" if name else module, alias or name
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if any((qualified, bound) == binding for node in imports for binding in _bindings(node)):
        return None
    clause = f" as {alias}" if alias and alias != name else ""
    line = f"from {module} import {name}{clause}" if name else f"import {module}{clause}"
    package = module.partition(".")[0]
    kin = [node for node in imports if any(binding[0].partition(".")[0] == package for binding in _bindings(node))]
    if imports:
        return _below(source, tree, (kin or imports)[-1], line)
    if ast.get_docstring(tree, clean=False) is not None:
        return _below(source, tree, tree.body[0], source.newline + line)
    return _on_top(source, tree, line)


def _bindings(node: ast.Import | ast.ImportFrom) -> list[tuple[str, str | None]]:
    """For each name of an absolute import, what it stands for and the name it binds, None for a plain ``import a.b``."""
    if isinstance(node, ast.Import):
        return [(alias.name, alias.asname) for alias in node.names]
    return [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names if not node.level]


def _below(source: Source, tree: ast.Module, node: ast.stmt, line: str) -> Edit:
    """Insert ``line`` below the line where ``node`` ends, or where a statement behind its semicolon does."""
    last0 = 0
    for statement in tree.body[tree.body.index(node) :]:
        span = source.span_of(statement)
        if statement is not node and source.line_of(span.start) > last0:
            break
        last0 = source.line_of(span.end)
    at = source.line_span(last0 + 1).start
    if last0 + 1 < source.line_count:
        return Edit(source.path, Span(at, at), line + source.newline)
    return Edit(source.path, Span(at, at), source.newline + line)


def _on_top(source: Source, tree: ast.Module, line: str) -> Edit:
    """Insert ``line`` above the first statement and the comments that belong to it, below a comment at the file's top."""
    if not tree.body:
        at = len(source.text)
        ended = at == source.line_span(source.line_count - 1).start or not source.text.strip(BOM)
        return Edit(source.path, Span(at, at), line + source.newline if ended else source.newline + line)
    first = source.span_of(tree.body[0])
    for decorator in getattr(tree.body[0], "decorator_list", ()):
        first = min(first, source.span_of(decorator))
    line0 = top0 = source.line_of(first.start)
    while top0 > 0 and source.line_text(top0 - 1).lstrip().startswith("#"):
        top0 -= 1
    at = source.line_span(top0 if top0 > 0 else line0).start
    at += source.text.startswith(BOM) and at == 0
    return Edit(source.path, Span(at, at), line + source.newline * 2)
