"""What is known while JAX traces, and what is not."""

from __future__ import annotations

from call.modules import module
from ops.modules import Case, steps, unary

COPY = "o_ref[...] = x_ref[...]"
FLAG = "x_ref[0, 0] > 0"
LOOP = "o_ref[...] = jax.lax.fori_loop(0, {}, lambda i, acc: acc + {}, x_ref[...])".format

_BRANCHES: list[Case] = [
    ("if of a comparison", "traced-bool-branch", module(f"if {FLAG}:\n    {COPY}")),
    ("while of a comparison", "traced-bool-branch", module(f"while {FLAG}:\n    {COPY}")),
    ("assert of a comparison", "traced-bool-branch", module(f"assert {FLAG}\n{COPY}")),
    ("and of comparisons", "traced-bool-branch", module(f"o_ref[...] = jnp.where({FLAG} and {FLAG}, 1.0, 2.0) + x_ref[...]")),
    ("a conditional expression", "traced-bool-branch", module(f"o_ref[...] = x_ref[...] if {FLAG} else -x_ref[...]")),
    ("a chained comparison", "traced-bool-branch", steps("o_ref[...] = jnp.where(0 < i < 2, x_ref[...], 0.0)")),
    ("bool of a comparison", "traced-bool-branch", module(f"bool({FLAG})\n{COPY}")),
    ("any of comparisons", "traced-bool-branch", module(f"if any([{FLAG}, {FLAG}]):\n    {COPY}")),
    ("max of program ids", "traced-bool-branch", steps("o_ref[...] = x_ref[...] + max(i, 1)")),
    ("if of a program id", "traced-bool-branch", steps(f"if i == 0:\n    {COPY}")),
    ("not of a comparison", "traced-bool-branch", module(f"if not {FLAG}:\n    {COPY}")),
    ("if of a shape", None, module(f"if x_ref.shape[0] > 8:\n    {COPY}")),
    ("if of a dtype", None, module(f"if x_ref.dtype == jnp.float32:\n    {COPY}")),
    ("if of a number of programs", None, steps(f"if pl.num_programs(0) == 2:\n    {COPY}")),
    ("if of a size", None, module(f"x = x_ref[...]\nif x.ndim == 2 and x.size:\n    {COPY}")),
    ("is None of a value", None, module(f"x = x_ref[...]\nif x is not None:\n    {COPY}")),
    ("len of a value", None, module(f"if len(x_ref[...]) == 16:\n    {COPY}")),
    ("isinstance of a value", None, module(f"if isinstance(x_ref[...], jax.Array):\n    {COPY}")),
    ("pl.when of a comparison", None, module(f"@pl.when({FLAG})\ndef _():\n    {COPY}")),
    ("a caught error", None, module(f"try:\n    bool({FLAG})\nexcept jax.errors.TracerBoolConversionError:\n    {COPY}")),
]

