"""``pltpu.get_tpu_info()``: what all TPUs have in common is known without knowing which one this is (``jax/_src/tpu_info.py``)."""

from __future__ import annotations

import ast

from ...shapes import dtypes
from ..attributes import HANDLERS, unknown_attribute
from ..frames import Frame
from ..machine import Arguments, Machine
from ..truth import dtype_of
from ..values import Builtin, ChipFacts, Unknown, Value
from .registry import Call, models

LANES, SUBLANES = 128, 8


@models("jax.experimental.pallas.tpu.get_tpu_info")
def _get_tpu_info(call: Call) -> Value:
    return ChipFacts()


def _fact(machine: Machine, value: ChipFacts, name: str, node: ast.AST, frame: Frame) -> Value:
    if name == "num_lanes":
        return LANES
    if name == "num_sublanes":
        return SUBLANES
    if name == "get_sublane_tiling":
        return Builtin(name, _sublane_tiling)
    return unknown_attribute(machine, value, name, node, frame)


def _sublane_tiling(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``TpuInfo.get_sublane_tiling``: two elements of 16 bits share a sublane from TPU7x on only, smaller ones on every chip."""
    dtype = dtype_of(arguments.get(0, "dtype"))
    bits = dtypes.bits(dtype)
    if bits is None or bits == 16:
        return Unknown("which TPU this is", f"pltpu.get_tpu_info().get_sublane_tiling({dtype})" if dtype else None, host=True)
    return SUBLANES * (32 // bits) if bits <= 32 else Unknown("the tiling of a 64-bit dtype", host=True)


HANDLERS[ChipFacts] = _fact
