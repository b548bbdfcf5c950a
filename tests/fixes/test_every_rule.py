"""Every rule has a fix, or a reason why no edit of the text can be certain."""

from __future__ import annotations

from pallas_lsp.fixes.registry import FIXES, load_fixes
from pallas_lsp.rules import RULES

WITHOUT: dict[str, str] = {
    "the text does not say which shape, dtype or number was meant": """
        block-shape-invalid block-rank-mismatch block-dim-unsupported block-element-mixed export-dynamic-block element-low-padding
        element-index-unaligned slice-out-of-bounds slice-step-not-positive dynamic-slice-size too-many-indices multiple-ellipsis
        mixed-array-indexers unsupported-index-type index-map-arity index-map-return-len index-map-returns-ref index-map-out-of-range
        index-map-late-binding index-map-default-param missing-index-map dma-shape-mismatch dma-dtype-mismatch dma-priority bitcast-width
        bitcast-rows-not-divisible ref-reshape-size kernel-arity program-id-axis program-id-without-grid run-scoped-arity prefetch-num-missing
        in-specs-tree-mismatch out-specs-tree-mismatch operand-not-array operand-keyword out-shape-64bit-dtype out-shape-invalid-type
        alias-index-range alias-aval-mismatch alias-duplicate-output alias-not-mapping dimension-semantics-length dimension-semantics-value
        signal-device-id-dtype cond-branch-mismatch predicate-not-scalar invalid-operands
        zero-size-intermediate memory-space-invalid compiler-params-unknown-field compiler-params-type pallas-call-signature
        pltpu-op-precondition shard-map-vma scratch-invalid-type scratch-dict-name traced-shape ref-indexers
        unpack-count sequence-index
    """,
    "how the work is cut into blocks, buffers and memories is the author's design": """
        block-tiling-1d block-tiling-2d block-any-windowed block-windowed-without-grid block-padding-waste vmem-budget-exceeded
        smem-budget-exceeded scratch-space-unsupported window-space-unsupported scalar-smem-with-grid
        parallel-reduction-axis dimension-semantics-core-parallel core-parallel-exceeds-cores collective-id-without-barrier
        dma-tile-offset dma-tile-size dma-lane-offset dma-narrow-minor dtype-unsupported
        float16-vector vmap-any-operand vmap-squeezed-block auto-partition grid-spec-conflict grid-spec-type scratch-dict-in-grid-spec
        narrow-smem-constant-store prng-key-array-load buffered-ref narrow-view-index
    """,
    "it needs an operand, a buffer, a semaphore or a step that is not there": """
        semaphore-missing semaphore-not-scalar semaphore-kind semaphore-used-as-value run-scoped-escape
        axis-name-unbound accumulator-not-initialised output-never-written uninitialised-output output-not-covered
        output-revisited index-map-captures-array pallas-call-not-differentiable kernel-not-callable kernel-unhashable ref-api-on-non-ref
    """,
    "the TPU has no other form of it that does the same": """
        gather-form gather-wide interior-padding prng-form scan-form conv complex-dtype integer-array-indexer flatten-narrow matmul-batch-rank
        matmul-nothing-contracted strided-ref-view strided-last-dim bitcast-1d-ref reshape-1d-ref reshape-squeezed-minor-dims
        index-map-python-control-flow dma-bool dma-add-on-tensorcore i8-mask-v4 v4-lane-reduce-to-1d
    """,
}

FAMILIES = ("acc-", "mesh-", "mpmd-", "pipeline-", "plkernel-", "remote-", "sc-")
"""Rules on kernels of several cores and on what chips have besides TensorCores: what goes where is the author's design."""


def test_every_rule_has_a_fix_or_a_reason() -> None:
    load_fixes()
    reasons = [rule for rules in WITHOUT.values() for rule in rules.split()]
    assert len(reasons) == len(set(reasons))
    assert {rule for rule in RULES if rule not in FIXES and not rule.startswith(FAMILIES)} == set(reasons), "a reason for each"
    assert set(FIXES) <= set(RULES)
