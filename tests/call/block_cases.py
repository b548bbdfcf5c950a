"""Blocks, grids and index maps: (what, the rule that speaks or None, a module). JAX decides in the tests which are refused."""

from __future__ import annotations

from call.modules import ZEROS, module
from call.spec_cases import prefetched, rows


def block(shape: str, index: str, *, x: str = "f32[16,128]", grid: str = "(2,)", space: str = "", body: str = ZEROS, **more: str) -> str:
    """A call whose input has this block and the index map ``lambda i: index``; the output is whole."""
    memory = f", memory_space={space}" if space else ""
    index_map = f", lambda i: {index}" if index else ""
    return module(body, x=x, grid=grid, in_specs=f"[pl.BlockSpec({shape}{index_map}{memory})]", **more)  # type: ignore[arg-type]


TILING_2D = [
    ("(8, 128)", "f32[16,128]", True), ("(4, 128)", "f32[16,128]", False), ("(16, 64)", "f32[16,128]", False), ("(8, 100)", "f32[40,100]", True),
    ("(7, 100)", "f32[7,100]", True), ("(7, 128)", "f32[14,128]", False), ("(128, 256)", "f32[300,256]", True), ("(512, 256)", "f32[200,256]", True),
    ("(8, 128)", "bf16[16,128]", True), ("(8, 128)", "i8[16,128]", True), ("(8, 128)", "i4[16,128]", True), ("(8, 128)", "bool[16,128]", True),
    ("(None, 128)", "f32[16,128]", False), ("(8, None)", "f32[16,128]", False), ("(None, 128)", "f32[1,128]", True), ("(pl.squeezed, 128)", "f32[16,128]", False),
    ("(1, 128)", "f32[16,128]", False), ("(1, 128)", "f32[1,128]", True), ("(16.0, 128)", "f32[16,128]", True), ("[8, 128]", "f32[16,128]", True),
    ("(pl.Blocked(4), 128)", "f32[16,128]", False), ("(pl.Element(4), pl.Element(128))", "f32[16,128]", False), ("(np.int64(8), 128)", "f32[16,128]", True),
]  # fmt: skip
TILING_1D = [
    (64, "f32[512]", False), (128, "f32[512]", True), (256, "f32[512]", True), (384, "f32[1536]", False), (1024, "f32[4096]", True),
    (3072, "f32[9216]", True), (1536, "f32[4608]", False), (100, "f32[100]", True), (100, "f32[200]", False), (128, "bf16[512]", False),
    (256, "bf16[512]", True), (256, "i8[1024]", False), (512, "i8[1024]", True), (512, "i4[2048]", False), (1024, "i4[2048]", True),
    (128, "bool[512]", True), (128, "i32[512]", True),
]  # fmt: skip

