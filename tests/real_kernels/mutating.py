"""Kernels with one thing changed: the slips that people make, each a small edit of the text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pallas_lsp.text.source import Source

Change = tuple[ast.AST, str]
"""A node, and the text that takes its place."""


@dataclass(frozen=True)
class Mutant:
    """``kind``: what was changed; ``start``, ``end``: the offsets of what ``new`` takes the place of; ``line``: of it, 1-based."""

    kind: str
    path: str
    line: int
    start: int
    end: int
    new: str

    def of(self, text: str) -> str:
        """The whole text, changed."""
        return text[: self.start] + self.new + text[self.end :]


def mutants(path: str, text: str, executed: set[int], inside: set[int]) -> list[Mutant]:
    """Every mutant of the text whose change stands on a line that runs: of ``inside``, where it is one of a kernel's computation, else of
    ``executed`` (both 1-based)."""
    source, found, tree = Source(path, text), dict[int, Mutant](), ast.parse(text)
    for kind, make in KINDS.items():
        for node, new in _changes(tree, make, inside if kind in COMPUTATION else executed):
            span = source.span_of(node)
            if source.slice(span) != new:
                mutant = Mutant(kind, path, source.line_of(span.start) + 1, span.start, span.end, new)
                found.setdefault(hash(mutant.of(text)), mutant)
    return list(found.values())


def _changes(tree: ast.Module, make: Callable[[ast.AST], Iterator[Change]], executed: set[int]) -> Iterator[Change]:
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt) and statement.lineno in executed:
            for node in (statement, *_own_nodes(statement)):
                yield from ((part, new) for part, new in make(node) if not executed.isdisjoint(_lines(part)))


def _lines(node: ast.AST) -> range:
    assert isinstance(node, ast.expr | ast.keyword | ast.arg)
    return range(node.lineno, (node.end_lineno or 0) + 1)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of statements inside of it; a function's defaults run where it is defined."""
    pending: list[ast.AST] = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.arguments)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.expr):
            yield node
        pending += [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]


def _named(node: ast.AST, *names: str) -> bool:
    """Whether the node is a name, or an attribute, of one of these."""
    return (isinstance(node, ast.Attribute) and node.attr in names) or (isinstance(node, ast.Name) and node.id in names)


def _other_space(node: ast.expr) -> Iterator[Change]:
    if isinstance(node, ast.Attribute) and node.attr in ("VMEM", "SMEM", "ANY", "HBM"):
        yield node, f"{ast.unparse(node.value)}.{'VMEM' if node.attr == 'SMEM' else 'SMEM'}"


def _scratch_space(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        yield from _other_space(node.func)


def _spec_space(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Call) or not _named(node.func, "BlockSpec"):
        return
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "memory_space"), None)
    if given is not None:
        yield from _other_space(given)
    elif isinstance(node.func, ast.Attribute):
        arguments = [ast.unparse(part) for part in (*node.args, *node.keywords)]
        yield node, f"{ast.unparse(node.func)}({', '.join([*arguments, 'memory_space=jax.experimental.pallas.tpu.SMEM'])})"


def _block(node: ast.AST) -> ast.Tuple | None:
    """The block shape of a BlockSpec, or the shape of a scratch entry, where it is written out."""
    if isinstance(node, ast.Call) and _named(node.func, "BlockSpec", "VMEM", "SMEM"):
        given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in ("block_shape", "shape"))]
        return next((shape for shape in given if isinstance(shape, ast.Tuple)), None)
    return None


def _block_dim(node: ast.AST) -> Iterator[Change]:
    shape = _block(node)
    for dim in shape.elts if shape is not None else ():
        if not isinstance(dim, ast.Starred) and not (isinstance(dim, ast.Constant) and dim.value is None):
            yield dim, f"({ast.unparse(dim)}) + 1"
            yield dim, f"({ast.unparse(dim)}) * 2"


def _block_rank(node: ast.AST) -> Iterator[Change]:
    shape = _block(node)
    if shape is not None and len(shape.elts) > 1:
        yield shape, ast.unparse(ast.Tuple(shape.elts[1:], ast.Load()))
        yield shape, ast.unparse(ast.Tuple([*shape.elts, ast.Constant(1)], ast.Load()))


