"""What the rule pages say is fine: (rule, what, a module that JAX lowers)."""

from __future__ import annotations

from pages.kernels import DMA, KEY, module, module_with_key

ACCEPTED = [
    ("store-scalar-to-vmem", "a row is no scalar", module("o_ref[0] = x_ref[1]")),
    ("store-scalar-to-vmem", "s[None] into a slice", module("o_ref[0, 0:1] = jnp.sum(x_ref[...])[None]")),
    ("store-scalar-to-vmem", "pl.ds of size 1", module("o_ref[pl.ds(0, 1), pl.ds(0, 1)] = jnp.sum(x_ref[...]).reshape(1, 1)")),
    ("store-scalar-to-vmem", "+= of a scalar", module("o_ref[...] += jnp.sum(x_ref[...])")),
    ("store-scalar-to-vmem", "jnp.full", module("o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...]))")),
    ("store-scalar-to-vmem", "reading a scalar", module("o_ref[...] = jnp.full(o_ref.shape, x_ref[0, 0])")),
    ("store-scalar-to-vmem", "interpret=True", module("o_ref[0, 0] = x_ref[0, 0]", interpret="True")),
    (
        "store-scalar-to-vmem",
        "the place has no dimension in SMEM",
        module(
            "o_ref[...] = x_ref[0, 0]", out="f32[1,1]", out_specs=("pl.BlockSpec((None, None), lambda: (0, 0), memory_space=pltpu.SMEM)")
        ),
    ),
    ("swap-scalar-to-vmem", "swap of a vector", module("o_ref[...] = o_ref.swap(jnp.max(x_ref[...], keepdims=True))", out="f32[1,1]")),
    (
        "load-vector-from-smem",
        "an integer for each dimension",
        module("o_ref[...] = x_ref[...] * y_ref[1, 0]", y="f32[4,4]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "load-vector-from-smem",
        "one step at a time",
        module("o_ref[...] = x_ref[...] * y_ref.at[1][0]", y="f32[4,4]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "load-vector-from-smem",
        "a ref of shape ()",
        module("s_ref[...] = x_ref[0, 0]\no_ref[...] = x_ref[...] * s_ref[...]", scratch=["pltpu.SMEM((), jnp.float32)"]),
    ),
    ("load-vector-from-smem", "an unused read", module("y = y_ref[...]\no_ref[...] = x_ref[...]", y="f32[4]", in_specs="[VMEM, SMEM]")),
    (
        "load-vector-from-smem",
        "only the shape is used",
        module("o_ref[...] = x_ref[...] + y_ref[...].shape[0]", y="f32[4]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "load-vector-from-smem",
        "SMEM in the place of pipeline_mode",
        module("o_ref[...] = x_ref[...]", in_specs="[pl.BlockSpec((8, 128), lambda: (0, 0), pltpu.SMEM)]"),
    ),
    ("load-vector-from-smem", "a column in VMEM", module("o_ref[...] = x_ref[...] * y_ref[...]", y="f32[8,1]")),
    ("store-vector-to-smem", "a ref of shape ()", module("o_ref[...] = jnp.sum(x_ref[...])", out="f32[]", out_specs="SMEM")),
    (
        "access-any-or-hbm",
        ".at and .shape",
        module("pltpu.sync_copy(x_ref.at[pl.ds(0, 8)], o_ref)\no_ref[...] += x_ref.shape[0]", x="f32[64,128]", in_specs="[ANY]"),
    ),
    ("access-any-or-hbm", "an unused read", module("x = x_ref[...]\no_ref[...] = jnp.zeros(x.shape)", in_specs="[ANY]")),
    (
        "access-any-or-hbm",
        "make_async_copy",
        module("copy = pltpu.make_async_copy(x_ref, o_ref, s_ref)\ncopy.start()\ncopy.wait()", in_specs="[ANY]", scratch=[DMA]),
    ),
    ("zero-rank-ref-not-in-smem", "one .at read at once", module("o_ref[...] = jnp.full(o_ref.shape, x_ref.at[0, 0][...])")),
    (
        "zero-rank-ref-not-in-smem",
        "a squeezed block",
        module(
            "o_ref[...] = jnp.full(o_ref.shape, y_ref[...])", y="f32[1,1]", in_specs=("[VMEM, pl.BlockSpec((None, None), lambda: (0, 0))]")
        ),
    ),
    (
        "zero-rank-ref-not-in-smem",
        "(1, 1) in VMEM",
        module(
            "s_ref[...] = jnp.max(x_ref[...], keepdims=True)\no_ref[...] = x_ref[...] / s_ref[...]",
            scratch=["pltpu.VMEM((1, 1), jnp.float32)"],
        ),
    ),
    ("store-shape-mismatch", "+= broadcasts", module("o_ref[...] += 1.0")),
    ("store-shape-mismatch", "broadcast_to", module("o_ref[...] = jnp.broadcast_to(x_ref[0], o_ref.shape)")),
    ("store-shape-mismatch", "a column", module("o_ref[:, 0] = jnp.sum(x_ref[...], axis=1)", out="f32[8,1]")),
    ("store-shape-mismatch", "value[None]", module("o_ref[0:1] = x_ref[0][None]")),
    ("store-dtype-mismatch", "int32 into int8", module("o_ref[...] = x_ref[...]", x="i32[32,128]", out="i8[32,128]")),
    ("store-dtype-mismatch", "int32 into uint32", module("o_ref[...] = x_ref[...]", x="i32[8,128]", out="u32[8,128]")),
    ("store-dtype-mismatch", "bf16 * 2.0", module("o_ref[...] = x_ref[...] * 2.0", x="bf16[16,128]", out="bf16[16,128]")),
    ("store-dtype-mismatch", "np.pi", module("o_ref[...] = jnp.full(o_ref.shape, np.pi)", out="bf16[16,128]")),
    ("store-dtype-mismatch", "a weakly typed full", module("o_ref[...] = jnp.full((16, 128), 0.0)", out="bf16[16,128]")),
    ("store-dtype-mismatch", "zeros of the ref's dtype", module("o_ref[...] = jnp.zeros((16, 128), o_ref.dtype)", out="bf16[16,128]")),
    ("too-many-indices", "fewer indices", module("o_ref[...] = x_ref[1]", x="f32[4,8,128]")),
    ("too-many-indices", "an ellipsis for none", module("o_ref[...] = jnp.full(o_ref.shape, x_ref[0, ..., 0])")),
    ("too-many-indices", "1 instead of None", module("o_ref[...] = x_ref[0, :, :]", x="f32[1,8,128]")),
    ("multiple-ellipsis", "one ellipsis", module("o_ref[...] = x_ref[..., 2, :, :]", x="f32[4,8,128]")),
    ("dynamic-python-slice", "bounds from a shape", module("o_ref[...] = x_ref[: x_ref.shape[0] // 2]", x="f32[16,128]")),
    (
        "dynamic-python-slice",
        "a Python loop",
        module("o_ref[...] = jnp.zeros_like(o_ref)\nfor i in range(2):\n    o_ref[...] += x_ref[i * 8 : (i + 1) * 8]", x="f32[16,128]"),
    ),
    (
        "dynamic-slice-size",
        "a traced start",
        module("o_ref[...] = x_ref[pl.ds(y_ref[0], 8)]", x="f32[64,128]", y="i32[1]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "dynamic-slice-size",
        "a copy",
        module("n = y_ref[0]\npltpu.sync_copy(x_ref.at[pl.ds(0, n)], o_ref.at[pl.ds(0, n)])", y="i32[1]", in_specs="[VMEM, SMEM]"),
    ),
    ("slice-out-of-bounds", "a Python slice clamps", module("o_ref[...] = x_ref[4:16]", out="f32[4,128]")),
    ("slice-out-of-bounds", "a negative start", module("o_ref[...] = x_ref[pl.ds(-1, 8)]")),
    ("slice-out-of-bounds", "an integer", module("o_ref[0] = x_ref[8]")),
    ("slice-step-not-positive", "positive steps", module("o_ref[...] = x_ref[::2]", out="f32[4,128]")),
    ("slice-step-not-positive", "stride 0", module("o_ref[...] = x_ref[pl.ds(0, 8, 0)]")),
    ("slice-step-not-positive", "a negative bound", module("o_ref[...] = x_ref[-4:]", out="f32[4,128]")),
    ("integer-array-indexer", "a loaded scalar", module("o_ref[0] = x_ref[y_ref[0]]", y="i32[8]")),
    ("integer-array-indexer", "an unused read", module("rows = x_ref[y_ref[...]]\no_ref[...] = x_ref[...]", y="i32[8]")),
    ("unsupported-index-type", "None alone", module("o_ref[...] = x_ref[None]")),
    ("unsupported-index-type", "a tuple", module("o_ref[0] = x_ref[(0,)]")),
    ("float-index", "integers of any width", module("o_ref[0] = x_ref[jnp.int8(1)] + x_ref[jnp.uint32(2)]")),
    ("float-index", "an unused read", module("row = x_ref[8 / 2]\no_ref[...] = x_ref[...]")),
    ("float-index", "astype", module("o_ref[0] = x_ref[x_ref[0, 0].astype(jnp.int32)]")),
    ("ref-index-bounds", "a slice", module("o_ref[...] = x_ref[-1:]", out="f32[1,128]")),
    ("masked-load", "no mask", module("o_ref[...] = pltpu.load(x_ref)")),
    ("masked-load", "mask=None", module("o_ref[...] = pltpu.load(x_ref, mask=None)")),
    ("masked-load", "an unused read", module("x = pltpu.load(x_ref, mask=x_ref[...] > 0)\no_ref[...] = x_ref[...]")),
    *[
        ("masked-store-not-32-bit", d, module("pltpu.store(o_ref, x_ref[...], mask=x_ref[...] > 1)", x=f"{d}[8,128]", out=f"{d}[8,128]"))
        for d in ("f32", "i32", "u32")
    ],
    (
        "masked-store-not-32-bit",
        "where",
        module("o_ref[...] = jnp.where(x_ref[...] > 0, x_ref[...], o_ref[...])", x="bf16[16,128]", out="bf16[16,128]"),
    ),
    ("addupdate-not-lowered", "interpret=True", module("jax.ref.addupdate(o_ref, ..., x_ref[...])", interpret="True")),
    ("value-item-assignment", "+= of a value", module("x = x_ref[...]\nx += 1.0\no_ref[...] = x")),
    (
        "value-item-assignment",
        "where on an iota",
        module("row = jax.lax.broadcasted_iota(jnp.int32, (8, 128), 0)\no_ref[...] = jnp.where(row == 0, 0.0, x_ref[...])"),
    ),
    (
        "ref-used-as-array",
        "attributes",
        module("n = x_ref.shape[0] + x_ref.ndim + x_ref.size + len(x_ref)\no_ref[...] = jnp.full(o_ref.shape, n, x_ref.dtype)"),
    ),
    ("ref-used-as-array", "methods", module("o_ref.set(x_ref.get())\no_ref.at[0].set(x_ref[1])")),
    ("ref-used-as-array", "zeros_like", module("o_ref[...] = jnp.zeros_like(x_ref) + jnp.ones_like(x_ref) + jnp.full_like(x_ref, 2.0)")),
    ("ref-at-item-assignment", "an indexed view", module("o_ref.at[0][...] = x_ref[1]\no_ref.at[1].set(x_ref[0])")),
    ("ref-api-on-non-ref", "a view", module("o_ref[0] = jax.ref.get(x_ref.at[0:2], 1)")),
    (
        "semaphore-used-as-value",
        "one of several",
        module(
            "pl.semaphore_signal(s_ref.at[1])\no_ref[...] = x_ref[...] + pl.semaphore_read(s_ref.at[1])\npl.semaphore_wait(s_ref.at[1])",
            x="i32[8,128]",
            out="i32[8,128]",
            scratch=["pltpu.SemaphoreType.REGULAR((2,))"],
        ),
    ),
    ("bitcast-1d-ref", "two dimensions", module("o_ref[...] = x_ref.bitcast(jnp.bfloat16)[...]", out="bf16[16,128]")),
    (
        "bitcast-rows-not-divisible",
        "to a narrower dtype",
        module("o_ref[...] = x_ref.bitcast(jnp.int8)[...]", x="i32[3,128]", out="i8[12,128]"),
    ),
    ("reshape-1d-ref", "leading dimensions", module("o_ref[...] = x_ref.reshape(8, 128)[...]", x="f32[2,4,128]")),
    ("reshape-1d-ref", "an unused view", module("view = x_ref.reshape(8, 128)\no_ref[...] = x_ref[...]", x="f32[1024]", out="f32[1024]")),
    ("reshape-1d-ref", "an unused read", module("v = x_ref.reshape(8, 128)[...]\no_ref[...] = x_ref[...]", x="f32[1024]", out="f32[1024]")),
    ("ref-transpose", "an unused view", module("view = x_ref.T\no_ref[...] = x_ref[...]")),
    ("ref-transpose", "an unused read", module("t = x_ref.T[...]\no_ref[...] = x_ref[...]")),
    (
        "ref-transpose",
        "a transposed operand of a product",
        module("o_ref[...] = jax.lax.dot_general(x_ref[...], x_ref[...], (((1,), (1,)), ((), ())))", x="f32[128,128]", out="f32[128,128]"),
    ),
    ("strided-ref-view", "the last index", module("o_ref[...] = x_ref.at[0][::2]", x="f32[2,16,128]")),
    ("strided-ref-view", "brackets that add nothing", module("o_ref[...] = x_ref.at[::2][...]", x="f32[16,128]")),
    (
        "narrow-vector-to-scalar",
        "jnp.sum and jnp.mean",
        module("o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...]) + jnp.mean(x_ref[...]))", x="bf16[16,128]", out="bf16[16,128]"),
    ),
    (
        "narrow-vector-to-scalar",
        "one axis",
        module("o_ref[...] = x_ref[...] - jnp.max(x_ref[...], axis=1, keepdims=True)", x="bf16[16,128]", out="bf16[16,128]"),
    ),
    (
        "narrow-vector-to-scalar",
        "an unused scalar",
        module("top = jnp.max(x_ref[...])\no_ref[...] = x_ref[...]", x="bf16[16,128]", out="bf16[16,128]"),
    ),
    ("removed-api", "jnp.tile", module("o_ref[...] = jnp.tile(x_ref[...], (1, 2))", out="f32[8,256]")),
    ("removed-api", "jax.ref.swap", module("o_ref[...] = jax.ref.swap(x_ref, ..., x_ref[...] * 2.0)")),
    ("prng-key-not-in-smem", "an ordinary key in VMEM", module_with_key(keys=KEY, index="...", space="pltpu.VMEM")),
    (
        "prng-key-array-load",
        "one key in an array",
        module_with_key(keys=f"pltpu.to_pallas_key({KEY}[None])", index="0", space="pltpu.SMEM"),
    ),
]
