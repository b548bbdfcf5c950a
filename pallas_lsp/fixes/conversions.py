"""Traced values that Python or NumPy is to turn into numbers: they stay arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.operation_events import TracedAsStatic
from ..interpreter.values import Array
from ..resolve.canonical import public_names
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from .code import NUMPY, Code, as_operand
from .registry import Candidate, fixes, make

_OF_MATH = {
    "fabs": "abs", "pow": "power", "atan": "arctan", "atan2": "arctan2", "acos": "arccos", "asin": "arcsin", "acosh": "arccosh",
    "asinh": "arcsinh", "atanh": "arctanh",
}  # fmt: skip
_WHOLE = frozenset({"floor", "ceil", "trunc"})
"""Functions of ``math`` that give whole numbers, those of ``jnp`` give floats."""

_NOT_IN_NUMPY = frozenset(
    {"isqrt", "prod", "fsum", "dist", "comb", "perm", "factorial", "gcd", "lcm", "modf", "frexp", "fmod", "remainder"}
)


@fixes("traced-to-python-number")
def keep_the_array(event: TracedAsStatic, project: Project) -> Iterator[Candidate]:
    """``int(x)`` is a cast, ``x.item()`` is ``x``, ``math.f(x)`` is ``jnp.f(x)``."""
    code, call, value = Code(event.where.module), event.where.node, event.value
    if not isinstance(call, ast.Call) or not isinstance(value, Array) or call.keywords:
        return
    user = event.user.strip("`")
    if user in ("int", "float") and len(call.args) == 1:
        yield tuple(_cast(code, call, value, "int32" if user == "int" else "float32"))
    elif user == ".item()" and isinstance(call.func, ast.Attribute) and not call.args:
        holder = code.span(call.func.value).end
        yield make("Keep it an array", "safe", [code.cut(holder, code.span(call).end)])
    elif user.startswith("math."):
        yield from _of_jnp(code, call, user.removeprefix("math."))


def _cast(code: Code, call: ast.Call, value: Array, dtype: str) -> Iterator[Fix]:
    """``int`` cuts the fraction off, as ``astype`` does."""
    if value.dtype == dtype:
        edits = code.rewrite(call, *as_operand(call.args[0]))
        if edits is not None:
            yield make("Keep it an array", "safe", edits)
    named = code.name(f"{NUMPY}.{dtype}")
    edits = code.rewrite(call, *as_operand(call.args[0]), f".astype({named.text})") if named is not None else None
    if named is not None and edits is not None:
        yield make(f"Cast to {dtype}", "safe", named.edits, edits)


def _of_jnp(code: Code, call: ast.Call, short: str) -> Iterator[Fix]:
    named, int32 = code.name(f"{NUMPY}.{_OF_MATH.get(short, short)}"), code.name(f"{NUMPY}.int32")
    if named is None or int32 is None or short in _NOT_IN_NUMPY or _OF_MATH.get(short, short) not in public_names(NUMPY):
        return
    whole = [*int32.edits, code.after(call, f".astype({int32.text})")] if short in _WHOLE else []
    yield make(f"Use `{named.text}`", "safe", named.edits, [code.replace(call.func, named.text)], whole)


@fixes("traced-to-numpy")
def function_of_jnp(event: TracedAsStatic, project: Project) -> Iterator[Fix]:
    """The function of ``jnp`` of the same name."""
    code, call = Code(event.where.module), event.where.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return
    named = code.name(f"{NUMPY}.{call.func.attr}")
    if named is not None and call.func.attr in public_names(NUMPY):
        yield make(f"Use `{named.text}`", "safe", named.edits, [code.replace(call.func, named.text)])
