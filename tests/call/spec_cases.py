"""Calls with one part right or wrong: (what, the rule that speaks or None, a module). JAX decides in the tests which are refused."""

from __future__ import annotations

from call.modules import GRID, ROWS, ZEROS, module


def rows(body: str = "o_ref[...] = x_ref[...]", **changes: str) -> str:
    """A copy in two blocks of eight rows, with other arguments."""
    return module(body, **{**GRID, **changes})  # type: ignore[arg-type]


def prefetched(in_specs: str, index_map: str = "lambda i, s: (i, 0)", operands: str = "y, x", **changes: str) -> str:
    """The same with one prefetched operand ``y``."""
    out = f"pl.BlockSpec((8, 128), {index_map})"
    spec = f"pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,), in_specs={in_specs}, out_specs={out})"
    return module(refs="s_ref, x_ref, o_ref", y=changes.pop("y", "i32[2]"), operands=operands, grid_spec=spec, **changes)  # type: ignore[arg-type]


ONE = "pl.BlockSpec((8, 128), lambda i, s: (i, 0))"

OUT = "jax.ShapeDtypeStruct((16, 128), jnp.float32)"

SPECS: list[tuple[str, str | None, str]] = [
    ("a tuple of specs", None, rows(in_specs=f"({ROWS},)")),
    ("a bare spec for in_specs", "in-specs-not-sequence", rows(in_specs=ROWS)),
    ("None for in_specs", "in-specs-not-sequence", rows(in_specs="None")),
    ("a dict for in_specs", "in-specs-not-sequence", rows(in_specs=f"{{'x': {ROWS}}}")),
    ("a bare spec for one output", None, rows(out_specs=ROWS)),
    ("two specs for one operand", "in-specs-tree-mismatch", rows(in_specs=f"[{ROWS}, {ROWS}]")),
    ("no spec for one operand", "in-specs-tree-mismatch", rows(in_specs="[]")),
    ("a memory space for a spec", "in-specs-tree-mismatch", rows(in_specs="[pltpu.VMEM]")),
    ("a memory space for the output's spec", "out-specs-tree-mismatch", rows(out_specs="pltpu.VMEM")),
    ("an index map for a spec", "in-specs-tree-mismatch", rows(in_specs="[lambda i: (i, 0)]")),
    ("None for a spec", "in-specs-tree-mismatch", rows(in_specs="[None]")),
    ("a shape for a spec", "in-specs-tree-mismatch", rows(in_specs="[(8, 128)]")),
    ("a list of specs for an operand", "in-specs-tree-mismatch", rows(in_specs=f"[[{ROWS}]]")),
    ("a tuple operand", None, rows("o_ref[...] = x_ref[0][...]", in_specs=f"[({ROWS},)]", operands="(x,)")),
    ("a tuple operand with a list of specs", "in-specs-tree-mismatch", rows("pass", in_specs=f"[[{ROWS}]]", operands="(x,)")),
    ("a dict operand", None, rows("o_ref[...] = x_ref['a'][...]", in_specs=f"[{{'a': {ROWS}}}]", operands="{'a': x}")),
    ("a dict operand with other keys", "in-specs-tree-mismatch", rows("pass", in_specs=f"[{{'b': {ROWS}}}]", operands="{'a': x}")),
    ("None operand and spec", None, rows(refs="x_ref, n, o_ref", in_specs=f"[{ROWS}, None]", operands="x, None")),
    ("None operand with a spec", "in-specs-tree-mismatch", rows(refs="x_ref, n, o_ref", in_specs=f"[{ROWS}, {ROWS}]", operands="x, None")),
    ("None operand without specs", None, module(refs="x_ref, n, o_ref", operands="x, None")),
    ("specs from a comprehension", None, rows(in_specs=f"[{ROWS} for _ in range(1)]")),
    ("a generator of specs", "in-specs-not-sequence", rows(in_specs=f"({ROWS} for _ in range(1))")),
    ("a map of specs", "in-specs-not-sequence", rows(in_specs=f"map(lambda _: {ROWS}, [0])")),
    ("a tuple of a generator of specs", None, rows(in_specs=f"tuple({ROWS} for _ in range(1))")),
    ("specs from a generator, unpacked", None, rows(in_specs=f"[*({ROWS} for _ in range(1))]")),
    ("a generator for a spec", "in-specs-tree-mismatch", rows(in_specs=f"[({ROWS} for _ in range(1))]")),
    ("a generator for out_specs", "out-specs-tree-mismatch", rows(out_specs=f"({ROWS} for _ in range(1))", out_shape=f"[{OUT}]")),
    ("a generator for out_shape", "out-shape-invalid-type", module(out_shape=f"({OUT} for _ in range(1))")),
    ("a generator for scratch_shapes", "scratch-invalid-type", module(scratch_shapes="(pltpu.VMEM((8, 128), jnp.float32) for _ in range(1))")),
    ("specs by multiplication", "in-specs-tree-mismatch", rows(in_specs=f"[{ROWS}] * 2")),
    ("specs by appending", "in-specs-tree-mismatch", rows(in_specs="specs", before=f"specs = []\nfor _ in range(3):\n    specs.append({ROWS})")),
    ("a spec for the prefetched operand", "in-specs-tree-mismatch", prefetched(f"[SMEM, {ONE}]")),
    ("no spec for the prefetched operand", None, prefetched(f"[{ONE}]")),
    ("a list for one output", "out-specs-tree-mismatch", rows(out_specs=f"[{ROWS}]")),
    ("None for out_specs", "out-specs-tree-mismatch", rows(out_specs="None")),
    ("a list of outputs, a tuple of specs", None, rows(out_shape="[jax.ShapeDtypeStruct((16, 128), jnp.float32)]", out_specs=f"({ROWS},)")),
    ("one spec for a list of outputs", "out-specs-tree-mismatch", rows(out_shape="[jax.ShapeDtypeStruct((16, 128), jnp.float32)]")),
    (
        "a dict of outputs",
        None,
        rows("o_ref['a'][...] = x_ref[...]", out_shape="{'a': jax.ShapeDtypeStruct((16, 128), jnp.float32)}", out_specs=f"{{'a': {ROWS}}}"),
    ),
    (
        "a dict of outputs with other keys",
        "out-specs-tree-mismatch",
        rows("pass", out_shape="{'a': jax.ShapeDtypeStruct((16, 128), jnp.float32)}", out_specs=f"{{'b': {ROWS}}}"),
    ),
    ("no specs at all", None, module(grid="(2,)")),
    ("an empty BlockSpec", None, module(in_specs="[pl.BlockSpec()]")),
    # grid
    ("an int grid", None, rows(grid="2")),
    ("a list grid", None, rows(grid="[2]")),
    ("a NumPy grid", None, rows(grid="(np.int64(2),)")),
    ("a named grid", None, rows(grid="(('i', 2),)")),
    ("a float in the grid", "grid-not-int", rows(grid="(16 / 8,)")),
    ("a float grid", "grid-not-int", rows(grid="x.shape[0] / 8")),
    ("None in the grid", "grid-not-int", rows(grid="(None,)")),
    ("None for the grid", "grid-not-int", rows(grid="None")),
    ("a string in the grid", "grid-not-int", rows(grid="('2',)")),
    ("a grid of a traced size", None, rows(y="i32[]", operands="x", grid="(y,)")),
    ("a float in a grid spec", "grid-not-int", module(grid_spec=f"pl.GridSpec(grid=(2.0,), in_specs=[{ROWS}], out_specs={ROWS})")),
    ("a grid beside a grid spec", "grid-spec-conflict", module(grid="(2,)", grid_spec=f"pl.GridSpec((2,), [{ROWS}], {ROWS})")),
    ("in_specs beside a grid spec", "grid-spec-conflict", module(in_specs=f"[{ROWS}]", grid_spec=f"pl.GridSpec((2,), [{ROWS}], {ROWS})")),
    ("empty in_specs beside a grid spec", "grid-spec-conflict", module(in_specs="[]", grid_spec=f"pl.GridSpec((2,), [{ROWS}], {ROWS})")),
    ("out_specs beside a grid spec", "grid-spec-conflict", module(out_specs=ROWS, grid_spec=f"pl.GridSpec((2,), [{ROWS}], {ROWS})")),
    ("an empty grid beside a grid spec", None, module(grid="()", scratch_shapes="[]", grid_spec=f"pl.GridSpec((2,), [{ROWS}], {ROWS})")),
    ("a tuple for the grid spec", "grid-spec-type", module(grid_spec="(2,)")),
    ("a dict for the grid spec", "grid-spec-type", module(grid_spec="{'grid': (2,)}")),
    ("a prefetching spec without its number", "prefetch-num-missing", module(grid_spec=f"pltpu.PrefetchScalarGridSpec(grid=(2,), in_specs=[{ROWS}])")),
    ("a grid spec with an unknown argument", "pallas-call-signature", module(grid_spec="pl.GridSpec(grid=(2,), specs=[])")),
    # scratch
    ("a bare scratch buffer", "scratch-not-sequence", module(refs="x_ref, o_ref, s_ref", scratch_shapes="pltpu.VMEM((8, 128), jnp.float32)")),
    ("None for scratch", "scratch-not-sequence", module(scratch_shapes="None")),
    ("a shape for a scratch buffer", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[(8, 128)]")),
    ("a struct for a scratch buffer", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[jax.ShapeDtypeStruct((8, 128), jnp.float32)]")),
    ("a memory space for a scratch buffer", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[pltpu.VMEM]")),
    ("an array for a scratch buffer", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[jnp.zeros((8, 128))]")),
    ("scratch without a dtype", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[pltpu.VMEM((8, 128))]")),
    ("scratch with a number for a shape", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[pltpu.VMEM(8, jnp.float32)]")),
    ("scratch with a float size", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[pltpu.VMEM((16 / 2, 128), jnp.float32)]")),
    ("semaphores without a shape", "scratch-invalid-type", module(refs="x_ref, o_ref, s_ref", scratch_shapes="[pltpu.SemaphoreType.DMA()]")),
    ("scratch of many kinds", None, module(refs="x_ref, o_ref, a, b, c, d", scratch_shapes="(pltpu.VMEM((3, 5), 'bfloat16'), (pltpu.SMEM((), jnp.int32), None), pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR((2,)))")),
    ("scratch in a dict", None, module(refs="x_ref, o_ref, *, acc", scratch_shapes="{'acc': pltpu.VMEM((8, 128), jnp.float32)}")),
    ("scratch in a dict of other names", "scratch-dict-name", module(refs="x_ref, o_ref", scratch_shapes="{'acc': pltpu.VMEM((8, 128), jnp.float32)}")),
    ("scratch in a dict in a grid spec", "scratch-dict-in-grid-spec", module(refs="x_ref, o_ref, acc", grid_spec="pl.GridSpec(scratch_shapes={'acc': pltpu.VMEM((8, 128), jnp.float32)})")),
    ("a bare scratch buffer in a grid spec", "scratch-not-sequence", module(refs="x_ref, o_ref, acc", grid_spec="pl.GridSpec(scratch_shapes=pltpu.VMEM((8, 128), jnp.float32))")),
    # out_shape
    ("no out_shape", "pallas-call-signature", module(out_shape="")),
    ("a third positional argument", "pallas-call-signature", module(out_shape="jax.ShapeDtypeStruct((16, 128), jnp.float32), (2,)")),
    ("an unknown argument", "pallas-call-signature", module(out_type="None", grids="(2,)")),
    ("a shape for out_shape", "out-shape-invalid-type", module(out_shape="(16, 128)")),
    ("a string for out_shape", "out-shape-invalid-type", module(out_shape="'f32'")),
    ("a struct without a dtype", "out-shape-invalid-type", module(out_shape="jax.ShapeDtypeStruct((16, 128))")),
    ("a struct with a number for a shape", "out-shape-invalid-type", module(out_shape="jax.ShapeDtypeStruct(16, jnp.float32)")),
    ("the operand as out_shape", None, module(out_shape="x")),
    ("a scratch buffer as out_shape", None, module(out_shape="pltpu.VMEM((16, 128), jnp.float32)")),
    *[
        (f"dtype {d}", "out-shape-64bit-dtype", module("o_ref[...] = x_ref[...] * 2", x=x, out_shape=f"jax.ShapeDtypeStruct((16, 128), {d})"))
        for d, x in (("float", "f32[16,128]"), ("np.float64", "f32[16,128]"), ("int", "i32[16,128]"), ("'int64'", "i32[16,128]"), ("jnp.float64", "f32[16,128]"))
    ],
    ("dtype float, never stored", None, module("pass", out_shape="jax.ShapeDtypeStruct((16, 128), float)")),
    ("a float64 scratch buffer", "out-shape-64bit-dtype", module("s_ref[...] = x_ref[...]", refs="x_ref, o_ref, s_ref", scratch_shapes="[pltpu.VMEM((16, 128), float)]")),
    # operands
    ("an operand by keyword", "operand-keyword", module(operands="x=x")),
    ("a string operand", "operand-not-array", module(refs="x_ref, mode, o_ref", operands="x, 'fast'")),
    ("a function operand", "operand-not-array", module(refs="x_ref, f, o_ref", operands="x, jnp.tanh")),
    ("a NumPy operand", None, module("o_ref[...] = x_ref[...] + c_ref[...]", refs="x_ref, c_ref, o_ref", operands="x, np.ones((16, 128), np.float32)")),
    # aliases
    ("aliases", None, module(input_output_aliases="{0: 0}")),
    ("aliases of another dtype", "alias-aval-mismatch", module("o_ref[...] = x_ref[...].astype(jnp.bfloat16)", out="bf16[16,128]", input_output_aliases="{0: 0}")),
    ("aliases of another shape", "alias-aval-mismatch", module("o_ref[...] = x_ref[0:8]", out="f32[8,128]", input_output_aliases="{0: 0}")),
    ("an operand number too high", "alias-index-range", module(input_output_aliases="{1: 0}")),
    ("a negative operand number", "alias-index-range", module(input_output_aliases="{-1: 0}")),
    ("an output number too high", "alias-index-range", module(input_output_aliases="{0: 1}")),
    ("an operand by name", "alias-index-range", module(input_output_aliases="{'x': 0}")),
    ("aliases as pairs", "alias-not-mapping", module(input_output_aliases="[(0, 0)]")),
    ("aliases as None", "alias-not-mapping", module(input_output_aliases="None")),
    ("aliases that count the prefetched operand", None, prefetched(f"[{ONE}]", input_output_aliases="{1: 0}")),
    ("aliases that do not", "alias-aval-mismatch", prefetched(f"[{ONE}]", input_output_aliases="{0: 0}")),
    ("a number as scratch", "scratch-invalid-type", module(scratch_shapes="8")),
    ("a range as an operand", "operand-not-array", module(refs="x_ref, m, o_ref", operands="x, range(3)")),
    ("the class as a spec", "in-specs-tree-mismatch", module(in_specs="[pl.BlockSpec]")),
    ("the class as an output's spec", "out-specs-tree-mismatch", module(out_specs="pl.BlockSpec")),
    ("generated specs", "in-specs-not-sequence", module(in_specs="(pl.BlockSpec() for _ in range(1))")),
    ("a grid of NumPy's", "grid-not-int", rows(grid="np.int64(2)")),
    ("a grid of NumPy's in a tuple", None, rows(grid="(np.int64(2),)")),
    ("a grid of JAX's", "grid-not-int", rows(grid="jnp.int32(2)")),
    ("a list in the grid", "grid-not-int", rows(grid="([2],)")),
    ("an array of NumPy's as out_shape", "out-shape-64bit-dtype", module(out_shape="np.zeros((16, 128))")),
    # memory spaces and pipeline modes
    ("a space by position", "memory-space-positional", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), pltpu.VMEM)]")),
    ("a space by position, whole array", None, rows(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda i: (0, 0), pltpu.VMEM)]")),
    ("a space as a string", "memory-space-invalid", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space='vmem')]")),
    ("a space of jax.memory", "memory-space-invalid", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space=jax.memory.Space.Device)]")),
    *[
        (f"pipeline mode {mode}", rule, rows(in_specs=f"[pl.BlockSpec((8, 128), lambda i: (i, 0), pipeline_mode={mode})]"))
        for mode, rule in (
            ("pl.Buffered(1)", None),
            ("pl.Buffered(2)", None),
            ("pl.Buffered(3)", "pipeline-mode-unsupported"),
            ("pl.Buffered(buffer_count=0)", "pipeline-mode-unsupported"),
            ("pl.Buffered(2, use_lookahead=True)", "pipeline-mode-unsupported"),
            ("pl.Buffered(2, True)", "pipeline-mode-unsupported"),
            ("2", "pipeline-mode-unsupported"),
            ("None", None),
        )
    ],
    ("three buffers of a whole array", None, rows(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda i: (0, 0), pipeline_mode=pl.Buffered(3))]")),
    ("three buffers without a grid", None, module(in_specs="[pl.BlockSpec((16, 128), pipeline_mode=pl.Buffered(3))]")),
    ("an old argument", "removed-api", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), indexing_mode=None)]")),
]
