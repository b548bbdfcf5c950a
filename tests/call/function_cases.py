"""Kernels, options and signatures, right or wrong: (what, the rule that speaks or None, a module)."""

from __future__ import annotations

from call.modules import COPY, GRID, module


def rows(body: str = COPY, **changes: str) -> str:
    """A copy in two blocks of eight rows, with other arguments."""
    return module(body, **{**GRID, **changes})  # type: ignore[arg-type]


def options(fields: str, **changes: str) -> str:
    """The same with compiler parameters."""
    return rows(compiler_params=f"pltpu.CompilerParams({fields})", **changes)


STATIC = "functools.partial(kernel, {})"
OUT = "jax.ShapeDtypeStruct((16, 128), jnp.float32)"

_PARAMETERS: list[tuple[str, str | None, str]] = [
    ("a parameter too many", "kernel-arity", module("pass", refs="x_ref, y_ref, o_ref")),
    ("a parameter too few", "kernel-arity", module("pass", refs="x_ref")),
    ("no parameters", "kernel-arity", module("pass", refs="")),
    ("a default for the last parameter", None, module(refs="x_ref, o_ref, scale=2.0")),
    ("star refs", None, module("x_ref, o_ref = refs\n" + COPY, refs="*refs")),
    ("star refs behind one", None, module("o_ref, = refs\n" + COPY, refs="x_ref, *refs")),
    ("keyword-only with a default", None, module(refs="x_ref, o_ref, *, scale=2.0")),
    ("keyword-only without a default", "kernel-arity", module(refs="x_ref, o_ref, *, scale")),
    ("a partial that binds it", None, module(refs="x_ref, o_ref, *, scale", kernel=STATIC.format("scale=2.0"))),
    ("a partial of an unknown name", "kernel-arity", module(kernel=STATIC.format("scale=2.0"))),
    ("a partial that binds a ref's place", "kernel-arity", module("pass", refs="scale, x_ref", kernel=STATIC.format("2.0"))),
    ("a partial that binds the first place", None, module(refs="scale, x_ref, o_ref", kernel=STATIC.format("2.0"))),
    ("a partial with a ref's name", "kernel-arity", module("pass", kernel=STATIC.format("o_ref=None"))),
    ("a partial of a partial", None, module(refs="a, b, x_ref, o_ref", kernel=f"functools.partial({STATIC.format('1')}, 2)")),
    ("the static value in the middle", "kernel-arity", module("pass", refs="x_ref, scale, o_ref", kernel=STATIC.format("scale=2.0"))),
    ("positional-only refs", None, module(refs="x_ref, o_ref, /")),
    ("a lambda", None, module(kernel="lambda x_ref, o_ref: kernel(x_ref, o_ref)")),
    ("a lambda with a parameter too few", "kernel-arity", module(kernel="lambda x_ref: None")),
    ("a kernel made by a function", None, module(top="def make(scale):\n    def body(x_ref, o_ref):\n        o_ref[...] = x_ref[...] * scale\n    return body", kernel="make(2.0)")),
    (
        "a kernel made by a function, a parameter too many",
        "kernel-arity",
        module(top="def make(scale):\n    def body(x_ref, y_ref, o_ref):\n        pass\n    return body", kernel="make(2.0)"),
    ),
    (
        "a method",
        None,
        module(top="class Copy:\n    def body(self, x_ref, o_ref):\n        o_ref[...] = x_ref[...]", kernel="Copy().body"),
    ),
    (
        "a method with a parameter too few",
        "kernel-arity",
        module(top="class Copy:\n    def body(self, x_ref):\n        pass", kernel="Copy().body"),
    ),
    (
        "a static method",
        None,
        module(top="class Copy:\n    @staticmethod\n    def body(x_ref, o_ref):\n        o_ref[...] = x_ref[...]", kernel="Copy.body"),
    ),
    (
        "an object with __call__",
        None,
        module(top="class Copy:\n    def __call__(self, x_ref, o_ref):\n        o_ref[...] = x_ref[...]", kernel="Copy()"),
    ),
    (
        "an object whose __call__ takes too much",
        "kernel-arity",
        module(top="class Copy:\n    def __call__(self, x_ref, y_ref, o_ref):\n        pass", kernel="Copy()"),
    ),
    ("a jitted kernel", None, module(kernel="jax.jit(kernel)")),
    ("scratch without a parameter", "kernel-arity", module("pass", scratch_shapes="[pltpu.VMEM((8, 128), jnp.float32)]")),
    ("scratch with a parameter", None, module(refs="x_ref, o_ref, s", scratch_shapes="[pltpu.VMEM((8, 128), jnp.float32)]")),
    ("scratch by name", None, module(refs="x_ref, o_ref, s", scratch_shapes="{'s': pltpu.VMEM((8, 128), jnp.float32)}")),
    ("scratch by another name", "scratch-dict-name", module("pass", refs="x_ref, o_ref, s", scratch_shapes="{'t': pltpu.VMEM((8, 128), jnp.float32)}")),
    ("scratch by any name", None, module(refs="x_ref, o_ref, **scratch", scratch_shapes="{'t': pltpu.VMEM((8, 128), jnp.float32)}")),
    ("outputs in a list", "kernel-arity", module("pass", out_shape=f"[{OUT}, {OUT}]")),
    ("outputs in a dict are one ref tree", None, module("o_ref['a'][...] = x_ref[...]", out_shape=f"{{'a': {OUT}}}")),
    ("no outputs", None, module("pass", refs="x_ref", out_shape="[]", result="{} or x")),
]

