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
from ..values import Builtin, ChipFacts, Unknown, Value
from .registry import Call, models

LANES, SUBLANES = 128, 8
_WIDE, _DENSE = 6, 7
_OLDER = ("v4", "v5p")
_QUESTIONS = (_WIDE, _DENSE, *_OLDER)
_GENERATIONS = {_WIDE: "TPU v6e", _DENSE: "TPU7x"}
"""Since when the matrix unit has 256 columns, and since when two elements of 16 bits share a sublane."""
_COLUMNS = {"generation": "generation", "vmem_capacity_bytes": "vmem", "smem_capacity_bytes": "smem"}
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
    if name == "mxu_column_size":
        return 2 * LANES if _has(machine, _WIDE, node, frame) else LANES
    if name in _COLUMNS:
        column = _COLUMNS[name]
        return load_chips()[_chip(machine, column, node, frame)][column]
    return unknown_attribute(machine, value, name, node, frame)


def _sublane_tiling(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``TpuInfo.get_sublane_tiling``: two elements of 16 bits share a sublane from TPU7x on only, smaller ones on every chip."""
    bits = dtypes.bits(dtype_of(arguments.get(0, "dtype")))
    if bits is None or bits > 32:
        return Unknown("the tiling of a dtype that is not known" if bits is None else "the tiling of a 64-bit dtype", host=True)
    if bits == 16 and not _has(machine, _DENSE, node, frame):
        return SUBLANES
    return SUBLANES * (32 // bits)


def _chip(machine: Machine, column: str, node: ast.AST, frame: Frame) -> str:
    """The chip that is stated, or one that has what the path's chip has in this column of the table."""
    if machine.target is not None:
        return machine.target
    if _has(machine, _WIDE, node, frame):
        return "tpu7x" if _has(machine, _DENSE, node, frame) else "v6e"
    chips = load_chips()
    for chip in _OLDER:
        differs = chips[chip][column] != chips["v5e"][column]
        if differs and _decide(machine, chip, (f"the chip is TPU {chip}", f"the chip is not TPU {chip}"), node, frame):
            return chip
    return "v5e"


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
    return _decide(machine, generation, (f"the chip is {name} or newer", f"the chip is older than {name}"), node, frame)


def _decide(machine: Machine, what: int | str, words: tuple[str, str], node: ast.AST, frame: Frame) -> bool:
    """The path's answer to one of the questions that one expression may ask: each has a place of its own, for its other answer is tried.

    That a chip is older than others is said once: that it is none of the rarer ones among these is no further assumption.
    """
    file, unit, line, column = frame.module.place(node)
    return machine.path.decide(_key(what), (file, unit, line, column + _QUESTIONS.index(what)), False, words, what in _OLDER)


def _key(what: int | str) -> str:
    return f"truth:pltpu.get_tpu_info() is {what}"


HANDLERS[ChipFacts] = _fact
