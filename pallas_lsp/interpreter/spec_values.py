"""What a kernel call is described with: specs of its grid and blocks, scratch buffers, shapes without data."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..shapes.dims import Shape
from .unknowns import Unknown, Value

if TYPE_CHECKING:
    from .values import Opaque, SpecOrigin


@dataclass(slots=True, eq=False)
class ShapeDtype:
    """``jax.ShapeDtypeStruct``, or anything used as one: a shape and a dtype without data.

    ``wide``: the 64-bit dtype that was asked for; ``named`` as for an ``Aval``.
    """

    shape: Shape
    dtype: str | None
    space: str | None = None
    why: str = ""
    origin: SpecOrigin | None = None
    wide: str | None = None
    sharding: Value = None
    named: str | None = None


@dataclass(slots=True, eq=False)
class DynamicSlice:
    """``pl.ds`` / ``pl.Slice``; ``size`` may be an array when the user wrote a traced size."""

    start: Value
    size: Value
    stride: Value = 1


@dataclass(slots=True, eq=False)
class BlockSpec:
    """``pl.BlockSpec``. ``space``: None when defaulted, else a space name, or ``Unknown``; ``shape``: None when absent, else its entries.
    """

    shape: tuple[Value, ...] | Unknown | None
    index_map: Value
    space: Value
    origin: SpecOrigin
    pipeline_mode: Value = None


@dataclass(slots=True, eq=False)
class GridSpec:
    """``pl.GridSpec`` and ``pltpu.PrefetchScalarGridSpec``; ``nodes``: the expressions of its arguments, by parameter name."""

    grid: Value
    in_specs: Value
    out_specs: Value
    scratch: Value
    prefetch: Value = 0
    origin: SpecOrigin | None = None
    nodes: dict[str, ast.expr] = field(default_factory=dict)


SPEC_FIELDS: dict[type[BlockSpec | GridSpec], dict[str, str]] = {
    BlockSpec: {"block_shape": "shape", "index_map": "index_map", "memory_space": "space", "pipeline_mode": "pipeline_mode"},
    GridSpec: {
        "grid": "grid",
        "in_specs": "in_specs",
        "out_specs": "out_specs",
        "scratch_shapes": "scratch",
        "num_scalar_prefetch": "prefetch",
    },
}
"""The public attributes of specs, and the fields that hold them here."""


@dataclass(slots=True, eq=False)
class Scratch:
    """An entry of ``scratch_shapes`` or an argument of ``run_scoped``: ``pltpu.VMEM(shape, dtype)``, a semaphore … ``wide`` and
    ``named`` as for a ``ShapeDtype``; ``mesh``: the mesh of cores that it names.
    """

    space: str | None
    shape: Shape
    dtype: str | None
    origin: SpecOrigin
    words: str
    wide: str | None = None
    named: str | None = None
    mesh: Opaque | None = None


@dataclass(slots=True, eq=False)
class PallasCall:
    """``pl.pallas_call(...)`` before its operands: the arguments by name, their expressions, and the call itself."""

    arguments: dict[str, Value]
    origin: SpecOrigin
    nodes: dict[str, ast.expr] = field(default_factory=dict)
