"""Python loops over traced numbers, and what goes round in loops of JAX."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..interpreter.operation_events import LoopCarry, TracedAsStatic
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..shapes import dtypes
from ..text.edits import code_characters, remove_argument, wrap
from .code import LAX, NUMPY, Code
from .registry import fixes, make
from .scopes import bound_names, is_bound_before, is_closed, mentions, shares_names


@fixes("traced-as-python-index")
def loop_of_jax(event: TracedAsStatic, project: Project) -> Iterator[Fix]:
    """``for i in range(n)`` as a ``lax.fori_loop`` whose carry is what the body goes on with."""
    code, call = Code(event.where.module), event.where.node
    loop = code.around(call)[0]
    if not isinstance(call, ast.Call) or not isinstance(loop, ast.For) or not code.same(loop.iter, call) or loop.orelse:
        return
    bounds, carried, indentation = _bounds(code, call), _carried(code, loop), code.indentation(loop)
    function, fori_loop = code.fresh(loop, "body", "loop_body", "step"), code.name(f"{LAX}.fori_loop")
    if bounds is None or carried is None or indentation is None or function is None or fori_loop is None or not is_closed(loop.body):
        return
    assert isinstance(loop.target, ast.Name)
    source, newline = code.module.source, code.module.source.newline
    start, first, last = code.span(loop).start, code.span(loop.body[0]).start, code.span(loop.body[-1]).end
    colon = next(at for at, char in code_characters(source.text, code.span(call).end, first) if char == ":")
    inside = (
        "".join(indentation)
        if source.line_of(colon) == source.line_of(first)
        else source.text[source.line_span(source.line_of(first)).start : first]
    )
    if "#" in source.text[start:colon] or inside.strip():
        return
    head = f"def {function}({loop.target.id}, {carried.parameter}):"
    unpacked = f"{newline}{inside}{carried.names} = {carried.parameter}" if carried.is_tuple else ""
    given = f"{newline}{inside}return {carried.names}" if carried.names else ""
    kept = f"{carried.names} = " if carried.names else ""
    called = f"{newline}{indentation[0]}{kept}{fori_loop.text}({bounds}, {function}, {carried.start})"
    edits = [code.cut(start, colon + 1, head)]
    if source.line_of(colon) == source.line_of(first):
        edits.append(code.cut(colon + 1, first, f"{unpacked}{newline}{inside}"))
    elif unpacked:
        line_end = source.line_span(source.line_of(colon)).end
        edits.append(code.cut(line_end, line_end, unpacked))
    end = source.line_span(source.line_of(last)).end
    edits.append(code.cut(end, end, given + called))
    yield make(f"Loop by `{fori_loop.text}`", "safe", fori_loop.edits, edits)


@dataclass(frozen=True, slots=True)
class _Carry:
    """What goes round: ``names`` as text, the ``parameter`` of the body, and the ``start`` value."""

    names: str
    parameter: str
    start: str
    is_tuple: bool = False


def _bounds(code: Code, call: ast.Call) -> str | None:
    arguments = call.args
    if call.keywords or not 1 <= len(arguments) <= 3 or any(isinstance(argument, ast.Starred) for argument in arguments):
        return None
    if len(arguments) == 3 and not (isinstance(arguments[2], ast.Constant) and arguments[2].value == 1):
        return None
    texts = [code.text(argument) for argument in arguments[:2]]
    return ", ".join(["0", *texts] if len(texts) == 1 else texts)


def _carried(code: Code, loop: ast.For) -> _Carry | None:
    """The variables that a body goes on with, or that are used behind the loop; None where that is not certain."""
    scope = code.functions(loop)
    if not isinstance(loop.target, ast.Name) or not scope or shares_names(scope[0]):
        return None
    names, inside, index = bound_names(*loop.body), code.span(loop), loop.target.id
    again = any(isinstance(holder, ast.For | ast.While) for holder in code.around(loop))
    carried = []
    for name in sorted(names | {index}, key=lambda name: min(code.span(place).start for place in mentions(loop, {name}))):
        outside = [place for place in mentions(scope[0], {name}) if not inside.covers(code.span(place))]
        later = any(again or code.span(place).start > inside.end for place in outside)
        if name == index and (later or index in names):
            return None
        if name != index and is_bound_before(code, name, loop):
            carried.append(name)
        elif later:
            return None
    text = ", ".join(carried)
    if not carried:
        return _Carry("", code.fresh(loop, "_", "carry") or "unused", "None")
    if len(carried) == 1:
        return _Carry(text, text, text)
    return _Carry(text, code.fresh(loop, "carry", "state") or "carried", f"({text})", is_tuple=True)


@fixes("unroll-needs-static-bounds")
def without_unrolling(event: TracedAsStatic, project: Project) -> Iterator[Fix]:
    """A loop whose bounds are not known is not unrolled."""
    code, call = Code(event.where.module), event.where.node
    unroll = next((keyword for keyword in call.keywords if keyword.arg == "unroll"), None) if isinstance(call, ast.Call) else None
    if isinstance(call, ast.Call) and unroll is not None:
        yield make("Leave `unroll` out", "safe", [remove_argument(code.module.source, call, unroll)])


@fixes("loop-carry-mismatch")
def fitting_start(event: LoopCarry, project: Project) -> Iterator[Fix]:
    """The start value gets the dtype that the body gives back; a body without a ``return`` gives back its carry."""
    code, call = Code(event.where.module), event.where.node
    start = _start_value(code, call) if isinstance(call, ast.Call) else None
    before, after = event.before, event.after
    if start is None:
        return
    if event.kind == "structure" and after is None and isinstance(call, ast.Call):
        yield from _returned(code, call)
    if event.kind != "type" or not isinstance(after, Array) or after.dtype is None or isinstance(start, ast.Tuple | ast.List | ast.Dict):
        return
    shape = getattr(before, "shape", ())
    if isinstance(start, ast.Constant) and after.shape == () and dtypes.is_floating(after.dtype) and isinstance(start.value, int):
        yield make(f"Start with {float(start.value)!r}", "safe", [code.replace(start, repr(float(start.value)))])
    elif shape == after.shape and isinstance(before, Array) and not isinstance(start, ast.Constant):
        named = code.name(f"{NUMPY}.{after.dtype}")
        if named is not None and before.dtype != after.dtype:
            wider = _is_wider(before.dtype, after.dtype)
            cast = wrap(code.module.source, start, "", f".astype({named.text})")
            yield make(f"Start with {after.dtype}", "safe" if wider else "unsafe", named.edits, cast)
    elif isinstance(start, ast.Constant) and after.shape and all(isinstance(size, int) for size in after.shape):
        full, dtype = code.name(f"{NUMPY}.full"), code.name(f"{NUMPY}.{after.dtype}")
        if full is not None and dtype is not None:
            sizes = f"({', '.join(map(str, after.shape))}{',' if len(after.shape) == 1 else ''})"
            made = code.replace(start, f"{full.text}({sizes}, {code.text(start)}, {dtype.text})")
            yield make("Start with an array of the shape that the body gives back", "safe", full.edits, dtype.edits, [made])


def _is_wider(old: str | None, new: str) -> bool:
    return (
        old is not None and (dtypes.bits(new) or 0) >= (dtypes.bits(old) or 64) and (dtypes.is_floating(new) or not dtypes.is_floating(old))
    )


def _start_value(code: Code, call: ast.Call) -> ast.expr | None:
    """The start value of a loop as it is written."""
    name, position, keyword = {
        "fori_loop": ("fori_loop", 3, "init_val"), "while_loop": ("while_loop", 2, "init_val"), "scan": ("scan", 1, "init"),
    }.get((code.qualified(call.func) or "").removeprefix(f"{LAX}."), ("", 0, ""))  # fmt: skip
    if not name or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    given = next((k.value for k in call.keywords if k.arg == keyword), None)
    return call.args[position] if len(call.args) > position else given


def _returned(code: Code, call: ast.Call) -> Iterator[Fix]:
    """``return carry`` at the end of the body, where it only passes its carry on."""
    short = (code.qualified(call.func) or "").removeprefix(f"{LAX}.")
    position, parameter = {"fori_loop": (2, 1), "while_loop": (1, 0)}.get(short, (None, 0))
    body = call.args[position] if position is not None and len(call.args) > position else None
    value = next((node for node in code.module.parsed.tree.body), None) if body is None else body
    definition = _definition(code, value) if isinstance(value, ast.Name) else None
    if definition is None or len(definition.args.args) <= parameter or not is_closed(definition.body):
        return
    name, source = definition.args.args[parameter].arg, code.module.source
    last = definition.body[-1]
    line_end = source.line_span(source.line_of(code.span(last).end)).end
    indentation = code.indentation(definition.body[0])
    if indentation is None or any(isinstance(node, ast.Return) for node in ast.walk(definition)):
        return
    unchanged = name not in bound_names(*definition.body)
    edit = code.cut(line_end, line_end, f"{source.newline}{indentation[0]}return {name}")
    yield make(f"Return `{name}`", "safe" if unchanged else "unsafe", [edit])


def _definition(code: Code, name: ast.Name) -> ast.FunctionDef | None:
    """The one function of this name in the function around, or in the file."""
    for scope in (*code.functions(name), code.module.parsed.tree):
        found = [node for node in ast.walk(scope) if isinstance(node, ast.FunctionDef) and node.name == name.id]
        if found:
            return found[0] if len(found) == 1 else None
    return None
