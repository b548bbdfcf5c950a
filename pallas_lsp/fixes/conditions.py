"""Conditions as JAX can trace them: Python's ``and``, ``or``, ``not``, ``in`` and chains of comparisons as operations on arrays."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..text.span import Edit
from .code import NUMPY, Code

_PURE = (ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
_LITERAL = (ast.Tuple, ast.List, ast.Set)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as text. ``is_boolean``: it is a truth value for sure, no number; ``imports``: what the text needs; ``is_call``: it is
    one call."""

    text: str
    is_boolean: bool
    imports: tuple[Edit, ...] = ()
    is_call: bool = False

    @property
    def operand(self) -> str:
        """The text for an operator beside it."""
        return self.text if self.text.isidentifier() else f"({self.text})"


def traced(code: Code, node: ast.expr) -> Condition | None:
    """A condition without Python's questions for truth; None where it asks something that arrays do not answer."""
    if isinstance(node, ast.BoolOp):
        parts = [traced(code, value) for value in node.values]
        return (
            _joined(code, [part for part in parts if part is not None], "and" if isinstance(node.op, ast.And) else "or")
            if all(parts)
            else None
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negated(code, node.operand)
    if isinstance(node, ast.Compare):
        return _comparison(code, node)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "bool"
        and len(node.args) == 1
        and not node.keywords
    ):
        return traced(code, node.args[0])
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return Condition(code.text(node), is_boolean=True)
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp | ast.UnaryOp):
        return Condition(code.text(node), is_boolean=False)
    return None


def negated(code: Code, node: ast.expr) -> Condition | None:
    """The opposite of a condition."""
    inner, logical_not = traced(code, node), code.name(f"{NUMPY}.logical_not")
    if inner is None or logical_not is None:
        return None
    return Condition(f"{logical_not.text}({inner.text})", True, (*inner.imports, *logical_not.edits), is_call=True)


def _joined(code: Code, parts: Sequence[Condition], word: str) -> Condition | None:
    """Truth values are joined by ``&`` and ``|``, of numbers that would be another thing."""
    if all(part.is_boolean for part in parts):
        symbol = " & " if word == "and" else " | "
        return Condition(symbol.join(part.operand for part in parts), True, tuple(edit for part in parts for edit in part.imports))
    function = code.name(f"{NUMPY}.logical_{word}")
    if function is None:
        return None
    text = parts[0].text
    for part in parts[1:]:
        text = f"{function.text}({text}, {part.text})"
    return Condition(text, True, (*function.edits, *(edit for part in parts for edit in part.imports)), is_call=True)


def _comparison(code: Code, node: ast.Compare) -> Condition | None:
    """``a < b < c`` as two comparisons, ``x in (0, 1)`` as equalities."""
    if any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
        return None
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        return _membership(code, node)
    if len(node.ops) == 1:
        return Condition(code.text(node), is_boolean=True)
    operands = [node.left, *node.comparators]
    if any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops) or not all(map(is_pure, operands[1:-1])):
        return None
    texts = [code.text(operand) for operand in operands]
    pairs = zip(texts, node.ops, texts[1:], strict=False)
    return Condition(" & ".join(f"({left} {_SYMBOLS[type(operator)]} {right})" for left, operator, right in pairs), True)


_SYMBOLS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def _membership(code: Code, node: ast.Compare) -> Condition | None:
    choices = node.comparators[0]
    if len(node.ops) != 1 or not isinstance(choices, _LITERAL) or not choices.elts or not is_pure(node.left):
        return None
    if any(isinstance(choice, ast.Starred) for choice in choices.elts):
        return None
    symbol, word = ("==", " | ") if isinstance(node.ops[0], ast.In) else ("!=", " & ")
    value = code.text(node.left) if not isinstance(node.left, ast.BinOp | ast.BoolOp | ast.Compare) else f"({code.text(node.left)})"
    return Condition(word.join(f"({value} {symbol} {code.text(choice)})" for choice in choices.elts), True)


def is_pure(node: ast.expr) -> bool:
    """Whether an expression can be worked out twice, or without need: it has no effects, and loads from a ref at fixed places at most."""
    if isinstance(node, ast.Subscript):
        return is_pure(node.value) and all(isinstance(part, _FIXED) for part in ast.walk(node.slice))
    return isinstance(node, _PURE) and all(is_pure(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


_FIXED = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.USub, ast.expr_context)


def is_cheap(code: Code, node: ast.expr) -> bool:
    """Whether nothing happens when an expression is worked out without need: it calls functions of libraries and methods of values only."""
    for part in ast.walk(node):
        if isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await):
            return False
        if isinstance(part, ast.Subscript) and not is_pure(part):
            return False  # it may be out of bounds just where it is not needed
        if isinstance(part, ast.Call):
            known = code.qualified(part.func) or (part.func.attr if isinstance(part.func, ast.Attribute) else None)
            if known is None or known.rpartition(".")[2] in _EFFECTS:
                return False
    return True


_EFFECTS = frozenset(
    {"start", "wait", "set", "swap", "store", "pop", "append", "add", "update", "sync_copy", "async_copy", "when", "run_scoped"}
)
