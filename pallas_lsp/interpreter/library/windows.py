"""From an operand or output and its spec to the ref that the kernel gets.

Mirrors ``jax/_src/pallas/core.py``, ``BlockSpec.to_block_mapping``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ...data.versions import parse_version
from ...shapes.avals import Aval, as_aval
from ...shapes.dims import Poly, Shape
from ..machine import Machine
from ..operators import cause_of
from ..truth import name_of_dtype
from ..values import Array, BlockSpec, Library, Ref, RefRoot, Scratch, ShapeDtype, SpecOrigin, Unknown, Value
from .grids import is_absent
from .refusals import location_of
from .specs import SQUEEZED, WORDS, block_dims, may_be_squeezed, space_of


@dataclass(slots=True)
class Windowed:
    """What a ref is a window of: the array's shape and dtype, its role, why either is unknown, the space the array carries.

    ``unspecified``: the space that ``pl.no_block_spec`` as a list entry means in the stated JAX; ``sure``: False where the array may be
    a whole pytree; ``wide``, ``typed`` and ``named`` as for a ``RefRoot``.
    """

    role: str
    shape: Shape
    dtype: str | None
    why: str = ""
    space: str | None = None
    unspecified: str | None = None
    sure: bool = True
    wide: str | None = None
    typed: SpecOrigin | None = None
    named: str | None = None


def input_window(value: Value) -> Windowed | None:
    """An operand as something windowed; None for what is no array."""
    if isinstance(value, Array):
        why = value.why or "an operand of unknown rank"
        return Windowed("input", value.shape, value.dtype, why, value.space, named=name_of_dtype(value))
    if isinstance(value, ShapeDtype):
        return Windowed("input", value.shape, value.dtype, value.why, named=value.named)
    if isinstance(value, bool | int | float | Poly):
        aval = as_aval(value)
        return Windowed("input", aval.shape, aval.dtype)
    return Windowed("input", None, None, value.why, sure=False, named=name_of_dtype(value)) if isinstance(value, Unknown) else None


def output_window(value: Value) -> Windowed | None:
    """A leaf of ``out_shape`` as something windowed; None for what is no shape and dtype."""
    named = name_of_dtype(value)
    if isinstance(value, ShapeDtype | Scratch):
        return Windowed("output", value.shape, value.dtype, getattr(value, "why", ""), wide=value.wide, typed=value.origin, named=named)
    if isinstance(value, Array):
        # NumPy's arrays have 64 bits where no dtype is named.
        if value.numpy and value.dtype is None and _is_plain_numpy(value):
            return Windowed("output", value.shape, "float32", wide="float64", named=named)
        return Windowed("output", value.shape, value.dtype, named=named)
    return Windowed("output", None, None, value.why, sure=False, named=named) if isinstance(value, Unknown) else None


def output_array(leaf: Value) -> Value:
    """What a kernel call gives for a leaf of ``out_shape``."""
    if isinstance(leaf, ShapeDtype | Scratch | Array):
        return Array(Aval(leaf.shape, leaf.dtype, False, name_of_dtype(leaf)))
    return Unknown(leaf.why if isinstance(leaf, Unknown) else "an output of unknown shape", host=True)


def _is_plain_numpy(value: Array) -> bool:
    made = value.made_by
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr not in ("zeros", "ones", "empty"):
        return False
    return len(made.args) == 1 and not any(keyword.arg in (None, "dtype") for keyword in made.keywords)


def unspecified_space(machine: Machine) -> str | None:
    """The memory space of a window whose spec is ``pl.no_block_spec``; it changed between versions."""
    version = parse_version(machine.jax_version) if machine.jax_version is not None else None
    if version is None:
        return None
    return "vmem" if version < (0, 11) else "any" if version >= (0, 12) else None


def prefetch_ref(value: Value, origin: SpecOrigin) -> Ref:
    """The ref of a scalar-prefetch operand."""
    window = input_window(value)
    shape, dtype, named = (window.shape, window.dtype, window.named) if window is not None else (None, None, None)
    root = RefRoot(
        "prefetch", "prefetch", shape, shape, dtype, "smem", decided_at=location_of(origin),
        decided_by="a scalar-prefetch operand is in SMEM", why=window.why if window else "", array=shape,
        sure=not isinstance(value, Unknown), named=named,
    )  # fmt: skip
    return root.whole()


def block_ref(window: Windowed, spec: Value, origin: SpecOrigin) -> Value:
    """The ref that a window of an array gives the kernel. ``origin``: the call, where no spec was written."""
    if isinstance(spec, Unknown):
        root = RefRoot(window.role, window.role, None, None, window.dtype, None, why=spec.why, array=window.shape, sure=window.sure)
        root.named = window.named
        return root.whole()
    if spec is not None and not isinstance(spec, BlockSpec) and not is_absent(spec):
        return Unknown("something that is no BlockSpec")
    written = isinstance(spec, BlockSpec)
    place = spec.origin if isinstance(spec, BlockSpec) else origin
    block: tuple[Any, ...] | None = tuple(window.shape) if window.shape is not None else None
    why = window.why
    if isinstance(spec, BlockSpec) and spec.shape is not None:
        block = block_dims(spec.shape) if isinstance(spec.shape, tuple) and not any(map(may_be_squeezed, spec.shape)) else None
        why = cause_of(filter(may_be_squeezed, spec.shape) if isinstance(spec.shape, tuple) else (spec.shape,)) or why
    space = space_of(spec.space) if isinstance(spec, BlockSpec) else "default"
    defaulted = space == "default"
    if isinstance(spec, Library):
        space, defaulted = window.unspecified, False
    elif defaulted:
        space = "vmem"
    shape = tuple(dim for dim in block if dim != SQUEEZED) if block is not None else None
    unnamed = " without a memory space" if written and defaulted else ""
    words = f"{'BlockSpec' if written else 'no BlockSpec'}{unnamed}: {WORDS.get(space or '', '?')}"
    root = RefRoot(
        window.role, window.role, shape, block, window.dtype, space, defaulted, location_of(place), words, place, why, window.shape,
        sure=window.sure or written, wide=window.wide, typed=window.typed, named=window.named,
    )  # fmt: skip
    return root.whole()
