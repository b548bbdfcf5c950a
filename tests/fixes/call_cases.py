"""Arguments of calls that are nearly right: (rule, program, the lines that the first fix adds)."""

from __future__ import annotations

from fixes.kernels import program

COPY = "o_ref[...] = x_ref[...]"
TWO = {"x": "f32[16,128]", "out": "f32[16,128]", "grid": "(2,)"}
ROWS = "pl.BlockSpec((8, 128), lambda i: (i, 0))"


def with_global(body: str, definition: str) -> str:
    """A program with a definition above the kernel."""
    return program(body).replace("\n\ndef kernel", f"\nimport numpy as np\n\n{definition}\n\n\ndef kernel", 1)


CERTAIN = [
    (
        "in-specs-not-sequence",
        program(COPY, in_specs="pl.BlockSpec((8, 128), lambda: (0, 0))"),
        ["in_specs=[pl.BlockSpec((8, 128), lambda: (0, 0))],"],
    ),
    (
        "scratch-not-sequence",
        program("s_ref[...] = x_ref[...]\no_ref[...] = s_ref[...]", scratch_shapes="pltpu.VMEM((8, 128), jnp.float32)"),
        ["scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],"],
    ),
    ("grid-not-int", program(COPY, **TWO | {"grid": "(16 / 8,)"}, in_specs=f"[{ROWS}]", out_specs=ROWS), ["grid=(16 // 8,),"]),
    (
        "vmem-limit-not-int",
        program(COPY, compiler_params="pltpu.CompilerParams(vmem_limit_bytes=64 * 1e6)"),
        ["compiler_params=pltpu.CompilerParams(vmem_limit_bytes=int(64 * 1e6)),"],
    ),
    (
        "cost-estimate-not-int",
        program(COPY, cost_estimate="pl.CostEstimate(flops=2 * 1e6, bytes_accessed=1, transcendentals=0)"),
        ["cost_estimate=pl.CostEstimate(flops=int(2 * 1e6), bytes_accessed=1, transcendentals=0),"],
    ),
    ("constant-slice-start", program("s = jnp.int32(0)\no_ref[...] = x_ref[pl.ds(s, 8)]"), ["o_ref[...] = x_ref[pl.ds(0, 8)]"]),
    (
        "kernel-captures-array",
        with_global(f"{COPY} * SCALE + SCALE", "SCALE = jnp.array(0.5)"),
        ["o_ref[...] = x_ref[...] * jnp.array(0.5) + jnp.array(0.5)"],
    ),
    (
        "kernel-captures-array",
        with_global(f"{COPY} + ONES", "ONES = np.ones((1, 128), np.float32)"),
        ["o_ref[...] = x_ref[...] + jnp.ones((1, 128), np.float32)"],
    ),
]

LIKELY = [
    (
        "index-map-non-int",
        program(COPY, **TWO, in_specs="[pl.BlockSpec((8, 128), lambda i: (i / 1, 0))]", out_specs=ROWS),
        ["in_specs=[pl.BlockSpec((8, 128), lambda i: (i // 1, 0))],"],
    ),
    (
        "index-map-element-offset",
        program(COPY, **TWO, in_specs=f"[{ROWS}]", out_specs="pl.BlockSpec((8, 128), lambda i: (i * 8, 0))"),
        ["out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),"],
    ),
]

SAFE = [(rule, lines[0], source, lines) for rule, source, lines in CERTAIN]
UNSAFE = [(rule, lines[0], source, lines) for rule, source, lines in LIKELY]
