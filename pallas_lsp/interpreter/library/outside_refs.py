"""Refs that the program makes itself, outside of kernels: ``jax.new_ref`` and what goes with it.

Mirrors ``jax/_src/ref.py`` and ``empty_ref_like`` of ``jax/_src/pallas/helpers.py``. Outside of a kernel they are read and written as they
are; the kernel of a mesh may close over them.
"""

from __future__ import annotations

from ...shapes.avals import Aval
from ..truth import name_of_dtype
from ..values import Array, Ref, RefRoot, Scratch, ShapeDtype, SpecOrigin, Value
from .refusals import location_of
from .registry import PALLAS, Call, models
from .specs import space_of


@models("jax.ref.new_ref", "jax.ref.empty_ref", f"{PALLAS}.empty_ref_like")
def _new_ref(call: Call) -> Value:
    like = call.get(0, "init_val")
    if not isinstance(like, Array | ShapeDtype | Scratch) or call.machine.kernel is not None:
        return call.unknown()
    named = space_of(call.kwargs.get("memory_space")) if not isinstance(like, Scratch) else like.space
    space = "any" if named == "default" else named
    origin = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]
    root = RefRoot(
        "ref", "outside", like.shape, like.shape, like.dtype, space, decided_at=location_of(origin), decided_by="a ref of the program's",
        decider=origin, named=name_of_dtype(like), own_name="",
    )  # fmt: skip
    return root.whole()


@models("jax.ref.freeze")
def _freeze(call: Call) -> Value:
    ref = call.get(0, "ref")
    return Array(Aval(ref.shape, ref.dtype, False, ref.named)) if isinstance(ref, Ref) else call.unknown()


@models("jax.ref.free_ref")
def _free(call: Call) -> Value:
    return None
