"""Kernel calls for a GPU, of which no TPU rule speaks."""

from __future__ import annotations

from ..machine import Machine
from ..values import BlockSpec, GridSpec, Opaque, PallasCall, Scratch, Value
from .specs import space_of
from .structure import plain_leaves

_OTHER_CORES = ("triton", "mosaic_gpu", "plgpu", "pallas.gpu")


def is_for_gpu(call: PallasCall) -> bool:
    """Whether the call names another core than a TPU's; no rule speaks of it then."""
    words = [call.arguments.get("backend"), call.arguments.get("compiler_params")]
    names = [word if isinstance(word, str) else getattr(word, "name", "") for word in words]
    return any(other in name.lower() for name in names if isinstance(name, str) for other in _OTHER_CORES)


def has_tpu_parts(machine: Machine, call: PallasCall) -> bool:
    """Whether a call with compiler parameters of a GPU has memory of a TPU or prefetched operands, which only a TPU knows."""
    spec = call.arguments.get("grid_spec")
    specs: list[Value] = [call.arguments.get(name) for name in ("in_specs", "out_specs", "scratch_shapes")]
    if isinstance(spec, GridSpec):
        if isinstance(spec.prefetch, int) and spec.prefetch:
            return True
        specs = [spec.in_specs, spec.out_specs, spec.scratch]
    found = [leaf for tree in specs for leaf in plain_leaves(machine, tree)]
    spaces = [
        space_of(leaf.space) if isinstance(leaf, BlockSpec) else leaf.space for leaf in found if isinstance(leaf, BlockSpec | Scratch)
    ]
    return any(space in ("vmem", "smem") for space in spaces) and isinstance(call.arguments.get("compiler_params"), Opaque)