def _keepdims(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg in ("keepdims", "keep_dims"):
                yield keyword, "keepdims=False"


_REFS = ("_ref", "_vmem", "_smem", "_hbm", "_scratch", "_buf")


def _index(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Subscript) or not any(part in ast.unparse(node.value).partition("[")[0] for part in _REFS):
        return
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(entries) > 1:
        yield node.slice, ", ".join(map(ast.unparse, entries[:-1]))
        yield node.slice, ", ".join(map(ast.unparse, entries[1:]))
    yield node.slice, ", ".join([*map(ast.unparse, entries), "0"])


def _axis(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            value = keyword.value
            number = value.operand if isinstance(value, ast.UnaryOp) else value
            if keyword.arg in ("axis", "dimension", "repeats") and isinstance(number, ast.Constant) and isinstance(number.value, int):
                yield value, f"({ast.unparse(value)}) - 1"
                yield value, f"({ast.unparse(value)}) + 1"


def _index_maps(node: ast.AST) -> Iterator[ast.Lambda]:
    if isinstance(node, ast.Call) and _named(node.func, "BlockSpec"):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        yield from (one for one in given if isinstance(one, ast.Lambda))


def _is_index_map(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and "index_map" in node.name


def _index_map_parameter(node: ast.AST) -> Iterator[Change]:
    for one in _index_maps(node):
        names = [part.arg for part in one.args.args]
        if names and not one.args.vararg:
            yield one, f"lambda {', '.join(names[1:])}: {ast.unparse(one.body)}".replace("lambda :", "lambda:")
            yield one, f"lambda {', '.join([*names, 'extra'])}: {ast.unparse(one.body)}"
    if isinstance(node, ast.FunctionDef) and _is_index_map(node) and node.args.args and not node.args.defaults:
        yield node.args.args[-1], f"{node.args.args[-1].arg}, extra"


def _index_map_entry(node: ast.AST) -> Iterator[Change]:
    bodies = [one.body for one in _index_maps(node)]
    if _is_index_map(node):
        bodies += [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value is not None]
    for body in bodies:
        if isinstance(body, ast.Tuple) and len(body.elts) > 1:
            yield body, ast.unparse(ast.Tuple(body.elts[:-1], ast.Load()))
            yield body, ast.unparse(ast.Tuple([*body.elts, ast.Constant(0)], ast.Load()))


def _spec_removed(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1 and all("spec" in ast.unparse(entry).lower() for entry in node.elts):
        for index in range(len(node.elts)):
            yield node, ast.unparse(type(node)(node.elts[:index] + node.elts[index + 1 :], ast.Load()))


_OTHER = {"float32": ("bfloat16", "int32"), "bfloat16": ("float32", "int8"), "int32": ("float32", "int8"), "bool_": ("float32",)}


def _dtype(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("jnp", "np"):
        for name in _OTHER.get(node.attr, ()):
            yield node, f"jnp.{name}"


def _declared_dtype(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call) and _named(node.func, "ShapeDtypeStruct", "VMEM", "SMEM"):
        for given in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from _dtype(given)


def _accumulator(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "preferred_element_type":
                yield from ((keyword, f"preferred_element_type={dtype}") for dtype in ("None", "jnp.bfloat16", "jnp.int32"))


def _slice_size(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call) and _named(node.func, "ds", "dslice") and len(node.args) == 2:
        yield node.args[1], f"({ast.unparse(node.args[1])}) + 1"
        yield node.args[1], f"({ast.unparse(node.args[1])}) * 2"


KINDS: dict[str, Callable[[ast.AST], Iterator[Change]]] = {
    "scratch space": _scratch_space,
    "spec space": _spec_space,
    "block dim": _block_dim,
    "block rank": _block_rank,
    "keepdims": _keepdims,
    "index": _index,
    "axis": _axis,
    "index map parameter": _index_map_parameter,
    "index map entry": _index_map_entry,
    "spec removed": _spec_removed,
    "declared dtype": _declared_dtype,
    "dtype": _dtype,
    "accumulator dtype": _accumulator,
    "slice size": _slice_size,
}

COMPUTATION = frozenset({"keepdims", "axis", "dtype", "accumulator dtype", "index", "slice size"})
"""What is changed inside of a kernel only; the program around it is not what is looked at here."""
