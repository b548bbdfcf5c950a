"""Write what the installed JAX lowers into ``pallas_lsp/data/lowered.toml``, beside what the other versions lower.

    python tests/ops/generate_lowered.py pallas_lsp/data/lowered.toml

Functions that work element by element are put into kernels on operands of several shapes, equal ones and ones that broadcast. A function is
written down for the dtypes for which all of these kernels lower: for scalars, and for vectors.
"""

from __future__ import annotations

import os
import sys
import tomllib
import warnings
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.scipy.special
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from ops.generate_operations import table_text
from referee import on_chip
from shapes.elementwise_calls import ACTIVATIONS, BINARY, LAX_BINARY, LAX_BITS, LAX_UNARY, UNARY

DTYPES = ("float32", "bfloat16", "int32", "uint32", "int8", "bool")
Shape = tuple[int, ...]
SAME: dict[str, tuple[Shape, ...]] = {"scalar": ((),), "vector": ((8, 128), (1, 1), (128,), (2, 8, 128))}
BROADCAST: tuple[tuple[Shape, Shape], ...] = (
    ((8, 128), (1, 128)), ((8, 1), (8, 128)), ((2, 8, 128), (128,)), ((), (8, 128)),
)  # fmt: skip


def functions() -> dict[str, int]:
    """The functions to ask about, each with the number of its operands."""
    one = [*(f"jax.numpy.{n}" for n in UNARY), *(f"jax.nn.{n}" for n in ACTIVATIONS), *(f"jax.lax.{n}" for n in LAX_UNARY)]
    two = [*(f"jax.numpy.{n}" for n in BINARY), *(f"jax.lax.{n}" for n in (*LAX_BINARY, *LAX_BITS))]
    three = ["jax.numpy.where", "jax.numpy.clip", "jax.lax.select", "jax.lax.clamp"]
    return dict.fromkeys(one, 1) | dict.fromkeys(two, 2) | dict.fromkeys(three, 3)


def lowers(name: str, shapes: tuple[Shape, ...], dtype: str) -> bool | None:
    """Whether a kernel that stores the function of operands of these shapes lowers; None where the call does not trace."""
    function = eval(name)
    operands = [jax.ShapeDtypeStruct(shape, "bool" if name.endswith(("where", "select")) and not i else dtype) for i, shape in enumerate(shapes)]
    try:
        result = jax.eval_shape(function, *operands)
    except Exception:
        return None
    if not hasattr(result, "shape"):
        return None
    specs = [pl.BlockSpec(memory_space=pltpu.VMEM if shape else pltpu.SMEM) for shape in shapes]

    def kernel(*refs: object) -> None:
        *ins, out = refs
        value = function(*(ref[...] if ref.shape else ref[()] for ref in ins))  # type: ignore[attr-defined]
        out[... if out.shape else ()] = value  # type: ignore[attr-defined, index]

    out_spec = pl.BlockSpec(memory_space=pltpu.VMEM if result.shape else pltpu.SMEM)
    call = pl.pallas_call(kernel, out_shape=result, in_specs=specs, out_specs=out_spec)
    try:
        jax.jit(call).trace(*operands).lower(lowering_platforms=("tpu",))
    except Exception:
        return False
    return True


def dtypes_of(name: str, count: int, kind: str) -> list[str]:
    """The dtypes for which the function lowers, of scalars or of vectors, whatever their shapes."""
    shapes = [(shape,) * count for shape in SAME[kind]]
    if kind == "vector" and count == 2:
        shapes += BROADCAST
    if kind == "vector" and count == 3 and not name.startswith("jax.lax"):
        shapes += [(a, b, a) for a, b in BROADCAST] + [(a, a, b) for a, b in BROADCAST]
    found = []
    for dtype in DTYPES:
        answers = [answer for case in shapes if (answer := lowers(name, case, dtype)) is not False]
        if len(answers) == len(shapes) and True in answers:
            found.append(dtype)
    return found


def main(path: Path) -> None:
    rows: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    versions = {jax.__version__}
    if path.exists():
        old = tomllib.loads(path.read_text(encoding="utf-8"))
        versions |= set(old["versions"])
        for row in old["lowered"]:
            for name in row["functions"].split():
                rows[row["of"], row["dtypes"], name] = set(row["versions"].split()) - {jax.__version__}
    with on_chip("v5e"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, count in functions().items():
            for kind in SAME:
                if dtypes := dtypes_of(name, count, kind):
                    rows[kind, " ".join(dtypes), name].add(jax.__version__)
            jax.clear_caches()
    path.write_text(table_text("generate_lowered", "lowered", "of", rows, sorted(versions)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
