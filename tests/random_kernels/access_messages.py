"""JAX's messages about accesses to refs, and the rules that say the same."""

from __future__ import annotations

import re

from referee import Verdict

# The first pattern that is found in ``ExceptionName: message`` decides. An empty tuple of rules: JAX's message belongs to another family
# although a later pattern would fit.
MESSAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"VerificationError", ()),  # reported at the pallas_call, whatever the statement
    (r"Cannot store scalars to VMEM", ("store-scalar-to-vmem", "swap-scalar-to-vmem")),
    (r"Can only load scalars from SMEM", ("load-vector-from-smem",)),
    (r"Can only store scalars to SMEM", ("store-vector-to-smem",)),
    (r"are only allowed on VMEM and SMEM references", ("access-any-or-hbm",)),
    (r"Indexing into a \(\)-shaped Ref not yet supported", ("zero-rank-ref-not-in-smem",)),
    (r"dtype=(dma_sem|semaphore) is not a valid dtype for JAX type promotion", ("semaphore-used-as-value",)),
    (r"Invalid dtype for `swap`. Ref dtype: (dma_sem|semaphore)", ("semaphore-used-as-value",)),
    (r"DMA .*must be (Refs|a Ref)", ("copy-operand-not-ref",)),
    (r"Invalid shape for `(swap|addupdate)`", ("store-shape-mismatch",)),
    (r"Invalid dtype for `(swap|addupdate)`", ("store-dtype-mismatch",)),
    (r"Cannot store a Ref into another Ref", ("ref-used-as-array",)),
    (r"'AbstractRef' object has no attribute", ("ref-used-as-array",)),
    (r"Attempting to pass a Ref", ("ref-used-as-array",)),
    (r"TransformedRefs cannot be abstractified", ("ref-used-as-array",)),
    (r"got a Ref of type", ("ref-used-as-array",)),
    (r"requires (ndarray|array) or scalar arguments, got <class '[\w.]*(DynamicJaxprTracer|TransformedRef)'>", ("ref-used-as-array",)),
    (r"DynamicJaxprTracer'> is not iterable", ("ref-used-as-array",)),
    (r"unsupported operand type\(s\) for .*(TransformedRef|DynamicJaxprTracer)", ("ref-used-as-array",)),
    (r"'RefIndexer' object does not support item assignment", ("ref-at-item-assignment",)),
    (r"Can only call `ref_\w+` on a `Ref`", ("ref-api-on-non-ref",)),
    (r"module 'jax.experimental.pallas(.tpu)?' has no attribute", ("removed-api",)),
    (r"Unimplemented primitive in Pallas TPU lowering for tc: addupdate", ("addupdate-not-lowered",)),
    (r"JAX arrays are immutable", ("value-item-assignment",)),
    (r"`indices` must not be longer than `shape`", ("too-many-indices",)),
    (r"Only one ellipsis is supported", ("multiple-ellipsis",)),
    (r"slice must have a step >= 1|`stride` must be >= 0", ("slice-step-not-positive",)),
    (r"TracerBoolConversionError", ("dynamic-python-slice",)),
    (r"DShapedArray\(shape", ("dynamic-slice-size",)),
    (r"Out of bound slice", ("slice-out-of-bounds",)),
    (r"Cannot do int indexing on TPU", ("integer-array-indexer",)),
    (r"`broadcast_to` is a Triton-specific primitive|Cannot broadcast shapes for indexing", ("mixed-array-indexers",)),
    (r"Multiple Ref indexers|Ref cannot be mixed", ("ref-indexers",)),
    (r"too many values to unpack \(expected 1\)|not enough values to unpack \(expected 1, got 0\)", ("unsupported-index-type",)),
    (r"Argument '\w+' of type <class 'str'> is not a valid JAX type", ("unsupported-index-type",)),
    (r"'TypedFloat' object has no attribute 'type'", ("float-index",)),
    (r"Strided slices of references are unsupported", ("strided-ref-view",)),
    (r"NotImplementedError: $", ("masked-load",)),
    (r"masked swap with non-32-bit data", ("masked-store-not-32-bit",)),
    (r"Expected value and mask to have the same shape", ("mask-shape-mismatch",)),
    (r"SMEM store does not support masks", ("masked-store-to-smem",)),
    (r"masked swap with strided store", ("masked-strided-store",)),
    (r"Reshape 1D ref is not supported", ("reshape-1d-ref",)),
    (r"cannot reshape (shape|ref|array)|do not evenly divide the size of the ref|At most one dimension can be -1", ("ref-reshape-size",)),
    (r"Reshape a ref with squeezed dimension", ("reshape-squeezed-minor-dims",)),
    (r"Unsupported transform: TransposeTransform", ("ref-transpose",)),
    (r"Bitcast 1D ref with bitwidth change", ("bitcast-1d-ref",)),
    (r"Expected input and output shapes are the same after multiplying", ("bitcast-rows-not-divisible",)),
    (r"Only arrays with 32-bit element types can be converted to scalars", ("narrow-vector-to-scalar",)),
)


def rules_of(verdict: Verdict) -> tuple[str, ...]:
    """The rules that may speak about what JAX refused, empty where the refusal is no matter of access."""
    said = f"{verdict.exc}: {verdict.message}"
    return next((rules for pattern, rules in MESSAGES if re.search(pattern, said)), ())
