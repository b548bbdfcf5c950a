"""Arguments of a kernel call, and of its parts, that are one thing for a list of it, a float for a whole number, an offset for a block."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.call_events import Options, Window
from ..interpreter.events import Access, CallFault
from ..interpreter.values import Array, DynamicSlice
from ..kernels.parameters import field_of
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..rules.places import returned_expression
from ..text.edits import operator_between, wrap
from ..text.span import Edit
from .code import Code
from .registry import Candidate, fixes, make


@fixes("in-specs-not-sequence", "scratch-not-sequence")
def list_of_one(event: CallFault, project: Project) -> Iterator[Fix]:
    """One spec, or one scratch buffer, in a list."""
    code, node = Code(event.where.module), event.where.node
    if isinstance(node, ast.Call | ast.Name | ast.Attribute) and event.detail is not None:
        yield make("Write a list of one", "safe", wrap(code.module.source, node, "[", "]"))


@fixes("grid-not-int")
def whole_sizes(event: CallFault, project: Project) -> Iterator[Fix]:
    """A size of a grid is divided by ``//``."""
    code, node = Code(event.where.module), event.where.node
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    sizes = event.detail if isinstance(event.detail, tuple | list) else (event.detail,)
    exact = all(not isinstance(size, float) or size.is_integer() for size in sizes)
    edits = [floor_division(code, part) for part in parts if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)]
    if edits:
        yield make("Divide by `//`", "safe" if exact else "unsafe", edits)


@fixes("vmem-limit-not-int", "cost-estimate-not-int")
def whole_number(event: CallFault | Options, project: Project) -> Iterator[Fix]:
    """A float that is a whole number is made one by ``int``."""
    code, node = Code(event.where.module), event.where.node
    value = event.detail[1] if isinstance(event, CallFault) else field_of(event.parameters, "vmem_limit_bytes")
    if isinstance(event, Options) and isinstance(node, ast.Call):
        parts = [keyword.value for keyword in ast.walk(node) if isinstance(keyword, ast.keyword) and keyword.arg == "vmem_limit_bytes"]
        node = parts[0] if len(parts) == 1 else node
    if isinstance(node, ast.expr) and isinstance(value, float) and not isinstance(node, ast.Call):
        safe: Applicability = "safe" if value.is_integer() else "unsafe"
        yield make("Make it an int", safe, wrap(code.module.source, node, "int(", ")"))


def floor_division(code: Code, node: ast.BinOp) -> Edit:
    """``/`` as ``//``."""
    operator = operator_between(code.module.source, node.left, node.right)
    return code.cut(operator.start, operator.end, "//")


@fixes("index-map-non-int")
def whole_block(event: Window, project: Project) -> Iterator[Fix]:
    """The number of a block is divided by ``//``."""
    index = event.fault[1][0] if event.fault is not None else 0
    node = returned_expression(event.result.function, index) if event.result is not None else None
    if event.result is not None and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield make("Divide by `//`", "unsafe", [floor_division(Code(event.result.function.module), node)])


@fixes("index-map-element-offset")
def number_of_the_block(event: Window, project: Project) -> Iterator[Candidate]:
    """``i * size`` is an offset, ``i`` the number of the block."""
    if event.result is None:
        return
    code = Code(event.result.function.module)
    for index in range(len(event.result.formula or ())):
        node = returned_expression(event.result.function, index)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            ways = (code.rewrite(node, part) for part in (node.left, node.right))
            yield tuple(make("Return the number of the block", "unsafe", edits) for edits in ways if edits is not None)


@fixes("constant-slice-start")
def plain_start(event: Access, project: Project) -> Iterator[Fix]:
    """A start that is known is written as the number it is."""
    code = Code(event.where.module)
    for entry in event.entries:
        start, call = (entry.value.start if isinstance(entry.value, DynamicSlice) else None), entry.node
        if isinstance(start, Array) and isinstance(start.constant, int) and isinstance(call, ast.Call) and call.args:
            yield make(f"Start at {start.constant}", "safe", [code.replace(call.args[0], str(start.constant))])
            return
