"""Where in the text the parts of a kernel call are: arguments of a spec, what an index map returns, a function's parameters."""

from __future__ import annotations

import ast

from ..interpreter.modules import ModuleFile
from ..interpreter.values import BlockSpec, Function, SpecOrigin
from ..text.span import Location, Span


def of_origin(origin: SpecOrigin) -> Location:
    """The whole expression that made a spec or a scratch entry."""
    return _of(origin.module, origin.node)


def of_argument(origin: SpecOrigin, position: int, name: str) -> Location:
    """An argument of the call that made a spec, where it is written there; else the call."""
    node = argument(origin.node, position, name)
    return _of(origin.module, node if node is not None else origin.node)


def argument(call: ast.AST, position: int, name: str) -> ast.expr | None:
    """The expression of an argument of a call, None where the call does not write it out."""
    if not isinstance(call, ast.Call) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    if position < len(call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def of_block_dim(spec: BlockSpec, axis: int) -> Location:
    """A dim of a block shape, where it is written out in the spec; else the block shape, else the spec."""
    shape = argument(spec.origin.node, 0, "block_shape")
    if isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) > axis and not any(isinstance(e, ast.Starred) for e in shape.elts):
        return _of(spec.origin.module, shape.elts[axis])
    return of_argument(spec.origin, 0, "block_shape")


def of_returned(function: Function, index: int | None = None) -> Location:
    """What a function returns: its one returned expression (or entry ``index`` of it), else its header."""
    returned = returned_expression(function, index)
    return _of(function.module, returned) if returned is not None else of_header(function)


def returned_expression(function: Function, index: int | None = None) -> ast.AST | None:
    """The one expression that a function returns (or entry ``index`` of it), its ``return`` where that has none; None for several."""
    node = function.node
    if isinstance(node, ast.Lambda):
        returned: ast.AST = node.body
    else:
        found = own_returns(node)
        if len(found) != 1:
            return None
        returned = found[0].value or found[0]
    if index is not None and isinstance(returned, ast.Tuple | ast.List) and index < len(returned.elts):
        return returned.elts[index]
    return returned


def own_returns(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Return]:
    """The ``return`` statements of a function itself, not of one nested in it."""
    found: list[ast.Return] = []
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop(0)
        if isinstance(part, ast.Return):
            found.append(part)
        elif not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending = [*ast.iter_child_nodes(part), *pending]
    return found


def of_header(function: Function) -> Location:
    """The name in a ``def``, or the whole ``lambda``."""
    whole = _of(function.module, function.node)
    if isinstance(function.node, ast.Lambda):
        return whole
    start = function.module.source.text.find(function.name, whole.span.start)
    return Location(whole.path, Span(start, start + len(function.name))) if start >= 0 else whole


def of_parameter(function: Function, name: str) -> Location:
    """A parameter of a function."""
    spec = function.node.args
    parameters = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    found = next((p for p in parameters if p.arg == name), None)
    return _of(function.module, found) if found is not None else of_header(function)


def _of(module: ModuleFile, node: ast.AST) -> Location:
    return Location(module.path, module.source.span_of(node))
