"""``pltpu.get_tpu_info()``: what all TPUs have in common is known without knowing which one this is (``jax/_src/tpu_info.py``); where there
are two answers, each is a path of its own."""

from __future__ import annotations

import ast

from ...data.chips import load_chips
from ...shapes import dtypes
from ..attributes import HANDLERS, unknown_attribute
from ..frames import Frame
from ..machine import Arguments, Machine
from ..truth import dtype_of
from ..values import Builtin, ChipFacts, Condition, Unknown, Value
from .registry import Call, models

LANES, SUBLANES = 128, 8
_WIDE, _DENSE = 6, 7
_GENERATIONS = {_WIDE: "TPU v6e", _DENSE: "TPU7x"}
"""Since when the matrix unit has 256 columns, and since when two elements of 16 bits share a sublane."""
_COLUMNS = {"mxu_column_size": "mxu", "generation": "generation", "vmem_capacity_bytes": "vmem", "smem_capacity_bytes": "smem"}
"""Facts of the table of chips, by their names in a ``TpuInfo``."""


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
    if name in _COLUMNS and machine.target is not None:
        return load_chips()[machine.target][_COLUMNS[name]]
    if name == "mxu_column_size":
        return 2 * LANES if _has(machine, _WIDE, node, frame) else LANES
    return unknown_attribute(machine, value, name, node, frame)


def _sublane_tiling(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``TpuInfo.get_sublane_tiling``: two elements of 16 bits share a sublane from TPU7x on only, smaller ones on every chip."""
    bits = dtypes.bits(dtype_of(arguments.get(0, "dtype")))
    if bits is None or bits > 32:
        return Unknown("the tiling of a dtype that is not known" if bits is None else "the tiling of a 64-bit dtype", host=True)
    if bits == 16 and not _has(machine, _DENSE, node, frame):
        return SUBLANES
    return SUBLANES * (32 // bits)


def _has(machine: Machine, generation: int, node: ast.AST, frame: Frame) -> bool:
    """Whether the chip is of this generation or a newer one: as the target says, or as the path takes it."""
    if machine.target is not None:
        return load_chips()[machine.target]["generation"] >= generation
    answers = machine.path.answers
    if answers.get(_key(_DENSE)):
        return True
    if answers.get(_key(_WIDE)) is False:
        return False
    name = _GENERATIONS[generation]
    condition = Condition(_key(generation), (f"the chip is {name} or newer", f"the chip is older than {name}"), default=False)
    return machine.decide(condition, node, frame)


def _key(generation: int) -> str:
    return f"truth:pltpu.get_tpu_info() is of generation {generation}"


HANDLERS[ChipFacts] = _fact
