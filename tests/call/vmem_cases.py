"""Kernels that take VMEM in many ways. ``LIMIT`` in a module stands for the bytes that the kernel may use."""

from __future__ import annotations

from call.modules import GRID, module

_LIMITED = "pltpu.CompilerParams(vmem_limit_bytes=LIMIT)"


def _copy(dtype: str, shape: tuple[int, ...], block: tuple[int | None, ...], index_map: str, grid: str, body: str = "o_ref[...] = x_ref[...]") -> str:
    spec = f"pl.BlockSpec({block}, {index_map})"
    dims = ",".join(map(str, shape))
    return module(body, x=f"{dtype}[{dims}]", out=f"{dtype}[{dims}]", grid=grid, in_specs=f"[{spec}]", out_specs=spec, compiler_params=_LIMITED)


def _scratch(buffers: str, count: int, body: str) -> str:
    refs = ", ".join(("x_ref", "o_ref", *"stuv"[:count]))
    return module(body, refs=refs, **GRID, scratch_shapes=f"[{buffers}]", compiler_params=_LIMITED)  # type: ignore[arg-type]


_BLOCKS = {
    f"{dtype} blocks {block} of {shape}": _copy(dtype, shape, block, index_map, grid)
    for dtype, shape, block, index_map, grid in (
        ("f32", (64, 128), (8, 128), "lambda i: (i, 0)", "(8,)"),
        ("f32", (64, 1024), (8, 1024), "lambda i: (i, 0)", "(8,)"),
        ("f32", (4096, 256), (512, 256), "lambda i: (i, 0)", "(8,)"),
        ("f32", (256, 512), (128, 256), "lambda i, j: (i, j)", "(2, 2)"),
        ("f32", (8, 64, 128), (1, 64, 128), "lambda i: (i, 0, 0)", "(8,)"),
        ("f32", (8, 64, 128), (None, 64, 128), "lambda i: (i, 0, 0)", "(8,)"),
        ("f32", (8, 64, 200), (2, 8, 200), "lambda i, j: (i, j, 0)", "(4, 8)"),
        ("f32", (2048,), (1024,), "lambda i: (i,)", "(2,)"),
        ("f32", (512, 1, 128), (64, 1, 128), "lambda i: (i, 0, 0)", "(8,)"),
        ("f32", (512, 2, 128), (64, 2, 128), "lambda i: (i, 0, 0)", "(8,)"),
        ("f32", (1 << 18, 3, 128), (64, 3, 128), "lambda i: (i, 0, 0)", "(4096,)"),
        ("f32", (1 << 17, 5, 128), (64, 5, 128), "lambda i: (i, 0, 0)", "(2048,)"),
        ("f32", (1 << 16, 12, 128), (8, 12, 128), "lambda i: (i, 0, 0)", "(8192,)"),
        ("f32", (1 << 20, 64), (256, 64), "lambda i: (i, 0)", "(4096,)"),
        ("f32", (1 << 20, 1), (256, 1), "lambda i: (i, 0)", "(4096,)"),
        ("bf16", (64, 128), (16, 128), "lambda i: (i, 0)", "(4,)"),
        ("bf16", (64, 128), (8, 128), "lambda i: (i, 0)", "(8,)"),
        ("bf16", (2048, 512), (256, 512), "lambda i: (i, 0)", "(8,)"),
        ("bf16", (512, 8, 128), (64, 8, 128), "lambda i: (i, 0, 0)", "(8,)"),
        ("bf16", (1 << 20, 1, 128), (64, 1, 128), "lambda i: (i, 0, 0)", "(16384,)"),
        ("bf16", (512, 2, 128), (64, 2, 128), "lambda i: (i, 0, 0)", "(8,)"),
        ("bf16", (1 << 19, 3, 128), (64, 3, 128), "lambda i: (i, 0, 0)", "(8192,)"),
        ("bf16", (4096,), (2048,), "lambda i: (i,)", "(2,)"),
        ("bf16", (64, 24, 100), (8, 24, 100), "lambda i: (i, 0, 0)", "(8,)"),
        ("i8", (128, 128), (32, 128), "lambda i: (i, 0)", "(4,)"),
        ("i8", (2048, 512), (256, 512), "lambda i: (i, 0)", "(8,)"),
        ("i8", (1 << 19, 3, 128), (8, 3, 128), "lambda i: (i, 0, 0)", "(65536,)"),
        ("i8", (1 << 20, 1, 256), (8, 1, 256), "lambda i: (i, 0, 0)", "(131072,)"),
        ("i8", (8192,), (4096,), "lambda i: (i,)", "(2,)"),
        ("i4", (256, 256), (64, 256), "lambda i: (i, 0)", "(4,)"),
        ("i32", (64, 384), (8, 384), "lambda i: (i, 0)", "(8,)"),
        ("i32", (40, 128), (16, 128), "lambda i: (i, 0)", "(3,)"),
        ("i32", (300, 128), (128, 128), "lambda i: (i, 0)", "(3,)"),
    )
}

_WHOLE = {
    f"{dtype} whole {shape}": module(x=f"{dtype}[{shape}]", out=f"{dtype}[{shape}]", compiler_params=_LIMITED)
    for dtype, shape in (
        ("f32", "64,128"),
        ("f32", "512,512"),
        ("f32", "104,256"),
        ("f32", "3,128"),
        ("f32", "1,128"),
        ("f32", "2048"),
        ("bf16", "512,512"),
        ("bf16", "7,300"),
        ("i8", "256,256"),
        ("i8", "4,16,128"),
        ("i32", "1,4096"),
        ("i32", "2,3,4,128"),
    )
}

