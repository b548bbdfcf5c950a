"""What a kernel does at its edges: what it returns, captures, counts from the end or waits for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.call_events import Returned
from ..interpreter.events import Access
from ..interpreter.operation_events import CopyStep
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..text.span import Edit, Span
from .code import Code
from .registry import fixes, make


@fixes("wait-send-on-local-copy")
def wait(event: CopyStep, project: Project) -> Iterator[Fix]:
    """A copy on one device is waited for by ``wait``."""
    code, call = Code(event.where.module), event.where.node
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "wait_send":
        end = code.span(call.func).end
        yield make("Wait until the copy is done", "safe", [code.cut(end - len("wait_send"), end, "wait")])


@fixes("ref-index-bounds")
def count_from_the_end(event: Access, project: Project) -> Iterator[Fix]:
    """``ref[-1]`` is the last element in NumPy, here it is in front of the ref."""
    from ..interpreter.refs import axes

    code, shape = Code(event.where.module), event.ref.shape
    if shape is None:
        return
    for axis, entry in zip(axes(shape, event.entries), event.entries, strict=True):
        size = shape[axis] if axis is not None else None
        if (
            entry.kind == "int"
            and type(entry.value) is int
            and entry.value < 0
            and isinstance(entry.node, ast.UnaryOp)
            and isinstance(size, int)
        ):
            if size + entry.value >= 0:
                text = str(size + entry.value)
                yield make(f"Index by {text}", "safe", [code.replace(entry.node, text)])
            return


@fixes("kernel-returns-value")
def store_what_is_returned(event: Returned, project: Project) -> Iterator[Fix]:
    """``return value`` as a store to the one output ref that nothing is stored to."""
    function = event.function
    code, node = Code(function.module), function.node
    returns = [part for part in ast.walk(node) if isinstance(part, ast.Return) and part.value is not None]
    if not isinstance(node, ast.FunctionDef) or len(returns) != 1 or returns[0] is not node.body[-1] or not isinstance(event.value, Array):
        return
    (statement,) = returns
    assert statement.value is not None
    stored = {
        part.value.id
        for part in ast.walk(node)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name)
    }
    parameters = [argument.arg for argument in node.args.args]
    outputs = [name for name in parameters if name not in stored and name.startswith("o")]
    if len(outputs) == 1 and not any(part.id == outputs[0] for part in ast.walk(node) if isinstance(part, ast.Name)):
        edit = code.cut(code.span(statement).start, code.span(statement.value).start, f"{outputs[0]}[...] = ")
        yield make(f"Store the value to `{outputs[0]}`", "safe", [edit])
    elif stored:
        yield make("Return nothing", "unsafe", [_without_line(code, statement)])


def _without_line(code: Code, statement: ast.stmt) -> Edit:
    """A statement is taken away with its line, where nothing else is on it."""
    source, span = code.module.source, code.span(statement)
    first, last = source.line_of(span.start), source.line_of(span.end)
    line = Span(source.line_span(first).start, source.line_span(last + 1).start if last + 1 < source.line_count else span.end)
    return code.cut(line.start, line.end) if source.slice(line).strip() == source.slice(span) else code.replace(statement, "return")
