"""What lowers for a SparseCore, and the TPU compiler refuses.

The compiler is libtpu's; no file of JAX's says what it refuses. Asked were the versions that go with JAX 0.10.
"""

from __future__ import annotations

from ..interpreter.cores import SPARSE
from ..interpreter.operation_events import CopyStep, Operation, SubcoreCall
from ..interpreter.values import Array, Ref
from . import lowered, words
from .copies import is_indexed
from .registry import Context, Finding, rule

_REDUCTIONS = frozenset(f"jax.numpy.{name}" for name in ("sum", "max", "min", "amax", "amin", "mean", "cumsum"))
_SCANS = frozenset(("cumsum", "cummax", "cummin", "all_reduce_population_count", "all_reduce_ffs", "pack"))


@rule("sc-scan-needs-no-layout-passes", on=Operation, also=(SubcoreCall,), order=100, stage="compile", until="0.11", cores=SPARSE)
def sc_scan_needs_no_layout_passes(event: Operation | SubcoreCall, context: Context) -> Finding | None:
    """A reduction or running sum of a SparseCore where the compiler chooses layouts."""
    if event.where.core.registers is not False or event.where.core.kind != "vector":
        return None
    if isinstance(event, SubcoreCall):
        name = f"`plsc.{event.function}`" if event.function in _SCANS else ""
    else:
        value = event.get(0, "a")
        is_vector = isinstance(value, Array) and value.shape is not None and len(value.shape) == 1
        name = lowered.name(event) if event.function in _REDUCTIONS and is_vector else ""
    if not name:
        return None
    return Finding(
        event.where.location,
        f"the TPU compiler takes {name} only from a kernel with `compiler_params=pltpu.CompilerParams(needs_layout_passes=False)`",
        jax_message="INTERNAL: Operation not supported in the Mosaic-SC infer-vector-layout pass. Set needs_layout_passes=False in the TPU custom call.",
    )


@rule("sc-scatter-add-hbm", on=CopyStep, order=100, stage="compile", until="0.11", cores=SPARSE)
def sc_scatter_add_hbm(event: CopyStep, context: Context) -> Finding | None:
    """A scatter of a SparseCore adds to HBM."""
    into = event.copy.destination
    if event.step != "start" or event.add is not True or not isinstance(into, Ref) or into.root.space != "hbm" or not is_indexed(into):
        return None
    return Finding(
        event.where.location,
        f"this copy adds to {words.name(into)} in HBM, which the TPU compiler refuses: add up in VMEM_SHARED, and copy that",
        words.decided(into),
        "INTERNAL: Failed to verify lowered MLO module. ... Scatter with add is only supported into spmem or tile_spmem",
    )
