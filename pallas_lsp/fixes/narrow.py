"""Scalars taken out of vectors whose elements are not 32 bits wide: by way of float32, or as a vector of one element."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access, Computed
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..shapes import dtypes
from ..text.edits import wrap
from .access import One, written
from .code import NUMPY, Code
from .registry import Candidate, fixes, make
from .spaces import to_smem


@fixes("narrow-vector-to-scalar")
def scalar_of_32_bits(event: Computed, project: Project) -> Iterator[Candidate]:
    """Cast before the scalar is taken out; where the rest needs the old dtype, cast it back, or keep a vector of one element."""
    code, node, dtype = Code(event.where.module), event.where.node, event.source.dtype
    source = _source(code, node)
    wide = "int32" if (dtype is not None and dtypes.is_integer(dtype)) or dtype == "bool" else "float32"
    named = code.name(f"{NUMPY}.{wide}")
    if source is None or named is None or not isinstance(node, ast.expr) or dtype is None:
        return
    cast = wrap(code.module.source, source, "", f".astype({named.text})")
    ways = [make(f"Cast to {wide} first", "safe", named.edits, cast)]
    if isinstance(node, ast.Subscript):
        sliced = _sliced(code, node)
        if sliced is not None:
            ways.append(make("Keep a vector of one element", "safe", [code.replace(node.slice, sliced)]))
    old = _dtype_text(code, source, dtype)
    if old is not None:
        back = code.after(node, f".astype({old})")
        ways.append(make(f"Cast to {wide} first, and back to {dtype}", "safe", named.edits, cast, [back]))
    yield tuple(ways)


def _source(code: Code, node: ast.AST) -> ast.expr | None:
    """The vector that the scalar is taken out of."""
    if isinstance(node, ast.Subscript):
        return node.value
    if not isinstance(node, ast.Call):
        return None
    if code.qualified(node.func) is None and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None


def _dtype_text(code: Code, source: ast.expr, dtype: str) -> str | None:
    """The dtype of the vector, by its own name where it has one."""
    holder = source.value if isinstance(source, ast.Subscript) else source
    if isinstance(holder, ast.Name):
        return f"{holder.id}.dtype"
    named = code.name(f"{NUMPY}.bool_" if dtype == "bool" else f"{NUMPY}.{dtype}")
    return named.text if named is not None else None


def _sliced(code: Code, node: ast.Subscript) -> str | None:
    """The index with slices of one element in the place of literal integers."""
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not all(isinstance(entry, ast.Constant) and isinstance(entry.value, int) and entry.value >= 0 for entry in entries):
        return None
    numbers = [int(code.text(entry)) for entry in entries]
    return ", ".join(f"{number}:{number + 1}" for number in numbers)


@fixes("narrow-vmem-scalar-load")
def narrow_scalar(event: Access, project: Project) -> Iterator[Fix]:
    """SMEM gives narrow scalars; VMEM gives a vector of one element, which broadcasts."""
    access = written(event)
    if access is not None:
        parts = access.with_slices(len(access.dims))
        index = access.write_index(parts)
        if index is not None and all(isinstance(part, One) for part in parts):
            yield make(f"Load a vector of one element from `{access.holder_text}`", "safe", index)
    yield from to_smem(event.ref.root, event.where)
