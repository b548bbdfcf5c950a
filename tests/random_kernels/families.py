"""The families of random kernels: how one is made, and which rules may speak about what JAX refuses of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from random_kernels import access_messages
from random_kernels.calls import random_call
from random_kernels.meshes import random_mesh_kernel
from random_kernels.modules import Kernel, random_kernel
from random_kernels.operations import random_operations
from referee import Verdict

from pallas_lsp.pages import find_rules_by_message


@dataclass(frozen=True)
class Family:
    """``rules_of``: the rules that say what JAX says, empty where its refusal belongs to another family; ``layers``: how often the statement
    that JAX refuses is taken out to see what it says next; ``anywhere``: JAX names the call, whatever part of it is wrong; ``needed``: the share
    of JAX's refusals that has to be reported."""

    name: str
    make: Callable[[object], Kernel]
    rules_of: Callable[[Verdict], tuple[str, ...]]
    layers: int
    anywhere: bool = False
    needed: float = 0.97


# Rules that share a message of Python's with another one, or tell better what JAX's is about.
_INSTEAD = {
    "block-tiling-2d": ("block-shape-invalid",), "pallas-call-signature": ("removed-api",), "alias-aval-mismatch": ("alias-index-range",),
    "traced-bool-branch": ("grid-not-int",), "traced-shape": ("scratch-invalid-type",), "kernel-returns-value": ("index-map-non-int",),
    "block-shape-invalid": ("scratch-invalid-type", "scratch-not-sequence"), "memory-space-positional": ("pipeline-mode-unsupported",), "kernel-arity": ("pallas-call-signature", "index-map-arity"), "block-tiling-1d": ("block-shape-invalid",), "index-map-arity": ("kernel-arity",), "scratch-invalid-type": ("in-specs-tree-mismatch", "out-specs-tree-mismatch"),
}  # fmt: skip


def _rules_of_pages(verdict: Verdict) -> tuple[str, ...]:
    found = find_rules_by_message(re.sub(r"^[\w.<>]*\.(?=\w+\(\) )", "", verdict.message))
    return (*found, *(other for rule in found for other in _INSTEAD.get(rule, ())))


def _rules_of_operations(verdict: Verdict) -> tuple[str, ...]:
    """Also the rules for what JAX says without a word that one could look up, and the one for what it refuses to trace of any operation."""
    if len(verdict.message) < 8:
        return ("operation-dtype", "argmax-dtype", "matmul-f16") if verdict.message else ("matmul-all-contracted",)
    return (*_rules_of_pages(verdict), *(("invalid-operands",) if verdict.stage == "trace" else ()))


def _rules_of_meshes(verdict: Verdict) -> tuple[str, ...]:
    """Also the rules for what JAX says without a word, and those for what only MLIR's verifier notices."""
    if not verdict.message:
        return ("program-id-without-grid",)
    if verdict.exc == "VerificationError":
        return (*_rules_of_pages(verdict), "sc-reduction-axis", "dma-shape-mismatch", "dma-dtype-mismatch")
    return _rules_of_pages(verdict)


ACCESSES = Family("accesses", random_kernel, access_messages.rules_of, layers=4)
CALLS = Family("calls", random_call, _rules_of_pages, layers=1, anywhere=True)
OPERATIONS = Family("operations", random_operations, _rules_of_operations, layers=1, needed=0.93)
MESHES = Family("meshes", random_mesh_kernel, _rules_of_meshes, layers=1, needed=0.95)
