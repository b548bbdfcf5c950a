"""What the API pages say JAX refuses: (page, what, a part of JAX's message, a module)."""

from __future__ import annotations

from pages.kernels import COPY, DMA, REGULAR, ROWS, SPEC, ZEROS, module, module_under_a_mesh, module_with_core_map, module_with_prefetch

API_REFUSED = [
    (
        "BlockSpec",
        "SMEM in the third place",
        "Unsupported pipeline mode: smem.",
        module(ZEROS, **ROWS, in_specs=f"[{SPEC(', pltpu.SMEM')}]"),
    ),
    ("BlockSpec", "one value for two", "must return 2 values", module(ZEROS, **ROWS, in_specs="[pl.BlockSpec((8, 128), lambda i: i)]")),
    ("BlockSpec", "tiling", "divisible by 8 and 128", module(ZEROS, **ROWS, in_specs="[pl.BlockSpec((4, 128), lambda i: (i, 0))]")),
    ("pallas_call", "a list of specs", "Pytree for `out_specs` and `out_shape` do not match", module(COPY, out_specs="[VMEM]")),
    ("pallas_call", "a captured array", "captures constants", module("o_ref[...] = x_ref[...] * jnp.array([[1.0]])")),
    (
        "GridSpec",
        "and a grid",
        "If `grid_spec` is specified, then `grid` must be `()`",
        module(COPY, grid="(1,)", grid_spec="pl.GridSpec(grid=(1,))"),
    ),
    ("GridSpec", "no list", "`in_specs` must be a tuple or a list", module(COPY, grid_spec="pl.GridSpec(in_specs=VMEM)")),
    (
        "PrefetchScalarGridSpec",
        "grid indices only",
        "takes 1 positional argument but 2 were given",
        module_with_prefetch("lambda i: (i, 0)"),
    ),
    ("PrefetchScalarGridSpec", "a spec for it", "Pytree for `in_specs`", module_with_prefetch("lambda i, idx_ref: (i, 0)", "[spec, spec]")),
    (
        "VMEM",
        "shape ()",
        "Indexing into a ()-shaped Ref",
        module(f"s_ref[...] = x_ref[0, 0]\n{COPY}", scratch=["pltpu.VMEM((), jnp.float32)"]),
    ),
    (
        "ANY",
        "a window",
        "in memory space ANY only blocks having the same block shape",
        module(ZEROS, **ROWS, in_specs=f"[{SPEC(', memory_space=pl.ANY')}]"),
    ),
    (
        "SemaphoreType",
        "REGULAR for a copy",
        "dma_wait requires a DMA semaphore",
        module("pltpu.async_copy(x_ref, o_ref, s_ref).wait()", scratch=[REGULAR]),
    ),
    ("MemorySpace", "ANY in pltpu", "ANY", module(COPY, in_specs="[pl.BlockSpec(memory_space=pltpu.MemorySpace.ANY)]")),
    ("MemorySpace", "a string", "Invalid memory space: 'smem'", module(COPY, in_specs='[pl.BlockSpec(memory_space="smem")]')),
    ("when", "a vector", "Pred must be a scalar", module(f"@pl.when(x_ref[...] > 0)\ndef _():\n    {COPY}")),
    (
        "when",
        "the body has to be valid",
        "Cannot store scalars to VMEM",
        module("@pl.when(x_ref[0, 0] > 0)\ndef _():\n    o_ref[0, 0] = 1.0"),
    ),
    (
        "program_id",
        "no such axis",
        "Axis 1 is out of bounds for grid (1,)",
        module("o_ref[...] = x_ref[...] + pl.program_id(1)", grid="(1,)"),
    ),
    ("program_id", "no grid", "Axis 0 is out of bounds for grid ()", module("o_ref[...] = x_ref[...] + pl.program_id(0)")),
    (
        "program_id",
        "in an index map",
        "user did not provide a grid",
        module(COPY, grid="(1,)", in_specs="[pl.BlockSpec((8, 128), lambda i: (pl.program_id(0), 0))]"),
    ),
    ("program_id", "a Python if", "Attempted boolean conversion", module(f"if pl.program_id(0) == 0:\n    {COPY}", grid="(1,)")),
    ("num_programs", "no such axis", "Axis 1 is out of bounds", module("o_ref[...] = x_ref[...] + pl.num_programs(1)", grid="(1,)")),
    (
        "run_scoped",
        "the ref itself",
        "does not have a corresponding jaxpr input",
        module("o_ref[...] = pl.run_scoped(lambda t: t, pltpu.VMEM((8, 128), jnp.float32))[...]"),
    ),
    (
        "run_scoped",
        "ShapeDtypeStruct",
        "no attribute 'get_ref_aval'",
        module(f"pl.run_scoped(lambda t: None, jax.ShapeDtypeStruct((8, 128), jnp.float32))\n{COPY}"),
    ),
    (
        "async_copy",
        "add",
        "DMA with add=True is not supported.",
        module("pltpu.async_copy(x_ref, o_ref, s_ref, add=True).wait()", scratch=[DMA]),
    ),
    ("sync_copy", "shapes", "DMA source and target shape mismatch", module("pltpu.sync_copy(x_ref.at[0:4], o_ref)")),
    ("sync_copy", "dtypes", "DMA source and target element type mismatch", module("pltpu.sync_copy(x_ref, o_ref)", x="i32[8,128]")),
    (
        "make_async_remote_copy",
        "no mesh",
        "Number of device ids must match the number of mesh axes",
        module("pltpu.make_async_remote_copy(x_ref, o_ref, s_ref, t_ref, device_id=(0,)).start()", scratch=[DMA, DMA]),
    ),
    ("cdiv", "a float", "Grid must be a tuple of integers", module(COPY, grid="(16 / 8,)")),
    (
        "loop",
        "a list",
        "The __index__() method was called on traced array",
        module("weights = [1.0, 2.0]\n@pl.loop(0, 2)\ndef _(i):\n    o_ref[i] = x_ref[i] * weights[i]"),
    ),
    (
        "loop",
        "unroll",
        "Can only use `unroll`",
        module("@pl.loop(0, y_ref[0], unroll=2)\ndef _(i):\n    o_ref[i] = x_ref[i]", y="i32[1]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "CompilerParams",
        "length",
        "Length of grid does not match length of dimension semantics",
        module(COPY, grid="(1,)", compiler_params='pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary"))'),
    ),
    ("CompilerParams", "a dict", "unhashable type: 'dict'", module(COPY, compiler_params="dict(vmem_limit_bytes=2**20)")),
    (
        "emit_pipeline",
        "values",
        "has no attribute 'inner_aval'",
        module(
            "spec = pl.BlockSpec((8, 128), lambda i: (0, 0))\npltpu.emit_pipeline(lambda a: None, grid=(1,), in_specs=[spec])(x_ref[...])"
        ),
    ),
    (
        "Buffered",
        "three",
        "Only single (1) and double (2) buffering are supported. Got 3.",
        module(ZEROS, **ROWS, in_specs=f"[{SPEC(', pipeline_mode=pl.Buffered(3)')}]"),
    ),
    (
        "Squeezed",
        "a row of a larger array",
        "divisible by 8 and 128",
        module(ZEROS, **ROWS, in_specs="[pl.BlockSpec((None, 128), lambda i: (i, 0))]"),
    ),
    (
        "Element",
        "mixed",
        "All block dimensions must be Elements or none of them",
        module(ZEROS, **ROWS, in_specs="[pl.BlockSpec((pl.Element(8), 128), lambda i: (i * 8, 0))]"),
    ),
    ("no_block_spec", "None", "Pytree for `in_specs` and `inputs` do not match", module(COPY, in_specs="[None]")),
    (
        "semaphore_signal",
        "an array",
        "Cannot signal on a non-()-shaped semaphore",
        module("pl.semaphore_signal(s_ref)", scratch=[f"{REGULAR}((2,))"]),
    ),
    ("semaphore_signal", "of a DMA", "Must wait semaphores of the following types", module("pl.semaphore_wait(s_ref)", scratch=[DMA])),
    ("roll", "a negative shift", "shift must be non-negative.", module("o_ref[...] = pltpu.roll(x_ref[...], -1, 0)")),
    ("roll", "a negative axis", "axis is out of range.", module("o_ref[...] = pltpu.roll(x_ref[...], 1, -1)")),
    ("load", "no conversion", "Invalid dtype for `swap`", module("pltpu.store(o_ref, x_ref[...])", x="i32[32,128]", out="i8[32,128]")),
    (
        "swap",
        "an index",
        "takes 1 positional argument but 2 were given",
        module("o_ref[...] = pltpu.load(x_ref, (pl.ds(0, 8), slice(None)))"),
    ),
    (
        "debug_print",
        "a vector",
        "For vector input, the format string must end with {}.",
        module(f'pl.debug_print("row", x_ref[0])\n{COPY}'),
    ),
    (
        "debug_print",
        "reads count",
        "Can only load scalars from SMEM",
        module(f'pl.debug_print("all {{}}", y_ref[...])\n{COPY}', y="f32[4]", in_specs="[VMEM, SMEM]"),
    ),
    ("kernel", "a direct read", "Loads are only allowed on VMEM and SMEM", module_under_a_mesh("o_ref[...] = x_ref[...]")),
    ("kernel", "program_id", "", module_under_a_mesh("@pl.when(pl.program_id(0) == 0)\ndef _():\n    pltpu.sync_copy(x_ref, o_ref)")),
    ("core_map", "an array", "captures non-scalar", module_with_core_map("x")),
    ("core_map", "the outer ref", "Loads are only allowed on VMEM and SMEM", module_with_core_map("ref[...]")),
    ("bitcast", "rows", "", module("o_ref[...] = pltpu.bitcast(x_ref[...], jnp.int32)", x="bf16[3,128]", out="i32[1,128]")),
    (
        "prng_seed",
        "a float",
        "All seed data must be scalar integers",
        module("pltpu.prng_seed(1.5)\no_ref[...] = pltpu.prng_random_bits((8, 128))", out="i32[8,128]"),
    ),
    (
        "prng_seed",
        "the whole ref",
        "Can only load scalars from SMEM",
        module(
            "pltpu.prng_seed(y_ref[...])\no_ref[...] = pltpu.prng_random_bits((8, 128))",
            y="i32[1]",
            in_specs="[VMEM, SMEM]",
            out="i32[8,128]",
        ),
    ),
    (
        "prng_seed",
        "one dimension",
        "random_bits only supports rank>=2 outputs.",
        module("pltpu.prng_seed(1)\no_ref[...] = pltpu.prng_random_bits((128,))", out="i32[128]"),
    ),
    *[
        (
            "ShapeDtypeStruct",
            dtype,
            "Ref dtype: float64. Value dtype: float32.",
            module(COPY).replace(
                "out_shape=jax.ShapeDtypeStruct((8,128,), jnp.float32)", f"out_shape=jax.ShapeDtypeStruct((8, 128), {dtype})"
            ),
        )
        for dtype in ("float", "np.float64")
    ],
    ("ShapeDtypeStruct", "scratch", "no attribute 'get_ref_aval'", module(COPY, scratch=["jax.ShapeDtypeStruct((8, 128), jnp.float32)"])),
]
