"""Pipelines inside a kernel: their grids, operands, specs and bodies."""

from __future__ import annotations

from call.modules import module
from ops.modules import NEW, Case

ADD = "def body(a, b):\n    b[...] = a[...] + 1.0"
COPY = "def body(a, b):\n    b[...] = a[...]"
HBM = "pl.BlockSpec(memory_space=pltpu.HBM)"


def block(shape: str = "(128, 256)", index: str = "i: (i, 0)", more: str = "") -> str:
    """A block spec."""
    return f"pl.BlockSpec({shape}, lambda {index}{more})"


def in_memory(space: str) -> str:
    """A block spec that names a memory space."""
    return block(more=f", memory_space={space}")


def buffered(mode: str) -> str:
    """A block spec with a pipeline mode."""
    return block(more=f", pipeline_mode=pl.Buffered({mode})")


def pipe(
    spec: str = block(),
    *,
    outer: str | None = None,
    body: str = ADD,
    on: str = "(x_ref, o_ref)",
    grid: str = "(2,)",
    x: str = "f32[256,256]",
    out: str | None = None,
    more: str = "",
    specs: str | None = None,
    **keywords: str,
) -> str:
    """A kernel that is a pipeline. ``outer``: the spec of its output; ``specs``: other text for ``in_specs``; ``on``: what it is called on."""
    made = f"pltpu.emit_pipeline(body, grid={grid}, in_specs={specs or f'[{spec}]'}, out_specs=[{outer or spec}]{more})"
    given = {"in_specs": "[ANY]", "out_specs": "ANY"} | keywords
    return module(f"{body}\n{made}{on}", x=x, out=out or x, **given)  # type: ignore[arg-type]


def rows(shape: str, x: str = "f32[256,256]") -> str:
    """A pipeline over blocks of rows of ``x``."""
    return pipe(block(shape), x=x, grid="(3,)", body=COPY)


def split(cores: int | None, semantics: str | None = None, axis: str = "core_axis=0") -> str:
    """A pipeline that is split over an axis of the kernel's grid."""
    more = f", {axis}" + (f", dimension_semantics={semantics}" if semantics is not None else "")
    source = pipe(more=more)
    return source if cores is None else source.replace("in_specs=[ANY]", f"grid=({cores},), in_specs=[ANY]")


_GRIDS: list[Case] = [
    ("a pipeline", None, pipe()),
    ("a list as the grid of a pipeline", None, pipe(grid="[2]")),
    ("a boolean in the grid of a pipeline", None, pipe(grid="(True,)")),
    ("a traced size in the grid of a pipeline", None, split(1, axis="trace_scopes=True").replace("grid=(2,)", "grid=(pl.program_id(0) + 2,)")),
    ("no grid of a pipeline", None, pipe(block("(256, 256)", ": (0, 0)"), grid="()")),
    ("a size of 0 in the grid of a pipeline", "pipeline-grid", pipe(grid="(0,)")),
    ("a size below 0 in the grid of a pipeline", "pipeline-grid", pipe(grid="(2, -1)")),
    ("a float in the grid of a pipeline", "pipeline-grid", pipe(grid="(256 / 128,)")),
    ("a NumPy number in the grid of a pipeline", "pipeline-grid", pipe(grid="(np.int32(2),)")),
    ("a number as the grid of a pipeline", "pipeline-grid", pipe(grid="2")),
    ("None in the grid of a pipeline", "pipeline-grid", pipe(grid="(None,)")),
    ("an axis of the pipeline's grid", None, pipe(body="def body(a, b):\n    b[...] = a[...] + pl.program_id(0)")),
    ("an axis that the pipeline's grid has not", "program-id-axis", pipe(body="def body(a, b):\n    b[...] = a[...] + pl.program_id(1)")),
]

_TREE = "def body(a, b):\n    b[...] = a['x'][...] + 1.0"


def in_a_tree(spec: str, body: str = _TREE) -> str:
    """A pipeline whose operand and spec stand in a dict."""
    return pipe(spec, specs=f"[{{'x': {spec}, 'none': None}}]", body=body, on="({'x': x_ref, 'none': None}, o_ref)")


