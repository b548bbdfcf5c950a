"""A file of the user's for those who write edits to it: what stands where, and how a name of JAX is written there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..interpreter.modules import ModuleFile
from ..interpreter.values import Library
from ..text.edits import add_import, grouped
from ..text.span import Edit, Span
from ..text.suppressions import COMMENT_OR_STRING

PALLAS = "jax.experimental.pallas"
TPU = "jax.experimental.pallas.tpu"
NUMPY = "jax.numpy"
LAX = "jax.lax"

# How a module is imported where a file does not import it yet: (from module, name, alias).
_USUAL: dict[str, tuple[str, str | None, str]] = {
    NUMPY: ("jax.numpy", None, "jnp"),
    LAX: ("jax", "lax", "lax"),
    PALLAS: ("jax.experimental", "pallas", "pl"),
    TPU: ("jax.experimental.pallas", "tpu", "pltpu"),
}
_HARMLESS = frozenset({"shape", "dtype", "ndim", "size"})
_Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Named:
    """How a name is written in a file, and the import that this needs."""

    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """The text and tree of ``module``."""

    module: ModuleFile

    def text(self, node: ast.AST) -> str:
        """The text of a node as it is written."""
        return self.module.source.slice(self.span(node))

    def comments(self, node: ast.AST) -> list[str]:
        """The comments in a node, and behind it on its last line."""
        source = self.module.source
        end = source.line_span(source.line_of(self.span(node).end)).end
        found = COMMENT_OR_STRING.finditer(source.text, self.span(node).start, end)
        return [match["comment"].rstrip() for match in found if match["comment"]]

    def span(self, node: ast.AST) -> Span:
        """Where a node is written."""
        return self.module.source.span_of(node)

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Write ``text`` in the place of a node."""
        return Edit(self.module.path, self.span(node), text)

    def put(self, node: ast.expr, text: str) -> Edit:
        """Write an expression in the place of another one, in parentheses where what is around would take it apart."""
        simple = isinstance(ast.parse(f"({text})", mode="eval").body, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
        return self.replace(node, text if simple or self.is_alone(node) else f"({text})")

    def is_alone(self, node: ast.expr) -> bool:
        """Whether no operator or suffix stands beside an expression."""
        holder = self.around(node)[0]
        if isinstance(holder, ast.Call):
            return not self.same(holder.func, node)
        alone = isinstance(holder, ast.Assign | ast.AugAssign | ast.Return | ast.keyword | ast.If | ast.While | ast.Expr)
        return alone or grouped(self.module.source.text, self.span(node)) is not None

    def cut(self, start: int, end: int, text: str = "") -> Edit:
        """Write ``text`` in the place of what stands between two offsets."""
        return Edit(self.module.path, Span(start, end), text)

    def word(self, at: int, text: str) -> Edit:
        """Write ``text`` at an offset, apart from a word before it."""
        before = self.module.source.text[at - 1 : at]
        return self.cut(at, at, f" {text}" if f"x{before}".isidentifier() and before else text)

    def after(self, node: ast.AST, text: str) -> Edit:
        """Write ``text`` right behind a node."""
        end = self.span(node).end
        return self.cut(end, end, text)

    def rewrite(self, node: ast.AST, *parts: str | ast.expr) -> tuple[Edit, ...] | None:
        """Write ``parts`` in the place of a node. Those that are expressions stand in it, in this order, and stay as they are.

        None where a comment between them would be lost.
        """
        whole, edits, at, text = self.span(node), list[Edit](), self.span(node).start, ""
        for part in parts:
            if isinstance(part, str):
                text += part
            else:
                kept = self.span(part)
                edits.append(self.cut(at, kept.start, text))
                at, text = kept.end, ""
        edits.append(self.cut(at, whole.end, text))
        gone = [self.module.source.slice(edit.span) for edit in edits]
        if any("#" in lost for lost in gone):
            return None
        return tuple(edit for edit, lost in zip(edits, gone, strict=True) if edit.content != lost)

    def around(self, node: ast.AST) -> list[ast.AST]:
        """The nodes that hold ``node``, innermost first.

        Nodes are told by their place: the interpreter makes some of its own, at the place of what they stand for.
        """
        place, holders = self.span(node), []
        current: ast.AST | None = self.module.parsed.tree
        while current is not None:
            holders.append(current)
            current = next((child for child in ast.iter_child_nodes(current) if self._holds(child, place, node)), None)
        return holders[::-1]

    def _holds(self, child: ast.AST, place: Span, node: ast.AST) -> bool:
        try:
            span = self.span(child)
        except ValueError:  # an operator has no place
            return False
        decorators = [self.span(decorator) for decorator in getattr(child, "decorator_list", ())]
        start = min([span.start, *(decorator.start for decorator in decorators)])
        return Span(start, span.end).covers(place) and not (span == place and type(child) is type(node))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that ``node`` is in, or is."""
        if isinstance(node, ast.stmt):
            return node
        return next((holder for holder in self.around(node) if isinstance(holder, ast.stmt)), None)

    def level(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the block that a statement is in."""
        parts = (part for _, part in ast.iter_fields(self.around(statement)[0]) if isinstance(part, list))
        return next((part for part in parts if any(isinstance(s, ast.stmt) and self.same(s, statement) for s in part)), [])

    def functions(self, node: ast.AST) -> list[_Scope]:
        """The functions around ``node``, innermost first."""
        return [holder for holder in self.around(node) if isinstance(holder, _Scope)]

    def is_discarded(self, call: ast.AST) -> bool:
        """Whether an expression is a statement of its own, so that nobody sees its value."""
        return isinstance(self.around(call)[0], ast.Expr)

    def indentation(self, statement: ast.stmt) -> tuple[str, str] | None:
        """What stands before a statement that begins its line, and by how much a block below it is indented; None for others."""
        source, holder = self.module.source, self.around(statement)[0]
        start = self.span(statement).start
        before = source.text[source.line_span(source.line_of(start)).start : start]
        step = before[getattr(holder, "col_offset", 0) :] or "    "
        return (before, step) if not before.strip() else None

    def same(self, node: ast.AST, other: ast.AST) -> bool:
        """Whether two nodes are one place of the file."""
        return self.span(node) == self.span(other)

    # -- names ----------------------------------------------------------------------------------------------------------------------

    def qualified(self, node: ast.AST | None) -> str | None:
        """The canonical library name that a dotted name stands for, by the file's imports; None where it is no library's."""
        if isinstance(node, ast.Name):
            value = self.module.frame.names.get(node.id)
            return value.name if isinstance(value, Library) else None
        if isinstance(node, ast.Attribute):
            holder = self.qualified(node.value)
            return f"{holder.replace('.MemorySpace', '')}.{node.attr}" if holder is not None else None
        return None

    def name(self, qualified: str) -> Named | None:
        """How ``qualified`` is written here, with an import where nothing gives it yet; None where its usual alias means something else."""
        known = self._known(qualified)
        if known is not None:
            return Named(known)
        module, _, short = qualified.rpartition(".")
        if module not in _USUAL:
            return None
        if self._imports_from(module) and short not in self.module.frame.names:
            return Named(short, self._import(module, short, None))
        alias = _USUAL[module][2]
        if alias in self.module.frame.names:
            return None
        return Named(f"{alias}.{short}", self._import(*_USUAL[module]))

    def _known(self, qualified: str) -> str | None:
        for name, value in self.module.frame.names.items():
            if isinstance(value, Library) and value.name == qualified and value.name.rpartition(".")[2] == name:
                return name
        module, _, short = qualified.rpartition(".")
        holders = {value.name: name for name, value in reversed(self.module.frame.names.items()) if isinstance(value, Library)}
        if module in holders:
            return f"{holders[module]}.{short}"
        if module in (NUMPY, LAX) and "jax" in holders:
            return f"{holders['jax']}.{module.removeprefix('jax.')}.{short}"
        return None

    def _imports_from(self, module: str) -> bool:
        """Whether the file takes single names out of ``module``."""
        return any(isinstance(node, ast.ImportFrom) and node.module == module and not node.level for node in self.module.parsed.tree.body)

    def _import(self, module: str, name: str | None, alias: str | None) -> tuple[Edit, ...]:
        edit = add_import(self.module.source, self.module.parsed.tree, module, name, alias)
        return (edit,) if edit is not None else ()

    # -- variables ------------------------------------------------------------------------------------------------------------------

    def assigned(self, name: ast.Name) -> ast.expr | None:
        """What a local variable is worth where its function binds it once, by ``name = value``; else None."""
        for function in self.functions(name):
            bindings = [node for node in ast.walk(function) if _bound(node) == name.id]
            if bindings:
                assignments = (node for node in ast.walk(function) if isinstance(node, ast.Assign) and node.targets == bindings)
                return next((node.value for node in assignments), None)
        return None

    def local_names(self, function: _Scope) -> set[str]:
        """The names that a function binds, its parameters too."""
        return {name for node in ast.walk(function) if (name := _bound(node)) is not None}

    def unused_name(self, node: ast.AST) -> str | None:
        """A short name for an index that the function around ``node`` does not use."""
        return self.fresh(node, "i", "j", "k", "n", "index")

    def fresh(self, node: ast.AST, *names: str) -> str | None:
        """The first of these names that the outermost function around ``node`` does not use; None where it uses all."""
        scope = [self.module.parsed.tree, *self.functions(node)][-1]
        used = {part.id if isinstance(part, ast.Name) else part.arg for part in ast.walk(scope) if isinstance(part, ast.Name | ast.arg)}
        return next((name for name in names if name not in used), None)

    def only_reads(self, ref: ast.expr, place: ast.AST) -> bool:
        """Whether the outermost function around ``place`` does nothing to a ref of this name but load from it and ask for its shape."""
        functions = self.functions(place)
        if not functions or not isinstance(ref, ast.Name):
            return False
        parts = [part for part in ast.walk(functions[-1]) if isinstance(part, ast.Subscript | ast.Attribute)]
        reads = [part.value for part in parts if isinstance(part.ctx, ast.Load) and getattr(part, "attr", "shape") in _HARMLESS]
        return all(use in reads for use in self.uses(ref.id, functions[-1]))

    def uses(self, name: str, scope: ast.AST) -> Iterator[ast.Name]:
        """The places in ``scope`` that read a variable."""
        return (node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load))


def as_operand(node: ast.expr) -> tuple[str | ast.expr, ...]:
    """An expression for ``Code.rewrite``, in parentheses where an operator or a suffix beside it would take it apart."""
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
    return (node,) if simple else ("(", node, ")")


def _bound(node: ast.AST) -> str | None:
    """The name that a node binds."""
    if isinstance(node, ast.Name):
        return node.id if not isinstance(node.ctx, ast.Load) else None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return node.arg if isinstance(node, ast.arg) else None