_RETURNS: list[tuple[str, str | None, str]] = [
    ("returns None", None, module(COPY + "\nreturn None")),
    ("returns an array", "kernel-returns-value", module("return x_ref[...]")),
    ("returns a number", "kernel-returns-value", module(COPY + "\nreturn 0")),
    ("returns a tuple", "kernel-returns-value", module(COPY + "\nreturn ()")),
    ("returns a tuple of None", "kernel-returns-value", module(COPY + "\nreturn None, None")),
    ("returns a ref", "kernel-returns-value", module(COPY + "\nreturn o_ref")),
    ("returns a string", "kernel-returns-value", module(COPY + "\nreturn 'done'")),
    ("a generator", "kernel-returns-value", module(COPY + "\nyield")),
    ("a lambda that returns what a store gives", None, module(kernel="lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...])")),
    ("a lambda that returns an array", "kernel-returns-value", module(kernel="lambda x_ref, o_ref: x_ref[...]")),
    ("a partial returns", "kernel-returns-value", module("return x_ref[...]", refs="scale, x_ref, o_ref", kernel=STATIC.format("2.0"))),
]

_CAPTURES: list[tuple[str, str | None, str]] = [
    ("an array of the module", "kernel-captures-array", module("o_ref[...] = x_ref[...] * TABLE", top="TABLE = jnp.ones((16, 128))")),
    ("a scalar array of the module", "kernel-captures-array", module("o_ref[...] = x_ref[...] * TABLE", top="TABLE = jnp.float32(2)")),
    ("an array of NumPy's", "kernel-captures-array", module("o_ref[...] = x_ref[...] * TABLE", top="TABLE = np.ones((16, 128), np.float32)")),
    ("a number of NumPy's", None, module("o_ref[...] = x_ref[...] * TABLE", top="TABLE = np.float32(2)")),
    ("an element of NumPy's", None, module("o_ref[...] = x_ref[...] * TABLE[0]", top="TABLE = np.ones((16,), np.float32)")),
    ("a Python number", None, module("o_ref[...] = x_ref[...] * TABLE", top="TABLE = 2.0")),
    ("an array made inside", None, module("o_ref[...] = x_ref[...] * jnp.ones((16, 128))")),
    ("a full array made inside", None, module("o_ref[...] = x_ref[...] * jnp.full((16, 128), 2.0)")),
    ("a list made an array inside", "kernel-captures-array", module("o_ref[...] = x_ref[...] * jnp.array([2.0] * 128)")),
    ("a number made an array inside", None, module("o_ref[...] = x_ref[...] * jnp.array(2.0)")),
    ("a NumPy array made inside", "kernel-captures-array", module("o_ref[...] = x_ref[...] * np.ones((16, 128), np.float32)")),
    ("an iota made inside", None, module("o_ref[...] = x_ref[...] * jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1)", x="i32[16,128]", out="i32[16,128]")),
    ("an array that is not used", None, module(top="TABLE = jnp.ones((16, 128))")),
    ("only the shape of an array", None, module("o_ref[...] = x_ref[...] * TABLE.shape[0]", top="TABLE = jnp.ones((16, 128))")),
    ("the operand of the call", "kernel-captures-array", rows(before="def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...] + x[:8]")),
    ("an array in a partial", "kernel-captures-array", module("o_ref[...] = x_ref[...] * table", refs="x_ref, o_ref, *, table", kernel=STATIC.format("table=jnp.ones((16, 128))"))),
    ("an array of the call's function", "kernel-captures-array", module(before="scale = jnp.ones((16, 128))\ndef kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...] * scale")),
    ("an array in a when", "kernel-captures-array", module("@pl.when(x_ref[0, 0] > 0)\ndef _():\n    o_ref[...] = x_ref[...] * TABLE", top="TABLE = jnp.ones((16, 128))")),
    ("a default argument", "kernel-captures-array", module("o_ref[...] = x_ref[...] * table", refs="x_ref, o_ref, table=jnp.ones((16, 128))")),
]

