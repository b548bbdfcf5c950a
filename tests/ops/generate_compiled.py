"""Write ``pallas_lsp/data/compiled.toml``: which functions lower and are then refused by the TPU compiler, by dtype and chip.

    python tests/ops/generate_compiled.py pallas_lsp/data/compiled.toml

Each function is applied to two whole arrays of a dtype in a kernel of its own, which libtpu compiles for every chip. Needs libtpu, no chip.
Compilers differ: run it with one libtpu after the other, and what each of them refuses stays. To begin anew, delete the file.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from ops.generate_operations import wrapped
from referee import CHIPS, compile_many

DTYPES = ("bfloat16", "int16", "int8", "uint16", "uint8")
ONE = """
jax.numpy: negative abs absolute sign square exp exp2 log log2 log10 log1p sqrt sin cos tan tanh floor ceil round rint trunc isnan reciprocal
bitwise_count invert logical_not deg2rad rad2deg
jax.lax: neg abs sign exp exp2 log log1p sqrt rsqrt sin cos tan tanh floor ceil erf logistic population_count clz
jax.nn: relu relu6 sigmoid silu gelu softplus leaky_relu mish hard_tanh hard_swish soft_sign log_sigmoid
"""
TWO = """
jax.numpy: add subtract multiply divide true_divide floor_divide remainder mod fmod power maximum minimum fmax fmin arctan2 hypot logaddexp
logaddexp2 copysign equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or
bitwise_xor left_shift right_shift gcd lcm float_power heaviside
jax.lax: add sub mul div rem max min pow atan2 shift_left shift_right_logical shift_right_arithmetic
"""
_KERNEL = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = {call}


def run(x, y):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((64, 256), {stored}))(x, y)


ARGS = [jax.ShapeDtypeStruct((64, 256), jnp.{dtype})] * 2
"""


def functions() -> dict[str, str]:
    """The call of each function, by its name."""
    found = {}
    for text, arguments in ((ONE, "x_ref[...]"), (TWO, "x_ref[...], y_ref[...]")):
        for word in text.split():
            if word.endswith(":"):
                module = word[:-1]
            else:
                found[f"{module}.{word}"] = f"{module}.{word}({arguments})"
    return found


def source(call: str, dtype: str) -> str | None:
    """The module whose kernel makes the call; None where JAX refuses the call."""
    operand = jax.ShapeDtypeStruct((64, 256), dtype)
    code = call.replace("x_ref[...]", "x").replace("y_ref[...]", "y")
    try:
        result = jax.eval_shape(lambda x, y: eval(code, {"jax": jax, "x": x, "y": y}), operand, operand)
    except Exception:
        return None
    if result.dtype == jnp.bool_:
        return _KERNEL.format(call=f"jnp.where({call}, x_ref[...], y_ref[...])", stored=f"jnp.{dtype}", dtype=dtype)
    return _KERNEL.format(call=call, stored=f"jnp.{result.dtype}", dtype=dtype)


def refused(
    names: dict[str, str], dtypes: tuple[str, ...] = DTYPES, chips: tuple[str, ...] = tuple(CHIPS)
) -> dict[tuple[str, str], set[str]]:
    """(function, dtype) → the chips for which the compiler refuses what lowers."""
    cells = [(name, dtype, text) for name, call in names.items() for dtype in dtypes if (text := source(call, dtype))]
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for chip in chips:
        for (name, dtype, _), verdict in zip(cells, compile_many([cell[2] for cell in cells], chip), strict=True):
            if not verdict.ok and verdict.stage in ("compile", "crash"):
                found[name, dtype].add(chip)
    return found


def main(path: Path) -> None:
    found, compilers = refused(functions()), {importlib.metadata.version("libtpu")}
    if path.exists():
        old = tomllib.loads(path.read_text(encoding="utf-8"))
        compilers |= set(old["libtpu"])
        before: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in old["refused"]:
            for name in row["functions"].split():
                for dtype in row["dtypes"].split():
                    before[name, dtype] = set(row["chips"].split())
        found = {cell: chips & before[cell] for cell, chips in found.items() if chips & before[cell]}
    path.write_text(written(found, sorted(compilers)), encoding="utf-8")


def written(found: dict[tuple[str, str], set[str]], compilers: list[str]) -> str:
    """The table as text: one entry for what shares dtypes and chips."""
    by_function: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (name, dtype), chips in found.items():
        by_function[name, " ".join(sorted(chips))].append(dtype)
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (name, chips), dtypes in by_function.items():
        grouped[" ".join(sorted(dtypes)), chips].append(name)
    lines = ["# Written by tests/ops/generate_compiled.py from what each of these compilers refuses; do not edit."]
    lines += [f'jax = "{jax.__version__}"', "libtpu = [" + ", ".join(f'"{compiler}"' for compiler in compilers) + "]"]
    for (dtypes, chips), names in sorted(grouped.items()):
        lines += ["", "[[refused]]", f'dtypes = "{dtypes}"', f'chips = "{chips}"', 'functions = """', *wrapped(sorted(names)), '"""']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
