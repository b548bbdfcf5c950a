"""What a kernel does at its edges: what it returns, captures, counts from the end or waits for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.call_events import Captured, Returned
from ..interpreter.events import Access
from ..interpreter.operation_events import CopyStep
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..text.span import Edit, Span
from .code import NUMPY, Code
from .registry import fixes, make
from .scopes import bound_names


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
    outputs = [argument.arg for argument in node.args.args if argument.arg.startswith("o")]
    unused = [name for name in outputs if _is_asked_only(code, name, node)]
    if len(unused) == 1:
        edit = code.cut(code.span(statement).start, code.span(statement.value).start, f"{unused[0]}[...] = ")
        yield make(f"Store the value to `{unused[0]}`", "safe", [edit])
    elif outputs and not unused:
        yield make("Return nothing", "unsafe", [_without_line(code, statement)])


def _is_asked_only(code: Code, name: str, function: ast.FunctionDef) -> bool:
    """Whether a function does nothing with a ref but ask for its shape or dtype."""
    attributes = (part for part in ast.walk(function) if isinstance(part, ast.Attribute))
    asked = [part.value for part in attributes if part.attr in ("shape", "dtype", "ndim", "size")]
    return all(use in asked for use in code.uses(name, function))


def _without_line(code: Code, statement: ast.stmt) -> Edit:
    """A statement is taken away with its line, where nothing else is on it."""
    source, span = code.module.source, code.span(statement)
    first, last = source.line_of(span.start), source.line_of(span.end)
    line = Span(source.line_span(first).start, source.line_span(last + 1).start if last + 1 < source.line_count else span.end)
    return code.cut(line.start, line.end) if source.slice(line).strip() == source.slice(span) else code.replace(statement, "return")


_MADE = frozenset({"array", "asarray", "ones", "zeros", "full", "arange", "eye", "float32", "int32", "bfloat16"})


@fixes("kernel-captures-array")
def make_it_in_the_kernel(event: Captured, project: Project) -> Iterator[Fix]:
    """An array that is made of literals outside is made of them inside, by ``jnp``."""
    from ..rules.kernel_functions import used

    code, name = Code(event.where.module), used(event)
    scope = code.functions(name)
    value = _definition(code, name) if isinstance(name, ast.Name) else None
    if not isinstance(name, ast.Name) or value is None or not scope or not isinstance(value.func, ast.Attribute):
        return
    made = code.name(f"{NUMPY}.{value.func.attr}")
    if value.func.attr not in _MADE or made is None or not all(map(_is_plain, value.args + [k.value for k in value.keywords])):
        return
    arguments = code.text(value)[len(code.text(value.func)) :]
    uses = [use for use in code.uses(name.id, scope[-1]) if not code.span(value).covers(code.span(use))]
    yield make(f"Make `{name.id}` in the kernel", "safe", made.edits, [code.replace(use, f"{made.text}{arguments}") for use in uses])


def _definition(code: Code, name: ast.Name) -> ast.Call | None:
    """The call that a variable is worth, where it is bound once: in the function around, or in the file."""
    value = code.assigned(name)
    if value is None:
        bindings = [node for node in code.module.parsed.tree.body if isinstance(node, ast.Assign) and name.id in bound_names(node)]
        value = bindings[0].value if len(bindings) == 1 and isinstance(bindings[0].targets[0], ast.Name) else None
    return value if isinstance(value, ast.Call) else None


def _is_plain(node: ast.expr) -> bool:
    """Whether an argument is the same wherever it is written: numbers, and names of a module."""
    if isinstance(node, ast.Tuple):
        return all(map(_is_plain, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_plain(node.operand)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
