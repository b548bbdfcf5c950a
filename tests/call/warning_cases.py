"""Calls that JAX lowers, right or silently wrong: (what, the warnings, a module)."""

from __future__ import annotations

from call.modules import GRID, ROWS, module

ADD = "o_ref[...] += x_ref[...]"
OUT = "jax.ShapeDtypeStruct((16, 128), jnp.float32)"
FIRST = "@pl.when(pl.program_id({axis}) == 0)\ndef _():\n    o_ref[...] = jnp.zeros_like(o_ref)\n"
BLOCK = "pl.BlockSpec((8, 128), lambda {})"


def rows(body: str = "o_ref[...] = x_ref[...]", **changes: str) -> str:
    """A copy in two blocks of eight rows, with other arguments."""
    return module(body, **{**GRID, **changes})  # type: ignore[arg-type]


def summed(body: str, out: str = "i, k: (i, 0)", grid: str = "(2, 4)", x: str = "f32[64,128]", **changes: str) -> str:
    """A sum over grid axis 1: eight blocks of ``x`` into two of the output."""
    block = BLOCK.format("i, k: (4 * i + k, 0)" if grid == "(2, 4)" else "k, i: (4 * i + k, 0)")
    return module(body, x=x, grid=grid, in_specs=f"[{block}]", out_specs=BLOCK.format(out), **changes)  # type: ignore[arg-type]


_VISITS: list[tuple[str, set[str], str]] = [
    ("every block once", set(), rows()),
    ("one block is the whole", set(), module(grid="(1,)", in_specs="[pl.BlockSpec((16, 128))]", out_specs="pl.BlockSpec((16, 128))")),
    ("an output without an index map", {"missing-index-map"}, rows(out_specs="pl.BlockSpec((8, 128))")),
    ("an operand without an index map", set(), rows(in_specs="[pl.BlockSpec((8, 128))]")),
    ("a step too many", {"index-map-out-of-range"}, rows(grid="(3,)")),
    ("a step too few", {"output-not-covered"}, rows(grid="(1,)")),
    ("a rest is left", {"output-not-covered"}, rows(grid="(20 // 8,)", x="f32[20,128]", out="f32[20,128]")),
    ("a rest is counted", set(), rows(grid="(pl.cdiv(20, 8),)", x="f32[20,128]", out="f32[20,128]")),
    ("an index before the first", {"index-map-out-of-range"}, rows(in_specs=f"[{BLOCK.format('i: (i - 1, 0)')}]")),
    ("an offset in elements", {"index-map-element-offset"}, rows(in_specs=f"[{BLOCK.format('i: (i * 8, 0)')}]")),
    ("an offset of one block", {"index-map-out-of-range"}, rows(in_specs=f"[{BLOCK.format('i: (i + 1, 0)')}]")),
    ("only even blocks", {"index-map-out-of-range"}, rows(out_specs=BLOCK.format("i: (2 * i, 0)"))),
    ("the last block first", set(), rows(in_specs=f"[{BLOCK.format('i: (1 - i, 0)')}]", out_specs=BLOCK.format("i: (1 - i, 0)"))),
    ("an aliased output in part", set(), rows(grid="(1,)", input_output_aliases="{0: 0}")),
    ("a dim of the grid that is not known", set(), rows(grid="(n,)", before="n = int(np.random.randint(1, 3))")),
    (
        "a map with a default in a grid index's place",
        {"index-map-default-param"},
        module(before="k = 1", grid="(1, 2)", in_specs=f"[{BLOCK.format('i, k=k: (k, 0)')}]", out_specs=BLOCK.format("i, j: (j, 0)")),
    ),
    (
        "a map with a default behind the grid indices",
        set(),
        module(before="k = 1", grid="(2,)", in_specs=f"[{BLOCK.format('i, k=k: (k, 0)')}]", out_specs=ROWS),
    ),
    (
        "maps made in a loop",
        {"index-map-late-binding"},
        module(
            "o_ref[...] = x_ref[...] + y_ref[...]", refs="x_ref, y_ref, o_ref", operands="x, x", out="f32[8,128]",
            before=f"specs = []\nfor k in range(2):\n    specs.append({BLOCK.format('i: (k, 0)')})",
            grid="(1,)", in_specs="specs", out_specs=ROWS,
        ),
    ),
    (
        "maps made in a loop that keep its variable",
        set(),
        module(
            "o_ref[...] = x_ref[...] + y_ref[...]", refs="x_ref, y_ref, o_ref", operands="x, x", out="f32[8,128]",
            before=f"specs = []\nfor k in range(2):\n    specs.append({BLOCK.format('i, k=k: (k, 0)')})",
            grid="(1,)", in_specs="specs", out_specs=ROWS,
        ),
    ),
]  # fmt: skip

