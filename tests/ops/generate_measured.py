"""Write ``tests/ops/measured/jax-<version>.txt``: what the installed JAX, and libtpu if it is installed, say to each expression.

    python tests/ops/generate_measured.py

Takes some minutes, most of them for the compiler. It asks for v5e first, and the other chips only about what that one refuses.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import types
import warnings
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from ops.measured import FOLDER, SHORT, Asked, Measured, expressions
from referee import CHIPS, compile_many, libtpu_installed, lower, on_chip

OTHERS = [chip for chip in CHIPS if chip != "v5e"]


def value_of(ask: Asked) -> str:
    """What the value is like, ``f32(8, 128)``; empty where it is like the operands, or where JAX does not get that far."""
    probe = ask.module().replace("    o_ref[...] = r\n", "    SEEN.append((jnp.shape(r), jnp.result_type(r).name))\n")
    module = types.ModuleType("probe")
    module.__dict__["SEEN"] = seen = []
    with on_chip("v5e"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(probe, module.__dict__)
            jax.jit(module.run).trace(*module.ARGS)
        except Exception:
            return ""
    shape, dtype = seen[0]
    return "" if (shape, SHORT.get(dtype, dtype)) == (ask.shape, ask.dtype) else f"{SHORT.get(dtype, dtype)}{shape}"


def lowered(ask: Asked) -> Measured:
    """The verdict of JAX."""
    out = value_of(ask)
    verdict = lower(ask.module(out))
    return Measured(ask, "+" if verdict.ok else "t" if verdict.stage == "trace" else "l", out)


def compiled(cells: list[Measured]) -> list[Measured]:
    """The cells with the verdict of the TPU compiler on those that JAX lowers."""
    fine = [cell for cell in cells if cell.verdict == "+"]
    refused = [cell for cell, verdict in zip(fine, compile_many([cell.module for cell in fine]), strict=True) if not verdict.ok]
    everywhere = {id(cell) for cell in refused}
    for chip in OTHERS:
        answers = compile_many([cell.module for cell in refused], chip)
        everywhere -= {id(cell) for cell, verdict in zip(refused, answers, strict=True) if verdict.ok}
    letter = {id(cell): "c" if id(cell) in everywhere else "5" for cell in refused}
    return [Measured(cell.asked, letter.get(id(cell), cell.verdict), cell.out) for cell in cells]


def main() -> None:
    cells = [lowered(ask) for ask in expressions()]
    by = [f"JAX {jax.__version__}"]
    if libtpu_installed():
        cells = compiled(cells)
        by.append(f"libtpu {importlib.metadata.version('libtpu')}")
    lines = [f"# Written by tests/ops/generate_measured.py with {' and '.join(by)}; what it means stands in __init__.py."]
    for (expression, _), group in groupby(cells, key=lambda cell: (cell.asked.expression, cell.asked.shape)):
        texts = [" ".join(filter(None, (cell.asked.dtype, cell.verdict, cell.out))) for cell in group]
        lines.append(f"{expression}\t{' | '.join(texts)}")
    (FOLDER / f"jax-{jax.__version__}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
