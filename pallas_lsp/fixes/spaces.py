"""Moving a ref to another memory space, by editing the BlockSpec, scratch entry or call that decided where it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..interpreter.call_events import Window
from ..interpreter.events import Access, Where
from ..interpreter.library.specs import SPACES
from ..interpreter.values import RefRoot
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..shapes import dims
from ..text.edits import insert_keyword, remove_argument
from ..text.span import Edit
from .code import PALLAS, TPU, Code
from .registry import Candidate, fixes, make

# A bigger ref is meant to be a block: SMEM holds about a megabyte of scalars on every chip.
_MOST_SCALARS = 4096


@fixes("zero-rank-ref-not-in-smem", "prng-key-not-in-smem")
def scalar_ref_to_smem(event: Access, project: Project) -> Iterator[Fix]:
    """What has no dims, and keys, belong in SMEM."""
    yield from to_smem(event.ref.root, event.where)


@fixes("block-rank-zero")
def scalar_block_to_smem(event: Window, project: Project) -> Iterator[Fix]:
    """Operands and outputs without dims belong in SMEM."""
    if event.root.space == "vmem":
        number = event.place.partition("[")[2].partition("]")[0]
        prefetched = event.prefetched if event.root.role == "input" else 0
        yield from to_smem(event.root, event.where, int(number) - prefetched if number.isdigit() else 0)


@fixes("access-any-or-hbm")
def out_of_any(event: Access, project: Project) -> Iterator[Candidate]:
    """Let the pipeline bring the array to VMEM, or to SMEM where its scalars are meant: all of it must fit there."""
    scalars = to_smem(event.ref.root, event.where, applicability="unsafe") if event.shape == () else ()
    yield (*to_vmem(event.ref.root, "unsafe"), *scalars)


@fixes("memory-space-positional")
def space_by_keyword(event: Window, project: Project) -> Iterator[Candidate]:
    """The third parameter of a BlockSpec is another one: a memory space is given by its name, or not at all."""
    origin = event.spec.origin if event.spec is not None else None
    if origin is not None and isinstance(origin.node, ast.Call) and len(origin.node.args) == 3:
        code, space = Code(origin.module), origin.node.args[2]
        start = code.span(space).start
        yield (
            make(f"Write `memory_space={code.text(space)}`", "safe", [code.cut(start, start, "memory_space=")]),
            make("Leave the memory space out", "unsafe", [remove_argument(origin.module.source, origin.node, space)]),
        )


def to_smem(root: RefRoot, where: Where, position: int | None = None, applicability: Applicability = "safe") -> Iterator[Fix]:
    """Put a ref into SMEM, where scalars live, if it is small enough for all that is known.

    ``where``: an event in its kernel; ``position``: which of the operands, or of the outputs, it is, where that is known.
    """
    size = dims.product(root.shape) if root.shape is not None else None
    if root.decider is None or (isinstance(size, int) and size > _MOST_SCALARS):
        return
    edits = _moved(root, Code(root.decider.module), root.decider.node, "SMEM", position, where)
    if edits:
        yield make(f"Put `{root.name}` in SMEM", applicability if isinstance(size, int) else "unsafe", edits)


def to_vmem(root: RefRoot, applicability: Applicability = "safe") -> Iterator[Fix]:
    """Put a ref into VMEM, where vectors live."""
    if root.decider is None:
        return
    edits = _moved(root, Code(root.decider.module), root.decider.node, "VMEM")
    if edits:
        yield make(f"Put `{root.name}` in VMEM", applicability, edits)


def _moved(
    root: RefRoot, code: Code, node: ast.expr, space: str, position: int | None = None, where: Where | None = None
) -> tuple[Edit, ...] | None:
    if not isinstance(node, ast.Call) or any(keyword.arg is None for keyword in node.keywords):
        return None
    if root.role == "scratch":
        return _renamed(code, node.func, space) if code.qualified(node.func) in SPACES else None
    if root.decided_by.startswith("BlockSpec"):
        return _respecified(code, node, space)
    if root.role not in ("input", "output"):
        return None
    side = "in_specs" if root.role == "input" else "out_specs"
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if space == "VMEM":
        return _plain_specs(code, given[side]) if side in given else None
    return _specified(code, node, side, given, _place(root, code, node, given, position, where))


def _renamed(code: Code, node: ast.expr, space: str) -> tuple[Edit, ...] | None:
    """Another memory space in the place of the one that is named, in the same style."""
    if isinstance(node, ast.Attribute) and (code.qualified(node) or "").startswith(f"{TPU}."):
        end = code.span(node).end
        return (code.cut(end - len(node.attr), end, space),)
    named = code.name(f"{TPU}.{space}")
    return (*named.edits, code.replace(node, named.text)) if named is not None else None


def _respecified(code: Code, spec: ast.Call, space: str) -> tuple[Edit, ...] | None:
    """A BlockSpec with another memory space; VMEM is what it has when it says nothing."""
    given = next((keyword for keyword in spec.keywords if keyword.arg == "memory_space"), None)
    if space == "VMEM":
        return (remove_argument(code.module.source, spec, given),) if given is not None else None
    if given is not None:
        return _renamed(code, given.value, space)
    third = spec.args[2] if len(spec.args) > 2 else None
    if third is not None and code.qualified(third) == f"{TPU}.{space}":
        start = code.span(third).start  # it stands where another parameter is
        return (code.cut(start, start, "memory_space="),)
    named = code.name(f"{TPU}.{space}")
    if named is None:
        return None
    return (*named.edits, insert_keyword(code.module.source, spec, "memory_space", named.text))


def _specified(code: Code, call: ast.Call, side: str, given: dict[str | None, ast.expr], place: _Place | None) -> tuple[Edit, ...] | None:
    """BlockSpecs for all operands, or all outputs, of a call that gives none, of which one is in SMEM."""
    spec, memory = code.name(f"{PALLAS}.BlockSpec"), code.name(f"{TPU}.SMEM")
    if side in given or "grid_spec" in given or place is None or spec is None or memory is None:
        return None
    texts = [f"{spec.text}()"] * place.count
    texts[place.position] = f"{spec.text}(memory_space={memory.text})"
    listed = texts[0] if place.brackets is None else place.brackets[0] + ", ".join(texts) + place.brackets[1]
    return (*spec.edits, *memory.edits, insert_keyword(code.module.source, call, side, listed))


@dataclass(frozen=True, slots=True)
class _Place:
    """Which of how many operands or outputs a ref is, and what their specs stand in (None: one spec alone)."""

    position: int
    count: int
    brackets: tuple[str, str] | None


def _place(
    root: RefRoot, code: Code, call: ast.Call, given: dict[str | None, ast.expr], position: int | None, where: Where | None
) -> _Place | None:
    applied = next((holder for holder in code.around(call) if isinstance(holder, ast.Call) and holder.func is call), None)
    if applied is None or applied.keywords or any(isinstance(argument, ast.Starred) for argument in applied.args):
        return None
    operands, parameter = len(applied.args), _parameter(root, where)
    if root.role == "input":
        position = position if position is not None else 0 if operands == 1 else parameter
        return _Place(position, operands, ("[", "]")) if position is not None and position < operands else None
    shape = given.get("out_shape") or (call.args[1] if len(call.args) > 1 else None)
    if isinstance(shape, ast.Call) and (code.qualified(shape.func) or "").startswith("jax.ShapeDtypeStruct"):
        return _Place(0, 1, None)
    if not isinstance(shape, ast.List | ast.Tuple) or any(isinstance(entry, ast.Starred) for entry in shape.elts):
        return None
    if position is None and parameter is not None:
        position = parameter - operands
    brackets = ("[", "]") if isinstance(shape, ast.List) else ("(", ")")
    return _Place(position, len(shape.elts), brackets) if position is not None and 0 <= position < len(shape.elts) > 1 else None


def _parameter(root: RefRoot, where: Where | None) -> int | None:
    """Which parameter of its kernel a ref is called by, where the event's function is the kernel or in it."""
    for function in Code(where.module).functions(where.node) if where is not None else ():
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if root.name in names:
            return names.index(root.name)
    return None


def _plain_specs(code: Code, specs: ast.expr) -> tuple[Edit, ...] | None:
    """BlockSpecs for the operands that are said to have none, which are left where they are."""
    spec = code.name(f"{PALLAS}.BlockSpec")
    entries = specs.elts if isinstance(specs, ast.Tuple | ast.List) else []
    unspecified = [entry for entry in entries if code.qualified(entry) == f"{PALLAS}.no_block_spec"]
    if spec is None or not unspecified:
        return None
    return (*spec.edits, *(code.replace(entry, f"{spec.text}()") for entry in unspecified))
