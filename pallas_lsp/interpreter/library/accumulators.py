"""The accumulators of an MXU: ``pltpu.ACC`` and the functions that work on them, which JAX has since 0.11.2.

Mirrors ``AccMemorySpace`` and ``check_accumulator_ref`` of ``jax/_src/pallas/mosaic/core.py`` and the ``matmul_*`` functions of
``jax/_src/pallas/mosaic/primitives.py``.
"""

from __future__ import annotations

import ast
from math import prod

from ...shapes.avals import Aval
from ..events import CallFault
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, Machine
from ..operation_events import AccumulatorUse
from ..truth import as_dim, dtype_of
from ..values import ABSENT, Array, Builtin, Ref, Scratch, SpecOrigin, Unknown, Value
from ..written import written
from .refusals import refuse
from .registry import TPU, Call, models

_COLUMNS, _SUBLANES, _MXUS = 256, 8, 2


@models(f"{TPU}.ACC")
def _accumulators(call: Call) -> Value:
    """``pltpu.ACC(mxu_id)``, which makes accumulators as ``pltpu.VMEM`` makes buffers."""
    unit = call.get(0, "mxu_id")

    def make(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        shape, dtype = arguments.get(0, "shape"), dtype_of(arguments.get(1, "dtype"))
        sizes = tuple(as_dim(size) for size in shape) if isinstance(shape, tuple | list) else None
        fault = _fault(sizes, dtype, unit)
        if fault is not None:
            refuse(machine, CallFault(machine.where(node, frame), *fault))
            return Unknown("an accumulator that JAX refuses")
        origin = SpecOrigin(frame.module, node)  # type: ignore[arg-type]
        return Scratch("acc", sizes, dtype, origin, written(node) if isinstance(node, ast.expr) else "")

    return Builtin("accumulator", make)


def _fault(sizes: tuple[object, ...] | None, dtype: str | None, unit: Value) -> tuple[str, object] | None:
    """What JAX refuses of an accumulator, in its order of checks."""
    if sizes is not None and len(sizes) < 2:
        return "acc-shape", sizes
    if dtype not in (None, "float32", "int32"):
        return "acc-dtype", dtype
    if isinstance(unit, int) and not 0 <= unit < _MXUS:
        return "acc-unit", unit
    rows = [size for size in sizes[:-1] if isinstance(size, int)] if sizes is not None else []
    wide = sizes is not None and isinstance(sizes[-1], int) and sizes[-1] != _COLUMNS
    uneven = sizes is not None and len(rows) == len(sizes) - 1 and (prod(rows) <= 0 or prod(rows) % _SUBLANES != 0)
    return ("acc-shape", sizes) if wide or uneven else None


@models(f"{TPU}.matmul_acc_lhs")
def _acc_lhs(call: Call) -> Value:
    acc, lhs = call.get(0, "acc"), call.get(1, "lhs")
    call.machine.effect()
    mark_live(lhs)
    _note(call, acc, lhs, call.get(2, "load_staged_rhs"))
    return None


@models(f"{TPU}.matmul_push_rhs")
def _push_rhs(call: Call) -> Value:
    call.machine.effect()
    mark_live(call.args)
    return None


@models(f"{TPU}.matmul_pop")
def _pop(call: Call) -> Value:
    acc = call.get(0, "acc")
    call.machine.effect()
    _note(call, acc, ABSENT, None)
    return Array(Aval(acc.shape, acc.dtype, False)) if isinstance(acc, Ref) else call.unknown()


def _note(call: Call, acc: Value, lhs: Value, staged: Value) -> None:
    if call.arguments.exact and isinstance(acc, Ref):
        where = call.machine.where(call.node, call.frame)
        call.machine.emit(AccumulatorUse(where, call.name.rpartition(".")[2], acc, lhs, staged))