_OPERANDS: list[Case] = [
    ("operands of a pipeline in a dict", None, in_a_tree(block())),
    ("a value of another shape from a dict of a pipeline", "store-shape-mismatch", in_a_tree(block(), f"{_TREE[:-6]}[0:64]")),
    ("a block of fewer dims in a dict of a pipeline", "pipeline-args", in_a_tree(block("(128,)", "i: (i,)"))),
    ("a ragged block in a dict of a pipeline", "pipeline-block-tiling", in_a_tree(block("(100, 256)"))),
    ("a spec of a pipeline that is in no list", None, pipe(specs=block())),
    ("a view as operand of a pipeline", None, pipe(on="(x_ref.at[0:256], o_ref)", x="f32[512,256]", out="f32[256,256]")),
    ("too few operands of a pipeline", "pipeline-args", pipe(on="(x_ref)")),
    ("too many operands of a pipeline", "pipeline-args", pipe(on="(x_ref, o_ref, o_ref)")),
    ("a value as operand of a pipeline", "pipeline-args", pipe(on="(jnp.zeros((256, 256)), o_ref)")),
    ("scratch of a pipeline", None, pipe(
        body="def body(a, b, s):\n    s[...] = a[...]\n    b[...] = s[...]", on="(x_ref, o_ref, scratches=(t,))", refs="x_ref, o_ref, t",
        scratch_shapes="[pltpu.VMEM((128, 256), jnp.float32)]",
    )),
    ("a pipeline's body with too few parameters", "pipeline-args", pipe(body="def body(a):\n    pass")),
    ("a pipeline's body that gives something back", None, pipe(body=f"{COPY}\n    return 1")),
    ("a block of another shape in a pipeline", "store-shape-mismatch", pipe(body="def body(a, b):\n    b[...] = a[0:8]")),
]  # fmt: skip

_SPECS: list[Case] = [
    ("a block of a pipeline with fewer dims", "pipeline-args", pipe(block("(128,)", "i: (i,)"))),
    ("a block of a pipeline with more dims", "pipeline-args", pipe(block("(1, 128, 256)", "i: (0, i, 0)"))),
    ("a squeezed dim in a pipeline", None, pipe(block("(None, 128, 256)", "i: (0, i, 0)"), x="f32[1,256,256]")),
    ("a spec of a pipeline without a shape", None, pipe("pl.BlockSpec()", grid="(1,)")),
    ("a whole array in a pipeline without an index map", None, pipe("pl.BlockSpec((256, 256))", grid="(1,)")),
    ("a block in a pipeline without an index map", "pipeline-args", pipe("pl.BlockSpec((128, 256))")),
    ("an index map of a pipeline with more parameters", "index-map-arity", pipe(block(index="i, j: (i, 0)"))),
    ("an index map of a pipeline with a default", None, pipe(block(index="i, j=0: (i, j)"))),
    ("an index map of a pipeline that takes any number", None, pipe(block(index="*i: (i[0], 0)"))),
    ("an index map of a pipeline that gives one index", "pipeline-args", pipe(block(index="i: i"))),
    ("an index map of a pipeline that gives three", "pipeline-args", pipe(block(index="i: (i, 0, 0)"))),
    ("an index map of a pipeline that gives a list", None, pipe(block(index="i: [i, 0]"))),
    ("an index map of a pipeline that divides", "pipeline-args", pipe(block(index="i: (i / 2, 0)"))),
    ("an index map of a pipeline that uses a ref", None, pipe(
        block(index="i: (y_ref[i], 0)"), refs="x_ref, y_ref, o_ref", y="i32[2]", in_specs="[ANY, SMEM]",
    )),
]  # fmt: skip

_MEMORY: list[Case] = [
    *((f"a pipeline's buffer in {space}", "pipeline-memory-space", pipe(in_memory(space))) for space in ("pl.ANY", "pltpu.SEMAPHORE")),
    ("a pipeline's buffer in VMEM", None, pipe(in_memory("pltpu.VMEM"))),
    ("a pipeline's buffer in SMEM", None, pipe(in_memory("pltpu.SMEM"), body="def body(a, b):\n    b[0, 0] = a[0, 0]")),
    ("a pipeline's buffer in HBM that is read", "access-any-or-hbm", pipe(in_memory("pltpu.HBM"))),
    ("a pipeline's buffer in HBM that is copied", None, pipe(in_memory("pltpu.HBM"), body="def body(a, b):\n    pltpu.sync_copy(a, b)")),
    ("a pipeline over VMEM", None, pipe(in_specs="[pl.BlockSpec()]", out_specs="pl.BlockSpec()")),
    ("no buffer in a pipeline", "pipeline-buffer-count" if NEW else None, pipe(buffered("0"))),
    ("one buffer in a pipeline", None, pipe(buffered("1"))),
    ("three buffers of a pipeline's input", None, pipe(buffered("3"), outer=block())),
    ("three buffers of a pipeline's output", None if NEW else "pipeline-buffer-count", pipe(outer=buffered("3"))),
    ("a pipeline's input that is fetched early", None, pipe(buffered("2, use_lookahead=True"), outer=block())),
    ("a pipeline's output that is fetched early", "pipeline-output-lookahead", pipe(outer=buffered("2, use_lookahead=True"))),
]