_ROW = "pl.BlockSpec((8, 128), lambda i: (0, 0))"
_LAST = "pl.BlockSpec((16, 128), lambda i: (0, 0))"
_CONSTANT = {
    "a constant block of a larger array": module(
        **{**GRID, "in_specs": f"[{_ROW}]"}, x="f32[64,128]", compiler_params=_LIMITED  # type: ignore[arg-type]
    ),
    "a constant block 1": module(
        **{**GRID, "in_specs": f"[{_ROW.replace('(0, 0)', '(1, 0)')}]"}, x="f32[64,128]", compiler_params=_LIMITED  # type: ignore[arg-type]
    ),
    "a whole block at an index": module(
        "o_ref[...] = x_ref[:8]", **{**GRID, "in_specs": f"[{_LAST}]"}, compiler_params=_LIMITED  # type: ignore[arg-type]
    ),
    "a whole block with a computed index": module(
        "o_ref[...] = x_ref[:8]",
        **{**GRID, "in_specs": f"[{_LAST.replace('(0, 0)', '(i * 0, 0)')}]"},  # type: ignore[arg-type]
        compiler_params=_LIMITED,
    ),
    "no specs and a grid": module(grid="(2,)", compiler_params=_LIMITED),
    "one buffer": module(
        **{**GRID, "in_specs": f"[{GRID['in_specs'][1:-2]}, pipeline_mode=pl.Buffered(1))]"}, compiler_params=_LIMITED  # type: ignore[arg-type]
    ),
    "an operand in ANY": module(
        "o_ref[...] = jnp.zeros_like(o_ref)", **{**GRID, "in_specs": "[ANY]"}, compiler_params=_LIMITED  # type: ignore[arg-type]
    ),
    "an operand in SMEM": module(
        "o_ref[...] = jnp.full(o_ref.shape, x_ref[0])", **{**GRID, "in_specs": "[SMEM]"}, x="f32[4]", compiler_params=_LIMITED  # type: ignore[arg-type]
    ),
    "two operands": module(
        "o_ref[...] = x_ref[...] + y_ref[...].astype(jnp.float32)",
        refs="x_ref, y_ref, o_ref",
        y="bf16[16,128]",
        **{**GRID, "in_specs": f"{GRID['in_specs']} * 2"},  # type: ignore[arg-type]
        compiler_params=_LIMITED,
    ),
    "an aliased output": module(**GRID, input_output_aliases="{0: 0}", compiler_params=_LIMITED),  # type: ignore[arg-type]
    "an aliased output without specs": module(input_output_aliases="{0: 0}", compiler_params=_LIMITED),
    "a grid of one step": module(**{**GRID, "grid": "(1,)"}, compiler_params=_LIMITED),  # type: ignore[arg-type]
    "rows chosen by a prefetched index": module(
        refs="s_ref, x_ref, o_ref",
        y="i32[2]",
        operands="y, x",
        grid_spec="pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,), "
        "in_specs=[pl.BlockSpec((8, 128), lambda i, s: (s[0], 0))], out_specs=pl.BlockSpec((8, 128), lambda i, s: (i, 0)))",
        compiler_params=_LIMITED,
    ),
}

_CARRY = "s[...] += x_ref[0, 0].astype(s.dtype)\no_ref[...] = s[0:8, 0:128].astype(jnp.float32)"
_SCRATCH = {
    f"scratch {shape} {dtype}": _scratch(f"pltpu.VMEM({shape}, jnp.{dtype})", 1, body)
    for shape, dtype, body in (
        ("(8, 128)", "float32", _CARRY),
        ("(64, 256)", "float32", _CARRY),
        ("(256, 128)", "bfloat16", _CARRY),
        ("(100, 130)", "float32", _CARRY),
        ("(64, 128)", "int32", _CARRY),
        ("(9, 128)", "float32", _CARRY),
        ("(4, 8, 128)", "float32", "s[pl.program_id(0)] = x_ref[...]\no_ref[...] = s[1 - pl.program_id(0)]"),
        ("(64, 1, 128)", "float32", "s[pl.program_id(0)] = x_ref[0:1]\no_ref[...] = jnp.broadcast_to(s[1 - pl.program_id(0)], o_ref.shape)"),
    )
}
_SCRATCH["two scratch buffers"] = _scratch(
    "pltpu.VMEM((16, 128), jnp.float32), pltpu.VMEM((8, 256), jnp.float32)",
    2,
    "s[...] += x_ref[0, 0]\nt[...] += x_ref[0, 1]\no_ref[...] = s[0:8] + t[:, 0:128]",
)
_SCRATCH["scratch in SMEM beside"] = _scratch(
    "pltpu.VMEM((16, 128), jnp.float32), pltpu.SMEM((4,), jnp.int32)",
    2,
    "t[0] = t[0] + 1\ns[...] += x_ref[0, 0]\no_ref[...] = s[0:8] + t[0]",
)

KERNELS: dict[str, str] = {**_BLOCKS, **_WHOLE, **_CONSTANT, **_SCRATCH}
