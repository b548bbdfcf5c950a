"""Moving a ref to another memory space, by editing the BlockSpec, scratch entry or call that decided where it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access, KernelRun
from ..interpreter.library.specs import SPACES
from ..interpreter.values import Ref, RefRoot
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..shapes import dims
from ..text.edits import insert_keyword, remove_argument
from ..text.span import Edit
from .code import PALLAS, TPU, Code
from .registry import fixes, make

# A bigger ref is meant to be a block: SMEM holds about a megabyte of scalars on every chip.
_MOST_SCALARS = 4096


@fixes("zero-rank-ref-not-in-smem", "prng-key-not-in-smem")
def scalar_ref_to_smem(event: Access, project: Project) -> Iterator[Fix]:
    """What has no dims, and keys, belong in SMEM."""
    yield from to_smem(event.ref.root)


@fixes("block-rank-zero")
def scalar_block_to_smem(event: KernelRun, project: Project) -> Iterator[Fix]:
    """Operands and outputs without dims belong in SMEM."""
    for _, value in event.refs:
        if isinstance(value, Ref) and value.root.block == () and value.root.space != "smem":
            yield from to_smem(value.root)


@fixes("access-any-or-hbm")
def out_of_any(event: Access, project: Project) -> Iterator[Fix]:
    """Let the pipeline bring the array to VMEM: all of it must fit there."""
    yield from to_vmem(event.ref.root, "unsafe")


def to_smem(root: RefRoot) -> Iterator[Fix]:
    """Put a ref into SMEM, where scalars live, if it is small enough for all that is known."""
    size = dims.product(root.shape) if root.shape is not None else None
    if root.decider is None or (isinstance(size, int) and size > _MOST_SCALARS):
        return
    edits = _moved(root, Code(root.decider.module), root.decider.node, "SMEM")
    if edits:
        yield make(f"Put `{root.name}` in SMEM", "safe" if isinstance(size, int) else "unsafe", edits)


def to_vmem(root: RefRoot, applicability: Applicability = "safe") -> Iterator[Fix]:
    """Put a ref into VMEM, where vectors live."""
    if root.decider is None:
        return
    edits = _moved(root, Code(root.decider.module), root.decider.node, "VMEM")
    if edits:
        yield make(f"Put `{root.name}` in VMEM", applicability, edits)


def _moved(root: RefRoot, code: Code, node: ast.expr, space: str) -> tuple[Edit, ...] | None:
    if not isinstance(node, ast.Call) or any(keyword.arg is None for keyword in node.keywords):
        return None
    if root.role == "scratch":
        return _renamed(code, node.func, space) if code.qualified(node.func) in SPACES else None
    if root.decided_by.startswith("BlockSpec"):
        return _respecified(code, node, space)
    return _specified(root, code, node, space) if root.role in ("input", "output") else None


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


def _specified(root: RefRoot, code: Code, call: ast.Call, space: str) -> tuple[Edit, ...] | None:
    """A BlockSpec for the one operand or output of a call that gives none."""
    side = "in_specs" if root.role == "input" else "out_specs"
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if space == "VMEM" and side in given:
        return _plain_specs(code, given[side])
    if space == "VMEM" or side in given or "grid_spec" in given or not _is_only(root, code, call, given.get("out_shape")):
        return None
    spec, memory = code.name(f"{PALLAS}.BlockSpec"), code.name(f"{TPU}.{space}")
    if spec is None or memory is None:
        return None
    text = f"{spec.text}(memory_space={memory.text})"
    listed = f"[{text}]" if root.role == "input" else text
    return (*spec.edits, *memory.edits, insert_keyword(code.module.source, call, side, listed))


def _plain_specs(code: Code, specs: ast.expr) -> tuple[Edit, ...] | None:
    """BlockSpecs for the operands that are said to have none, which are left where they are."""
    spec = code.name(f"{PALLAS}.BlockSpec")
    entries = specs.elts if isinstance(specs, ast.Tuple | ast.List) else []
    unspecified = [entry for entry in entries if code.qualified(entry) == f"{PALLAS}.no_block_spec"]
    if spec is None or not unspecified:
        return None
    return (*spec.edits, *(code.replace(entry, f"{spec.text}()") for entry in unspecified))


def _is_only(root: RefRoot, code: Code, call: ast.Call, out_shape: ast.expr | None) -> bool:
    """Whether the call has no other operand, or no other output."""
    if root.role == "output":
        shape = out_shape or (call.args[1] if len(call.args) > 1 else None)
        return isinstance(shape, ast.Call) and (code.qualified(shape.func) or "").startswith("jax.ShapeDtypeStruct")
    applied = next((holder for holder in code.around(call) if isinstance(holder, ast.Call) and holder.func is call), None)
    return applied is not None and len(applied.args) == 1 and not isinstance(applied.args[0], ast.Starred) and not applied.keywords