_TILED = {
    None: ["(96, 256) f32[256,256]", "(40, 256) bf16[256,256]", "(40, 256) i8[256,256]", "(100, 256) f32[200,256]", "(128, 128) f32[256,200]",
           "(1, 256) bf16[3,256]", "(128, 256) f32[300,256]"],
    "pipeline-block-tiling": ["(100, 256) f32[256,256]", "(36, 256) bf16[256,256]", "(36, 256) i8[256,256]", "(128, 100) f32[256,256]",
                              "(3, 256) f32[4,256]", "(2, 256) f32[3,256]", "(2, 256) bf16[3,256]", "(4, 256) f32[6,256]", "(3, 256) i8[4,256]"],
}  # fmt: skip

_TILES: list[Case] = [
    *((f"blocks {text} in a pipeline", rule, rows(*text.rsplit(" ", 1))) for rule, texts in _TILED.items() for text in texts),
    ("blocks of 100 of 256", "pipeline-block-tiling", pipe(block("(100,)", "i: (i,)"), x="f32[256]")),
    ("blocks of 128 of 200", None, pipe(block("(128,)", "i: (i,)"), x="f32[200]")),
    ("blocks of 128 of 200 bf16", "pipeline-block-tiling", pipe(block("(128,)", "i: (i,)"), x="bf16[200]", body=COPY)),
    ("blocks of two of three matrices", None, pipe(block("(2, 128, 256)", "i: (i, 0, 0)"), x="f32[3,128,256]")),
    ("squeezed rows in a pipeline", None, pipe(block("(None, 256)"), body=COPY)),
    ("elements that are no whole tiles", "pipeline-block-tiling", pipe(
        block("(pl.Element(100), pl.Element(256))", "i: (i * 100, 0)"), x="f32[200,256]",
    )),
    ("elements that are whole tiles", None, pipe(block("(pl.Element(128), pl.Element(256))", "i: (i * 128, 0)"))),
    ("ragged blocks in HBM", "pipeline-block-tiling", pipe(block("(100, 256)"), grid="(3,)", in_specs=f"[{HBM}]", out_specs=HBM)),
    ("ragged blocks in VMEM", "pipeline-block-tiling", pipe(
        block("(100, 256)"), grid="(3,)", in_specs="[pl.BlockSpec()]", out_specs="pl.BlockSpec()",
    )),
]  # fmt: skip


_CORES: list[Case] = [
    ("both ways to say the cores", "pipeline-core-axis", split(None, axis="core_axis=0, core_axis_name='core'")),
    ("an axis of cores without a grid", "pipeline-core-axis", split(None)),
    ("one core", None, split(1)),
    ("one core, too many semantics", None, split(1, "(pltpu.PARALLEL, pltpu.PARALLEL)")),
    ("two cores", "pipeline-no-parallel-dimension", split(2)),
    ("two cores, arbitrary", "pipeline-no-parallel-dimension", split(2, "(pltpu.ARBITRARY,)")),
    ("two cores, a word", "pipeline-no-parallel-dimension", split(2, "('parallel',)")),
    ("two cores, parallel", None, split(2, "(pltpu.PARALLEL,)")),
    ("two cores, too many semantics", "pipeline-dimension-semantics-length", split(2, "(pltpu.PARALLEL, pltpu.PARALLEL)")),
]

def buffers(call: str) -> str:
    """A kernel in which a ``BufferedRef`` is made by hand."""
    return pipe().replace("def kernel(x_ref, o_ref):\n", f"def kernel(x_ref, o_ref):\n    made = pltpu.BufferedRef.{call}\n")


_BUFFERS: list[Case] = [
    ("buffers of a block", None, buffers(f"input({block()}, jnp.float32)")),
    ("buffers of any size", "buffered-ref", buffers("input(pl.BlockSpec(), jnp.float32)")),
    ("buffers of an output of any size", "buffered-ref", buffers("output(pl.BlockSpec(index_map=lambda i: (i, 0)), jnp.float32, 2)")),
    ("buffers in ANY", "buffered-ref", buffers(f"input({in_memory('pl.ANY')}, jnp.float32)")),
    ("buffers in SMEM", None, buffers(f"input({in_memory('pltpu.SMEM')}, jnp.float32)")),
    ("buffers that look ahead", "buffered-ref", buffers(f"input({block()}, jnp.float32, use_lookahead=True)")),
    ("buffers that look ahead on a grid", None, buffers(f"input({block()}, jnp.float32, use_lookahead=True, grid_rank=1)")),
    ("the one window of an operand", None, buffers("input(pl.BlockSpec(), jnp.float32, is_trivial_windowing=True)")),
]

PIPELINES: list[Case] = [*_BUFFERS, *_GRIDS, *_OPERANDS, *_SPECS, *_MEMORY, *_TILES, *_CORES]
