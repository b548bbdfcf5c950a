"""Symbolic shapes of ``jax.export``: dims that have no number when a kernel is lowered.

Mirrors ``jax/_src/export/shape_poly.py`` (``symbolic_shape``) and ``jax/_src/pallas/core.py`` (``BlockSpec.to_block_mapping``).
"""

from __future__ import annotations

import re

from ...shapes import dims
from ...shapes.dims import MaybeDim, Symbol
from ...shapes.poly import atoms_of
from ..machine import Machine
from ..values import Value
from .registry import Call, models

_TERM = re.compile(r"(?:(\d+)\s*\*\s*)?([A-Za-z_]\w*)$")


@models("jax.export.symbolic_shape")
def _symbolic_shape(call: Call) -> Value:
    text = call.get(0, "shape_spec")
    parts = [part.strip() for part in text.strip(" ()").split(",") if part.strip()] if isinstance(text, str) else []
    sizes = [_dim(call.machine, part) for part in parts]
    return tuple(sizes) if sizes and None not in sizes else call.unknown("a symbolic shape")


def _dim(machine: Machine, text: str) -> MaybeDim:
    if text.isdigit():
        return int(text)
    match = _TERM.match(text)
    if match is None:
        return None
    machine.around.exported.add(match[2])
    return dims.mul(int(match[1] or 1), dims.symbol(match[2], 1))


def symbolic_dim(machine: Machine, sizes: tuple[object, ...]) -> MaybeDim:
    """The first of these dims that is made of an exported shape's symbols alone, None when there is none."""
    for size in sizes if machine.around.exported else ():
        atoms = atoms_of(size) if isinstance(size, dims.Poly) else ()
        if atoms and all(isinstance(atom, Symbol) and atom.name in machine.around.exported for atom in atoms):
            return size  # type: ignore[return-value]
    return None
