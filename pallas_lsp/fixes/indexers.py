"""Indices that JAX refuses: slices with traced bounds, floats, masks of another shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access, IndexEntry, ViewEvent
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..shapes import dims
from ..shapes.dims import MaybeDim
from ..text.edits import wrap
from .access import written
from .code import NUMPY, PALLAS, Code
from .registry import fixes, make


@fixes("dynamic-python-slice")
def static_size(event: Access | ViewEvent, project: Project) -> Iterator[Fix]:
    """``start:stop`` whose size is static is ``pl.ds(start, size)``."""
    code, ds = Code(event.where.module), Code(event.where.module).name(f"{PALLAS}.ds")
    node = event.fault[2] if event.fault is not None else None
    found = _bounds(node) if node is not None else None
    if found is None or ds is None:
        return
    place, lower, upper = found
    size = dims.sub(_polynomial(code, upper), _polynomial(code, lower))
    if size is None or (isinstance(size, int) and size < 1):
        return
    text = f"{ds.text}({code.text(lower)}, {dims.render(size)})"
    yield make(f"Slice by `{text}`", "safe", ds.edits, [code.replace(place, text)])


def _bounds(node: ast.AST) -> tuple[ast.AST, ast.expr, ast.expr] | None:
    """A slice ``start:stop``, or the one call ``slice(start, stop)`` in an index, with its bounds."""
    if isinstance(node, ast.Slice):
        return (node, node.lower, node.upper) if node.lower is not None and node.upper is not None and node.step is None else None
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "slice"]
    calls = [call for call in calls if len(call.args) == 2 and not call.keywords]
    return (calls[0], calls[0].args[0], calls[0].args[1]) if len(calls) == 1 else None


def _polynomial(code: Code, node: ast.expr) -> MaybeDim:
    """A whole number as a polynomial over the names and calls in it, each of which stands for itself wherever it is written."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        left, right = _polynomial(code, node.left), _polynomial(code, node.right)
        if isinstance(node.op, ast.Mult):
            return dims.mul(left, right)
        return dims.add(left, right) if isinstance(node.op, ast.Add) else dims.sub(left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return dims.neg(_polynomial(code, node.operand))
    if isinstance(node, ast.Name):
        value = code.assigned(node)
        return _polynomial(code, value) if isinstance(value, ast.BinOp) else dims.symbol(node.id)
    return dims.symbol(code.text(node)) if isinstance(node, ast.Attribute | ast.Subscript | ast.Call) else None


@fixes("float-index")
def whole_index(event: Access, project: Project) -> Iterator[Fix]:
    """``/`` gives a float, ``//`` a whole number."""
    code = Code(event.where.module)
    entry = next((entry for entry in event.entries if entry.kind == "float"), None)
    if entry is None or not isinstance(entry.node, ast.expr):
        return
    exact = isinstance(entry.value, float) and entry.value.is_integer()
    applicability: Applicability = "safe" if exact else "unsafe"
    divided = code.assigned(entry.node) if isinstance(entry.node, ast.Name) else entry.node
    if isinstance(divided, ast.BinOp) and isinstance(divided.op, ast.Div):
        start, end = code.span(divided.left).end, code.span(divided.right).start
        operator = code.module.source.text.find("/", start, end)
        if operator >= 0:
            yield make("Divide by `//`", applicability, [code.cut(operator, operator + 1, "//")])
    elif isinstance(entry.node, ast.Constant) and exact:
        yield make("Write a whole number", "safe", [code.replace(entry.node, str(int(entry.value)))])
    yield from _converted(code, entry)


def _converted(code: Code, entry: IndexEntry) -> Iterator[Fix]:
    assert isinstance(entry.node, ast.expr)
    if isinstance(entry.value, Array):
        int32 = code.name(f"{NUMPY}.int32")
        if int32 is not None:
            edits = wrap(code.module.source, entry.node, "", f".astype({int32.text})")
            yield make("Convert the index to `int32`", "unsafe", int32.edits, edits)
    else:
        yield make("Convert the index by `int`", "unsafe", wrap(code.module.source, entry.node, "int(", ")"))


@fixes("mask-shape-mismatch")
def mask_of_the_values_shape(event: Access, project: Project) -> Iterator[Fix]:
    """A mask does not broadcast: say it."""
    code, call = Code(event.where.module), event.where.node
    mask = next((keyword.value for keyword in call.keywords if keyword.arg == "mask"), None) if isinstance(call, ast.Call) else None
    access = written(event)
    shape = access.shape_text() if access is not None else None
    if mask is None or shape is None:
        return
    function, prefix, suffix = ("full", f"{shape}, ", "") if isinstance(mask, ast.Constant) else ("broadcast_to", "", f", {shape}")
    named = code.name(f"{NUMPY}.{function}")
    if named is not None:
        edits = wrap(code.module.source, mask, f"{named.text}({prefix}", f"{suffix})")
        yield make("Broadcast the mask to the shape of the value", "safe", named.edits, edits)