BLOCKS: list[tuple[str, str | None, str]] = [
    *[(f"block {b} of {x}", None if ok else "block-tiling-2d", block(b, "(0, 0)", x=x)) for b, x, ok in TILING_2D],
    *[(f"block ({b},) of {x}", None if ok else "block-tiling-1d", block(f"({b},)", "(0,)", x=x)) for b, x, ok in TILING_1D],
    ("leading dims of any size", None, block("(3, None, 8, 128)", "(i, 0, 0, 0)", x="f32[10,5,8,128]")),
    ("a tile wrong in both dims", "block-tiling-2d", block("(None, 4, 100)", "(i, 0, 0)", x="f32[2,16,200]")),
    ("rows of a whole array in SMEM", None, block("(4, 2)", "(0, 0)", x="f32[4,2]", space="pltpu.SMEM")),
    ("rows of SMEM", "block-tiling-2d", block("(1, 2)", "(i, 0)", x="f32[4,2]", space="pltpu.SMEM")),
    ("a whole array in SMEM, computed index", None, block("(16, 16)", "(i, 0)", x="f32[16,16]", space="pltpu.SMEM", grid="(1,)")),
    ("a block from the shape", None, block("(x.shape[0] // 2, x.shape[1])", "(i, 0)")),
    ("half a tile from the shape", "block-tiling-2d", block("(x.shape[0] // 4, x.shape[1])", "(i, 0)")),
    # rank
    ("too few dims", "block-rank-mismatch", block("(8, 128)", "(i, 0)", x="f32[2,8,128]")),
    ("too many dims", "block-rank-mismatch", block("(1, 8, 128)", "(i, 0, 0)")),
    ("too few dims of an output", "block-rank-mismatch", module(ZEROS, grid="(2,)", out="f32[2,8,128]", out_specs="pl.BlockSpec((8, 128), lambda i: (i, 0))")),
    ("operands in the wrong order", "block-rank-mismatch", prefetched("[pl.BlockSpec((8, 128), lambda i, s: (i, 0))]", operands="x, y")),
    ("a scalar", "block-rank-zero", module(ZEROS, x="f32[]")),
    ("a Python number", "block-rank-zero", module("o_ref[...] = x_ref[...] * s_ref[...]", refs="x_ref, s_ref, o_ref", operands="x, 2.0")),
    ("a scalar output", "block-rank-zero", module("o_ref[...] = jnp.sum(x_ref[...])", out="f32[]")),
    ("a scalar in SMEM", None, module(ZEROS, x="f32[]", in_specs="[SMEM]")),
    ("a scalar in ANY", "block-rank-zero", module(ZEROS, x="f32[]", in_specs="[ANY]")),
    # shapes that are none
    ("a number for a shape", "block-shape-invalid", block("128", "(i,)", x="f32[1024]")),
    ("a string for a dim", "block-shape-invalid", block("('8', 128)", "(i, 0)").replace("'8'", "'a'")),
    ("a numeral for a dim", None, block("('8', 128)", "(i, 0)")),
    ("-1 for a dim", "block-shape-invalid", block("(8, -1)", "(i, 0)")),
    ("-1 for the first dim", "block-shape-invalid", block("(-1, 8, 128)", "(0, i, 0)", x="f32[4,16,128]")),
    ("one Element for a shape", "block-shape-invalid", block("pl.Element(1024)", "(0,)", x="f32[1024]")),
    ("a tuple for a dim", "block-shape-invalid", block("((8,), 128)", "(i, 0)")),
    ("the old order", "block-shape-invalid", module(ZEROS, grid="(2,)", in_specs="[pl.BlockSpec(lambda i: (i, 0), (8, 128))]")),
    # ANY and HBM
    ("ANY whole", None, module(ZEROS, grid="(2,)", in_specs="[ANY]")),
    ("ANY whole by its shape", None, block("(16, 128)", "(0, 0)", space="pl.ANY")),
    ("ANY with a block", "block-any-windowed", block("(8, 128)", "(i, 0)", space="pl.ANY")),
    ("HBM with a block", "block-any-windowed", block("(8, 128)", "(0, 0)", space="pltpu.HBM")),
    ("ANY with an index", "block-any-windowed", block("(16, 128)", "(i, 0)", space="pl.ANY")),
    ("ANY with a product of 0", "block-any-windowed", block("(16, 128)", "(i * 0, 0)", space="pl.ANY")),
    ("ANY with a NumPy 0", None, block("(16, 128)", "(np.int32(0), 0)", space="pl.ANY")),
    ("ANY with a JAX 0", None, block("(16, 128)", "(jnp.int32(0), 0)", space="pl.ANY")),
    ("ANY with a size that is 0", None, block("(16, 128)", "(pl.num_programs(0) - 2, 0)", space="pl.ANY")),
    # without a grid
    ("no grid, whole", None, module(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda: (0, 0))]")),
    ("no grid, a block", "block-windowed-without-grid", module(ZEROS, in_specs="[pl.BlockSpec((8, 128), lambda: (0, 0))]")),
    ("no grid, a block without a map", "block-windowed-without-grid", module(ZEROS, in_specs="[pl.BlockSpec((8, 128))]")),
    ("no grid, an index", "block-windowed-without-grid", module(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda: (1, 0))]")),
    ("a grid of one", None, block("(8, 128)", "(1, 0)", grid="(1,)")),
    # kinds of dims
    ("Elements", None, block("(pl.Element(8), pl.Element(128))", "(i * 8, 0)")),
    ("Elements and a plain dim", "block-element-mixed", block("(pl.Element(8), 128)", "(i * 8, 0)")),
    ("Elements and None", None, block("(None, pl.Element(8), pl.Element(128))", "(i, 0, 0)", x="f32[2,8,128]")),
    ("an Element without a grid", None, module(ZEROS, in_specs="[pl.BlockSpec((pl.Element(16), 128), lambda: (0, 0))]")),
    ("a bounded slice", "block-dim-unsupported", block("(pl.BoundedSlice(8), 128)", "(pl.ds(i * 8, 8), 0)")),
    # index maps: arguments
    ("a map of one index for two axes", "index-map-arity", block("(8, 128)", "(i, 0)", grid="(2, 2)")),
    ("a map of two for one axis", "index-map-arity", rows(in_specs="[pl.BlockSpec((8, 128), lambda i, j: (i, 0))]")),
    ("a map with a star", None, rows(in_specs="[pl.BlockSpec((8, 128), lambda *g: (*g, 0))]")),
    ("a map with a default", None, rows(in_specs="[pl.BlockSpec((8, 128), lambda i, k=0: (i + k, 0))]")),
    ("a map without a grid", "index-map-arity", module(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda i: (0, 0))]")),
    ("a map without the prefetched operand", "index-map-arity", prefetched("[pl.BlockSpec((8, 128), lambda i: (i, 0))]")),
    ("a named map", "index-map-arity", rows(in_specs="[pl.BlockSpec((8, 128), tile)]", top="def tile(i, j):\n    return i, j\n")),
    ("a map by partial", None, rows(in_specs="[pl.BlockSpec((8, 128), functools.partial(tile, 0))]", top="def tile(j, i):\n    return i, j\n")),
    ("a map by partial, one too many", "index-map-arity", rows(in_specs="[pl.BlockSpec((8, 128), functools.partial(tile, 0, 0))]", top="def tile(j, i):\n    return i, j\n")),
    ("a jitted map", None, rows(in_specs="[pl.BlockSpec((8, 128), jax.jit(lambda i: (i, 0)))]")),
    ("a method as a map", None, rows(in_specs="[pl.BlockSpec((8, 128), Maps().rows)]", top="class Maps:\n    def rows(self, i):\n        return i, 0\n")),
    ("a tuple for a map", "index-map-arity", rows(in_specs="[pl.BlockSpec((8, 128), (0, 0))]")),
    # index maps: results
    ("a bare index", None, block("(1024,)", "i", x="f32[4096]")),
    ("a list of indices", None, block("(8, 128)", "[i, 0]")),
    ("one index for two dims", "index-map-return-len", block("(8, 128)", "i")),
    ("three for two", "index-map-return-len", block("(8, 128)", "(i, 0, 0)")),
    ("none for a squeezed dim", "index-map-return-len", block("(None, 8, 128)", "(i, 0)", x="f32[2,8,128]")),
    ("precedence of lambda", "index-map-return-len", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: i, 0)]")),
    ("a forgotten return", "index-map-return-len", rows(in_specs="[pl.BlockSpec((8, 128), tile)]", top="def tile(i):\n    (i, 0)\n")),
    ("None among indices", "index-map-return-len", block("(8, 128)", "(i, None)")),
    ("a tuple among indices", "index-map-return-len", block("(8, 128)", "((i,), 0)")),
    ("no block shape, one index", "index-map-return-len", rows(ZEROS, in_specs="[pl.BlockSpec(index_map=lambda i: i)]")),
    ("no block shape", None, rows(ZEROS, in_specs="[pl.BlockSpec(index_map=lambda i: (0, 0))]")),
    ("a division", "index-map-non-int", block("(8, 128)", "(i / 2, 0)")),
    ("a float", "index-map-non-int", block("(8, 128)", "(i, 0.0)")),
    ("a product with a float", "index-map-non-int", block("(8, 128)", "(i * 0.5, 0)")),
    ("a comparison", "index-map-non-int", block("(8, 128)", "(i == 1, 0)")),
    ("True", "index-map-non-int", block("(8, 128)", "(True, 0)")),
    ("int8", "index-map-non-int", block("(8, 128)", "(i.astype(jnp.int8), 0)")),
    ("uint32", "index-map-non-int", block("(8, 128)", "(jnp.uint32(i), 0)")),
    ("a vector", "index-map-non-int", block("(8, 128)", "(jnp.arange(2), 0)")),
    ("a slice for a plain dim", "index-map-non-int", block("(8, 128)", "(pl.ds(i, 1), 0)")),
    ("integer arithmetic", None, block("(8, 128)", "(jnp.where(i == 0, 0, jnp.minimum(i // 2, 3)) % 2, np.int64(0))")),
    ("a clamp", None, block("(8, 128)", "(jnp.clip(i - 1, 0, 1), 0)")),
    ("lax arithmetic", None, block("(8, 128)", "(jax.lax.rem(i, 2), 0)")),
    ("a prefetched index", None, prefetched("[pl.BlockSpec((8, 128), lambda i, s: (s[i], 0))]")),
    ("a prefetched float", "index-map-non-int", prefetched("[pl.BlockSpec((8, 128), lambda i, s: (s[i], 0))]", y="f32[2]")),
    ("a prefetched slice", "index-map-non-int", prefetched("[pl.BlockSpec((8, 128), lambda i, s: (s[0:1], 0))]")),
    ("the prefetched ref", "index-map-returns-ref", prefetched("[pl.BlockSpec((8, 128), lambda i, s: (s, 0))]")),
    # index maps: what they may use
    ("an array", "index-map-captures-array", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (PERM[i], 0))]", top="PERM = jnp.array([1, 0])\n")),
    ("an operand", "index-map-captures-array", module(ZEROS, refs="x_ref, o_ref", y="i32[]", operands="x", grid="(2,)", in_specs="[pl.BlockSpec((8, 128), lambda i: (y + i, 0))]")),
    ("a scalar of JAX's", "index-map-captures-array", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i + ONE, 0))]", top="ONE = jnp.int32(1)\n")),
    ("a NumPy scalar", None, rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i + ONE, 0))]", top="ONE = np.int32(1)\n")),
    ("a Python number", None, rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i + ONE - 1, 0))]", top="ONE = 1\n")),
    ("an if", "index-map-python-control-flow", rows(in_specs="[pl.BlockSpec((8, 128), tile)]", top="def tile(i):\n    if i > 0:\n        return i - 1, 0\n    return 0, 0\n")),
    ("a conditional expression", "index-map-python-control-flow", block("(8, 128)", "(i if i else 0, 0)")),
    ("and", "index-map-python-control-flow", block("(8, 128)", "(i and 1, 0)")),
    ("max", "index-map-python-control-flow", block("(8, 128)", "(max(i - 1, 0), 0)")),
    ("a list", "index-map-python-control-flow", block("(8, 128)", "([1, 0][i], 0)")),
    ("range", "index-map-python-control-flow", block("(8, 128)", "(len(range(i)), 0)")),
    ("a NumPy table", "index-map-python-control-flow", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (TABLE[i], 0))]", top="TABLE = np.array([1, 0])\n")),
    ("an if on a constant", None, rows(in_specs="[pl.BlockSpec((8, 128), tile)]", top="FLAG = False\n\n\ndef tile(i):\n    if FLAG:\n        return 0, 0\n    return i, 0\n")),
    ("program_id in a map", "program-id-axis", block("(8, 128)", "(pl.program_id(0), 0)")),
    ("num_programs in a map without a grid", "program-id-axis", module(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda: (pl.num_programs(0), 0))]")),
    ("an element of NumPy's without a grid", None, module(ZEROS, in_specs="[pl.BlockSpec((16, 128), lambda: (np.arange(4)[0], 0))]")),
    ("a number of JAX's as a dim", "block-shape-invalid", block("(jnp.int32(8), 128)", "(i, 0)")),
    ("a number of JAX's as a dim, made before", None, rows(in_specs="[pl.BlockSpec((EIGHT, 128), lambda i: (i, 0))]", top="EIGHT = jnp.int32(8)\n")),
    ("an operand as a dim", "block-shape-invalid", module(ZEROS, refs="x_ref, o_ref", y="i32[]", operands="x", grid="(2,)", in_specs="[pl.BlockSpec((y, 128), lambda i: (i, 0))]")),
    ("an empty block that is read", "zero-size-intermediate", block("(8, 0)", "(i, 0)", body="o_ref[...] = jnp.zeros_like(o_ref) + jnp.sum(x_ref[...])")),
    ("an empty block that is not", None, block("(8, 0)", "(i, 0)")),
    ("a string as a block shape", "block-shape-invalid", block("'rows'", "(i, 0)")),
    ("num_programs in a map", None, block("(8, 128)", "(pl.num_programs(0) - 1 - i, 0)")),
]