_CALLABLE: list[tuple[str, str | None, str]] = [
    ("None for the kernel", "kernel-not-callable", module(kernel="None")),
    ("a called kernel", "kernel-not-callable", module("pass", refs="x_ref=None, o_ref=None", kernel="kernel()")),
    ("a module's name", "kernel-not-callable", module(kernel="'kernel'")),
    ("a tuple", "kernel-not-callable", module(kernel="(kernel,)")),
]

_AXES: list[tuple[str, str | None, str]] = [
    ("the only axis", None, rows("i = pl.program_id(0)\n" + COPY)),
    ("an axis too far", "program-id-axis", rows("i = pl.program_id(1)\no_ref[...] = x_ref[...] + i")),
    ("a negative axis", "program-id-axis", rows("i = pl.program_id(-1)\no_ref[...] = x_ref[...] + i")),
    ("the last axis from the end", "program-id-axis", rows("i = pl.program_id(-1)\no_ref[...] = x_ref[...] + i")),
    ("the last axis from the end, not used", None, rows("i = pl.program_id(-1)\n" + COPY)),
    ("programs of the last axis from the end", None, rows("n = pl.num_programs(-1)\no_ref[...] = x_ref[...] + n")),
    ("beyond the first axis from the end", "program-id-axis", rows("i = pl.program_id(-2)\n" + COPY)),
    ("no grid", "program-id-axis", module("i = pl.program_id(0)\no_ref[...] = x_ref[...] + i")),
    ("programs of the only axis", None, rows("n = pl.num_programs(0)\no_ref[...] = x_ref[...] + n")),
    ("programs of an axis too far", "program-id-axis", rows("n = pl.num_programs(1)\no_ref[...] = x_ref[...] + n")),
    ("an axis by keyword", "program-id-axis", rows("i = pl.program_id(axis=2)\no_ref[...] = x_ref[...] + i")),
    ("in a helper", "program-id-axis", rows("o_ref[...] = x_ref[...] + row()", top="def row():\n    return pl.program_id(1)")),
    ("in a when", "program-id-axis", rows("@pl.when(pl.program_id(1) == 0)\ndef _():\n    " + COPY)),
    ("in an index map", "program-id-axis", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (pl.program_id(0), 0))]")),
]

