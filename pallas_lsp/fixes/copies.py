"""Copies that a kernel does not finish: start them, and wait for them at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.operation_events import CopyLeft
from ..resolve.project import Project
from ..text.span import Edit
from .code import TPU, Code
from .registry import Candidate, fixes, make

_STEPS = {"made": ("start", "wait"), "started": ("wait",), "waited": ("start",)}


@fixes("dma-semaphore")
def finish_the_copy(event: CopyLeft, project: Project) -> Iterator[Candidate]:
    """What is started where it is waited for has arrived; to wait later, behind other work, is for the author to do."""
    code, call = Code(event.where.module), event.where.node
    statement = code.statement(call)
    if not isinstance(call, ast.Call) or statement is None:
        return
    title = {"made": "Start the copy and wait for it", "started": "Wait for the copy", "waited": "Start the copy"}[event.kind]
    edits = (_at_once(code, call) if code.is_discarded(call) else None) or _beside(code, call, statement, event.kind)
    if edits:
        yield make(title, "unsafe", edits)


def _at_once(code: Code, call: ast.Call) -> tuple[Edit, ...] | None:
    """``pltpu.async_copy(...).wait()`` where the copy has no name."""
    if code.qualified(call.func) == f"{TPU}.async_copy":
        return (code.after(call, ".wait()"),)
    step, made = (call.func.attr, call.func.value) if isinstance(call.func, ast.Attribute) else ("", call)
    if step not in ("start", "wait") or call.args or call.keywords:
        made = call
    name = code.name(f"{TPU}.async_copy")
    if not isinstance(made, ast.Call) or code.qualified(made.func) != f"{TPU}.make_async_copy" or name is None:
        return None
    return (code.replace(made.func, name.text), code.cut(code.span(made).end, code.span(call).end, ".wait()"), *name.edits)


def _beside(code: Code, call: ast.Call, statement: ast.stmt, kind: str) -> tuple[Edit, ...] | None:
    """The steps that are missing, on lines of their own above or below the statement of a copy that has a name."""
    copy, inside, source = _name(call, statement), code.indentation(statement), code.module.source
    if copy is None or inside is None:
        return None
    span, steps = code.span(statement), [f"{copy}.{step}()" for step in _STEPS[kind]]
    if kind == "waited":
        return (code.cut(span.start, span.start, "".join(f"{step}{source.newline}{inside[0]}" for step in steps)),)
    end = source.line_span(source.line_of(span.end)).end
    alone = source.text[span.end : end].strip()[:1] in ("", "#")
    return (code.cut(end, end, "".join(f"{source.newline}{inside[0]}{step}" for step in steps)),) if alone else None


def _name(call: ast.Call, statement: ast.stmt) -> str | None:
    """What the copy is called that a statement makes or has a step of."""
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        return statement.targets[0].id if isinstance(statement.targets[0], ast.Name) else None
    stepped = isinstance(statement, ast.Expr) and statement.value is call and isinstance(call.func, ast.Attribute)
    holder = call.func.value if stepped and isinstance(call.func, ast.Attribute) else None
    return holder.id if isinstance(holder, ast.Name) else None
