"""What the API pages say is fine: (page, what, a module that JAX lowers), and what of it the TPU compiler says."""

from __future__ import annotations

from pages.kernels import COPY, DMA, REGULAR, ROWS, SPEC, module, module_under_a_mesh, module_with_core_map, module_with_prefetch

API_ACCEPTED = [
    (
        "BlockSpec",
        "squeezed dimensions",
        module(COPY, **{**ROWS, "x": "f32[2,8,128]"}, in_specs="[pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0))]"),
    ),
    ("pallas_call", "Python and NumPy scalars", module("o_ref[...] = x_ref[...] * np.float32(2) + 1")),
    ("PrefetchScalarGridSpec", "chosen by data", module_with_prefetch("lambda i, idx_ref: (idx_ref[i], 0)")),
    ("SemaphoreType", "kinds", module(COPY, scratch=[f"{DMA}((2,))", "pltpu.SemaphoreType.BARRIER"])),
    ("HBM", "the output of an HBM out_shape", module(COPY).replace("out_shape=jax.ShapeDtypeStruct", "out_shape=pltpu.HBM")),
    (
        "HBM",
        "scratch",
        module("pltpu.sync_copy(x_ref, s_ref)\npltpu.sync_copy(s_ref, o_ref)", scratch=["pltpu.HBM((8, 128), jnp.float32)"]),
    ),
    ("ds", "the first n", module("o_ref[...] = x_ref[pl.ds(8)]")),
    ("when", "a Python False", module(f"@pl.when(False)\ndef _():\n    o_ref[0, 0] = 1.0\n{COPY}")),
    ("num_programs", "a Python number", module(f"if pl.num_programs(0) == 1:\n    {COPY}", grid="(1,)")),
    (
        "run_scoped",
        "names and a result",
        module(
            "def body(buffer, sem):\n    pltpu.async_copy(x_ref, buffer, sem).wait()\n    return buffer[...]\n"
            "o_ref[...] = pl.run_scoped(body, pltpu.VMEM((8, 128), jnp.float32), sem=pltpu.SemaphoreType.DMA)"
        ),
    ),
    ("async_copy", "started", module("pltpu.async_copy(x_ref, o_ref, s_ref).wait()", scratch=[DMA])),
    ("async_copy", "not waited for", module("pltpu.async_copy(x_ref, o_ref, s_ref)", scratch=[DMA])),
    ("make_async_copy", "not started", module("pltpu.make_async_copy(x_ref, o_ref, s_ref).wait()", scratch=[DMA])),
    ("cdiv", "a grid", module(COPY, grid="(pl.cdiv(9, 8) - 1,)")),
    (
        "loop",
        "a traced bound",
        module("@pl.loop(0, y_ref[0])\ndef _(i):\n    o_ref[i] = x_ref[i] * 2.0", y="i32[1]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "loop",
        "a carry",
        module(
            "@pl.loop(0, 8, init_carry=jnp.float32(0))\ndef total(i, acc):\n    return acc + x_ref[i, 0]\n"
            "o_ref[...] = jnp.full(o_ref.shape, total)"
        ),
    ),
    (
        "CompilerParams",
        "semantics",
        module(COPY, grid="(1,)", compiler_params='pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=2**20)'),
    ),
    (
        "emit_pipeline",
        "copies",
        module(
            "def body(a, b):\n    b[...] = a[...]\nspec = pl.BlockSpec((8, 128), lambda i: (i, 0))\n"
            "pltpu.emit_pipeline(body, grid=(2,), in_specs=[spec], out_specs=[spec])(x_ref, o_ref)",
            x="f32[16,128]",
            out="f32[16,128]",
            in_specs="[ANY]",
            out_specs="ANY",
        ),
    ),
    ("Buffered", "one", module(COPY, **ROWS, in_specs=f"[{SPEC(', pipeline_mode=pl.Buffered(1)')}]")),
    (
        "Element",
        "overlapping blocks",
        module(COPY, **ROWS, in_specs="[pl.BlockSpec((pl.Element(8), pl.Element(128)), lambda i: (i * 4, 0))]"),
    ),
    ("no_block_spec", "in place of a list", module(COPY, in_specs="pl.no_block_spec")),
    (
        "semaphore_signal",
        "all three",
        module(
            "pl.semaphore_signal(s_ref)\no_ref[...] = x_ref[...] + pl.semaphore_read(s_ref)\npl.semaphore_wait(s_ref)",
            x="i32[8,128]",
            out="i32[8,128]",
            scratch=[REGULAR],
        ),
    ),
    (
        "roll",
        "n - 1, a traced shift, jnp.roll",
        module(
            "o_ref[...] = pltpu.roll(x_ref[...], 7, 0) + pltpu.roll(x_ref[...], y_ref[0], 1) + jnp.roll(x_ref[...], -1, 0)",
            y="i32[1]",
            in_specs="[VMEM, SMEM]",
        ),
    ),
    ("load", "a masked store of a view", module("pltpu.store(o_ref.at[0:4], x_ref[0:4], mask=x_ref[0:4] > 0)")),
    (
        "swap",
        "the three lines",
        module(
            "value = x_ref[pl.ds(0, 8), :]\no_ref[pl.ds(0, 8), :] = value\nold = jax.ref.swap(o_ref, (pl.ds(0, 8), slice(None)), value)"
        ),
    ),
    (
        "debug_print",
        "scalars and a vector",
        module(f'pl.debug_print("two", x_ref[0, 0], x_ref[0, 1])\npl.debug_print("row {{}}", x_ref[0])\n{COPY}'),
    ),
    ("kernel", "copies", module_under_a_mesh("pltpu.sync_copy(x_ref, o_ref)")),
    (
        "kernel",
        "the index of the core",
        module_under_a_mesh("@pl.when(jax.lax.axis_index('c') == 0)\ndef _():\n    pltpu.sync_copy(x_ref, o_ref)"),
    ),
    ("core_map", "a scalar", module_with_core_map("2.0")),
    ("bitcast", "rows", module("o_ref[...] = pltpu.bitcast(x_ref[...], jnp.bfloat16)", out="bf16[16,128]")),
    (
        "prng_seed",
        "several seeds",
        module(
            "pltpu.prng_seed(y_ref[0], pl.program_id(0))\no_ref[...] = pltpu.prng_random_bits((8, 128))",
            y="i32[1]",
            in_specs="[VMEM, SMEM]",
            out="i32[8,128]",
            grid="(1,)",
        ),
    ),
]

# (page, what, True where it compiles or what the TPU compiler says instead, a module)
API_COMPILED = [
    ("make_async_copy", "not waited for", True, module("pltpu.make_async_copy(x_ref, o_ref, s_ref).start()", scratch=[DMA])),
    ("make_async_copy", "not started", True, module("pltpu.make_async_copy(x_ref, o_ref, s_ref).wait()", scratch=[DMA])),
    *[
        (
            "multiple_of",
            start,
            outcome,
            module(f"o_ref[...] = x_ref[:, pl.ds({start}, 128)]", x="f32[8,512]", y="i32[1]", in_specs="[VMEM, SMEM]"),
        )
        for start, outcome in (
            ("y_ref[0]", "cannot statically prove that index in dimension 1 is a multiple of 128"),
            ("y_ref[0] * 128", True),
            ("pl.multiple_of(y_ref[0], 128)", True),
        )
    ],
]
