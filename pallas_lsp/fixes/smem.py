"""A vector that is loaded from or stored to SMEM: the index goes down to a scalar, or the ref moves to VMEM."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..shapes import dtypes
from ..text.edits import remove_argument, wrap
from ..text.span import Edit
from .access import Written, written
from .code import NUMPY, Code
from .registry import Candidate, fixes, make
from .scalars import reduction
from .spaces import to_vmem

_LONGEST_STACK = 64


@fixes("load-vector-from-smem")
def vector_from_smem(event: Access, project: Project) -> Iterator[Candidate]:
    """Load the scalar that is meant, or keep the ref until it is indexed; else load from VMEM, or one scalar after the other."""
    access = written(event)
    to_elsewhere = to_vmem(event.ref.root)
    if access is None:
        yield from to_elsewhere
        return
    statement = access.code.statement(event.where.node)
    if isinstance(statement, ast.AugAssign) and access.code.span(statement.target) == access.code.span(event.where.node):
        yield (*_scalar_store(access, statement.value, None), *to_elsewhere)
    else:
        yield (*_indexed_twice(access), *_kept_as_ref(access), *_down_to_scalar(access), *to_elsewhere, *_stacked(access))


@fixes("store-vector-to-smem")
def vector_to_smem(event: Access, project: Project) -> Iterator[Candidate]:
    """Store the scalar that is meant; else store to VMEM, or one scalar after the other."""
    access = written(event)
    if access is None:
        yield from to_vmem(event.ref.root)
        return
    rank = len(event.value.shape) if isinstance(event.value, Array) and event.value.shape is not None else None
    scalar = _scalar_store(access, access.value, rank if event.api != "augmented" else None)
    yield (*scalar, *to_vmem(event.ref.root), *scalar_loop(access))


def _indexed_twice(access: Written) -> Iterator[Fix]:
    """``s[...][i]`` and ``s[0][1]``: one index instead of two."""
    code, node = access.code, access.event.where.node
    outer = code.around(node)[0]
    if not (isinstance(node, ast.Subscript) and isinstance(outer, ast.Subscript) and code.span(outer.value) == code.span(node)):
        return
    entries = outer.slice.elts if isinstance(outer.slice, ast.Tuple) else [outer.slice]
    inner = [code.text(axis.part) for axis in access.dims if not axis.kept and isinstance(axis.part, ast.expr)]
    leading = all(not axis.kept for axis in access.dims[: len(inner)])
    if not leading or len(inner) + len(entries) != len(access.dims):
        return
    start = code.span(access.holder).end
    if not inner:
        yield make(f"Index `{access.holder_text}` itself", "safe", [code.cut(start, code.span(node).end)])
        return
    index = ", ".join([*inner, *(code.text(entry) for entry in entries)])
    yield make(f"Index `{access.holder_text}` once", "safe", [code.cut(start, code.span(outer).end, f"[{index}]")])


def _down_to_scalar(access: Written) -> Iterator[Fix]:
    """An integer for every dim, where there is one element only."""
    parts, node = access.integers(), access.event.where.node
    if parts is None:
        return
    title = f"Load the one scalar of `{access.holder_text}`" if access.is_unit() else f"Load one scalar of `{access.holder_text}`"
    edits = access.write_index(parts)
    if edits is None and isinstance(node, ast.Call) and all(isinstance(part, str) for part in parts):
        edits = (access.code.replace(node, f"{access.holder_text}[{', '.join(map(str, parts))}]"),)
    if edits is not None:
        yield make(title, "safe", edits)


def _kept_as_ref(access: Written) -> Iterator[Fix]:
    """``s = s_ref[...]`` of which only items are used: ``s = s_ref``, so that the items are scalar loads."""
    code, node = access.code, access.event.where.node
    statement = code.statement(node)
    if not access.is_whole or not (isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1):
        return
    target, functions = statement.targets[0], code.functions(node)
    if not isinstance(target, ast.Name) or not functions or not isinstance(node, ast.Subscript):
        return
    uses = list(code.uses(target.id, functions[0]))
    indexed = [part.value for part in ast.walk(functions[0]) if isinstance(part, ast.Subscript)]
    if uses and all(use in indexed for use in uses):
        read_only = code.only_reads(access.holder, node)
        edit = code.cut(code.span(access.holder).end, code.span(node).end)
        yield make(f"Keep the ref in `{target.id}`: its items are loaded where they are used", "safe" if read_only else "unsafe", [edit])


def _stacked(access: Written) -> Iterator[Fix]:
    """A short row of scalars, loaded one by one and stacked."""
    code, node = access.code, access.event.where.node
    stack, size = code.name(f"{NUMPY}.stack"), access.event.where.facts.resolve(access.dims[0].taken) if access.dims else None
    if stack is None or len(access.dims) != 1 or not access.is_whole or access.is_unit() or isinstance(code.around(node)[0], ast.Subscript):
        return
    if isinstance(size, int) and size > _LONGEST_STACK:
        return
    name, index = access.holder_text, code.unused_name(node)
    if index is not None:
        text = f"{stack.text}([{name}[{index}] for {index} in range({name}.shape[0])])"
        edits = (*stack.edits, code.replace(node, text))
        yield make(f"Load the scalars of `{name}` one by one and stack them", "safe" if isinstance(size, int) else "unsafe", edits)


def _scalar_store(access: Written, value: ast.expr | None, rank: int | None) -> Iterator[Fix]:
    """Store the one scalar there is. ``rank``: of the stored vector, None for what is added to a ref, which may be a scalar."""
    parts = access.integers()
    index = access.write_index(parts) if parts is not None else None
    if index is None or value is None:
        return
    title = f"Store one scalar to `{access.holder_text}`"
    yield from (make(title, "safe", index, scalar) for scalar in _scalars(access, value, rank))


def _scalars(access: Written, value: ast.expr, rank: int | None) -> Iterator[tuple[Edit, ...]]:
    """The edits that make a scalar of a vector of one element, by how it is written."""
    code = access.code
    call = reduction(code, value)
    kept = next((keyword for keyword in call.keywords if keyword.arg == "keepdims"), None) if call is not None else None
    constant = constant_of(access, value)
    if call is not None and kept is not None and _reduces_all(code, call):
        yield (remove_argument(code.module.source, call, kept),)
    if constant is not None:
        yield (code.replace(value, constant),)
    if rank is None:
        yield ()
    yield wrap(code.module.source, value, "", f"[{', '.join('0' * (rank or len(access.dims)))}]")


def _reduces_all(code: Code, call: ast.Call) -> bool:
    positional = 0 if code.qualified(call.func) is None else 1
    return not any(keyword.arg == "axis" for keyword in call.keywords) and len(call.args) <= positional


_NUMBERS = {"zeros": 0, "zeros_like": 0, "ones": 1, "ones_like": 1}


def constant_of(access: Written, value: ast.expr) -> str | None:
    """The number that an array is filled with, as text of the ref's dtype; None where it is no ``jnp.zeros``, ``ones`` or ``full``."""
    code, dtype = access.code, access.event.ref.dtype
    qualified = code.qualified(value.func) if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or qualified is None or not qualified.startswith(f"{NUMPY}.") or dtype is None:
        return None
    short = qualified.rpartition(".")[2]
    if short in ("full", "full_like") and len(value.args) > 1:
        return code.text(value.args[1])
    if short not in _NUMBERS:
        return None
    number = _NUMBERS[short]
    if dtype == "bool":
        return str(bool(number))
    return f"{number}.0" if dtypes.is_floating(dtype) else str(number)


def scalar_loop(access: Written) -> Iterator[Fix]:
    """A row of equal scalars, stored in a loop that is unrolled when the kernel is traced."""
    code, node = access.code, access.event.where.node
    size = access.event.where.facts.resolve(access.dims[0].taken) if access.dims else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or len(access.dims) != 1 or not access.is_whole or access.value is None:
        return
    if isinstance(size, int) and size > _LONGEST_STACK:
        return
    scalar = constant_of(access, access.value) if not isinstance(access.value, ast.Constant) else code.text(access.value)
    if scalar is None:
        return
    name, index, indentation = access.holder_text, code.unused_name(node), code.indentation(node)
    if index is not None and indentation is not None:
        outer, inner = indentation
        loop = f"for {index} in range({name}.shape[0]):{code.module.source.newline}{outer}{inner}{name}[{index}] = {scalar}"
        yield make(f"Store to `{name}` one scalar after the other", "safe", [code.replace(node, loop)])