_SUMS: list[tuple[str, set[str], str]] = [
    ("a sum", set(), summed(FIRST.format(axis=1) + ADD)),
    ("a sum that nothing starts", {"accumulator-not-initialised"}, summed(ADD)),
    ("a sum started at the wrong axis", {"accumulator-not-initialised"}, summed(FIRST.format(axis=0) + ADD)),
    ("a sum over the outer axis", {"output-revisited"}, summed(FIRST.format(axis=0) + ADD, out="k, i: (i, 0)", grid="(4, 2)")),
    ("a write over the outer axis", set(), summed("o_ref[...] = x_ref[...]", out="k, i: (i, 0)", grid="(4, 2)")),
    ("a sum into scratch", set(), summed(
        "@pl.when(pl.program_id(1) == 0)\ndef _():\n    s[...] = jnp.zeros_like(s)\ns[...] += x_ref[...]\no_ref[...] = s[...]",
        refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((8, 128), jnp.float32)]",
    )),
    ("a sum into scratch that nothing starts", {"accumulator-not-initialised"}, summed(
        "s[...] += x_ref[...]\no_ref[...] = s[...]", refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((8, 128), jnp.float32)]",
    )),
    ("a sum into scratch that a choice starts", set(), summed(
        "t = jnp.where(pl.program_id(1) == 0, 0.0, s[...]) + x_ref[...]\ns[...] = t\no_ref[...] = t",
        refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((8, 128), jnp.float32)]",
    )),
    ("a sum into an aliased output", set(), rows(ADD, input_output_aliases="{0: 0}")),
    ("an output that is read first", {"uninitialised-output"}, rows(
        "s_ref[...] = o_ref[...]\no_ref[...] = x_ref[...]", refs="x_ref, o_ref, s_ref", out_shape=f"[{OUT}] * 2", out_specs=f"[{ROWS}] * 2",
    )),
    ("an output that nothing is stored to", {"output-never-written"}, rows("t = x_ref[...]")),
    ("an output that a helper stores to", set(), rows("put(o_ref, x_ref)", top="def put(a, b):\n    a[...] = b[...]")),
    ("an output that a copy fills", set(), rows("pltpu.sync_copy(x_ref, o_ref)")),
    ("an output that is deleted", set(), rows("del o_ref")),
]  # fmt: skip

_OTHERS: list[tuple[str, set[str], str]] = [
    ("one output of two operands", {"alias-duplicate-output"}, module(
        "o_ref[...] = x_ref[...]", refs="x_ref, y_ref, o_ref", y="f32[16,128]", input_output_aliases="{0: 0, 1: 0}",
    )),
    ("one output of one operand", set(), module(input_output_aliases="{0: 0}")),
]  # fmt: skip

SILENT = [*_VISITS, *_SUMS, *_OTHERS]

_SCRATCH = "pltpu.{}((8, 128), jnp.float32)"
_PADDED = "(pl.Element(8, (8, 0)), pl.Element(128))"
_SCALAR = {"refs": "s_ref, x_ref, o_ref", "y": "f32[]", "operands": "y, x", "in_specs": f"[SMEM, {ROWS}]"}