_OPTIONS: list[tuple[str, str | None, str]] = [
    ("one semantic for one dim", None, options("dimension_semantics=('parallel',)")),
    ("two semantics for one dim", "dimension-semantics-length", options("dimension_semantics=('parallel', 'arbitrary')")),
    ("no semantics for one dim", "dimension-semantics-length", options("dimension_semantics=()")),
    ("semantics without a grid", "dimension-semantics-length", module(compiler_params="pltpu.CompilerParams(dimension_semantics=('parallel',))")),
    ("a string of semantics", "dimension-semantics-length", options("dimension_semantics='parallel'")),
    ("semantics as a list", None, options("dimension_semantics=['parallel']")),
    ("a positional field", "dimension-semantics-length", options("('parallel', 'parallel')")),
    ("an unknown semantic", "dimension-semantics-value", options("dimension_semantics=('sequential',)")),
    ("a semantic in capitals", "dimension-semantics-value", options("dimension_semantics=('PARALLEL',)")),
    ("a semantic of the library", None, options("dimension_semantics=(pltpu.PARALLEL,)")),
    ("an arbitrary one of the library", None, options("dimension_semantics=(pltpu.ARBITRARY,)")),
    ("a field that does not exist", "compiler-params-unknown-field", options("dimension_semantic=('parallel',)")),
    ("a dict of parameters", "compiler-params-type", rows(compiler_params="dict(dimension_semantics=('parallel',))")),
    ("a dict of the platform", "compiler-params-type", rows(compiler_params="{'mosaic': {'vmem_limit_bytes': 1 << 20}}")),
    ("parameters are None", None, rows(compiler_params="None")),
    ("a limit of VMEM", None, options("vmem_limit_bytes=64 * 1024 * 1024")),
    ("a fractional limit of VMEM", "vmem-limit-not-int", options("vmem_limit_bytes=64e6")),
    ("a cost", None, rows(cost_estimate="pl.CostEstimate(flops=1, bytes_accessed=2, transcendentals=0)")),
    ("a fractional cost", "cost-estimate-not-int", rows(cost_estimate="pl.CostEstimate(flops=1.5, bytes_accessed=2, transcendentals=0)")),
    ("a cost by division", "cost-estimate-not-int", rows(cost_estimate="pl.CostEstimate(flops=x.size / 2, bytes_accessed=2, transcendentals=0)")),
    ("a cost by floor division", None, rows(cost_estimate="pl.CostEstimate(flops=x.size // 2, bytes_accessed=2, transcendentals=0)")),
    ("a dict of costs", "compiler-params-type", rows(cost_estimate="dict(flops=1, bytes_accessed=2, transcendentals=0)")),
    ("a name", None, rows(name="'copy_rows'")),
]

_SIGNATURES: list[tuple[str, str | None, str]] = [
    ("an unknown argument", "pallas-call-signature", rows(out_spec=GRID["out_specs"])),
    ("no out_shape", "pallas-call-signature", rows(out_shape="")),
    ("a third positional argument", "pallas-call-signature", module(out_shape=f"{OUT}, (2,)")),
    ("an unknown argument of a spec", "pallas-call-signature", rows(in_specs="[pl.BlockSpec(shape=(8, 128), index_map=lambda i: (i, 0))]")),
    ("too much for a spec", "pallas-call-signature", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), None, None)]")),
    ("a memory space in a later place", "memory-space-positional", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), pltpu.VMEM)]")),
    ("a buffer count", None, rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), pipeline_mode=pl.Buffered(2))]")),
    ("a buffer without a count", "pallas-call-signature", rows(in_specs="[pl.BlockSpec((8, 128), lambda i: (i, 0), pipeline_mode=pl.Buffered())]")),
    ("a prefetching spec without its number", "prefetch-num-missing", module(grid_spec="pltpu.PrefetchScalarGridSpec(grid=(2,))")),
    ("an unknown argument of a grid spec", "pallas-call-signature", module(grid_spec="pl.GridSpec(grids=(2,))")),
    ("an operand by keyword", "operand-keyword", module(operands="x=x")),
    ("a string operand", "operand-not-array", module(refs="x_ref, m, o_ref", operands="x, 'add'")),
    ("a number operand", "block-rank-zero", module(refs="x_ref, m, o_ref", operands="x, 2.0")),
    ("a function operand", "operand-not-array", module(refs="x_ref, m, o_ref", operands="x, len")),
    ("half a cost", "pallas-call-signature", rows(cost_estimate="pl.CostEstimate(flops=1)")),
    ("scratch by a name that is not the kernel's", "scratch-dict-name", module(refs="x_ref, o_ref, *, acc", scratch_shapes="dict(total=pltpu.VMEM((8, 128), jnp.float32))")),
    ("an object operand", "operand-not-array", module(refs="x_ref, m, o_ref", operands="x, object()")),
    ("an axis that nothing binds", "axis-name-unbound", module("o_ref[...] = x_ref[...] + jax.lax.axis_index('i')")),
    ("a dtype operand", "operand-not-array", module(refs="x_ref, m, o_ref", operands="x, jnp.dtype(jnp.float32)")),
]

FUNCTIONS = [*_PARAMETERS, *_RETURNS, *_CAPTURES, *_CALLABLE, *_AXES, *_OPTIONS, *_SIGNATURES]
