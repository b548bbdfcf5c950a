"""Names that a JAX no longer has, and functions that have no TPU lowering, written as today."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access, RemovedName
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..text.span import Edit
from .code import NUMPY, PALLAS, TPU, Code, as_operand
from .registry import fixes, make

_TODAY = {
    f"{TPU}.ANY": f"{PALLAS}.ANY",
    f"{TPU}.TPUMemorySpace": f"{TPU}.MemorySpace",
    f"{TPU}.TPUCompilerParams": f"{TPU}.CompilerParams",
}


@fixes("removed-api")
def todays_name(event: RemovedName, project: Project) -> Iterator[Fix]:
    """The name that took its place, or the statement that does what it did."""
    code, node = Code(event.where.module), event.where.node
    today = _TODAY.get(f"{event.module}.{event.name}")
    if today is not None:
        named = code.name(today)
        if named is not None:
            yield make(f"Use `{named.text}`", "safe", named.edits, [code.replace(node, named.text)])
    call = code.around(node)[0]
    if event.module == PALLAS and isinstance(call, ast.Call) and call.func is node:
        yield from _old_access(code, call, event.name)
    if event.module == TPU and event.name == "repeat" and isinstance(call, ast.Call) and call.func is node:
        yield from _repeated(code, call)


def _repeated(code: Code, call: ast.Call) -> Iterator[Fix]:
    """``pltpu.repeat(x, n, axis)`` laid copies of the array side by side."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("repeats", "axis"))]
    concatenate = code.name(f"{NUMPY}.concatenate")
    if len(given) != 3 or len(call.args) + len(call.keywords) != 3 or concatenate is None or any(isinstance(a, ast.Starred) for a in given):
        return
    x, count, axis = given
    edits = code.rewrite(call, f"{concatenate.text}([", x, "] * ", *as_operand(count), ", axis=", axis, ")")
    if edits is not None:
        yield make(f"Use `{concatenate.text}`", "safe", concatenate.edits, edits)


def _old_access(code: Code, call: ast.Call, name: str) -> Iterator[Fix]:
    """``pl.load``, ``pl.store`` and ``pl.swap`` took the ref, the index and the value."""
    count = {"load": 2, "store": 3, "swap": 3}.get(name)
    if count != len(call.args) or any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    ref, index = code.text(call.args[0]), _index_text(code, call.args[1])
    keywords = {keyword.arg: code.text(keyword.value) for keyword in call.keywords}
    if index is None or not keywords.keys() <= {"mask"}:
        return
    if "mask" in keywords:
        pltpu = code.name(f"{TPU}.{name}")
        if pltpu is not None and name != "swap":
            view = ref if index == "..." else f"{ref}.at[{index}]"
            values = [code.text(argument) for argument in call.args[2:]]
            arguments = ", ".join([view, *values, f"mask={keywords['mask']}"])
            yield make(f"Use `{pltpu.text}`", "safe", pltpu.edits, [code.replace(call, f"{pltpu.text}({arguments})")])
        return
    if name == "load":
        yield make(f"Load by `{ref}[...]`", "safe", [code.replace(call, f"{ref}[{index}]")])
    elif name == "store" and code.is_discarded(call):
        yield make(f"Store by `{ref}[...] = ...`", "safe", _assignment(code, call, f"{ref}[{index}] = ", call.args[2]))
    elif name == "swap":
        where = "" if index == "..." else f", {code.text(call.args[1])}"
        yield make(f"Swap by `{ref}.swap`", "safe", [code.replace(call, f"{ref}.swap({code.text(call.args[2])}{where})")])


def _assignment(code: Code, call: ast.Call, target: str, value: ast.expr) -> list[Edit]:
    """The call as an assignment of one of its arguments, which keeps its layout."""
    span, kept = code.span(call), code.span(value)
    text = code.text(value)
    if "\n" in text and not text.endswith((")", "]", "}")):
        return [code.replace(call, f"{target}({text})")]
    return [code.cut(span.start, kept.start, target), code.cut(kept.end, span.end)]


def _index_text(code: Code, node: ast.expr) -> str | None:
    """An index argument as it stands between brackets."""
    entries = node.elts if isinstance(node, ast.Tuple) else [node]
    if any(isinstance(entry, ast.Starred) for entry in entries):
        return None
    texts = [_entry(code, entry) for entry in entries]
    return ", ".join(texts) if any(text not in (":", "...") for text in texts) else "..."


def _entry(code: Code, node: ast.expr) -> str:
    """``slice(a, b)`` as ``a:b``; anything else as it is."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "slice") or node.keywords:
        return code.text(node)
    bounds = ["" if isinstance(bound, ast.Constant) and bound.value is None else code.text(bound) for bound in node.args]
    return ":".join(["", *bounds] if len(bounds) == 1 else bounds)


@fixes("addupdate-not-lowered")
def augmented(event: Access, project: Project) -> Iterator[Fix]:
    """``ref[...] += value`` does the same."""
    code, call = Code(event.where.module), event.where.node
    if not isinstance(call, ast.Call) or not code.is_discarded(call) or call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return
    if event.api == "method" and isinstance(call.func, ast.Attribute) and len(call.args) in (1, 2):
        ref, value, index = call.func.value, call.args[0], call.args[1] if len(call.args) == 2 else None
    elif event.api == "jax.ref" and len(call.args) == 3:
        ref, index, value = call.args
    else:
        return
    whole = index is None or (isinstance(index, ast.Constant) and index.value in (None, Ellipsis))
    text = "..." if whole or index is None else _index_text(code, index)
    if text is not None:
        yield make(f"Write `{code.text(ref)}[...] +=`", "safe", _assignment(code, call, f"{code.text(ref)}[{text}] += ", value))