_STATIC: list[Case] = [
    ("range of a program id", "traced-as-python-index", steps(f"for k in range(i):\n    {COPY}")),
    ("a list at a program id", "traced-as-python-index", steps("o_ref[...] = x_ref[...] * [1.0, 2.0][i]")),
    ("a dict at a program id", "traced-as-python-index", steps("o_ref[...] = x_ref[...] * {0: 1.0, 1: 2.0}[i]")),
    ("range of a shape", None, module("for k in range(x_ref.shape[0]):\n    o_ref[k] = x_ref[k]")),
    ("a list at a number", None, module("o_ref[...] = x_ref[...] * [1.0, 2.0][0]")),
    ("int of a program id", "traced-to-python-number", steps(f"int(i)\n{COPY}")),
    ("float of an element", "traced-to-python-number", module("o_ref[...] = x_ref[...] * float(x_ref[0, 0])")),
    ("item of a sum", "traced-to-python-number", module("o_ref[...] = x_ref[...] * jnp.sum(x_ref[...]).item()")),
    ("math.sqrt of an element", "traced-to-python-number", module("o_ref[...] = x_ref[...] * math.sqrt(x_ref[0, 0])", top="import math")),
    ("int of a size", None, module("o_ref[...] = x_ref[...] * int(x_ref.size)")),
    ("math.sqrt of a size", None, module("o_ref[...] = x_ref[...] * math.sqrt(x_ref.shape[1])", top="import math")),
    ("np.sum of a value", "traced-to-numpy", module("o_ref[...] = x_ref[...] + np.asarray(x_ref[...])")),
    ("tolist of a value", "traced-to-python-number", module(f"x_ref[...].tolist()\n{COPY}")),
    ("np.arange of numbers", None, module("o_ref[...] = x_ref[...] * float(np.arange(4).sum())")),
    ("zeros of a traced length", "traced-shape", steps("o_ref[...] = x_ref[...] + jnp.sum(jnp.zeros((i, 128)))")),
    ("reshape to a traced length", "traced-shape", steps("o_ref[...] = x_ref[...] + jnp.sum(jnp.reshape(x_ref[...], (i, -1)))")),
    ("broadcast to a traced length", "traced-shape", steps("o_ref[...] = x_ref[...] + jnp.sum(jnp.broadcast_to(x_ref[...], (i, 8, 128)))")),
    ("zeros of a ref's shape", None, module("o_ref[...] = x_ref[...] + jnp.zeros(x_ref.shape)")),
    ("a value's slice to a program id", "traced-value-slice-bounds", steps("o_ref[...] = x_ref[...] + jnp.sum(x_ref[...][:i])")),
    ("a value's slice from a program id", "traced-value-slice-bounds", steps("x = x_ref[...]\no_ref[...] = x + jnp.sum(x[i : i + 2])")),
    ("a ref's slice of a program id", None, steps("o_ref[...] = x_ref[pl.ds(i * 0, 8), :]")),
    ("a mask as an index", "boolean-mask-index", unary("x + jnp.sum(x[x > 0])")),
    ("nonzero without a size", "boolean-mask-index", unary("x + jnp.sum(jnp.nonzero(x)[0])")),
    ("where with one argument", "boolean-mask-index", unary("x + jnp.sum(jnp.where(x > 0)[0])")),
    ("where with three arguments", None, unary("jnp.where(x > 0, x, 0.0)")),
    (
        "unroll and traced bounds",
        "unroll-needs-static-bounds",
        steps("o_ref[...] = jax.lax.fori_loop(0, i, lambda k, acc: acc + 1.0, x_ref[...], unroll=2)"),
    ),
    ("unroll and static bounds", None, module("o_ref[...] = jax.lax.fori_loop(0, 4, lambda k, acc: acc + 1.0, x_ref[...], unroll=2)")),
]