COMPILED: list[tuple[str, set[str], str]] = [
    ("float16", {"dtype-unsupported"}, rows(x="f16[16,128]", out="f16[16,128]")),
    ("bfloat16", set(), rows(x="bf16[16,128]", out="bf16[16,128]")),
    ("scratch in VMEM", set(), rows(refs="x_ref, o_ref, s", scratch_shapes=f"[{_SCRATCH.format('VMEM')}]")),
    ("scratch in HBM", {"scratch-space-unsupported"}, rows(refs="x_ref, o_ref, s", scratch_shapes=f"[{_SCRATCH.format('HBM')}]")),
    ("a scalar in SMEM with a grid", {"scalar-smem-with-grid"}, rows(**_SCALAR)),
    ("a scalar in SMEM without a grid", set(), module(**{**_SCALAR, "in_specs": "[SMEM, pl.BlockSpec()]"})),  # type: ignore[arg-type]
    ("one number in SMEM with a grid", set(), rows(**{**_SCALAR, "y": "f32[1]"})),
    ("elements at tiles", set(), rows(in_specs="[pl.BlockSpec((pl.Element(8), pl.Element(128)), lambda i: (i * 8, 0))]")),
    ("elements off the tiles", {"element-index-unaligned"}, rows(in_specs="[pl.BlockSpec((pl.Element(8), pl.Element(128)), lambda i: (i * 3, 0))]")),
    ("elements padded in front", {"element-low-padding"}, rows(in_specs=f"[pl.BlockSpec({_PADDED}, lambda i: (i * 8, 0))]")),
    ("cores in parallel", {"core-parallel-exceeds-cores"}, rows(compiler_params="pltpu.CompilerParams(dimension_semantics=(pltpu.CORE_PARALLEL,))")),
    ("two MiB prefetched", {"smem-budget-exceeded"}, module(
        refs="s_ref, x_ref, o_ref", y="i32[524288]", operands="y, x",
        grid_spec="pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,), "
        "in_specs=[pl.BlockSpec((8, 128), lambda i, s: (i, 0))], out_specs=pl.BlockSpec((8, 128), lambda i, s: (i, 0)))",
    )),
    ("a table of two columns in SMEM", {"smem-budget-exceeded"}, rows(
        "o_ref[...] = x_ref[...] + s_ref[0, 0]", **{**_SCALAR, "y": "f32[4096,2]"},
    )),
    ("an MiB of bools in SMEM", {"smem-budget-exceeded"}, rows(
        "o_ref[...] = jnp.where(s_ref[0], x_ref[...], 0)", **{**_SCALAR, "y": "bool[270000]"},
    )),
    ("large blocks of arguments", {"vmem-budget-exceeded"}, rows(
        x="f32[8192,1024]", out="f32[8192,1024]", grid="(4,)",
        in_specs="[pl.BlockSpec((2048, 1024), lambda i: (i, 0))]", out_specs="pl.BlockSpec((2048, 1024), lambda i: (i, 0))",
    )),
    ("blocks that just fit", set(), rows(
        x="f32[8192,1024]", out="f32[8192,1024]", grid="(8,)",
        in_specs="[pl.BlockSpec((1024, 1024), lambda i: (i, 0))]", out_specs="pl.BlockSpec((1024, 1024), lambda i: (i, 0))",
    )),
    ("large blocks with a higher limit", set(), rows(
        x="f32[8192,1024]", out="f32[8192,1024]", grid="(4,)", compiler_params="pltpu.CompilerParams(vmem_limit_bytes=40 << 20)",
        in_specs="[pl.BlockSpec((2048, 1024), lambda i: (i, 0))]", out_specs="pl.BlockSpec((2048, 1024), lambda i: (i, 0))",
    )),
    ("large blocks between two operations", set(), rows(
        x="f32[4096,1024]", out="f32[4096,1024]", operands="jnp.sin(x)", result="jnp.cos({})", grid="(2,)",
        in_specs="[pl.BlockSpec((2048, 1024), lambda i: (i, 0))]", out_specs="pl.BlockSpec((2048, 1024), lambda i: (i, 0))",
    )),
    ("large scratch that is not used", set(), rows(refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((5120, 1024), jnp.float32)]")),
    ("large scratch that is only stored to", set(), rows(
        "s[0:8, 0:128] = x_ref[...]\no_ref[...] = x_ref[...]", refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((5120, 1024), jnp.float32)]",
    )),
    ("large scratch from step to step", {"vmem-budget-exceeded"}, rows(
        "@pl.when(pl.program_id(0) == 0)\ndef _():\n    s[0:8, 0:128] = x_ref[...]\ns[0:8, 0:128] = s[0:8, 0:128] + x_ref[...]\n"
        "o_ref[...] = s[0:8, 0:128]",
        refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((5120, 1024), jnp.float32)]",
    )),
    ("large scratch at rows of the step", {"vmem-budget-exceeded"}, rows(
        "s[pl.ds(pl.program_id(0) * 8, 8), 0:128] = x_ref[...]\no_ref[...] = s[pl.ds(8 - pl.program_id(0) * 8, 8), 0:128]",
        refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((5120, 1024), jnp.float32)]",
    )),
    ("a column of large scratch in a loop", {"vmem-budget-exceeded"}, rows(
        "def put(j, _):\n    s[j] = x_ref[...]\n    return _\njax.lax.fori_loop(0, 5120, put, 0)\no_ref[...] = s[pl.program_id(0)]",
        refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((5120, 8, 128), jnp.float32)]",
    )),
]  # fmt: skip
