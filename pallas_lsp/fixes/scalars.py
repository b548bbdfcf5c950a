"""A scalar that is stored to VMEM: it becomes a vector of one element, or of the ref's shape, or the ref moves to SMEM."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..text.edits import insert_keyword
from ..text.span import Edit
from .access import FULL, One, Written, written
from .code import NUMPY, Code
from .registry import Candidate, fixes, make
from .spaces import to_smem

_REDUCTIONS = frozenset(
    {"sum", "max", "min", "amax", "amin", "mean", "prod", "any", "all", "var", "std", "argmax", "argmin", "nansum", "nanmax", "nanmin"}
)


@fixes("store-scalar-to-vmem", "swap-scalar-to-vmem")
def scalar_to_vmem(event: Access, project: Project) -> Iterator[Candidate]:
    """Scratch is best moved to SMEM, where all its scalar stores are right; an output of one element is best stored as a whole."""
    yield from ways_out(event, written(event))


def ways_out(event: Access, access: Written | None) -> tuple[tuple[Fix, ...], ...]:
    """The groups of fixes for a scalar store, better ones first."""
    vectors = tuple(_vectors(access)) if access is not None else ()
    moves = tuple(to_smem(event.ref.root, event.where))
    return (moves, vectors) if event.ref.root.role == "scratch" else (vectors, moves)


def _vectors(access: Written) -> Iterator[Fix]:
    """Ways to store a vector, best first."""
    if access.is_unit():
        yield from _whole(access)
    last = access.dims[-1].entry if access.dims else None
    if last is not None and isinstance(last.value, Array) and last.value.constant is None:
        # The TPU compiler does not take a traced position in the last dim.
        yield from _selected(access)
    yield from _one_element(access)


def _whole(access: Written) -> Iterator[Fix]:
    """Store to all of a ref of one element."""
    index = access.write_index([FULL] * len(access.dims))
    if index is None:
        return
    result = _old_scalar(access, len(access.dims))
    if result is None:
        return
    name = access.holder_text
    if access.event.api == "augmented":
        yield make(f"Add to all of `{name}`" if _adds(access) else f"Store to all of `{name}`", "safe", index)
        return
    kept = keepdims(access.code, access.value)
    if kept is not None and _rank_reduced(access.event.value) in (None, len(access.dims)):
        yield make(f"Keep the dims of the reduction and store to all of `{name}`", "safe", index, kept, result)
    full = full_value(access, f"{name}.shape")
    if full is not None:
        yield make(f"Store a vector of one element to all of `{name}`", "safe", index, full, result)


def _one_element(access: Written) -> Iterator[Fix]:
    """Store to a slice of one element: the last integer that indexes it becomes a slice."""
    parts = access.with_slices()
    index, result = access.write_index(parts), _old_scalar(access, 1)
    if index is None or result is None or not any(isinstance(part, One) for part in parts):
        return
    title = f"Store a slice of one element to `{access.holder_text}`"
    if access.event.api == "augmented":
        yield make(title, "safe", index)
        return
    value = full_value(access, "(1,)")
    if value is not None:
        yield make(title, "safe", index, value, result)


def _selected(access: Written) -> Iterator[Fix]:
    """Store a whole row in which the one element is replaced: what a traced position in the last dim needs."""
    code, last = access.code, access.dims[-1].part
    where, arange = code.name(f"{NUMPY}.where"), code.name(f"{NUMPY}.arange")
    index = access.write_index([*(axis.part for axis in access.dims[:-1]), FULL])
    statement = access.event.where.node
    if where is None or arange is None or index is None or not isinstance(last, ast.expr):
        return
    if isinstance(statement, ast.Assign):
        position = [code.text(axis.part) for axis in access.dims[:-1] if isinstance(axis.part, ast.expr)]
        otherwise = f"{access.holder_text}[{', '.join([*position, ':']) if position else '...'}]"
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add | ast.Sub):
        otherwise = "0"
    else:
        return
    chosen = f"{arange.text}({access.holder_text}.shape[-1]) == {_operand(code, last)}"
    value = access.wrap_value(f"{where.text}({chosen}, ", f", {otherwise})")
    if value is not None:
        yield make(f"Store a row of `{access.holder_text}` that differs in one element", "safe", where.edits, arange.edits, index, value)


def _operand(code: Code, node: ast.expr) -> str:
    text = code.text(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant | ast.BinOp)
    return text if simple else f"({text})"


def _old_scalar(access: Written, rank: int) -> tuple[Edit, ...] | None:
    """For a swap whose result is used: the edit that takes the scalar out of the vector that it gives now."""
    node = access.event.where.node
    if access.event.op != "swap" or not isinstance(node, ast.Call) or access.code.is_discarded(node):
        return ()
    return (access.code.after(node, f"[{', '.join('0' * rank)}]"),)


def _adds(access: Written) -> bool:
    node = access.event.where.node
    return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)


def _rank_reduced(value: object) -> int | None:
    """The rank of the vector that a scalar was reduced from, None where it is not known."""
    vectors = [operand for operand in value.operands if isinstance(operand, Array)] if isinstance(value, Array) else []
    return len(vectors[0].shape) if len(vectors) == 1 and vectors[0].shape is not None else None


def keepdims(code: Code, node: ast.expr | None) -> tuple[Edit, ...] | None:
    """The edit that lets a reduction of jnp, or of an array's method, keep its dims; None where ``node`` is none or keeps them."""
    call = reduction(code, node)
    if call is None or any(keyword.arg in ("keepdims", None) for keyword in call.keywords):
        return None
    return (insert_keyword(code.module.source, call, "keepdims", "True"),)


def reduction(code: Code, node: ast.expr | None) -> ast.Call | None:
    """``node`` where it is a call of a reduction that takes ``keepdims``."""
    if not isinstance(node, ast.Call) or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    qualified = code.qualified(node.func)
    if qualified is not None:
        module, _, short = qualified.rpartition(".")
        return node if module == NUMPY and short in _REDUCTIONS else None
    return node if isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS else None


def full_value(access: Written, shape: str) -> tuple[Edit, ...] | None:
    """The edits that write the stored scalar as an array of ``shape``, filled with it."""
    full = access.code.name(f"{NUMPY}.full")
    value = access.wrap_value(f"{full.text}({shape}, ", ")") if full is not None else None
    return (*full.edits, *value) if full is not None and value is not None else None


