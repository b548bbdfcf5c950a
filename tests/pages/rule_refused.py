"""What the rule pages say JAX refuses beside their examples: (rule, what, a part of JAX's message, a module)."""

from __future__ import annotations

from pages.kernels import COPY, DMA, KEY, REGULAR, module, module_under_a_mesh, module_with_key

REFUSED = [
    ("store-scalar-to-vmem", "+= of an element", "Cannot store scalars to VMEM", module("o_ref[0, 0] += jnp.sum(x_ref[...])")),
    (
        "store-scalar-to-vmem",
        "a squeezed block",
        "Cannot store scalars to VMEM",
        module("o_ref[...] = x_ref[0, 0]", out="f32[1,1]", out_specs=("pl.BlockSpec((None, None), lambda: (0, 0))")),
    ),
    ("store-scalar-to-vmem", "a dtype error comes first", "Invalid dtype for `swap`", module("o_ref[0, 0] = 1")),
    ("swap-scalar-to-vmem", "an unused old value", "Cannot store scalars to VMEM", module("o_ref.swap(x_ref[0, 0], (0, 0))")),
    *[
        (
            "load-vector-from-smem",
            index,
            "Can only load scalars from SMEM",
            module(f"o_ref[...] = x_ref[...] * jnp.sum(y_ref[{index}])", y="f32[4,4]", in_specs="[VMEM, SMEM]"),
        )
        for index in ("...", ":", "0:1", "pl.ds(0, 1)", "0")
    ],
    (
        "load-vector-from-smem",
        "and then [0]",
        "Can only load scalars from SMEM",
        module("o_ref[...] = x_ref[...] * y_ref[...][0]", y="f32[4]", in_specs="[VMEM, SMEM]"),
    ),
    (
        "store-vector-to-smem",
        "a scalar for the whole ref",
        "Invalid shape for `swap`",
        module("o_ref[...] = 0.0", out="f32[4]", out_specs="SMEM"),
    ),
    (
        "store-vector-to-smem",
        "all counters at once",
        "Can only store scalars to SMEM",
        module("o_ref[...] = jnp.zeros(4)", out="f32[4]", out_specs="SMEM"),
    ),
    (
        "access-any-or-hbm",
        "a single element",
        "ANY memory space can only be accessed using async_copy",
        module("o_ref[...] = jnp.full(o_ref.shape, x_ref[0, 0])", in_specs="[ANY]"),
    ),
    (
        "access-any-or-hbm",
        "pltpu.HBM",
        "Loads are only allowed on VMEM and SMEM references.",
        module("o_ref[...] = x_ref[...]", in_specs="[pl.BlockSpec(memory_space=pltpu.HBM)]"),
    ),
    (
        "zero-rank-ref-not-in-smem",
        "a view of a view",
        "Indexing into a ()-shaped Ref",
        module("o_ref[...] = jnp.full(o_ref.shape, x_ref.at[0, 0].at[...][...])"),
    ),
    (
        "zero-rank-ref-not-in-smem",
        "an operand of shape ()",
        "only blocks of rank >= 1",
        module("o_ref[...] = jnp.full((8, 128), x_ref[...])", x="f32[]"),
    ),
    ("store-shape-mismatch", "a plain number", "Expected shape: (8, 128). Value shape: (). Transforms: ().", module("o_ref[...] = 0.0")),
    (
        "store-shape-mismatch",
        "a slice keeps its dimension",
        "Expected shape: (1, 128). Value shape: (128,).",
        module("o_ref[0:1] = x_ref[0]"),
    ),
    ("store-shape-mismatch", "pltpu.store", "Ref shape: (8, 128). Value shape: (128,).", module("pltpu.store(o_ref, x_ref[0])")),
    ("store-dtype-mismatch", "bf16 into f32", "Invalid dtype for `swap`", module("o_ref[...] = x_ref[...]", x="bf16[8,128]")),
    ("store-dtype-mismatch", "a Python int", "Invalid dtype for `swap`", module("o_ref[...] = jnp.full(o_ref.shape, 0)")),
    ("store-dtype-mismatch", "a bool", "Invalid dtype for `swap`", module("o_ref[...] = x_ref[...] > 0")),
    *[
        (
            "store-dtype-mismatch",
            f"jnp.{name}",
            "Invalid dtype for `swap`",
            module(f"o_ref[...] = jnp.{name}((16, 128))", out="bf16[16,128]"),
        )
        for name in ("zeros", "ones")
    ],
    ("store-dtype-mismatch", "shapes come first", "Invalid shape for `swap`", module("o_ref[...] = x_ref[0]", x="bf16[8,128]")),
    ("too-many-indices", "None counts", "must not be longer than `shape`", module("o_ref[...] = x_ref[:, :, None]")),
    ("slice-out-of-bounds", "the first one is outside", "Out of bound slice: start=9, dim=8.", module("o_ref[0:1] = x_ref[pl.ds(9, 1)]")),
    ("slice-step-not-positive", "pl.ds", "`stride` must be >= 0.", module("o_ref[...] = x_ref[pl.ds(7, 8, -1)]")),
    (
        "slice-step-not-positive",
        "jnp.flip",
        "Unimplemented primitive in Pallas TPU lowering for tc: rev",
        module("o_ref[...] = jnp.flip(x_ref[...], 0)"),
    ),
    (
        "integer-array-indexer",
        "another space",
        "Cannot do int indexing on TPU",
        module("o_ref[...] = x_ref[...] * y_ref[jnp.arange(2)][0]", y="f32[4]", in_specs="[VMEM, SMEM]"),
    ),
    ("integer-array-indexer", "a ref", "Cannot do int indexing on TPU", module("o_ref[...] = x_ref[y_ref]", y="i32[8]")),
    (
        "mixed-array-indexers",
        "shapes that do not broadcast",
        "Cannot broadcast shapes for indexing: {indexer_shapes}",
        module("o_ref[...] = x_ref[jnp.arange(8), jnp.arange(3)]"),
    ),
    ("ref-indexers", "two refs", "Multiple Ref indexers are not supported", module("o_ref[0] = x_ref[y_ref, y_ref]", y="i32[8]")),
    ("unsupported-index-type", "a list", "too many values to unpack (expected 1", module("o_ref[0:2] = x_ref[[0, 1]]")),
    ("unsupported-index-type", "a string", "is not a valid JAX type", module('o_ref[0] = x_ref["a"]')),
    ("float-index", "a loaded index", "internal verification error", module("o_ref[0] = x_ref[x_ref[0, 0]]")),
    ("mask-shape-mismatch", "True", "Expected value and mask to have the same shape", module("pltpu.store(o_ref, x_ref[...], mask=True)")),
    (
        "mask-shape-mismatch",
        "before memory spaces",
        "Expected value and mask",
        module("pltpu.store(o_ref, x_ref[...], mask=x_ref[0:1] > 0)", out_specs="ANY"),
    ),
    (
        "masked-store-not-32-bit",
        "before the shape of the mask",
        "masked swap with non-32-bit data",
        module("pltpu.store(o_ref, x_ref[...], mask=True)", x="bf16[16,128]", out="bf16[16,128]"),
    ),
    (
        "masked-store-to-smem",
        "a vector",
        "SMEM store does not support masks",
        module("pltpu.store(o_ref, x_ref[0, 0:4], mask=x_ref[0, 0:4] > 0)", out="f32[4]", out_specs="SMEM"),
    ),
    ("addupdate-not-lowered", "the method", "lowering for tc: addupdate", module("o_ref.addupdate(x_ref[...])")),
    ("addupdate-not-lowered", "shapes come first", "Invalid shape for `addupdate`", module("o_ref.addupdate(x_ref[0])")),
    (
        "value-item-assignment",
        "the message's advice",
        "lowering for tc: scatter",
        module("o_ref[...] = x_ref[...].at[0].set(jnp.zeros(128))"),
    ),
    ("ref-used-as-array", "an operator", "object has no attribute '_mul'", module("o_ref[...] = x_ref * 2")),
    ("ref-used-as-array", "a method of arrays", "object has no attribute 'astype'", module("o_ref[...] = x_ref.astype(jnp.float32)")),
    ("ref-used-as-array", "jnp", "exp", module("o_ref[...] = jnp.exp(x_ref)")),
    ("ref-used-as-array", "lax", "to a primitive: exp", module("o_ref[...] = jax.lax.exp(x_ref)")),
    ("ref-used-as-array", "an array plus a ref", "unsupported operand type(s) for +", module("o_ref[...] = x_ref[...] + x_ref")),
    ("ref-used-as-array", "a view", "TransformedRefs cannot be abstractified.", module("o_ref[0] = x_ref.at[0]")),
    *[
        (
            "ref-api-on-non-ref",
            call,
            f"Can only call `ref_{call.partition('(')[0]}` on a `Ref`",
            module(f"jax.ref.{call}\no_ref[...] = x_ref[...]"),
        )
        for call in ("set(x_ref[...], 0, 1.0)", "swap(x_ref[...], 0, 1.0)", "addupdate(x_ref[...], 0, 1.0)")
    ],
    (
        "copy-operand-not-ref",
        "a semaphore that was read",
        "must be",
        module("pltpu.make_async_copy(x_ref, o_ref, s_ref[0]).start()", scratch=["pltpu.SemaphoreType.DMA((1,))"]),
    ),
    (
        "semaphore-used-as-value",
        "of a DMA",
        "dtype=dma_sem is not a valid dtype",
        module("o_ref[...] = x_ref[...] + s_ref[...]", scratch=[DMA]),
    ),
    *[
        (
            "semaphore-used-as-value",
            f"a store {kind}",
            f"Ref dtype: {kind}. Value dtype: int32",
            module("s_ref[...] = jnp.int32(0)", scratch=[scratch]),
        )
        for kind, scratch in (("semaphore", REGULAR), ("dma_sem", DMA))
    ],
    (
        "reshape-1d-ref",
        "a row",
        "Reshape 1D ref is not supported.",
        module("o_ref[...] = x_ref.at[0].reshape(1, 128)[...]", out="f32[1,128]"),
    ),
    ("ref-reshape-size", "two -1", "At most one dimension can be -1", module("o_ref[...] = x_ref.reshape(-1, -1)[...]")),
    ("ref-reshape-size", "-1 with a rest", "do not evenly divide the size of the ref", module("o_ref[...] = x_ref.reshape(-1, 100)[...]")),
    ("ref-transpose", "twice", "Unsupported transform: TransposeTransform", module("o_ref[...] = x_ref.T.T[...]")),
    (
        "ref-transpose",
        "the method",
        "Unsupported transform: TransposeTransform",
        module("o_ref[...] = x_ref.transpose((1, 0))[...]", out="f32[128,8]"),
    ),
    (
        "strided-ref-view",
        "a copy",
        "Strided slices of references are unsupported.",
        module("pltpu.sync_copy(x_ref.at[pl.ds(0, 8, 2)], o_ref)", x="f32[16,128]", in_specs="[ANY]"),
    ),
    (
        "narrow-view-index",
        "indexed again",
        "must be variadic of 32-bit signless integer",
        module("i = pl.program_id(0).astype(jnp.int16)\no_ref[...] = x_ref.at[pl.ds(i, 8)][pl.ds(0, 8)]", x="f32[16,128]", grid="(1,)"),
    ),
    *[
        (
            "narrow-vector-to-scalar",
            what,
            "Only arrays with 32-bit element types",
            module(f"o_ref[...] = x_ref[...] * ({what})", x="bf16[16,128]", out="bf16[16,128]"),
        )
        for what in ("x_ref[...][0, 0]", "jnp.squeeze(x_ref[0:1, 0:1])", "jnp.min(x_ref[...])", "jnp.max(x_ref[...], keepdims=True)")
    ],
    (
        "prng-key-not-in-smem",
        "an ordinary key in SMEM",
        "internal verification error",
        module_with_key(keys=KEY, index="...", space="pltpu.SMEM"),
    ),
    (
        "prng-key-not-in-smem",
        "in ANY",
        "PRNG keys must be loaded from SMEM",
        module_with_key(keys=f"pltpu.to_pallas_key({KEY})", index="...", space="pl.ANY"),
    ),
    (
        "access-any-or-hbm",
        "an unused read under pl.kernel",
        "Loads are only allowed on VMEM and SMEM",
        module_under_a_mesh("unused = x_ref[...]\npltpu.sync_copy(x_ref, o_ref)"),
    ),
    (
        "store-scalar-to-vmem",
        "an output with a plain BlockSpec",
        "Cannot store scalars to VMEM",
        module("o_ref[0, 0] = 1.0", out_specs="pl.BlockSpec()"),
    ),
    ("block-rank-zero", "in ANY", "only blocks of rank >= 1", module("pltpu.sync_copy(x_ref, o_ref)", x="f32[]", in_specs="[ANY]")),
    ("block-rank-zero", "a result", "only blocks of rank >= 1", module("o_ref[...] = x_ref[0, 0]", out="f32[]")),
    (
        "predicate-not-scalar",
        "one left over",
        "Pred must be a scalar",
        module("@pl.when(y_ref[...] > 0)\ndef _():\n    o_ref[...] = x_ref[...]", y="i32[1]"),
    ),
    ("unimplemented-primitive", "sort", "lowering for tc: sort", module("o_ref[...] = jnp.sort(x_ref[...])")),
    (
        "value-dynamic-slice",
        "lax",
        "lowering for tc: dynamic_slice",
        module("o_ref[0] = jax.lax.dynamic_index_in_dim(x_ref[...], pl.program_id(0), 0, False)", grid="(1,)"),
    ),
    ("grid-not-int", "a number of NumPy's", "invalid index to scalar variable", module(COPY, grid="np.int64(2)")),
    ("in-specs-tree-mismatch", "a memory space", "object has no attribute", module(COPY, in_specs="[pltpu.VMEM]")),
    ("in-specs-tree-mismatch", "the class", "replace() missing 1 required positional argument: 'obj'", module(COPY, in_specs="[pl.BlockSpec]")),
    ("out-specs-tree-mismatch", "a memory space", "object has no attribute", module(COPY, out_specs="pltpu.VMEM")),
    ("out-specs-tree-mismatch", "the class", "replace() missing 1 required positional argument: 'obj'", module(COPY, out_specs="pl.BlockSpec")),
    ("scratch-invalid-type", "a memory space", "object has no attribute", module(COPY, scratch=["pltpu.VMEM"])),
    ("pallas-call-signature", "half a cost", "CostEstimate.__init__() missing 2", module(COPY, cost_estimate="pl.CostEstimate(flops=1)")),
    ("constant-slice-start", "a number of NumPy's", "object has no attribute 'type'", module("o_ref[0:1] = x_ref[pl.ds(np.int32(1), 1)]")),
    ("constant-slice-start", "an array of a number", "Too many leaves", module("o_ref[0:1] = x_ref[pl.ds(jnp.array(1), 1)]")),
    ("constant-slice-start", "a number as an array", "Too many leaves", module("o_ref[0:1] = x_ref[pl.ds(jnp.asarray(1), 1)]")),
    ("constant-slice-start", "of a store", "Too many leaves", module("o_ref[pl.ds(jnp.int32(1), 1)] = x_ref[0:1]")),
    ("constant-slice-start", "of a view", "Too many leaves", module("o_ref[0:1] = x_ref.at[pl.ds(jnp.int32(1), 1)][...]")),
    ("axis-name-unbound", "axis_index", "unbound axis name: i", module('o_ref[...] = x_ref[...] + jax.lax.axis_index("i")')),
    ("block-shape-invalid", "a traced dim", "Unsupported block dimension type", module(COPY, in_specs="[pl.BlockSpec((jnp.int32(8), 128))]")),
    ("block-shape-invalid", "a string", "Unsupported block dimension type: <class 'str'>", module(COPY, in_specs="[pl.BlockSpec('rows')]")),
    ("zero-size-intermediate", "an empty block", "positive constant sizes", module("o_ref[...] = x_ref[...]", out="f32[8,0]", in_specs="[pl.BlockSpec((8, 0))]")),
]
