"""What the rule pages say of the TPU compiler: (rule, what, True where it compiles or what it says instead, a module)."""

from __future__ import annotations

from pages.kernels import module
from pages.reading import page_of

COMPILED = [
    *[
        ("strided-last-dim", f"{lanes} lanes", True, module("o_ref[...] = x_ref[::2]", x=f"f32[16,{lanes}]", out=f"f32[8,{lanes}]"))
        for lanes in (64, 128)
    ],
    ("strided-last-dim", "along the lanes", "Stride on last dim is not 1", module("o_ref[...] = x_ref[:, ::2]", out="f32[8,64]")),
    ("strided-last-dim", "one dimension", "Strided load with 1D vector", module("o_ref[...] = x_ref[::2]", x="f32[256]", out="f32[128]")),
    ("strided-last-dim", "128 lanes of 256", "The last dim size is not 128", module("o_ref[...] = x_ref[::2, 0:128]", x="f32[16,256]")),
    *[
        (
            "narrow-vmem-scalar-load",
            d,
            "Only 32-bit scalar",
            module("o_ref[...] = jnp.full(o_ref.shape, x_ref[0, 0].astype(jnp.int32).astype(jnp.float32))", x=f"{d}[32,128]"),
        )
        for d in ("i8", "i16")
    ],
    (
        "narrow-vmem-scalar-load",
        "bool",
        True,
        module("@pl.when(x_ref[0, 0])\ndef _():\n    o_ref[...] = jnp.zeros_like(o_ref)", x="bool[8,128]"),
    ),
    (
        "narrow-vmem-scalar-load",
        "SMEM",
        True,
        module("o_ref[...] = x_ref[...] * y_ref[0].astype(jnp.float32)", y="bf16[2]", in_specs="[VMEM, SMEM]"),
    ),
    ("narrow-smem-constant-store", "int8", True, module("o_ref[0] = jnp.int8(1)", out="i8[1]", out_specs="SMEM")),
    (
        "narrow-smem-constant-store",
        "computed",
        True,
        module("o_ref[0] = jnp.sum(x_ref[...]).astype(jnp.bfloat16)", out="bf16[1]", out_specs="SMEM"),
    ),
    ("slice-out-of-bounds", "a negative start", True, module("o_ref[...] = x_ref[pl.ds(-1, 8)]")),
    ("ref-index-bounds", "beyond the end", True, module("o_ref[0] = x_ref[8]")),
    ("ref-index-bounds", "negative", True, module("o_ref[0] = x_ref[-1]")),
    ("float-index", "a float array as the index", "SIGSEGV", module("o_ref[0] = x_ref[jnp.float32(1)]")),
    (
        "strided-last-dim",
        "a store into 256 lanes",
        "The last dim size is not 128",
        module("o_ref[::2] = x_ref[...]", x="f32[4,256]", out="f32[8,256]"),
    ),
    ("mixed-array-indexers", "what to use instead", True, page_of("mixed-array-indexers").use_instead),
]
