"""Write what the installed JAX says of SparseCores into ``pallas_lsp/data/operations_vector.toml`` and ``operations_scalar.toml``.

    python tests/ops/generate_subcore_operations.py pallas_lsp/data

As ``generate_operations.py`` for TensorCores: every public array function is called in the kernel of a mesh of subcores, on vectors of
several lengths or on scalars. Written down is which primitive has no lowering there. Nothing is stored, for JAX lowers there what nothing uses.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import tpu_sc as plsc
from ops.generate_operations import answers_of, calls, updated
from referee import on_chip

DTYPES = ("float32", "bfloat16", "int32", "bool")
SHAPES = {"vector": ((16,), (8, 16)), "scalar": ((),)}
MISSING = "Unimplemented primitive in Pallas TPU lowering for sc_"


def reason_of(kind: str, function: Callable[..., Any], shape: tuple[int, ...], dtype: str) -> str | None:
    """Why a kernel that calls ``function(x, y)`` is not lowered, None when it is. Raises LookupError when it does not even trace."""
    operand = jax.ShapeDtypeStruct(shape, dtype)
    try:
        jax.eval_shape(function, operand, operand)
    except Exception as error:
        raise LookupError from error

    def kernel(x_ref: Any, y_ref: Any) -> None:
        function(x_ref[0] if kind == "scalar" else x_ref[...], y_ref[0] if kind == "scalar" else y_ref[...])

    if kind == "scalar":
        mesh, scratch = plsc.ScalarSubcoreMesh(axis_name="c"), pltpu.SMEM((1,), dtype)
    else:
        mesh, scratch = plsc.VectorSubcoreMesh(core_axis_name="c", subcore_axis_name="s"), pltpu.VMEM(shape, dtype)
    try:
        traced = jax.jit(lambda: pl.kernel(kernel, mesh=mesh, scratch_types=[scratch, scratch])()).trace()
    except Exception as error:
        raise LookupError from error
    try:
        traced.lower(lowering_platforms=("tpu",))
    except Exception as error:
        _, found, rest = str(error).partition(MISSING)
        return f"primitive {rest.split(': ', 1)[1].split('.')[0]}" if found else "?"
    return None


def refused(kind: str) -> Iterator[tuple[str, str, str]]:
    """(reason, dtypes, function) for everything that the installed JAX refuses on a subcore of the kind."""
    with on_chip("tpu7x"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, texts in calls().items():
            answers = answers_of(texts, DTYPES, SHAPES[kind], partial(reason_of, kind))
            dtypes: dict[str, list[str]] = {}
            for dtype, reasons in answers.of_dtype.items():
                named = sorted(reason for reason in reasons if reason is not None and reason != "?")
                if named and None not in reasons:  # refused whatever the shape, if for some for another reason
                    dtypes.setdefault(named[0], []).append(dtype)
            for reason, having in dtypes.items():
                yield reason, "*" if len(having) == len(answers.of_dtype) > 1 else " ".join(having), name


def main(folder: Path) -> None:
    for kind in SHAPES:
        path = folder / f"operations_{kind}.toml"
        path.write_text(updated(path, "generate_subcore_operations", "refused", "reason", refused(kind)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
