"""What a loaded value may go through.

Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_squeeze_lowering_rule``, ``_reduce_lowering_rule`` and the primitives without a rule.
"""

from __future__ import annotations

from ..interpreter.events import Access, Computed
from ..interpreter.values import Array
from ..shapes import dtypes
from . import words
from .lowered import is_used
from .memory_spaces import happens
from .primitives import UNIMPLEMENTED
from .registry import Context, Finding, rule


@rule("addupdate-not-lowered", on=Access, order=45, stage="lower")
def addupdate_not_lowered(event: Access, context: Context) -> Finding | None:
    """``addupdate`` is called on a ref."""
    if event.op != "addupdate" or event.fault is not None:
        return None
    return Finding(
        event.where.location,
        f"`addupdate` on {words.name(event.ref)} has no TPU lowering: `{event.ref.root.name}[...] += value` does the same",
        jax_message=UNIMPLEMENTED.format("addupdate"),
    )


@rule("narrow-vector-to-scalar", on=Computed, order=10, stage="lower")
def narrow_vector_to_scalar(event: Computed, context: Context) -> Finding | None:
    """A vector of narrow elements becomes a scalar."""
    source = event.source
    bits = dtypes.bits(source.dtype) if source.dtype is not None and dtypes.kind(source.dtype) != "extended" else None
    narrow = source.dtype == "bool" or (bits is not None and bits != 32)
    if event.kind not in ("squeeze", "extremum", "sum") or not narrow or not source.shape or not is_used(event.result, event.where, context):
        return None
    if event.kind == "extremum" and not (source.dtype is not None and dtypes.is_floating(source.dtype)):
        return None
    if event.kind == "sum" and not (source.dtype or "").startswith("float8"):
        return None
    return Finding(
        event.where.location,
        f"a scalar is taken out of {words.array(source)}: only 32-bit vectors give scalars, `.astype(jnp.float32)` first",
        jax_message=f"Only arrays with 32-bit element types can be converted to scalars, but got: {source.dtype}. Try casting the input before squeezing the scalar.",
    )


@rule("narrow-vmem-scalar-load", on=Access, order=120, stage="compile")
def narrow_vmem_scalar_load(event: Access, context: Context) -> Finding | None:
    """A narrow scalar is loaded from VMEM."""
    dtype = event.ref.dtype
    bits = dtypes.bits(dtype) if dtype is not None and dtype != "bool" and dtypes.kind(dtype) != "extended" else None
    if event.op != "load" or event.ref.root.space != "vmem" or event.shape != () or bits in (None, 32) or not happens(event, context):
        return None
    return Finding(
        event.where.location,
        f"a {dtype} scalar is loaded from {words.name(event.ref)} in VMEM: the TPU compiler takes 32-bit scalars only",
        words.decided(event.ref),
        "Only 32-bit scalar vector.extracts supported. Cast your input to a 32-bit type first.",
    )


@rule("narrow-smem-constant-store", on=Access, order=122, stage="compile")
def narrow_smem_constant_store(event: Access, context: Context) -> Finding | None:
    """A constant 16-bit float is stored to SMEM."""
    constant = isinstance(event.value, int | float) or (isinstance(event.value, Array) and event.value.constant is not None)
    if (
        event.op != "store"
        or event.ref.root.space != "smem"
        or event.shape != ()
        or event.ref.dtype not in ("bfloat16", "float16")
        or not constant
    ):
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"a constant {event.ref.dtype} is stored to {words.name(event.ref)} in SMEM: the TPU compiler cannot make such a constant, use float32",
        words.decided(event.ref),
        f"failed to legalize unresolved materialization from () to ('{'bf16' if event.ref.dtype == 'bfloat16' else 'f16'}')",
    )


@rule("prng-key-not-in-smem", on=Access, order=75, stage="lower")
def prng_key_not_in_smem(event: Access, context: Context) -> Finding | None:
    """A Pallas PRNG key is loaded from elsewhere than SMEM."""
    if event.op != "load" or event.ref.dtype != "key<pl>" or event.ref.root.space in (None, "smem") or not happens(event, context):
        return None
    return Finding(
        event.where.location,
        f"PRNG key loaded from {words.name(event.ref)}, which is in {words.space(event.ref.root)}: keys are loaded from SMEM",
        words.decided(event.ref),
        "PRNG keys must be loaded from SMEM. Did you set the memory space to MemorySpace.SMEM in the BlockSpec for the PRNG key input?",
    )


@rule("prng-key-array-load", on=Access, order=76, stage="lower")
def prng_key_array_load(event: Access, context: Context) -> Finding | None:
    """A key is loaded from an array of several Pallas PRNG keys."""
    shape = event.ref.root.shape
    if event.op != "load" or event.ref.dtype != "key<pl>" or event.ref.root.space != "smem" or not shape or not happens(event, context):
        return None
    if not any(isinstance(size, int) and size > 1 for size in shape):
        return None
    return Finding(
        event.where.location,
        f"a key is loaded from {words.name(event.ref)}, an array of keys of shape {words.shape(shape)}: a ref may hold one key only",
        words.shaped(event.ref),
        "Can only load a single key per load.",
    )