_LOOPS: list[Case] = [
    ("a carry of the same type", None, module(LOOP(4, "1.0"))),
    (
        "a carry of another shape",
        "loop-carry-mismatch",
        module("o_ref[...] = x_ref[...] + jax.lax.fori_loop(0, 4, lambda i, acc: acc + x_ref[...], 0.0)"),
    ),
    (
        "a carry of another dtype",
        "loop-carry-mismatch",
        module("n = jax.lax.fori_loop(0, 4, lambda i, n: n + 1.5, jnp.int32(0))\no_ref[...] = x_ref[...] * n"),
    ),
    ("a number that becomes a float", None, module("n = jax.lax.fori_loop(0, 4, lambda i, n: n + 1.5, 0)\no_ref[...] = x_ref[...] * n")),
    (
        "a carry of None",
        "loop-carry-mismatch",
        module("def body(i, acc):\n    o_ref[...] = acc\njax.lax.fori_loop(0, 4, body, x_ref[...])"),
    ),
    ("no carry", None, module("def body(i, _):\n    o_ref[i] = x_ref[i]\njax.lax.fori_loop(0, 4, body, None)")),
    (
        "a carry that lost a part",
        "loop-carry-mismatch",
        module("a, b = jax.lax.fori_loop(0, 4, lambda i, c: (c[0],), (x_ref[...], x_ref[...]))\no_ref[...] = a"),
    ),
    (
        "a weak carry made strong",
        None,
        module("n = jax.lax.fori_loop(0, 4, lambda i, n: n + jnp.float32(1.5), 0.0)\no_ref[...] = x_ref[...] * n"),
    ),
    (
        "while with another shape",
        "loop-carry-mismatch",
        module("c = jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1][:8]), (0, x_ref[...]))\no_ref[...] = c[1]"),
    ),
    ("while of a vector", "predicate-not-scalar", module("o_ref[...] = jax.lax.while_loop(lambda c: c > 0, lambda c: c - 1, x_ref[...])")),
    ("cond of a vector", "predicate-not-scalar", module("o_ref[...] = jax.lax.cond(x_ref[0] > 0, lambda x: x, lambda x: -x, x_ref[...])")),
    (
        "cond with other shapes",
        "cond-branch-mismatch",
        module(f"o_ref[...] = x_ref[...] + jnp.sum(jax.lax.cond({FLAG}, lambda x: x, lambda x: x[:8], x_ref[...]))"),
    ),
    ("cond with other dtypes", "cond-branch-mismatch", module(f"o_ref[...] = x_ref[...] + jax.lax.cond({FLAG}, lambda: 1, lambda: 1.5)")),
    (
        "cond with a branch that gives nothing",
        "cond-branch-mismatch",
        module(f"def a():\n    {COPY}\n    return 1\ndef b():\n    {COPY}\njax.lax.cond({FLAG}, a, b)"),
    ),
    ("cond with equal branches", None, module(f"o_ref[...] = jax.lax.cond({FLAG}, lambda x: x, lambda x: -x, x_ref[...])")),
    (
        "switch with other shapes",
        "cond-branch-mismatch",
        steps("o_ref[...] = x_ref[...] + jnp.sum(jax.lax.switch(i, [lambda x: x, lambda x: x[:4]], x_ref[...]))"),
    ),
    (
        "scan over an array",
        "scan-form",
        module("c, _ = jax.lax.scan(lambda c, row: (c + row, None), x_ref[0], x_ref[...])\no_ref[...] = x_ref[...] + c[None]"),
    ),
    (
        "scan that stacks",
        "scan-form",
        module("c, ys = jax.lax.scan(lambda c, _: (c + 1.0, c), x_ref[0], None, length=16)\no_ref[...] = ys"),
    ),
    (
        "scan backwards",
        "scan-form",
        module("c, _ = jax.lax.scan(lambda c, _: (c + 1.0, None), x_ref[...], None, length=4, reverse=True)\no_ref[...] = c"),
    ),
    ("scan of a carry", None, module("c, _ = jax.lax.scan(lambda c, _: (c + 1.0, None), x_ref[...], None, length=4)\no_ref[...] = c")),
    ("an unrolled loop over Python numbers", None, module("acc = x_ref[...]\nfor k in range(4):\n    acc = acc + k\no_ref[...] = acc")),
]

_SHAPES: list[Case] = [
    ("shapes that do not broadcast", "invalid-operands", unary("x + jnp.ones((9, 128))")),
    ("shapes that broadcast", None, unary("x + jnp.ones((1, 128))")),
    ("a reshape to another size", "invalid-operands", unary("x + jnp.sum(jnp.reshape(x, (9, 128)))")),
    ("a product of other lengths", "invalid-operands", unary("x + jnp.dot(x, x)")),
    ("concatenate of other widths", "invalid-operands", unary("x + jnp.sum(jnp.concatenate([x, x[:, :64]], axis=0))")),
    ("concatenate of other heights", None, unary("x + jnp.sum(jnp.concatenate([x, x[:4]], axis=0))")),
    ("a squeeze of 8 rows", "invalid-operands", unary("x + jnp.squeeze(x, axis=0)")),
    ("a transpose of too many axes", "invalid-operands", unary("x + jnp.sum(jnp.transpose(x, (0, 1, 2)))")),
    ("bits of a float", "invalid-operands", unary("x + (x & 1)")),
    ("a reduction over an axis too many", "invalid-operands", unary("x + jnp.sum(x, axis=2)")),
    ("select_n of three", "select-n-cases", unary("jax.lax.select_n((x > 0).astype(jnp.int32), x, x, x)")),
    ("select_n of two", None, unary("jax.lax.select_n(x > 0, x, -x)")),
    ("psum without a mesh", "axis-name-unbound", unary('x + jax.lax.psum(x, "x")')),
]

TRACED = [*_BRANCHES, *_STATIC, *_LOOPS, *_SHAPES]
