"""Python that decides, loops or counts by traced values: (rule, the body of a kernel, the lines that the first fix adds).

The kernel reads four numbers from ``x_ref`` in SMEM and an array from ``y_ref``.
"""

from __future__ import annotations

from fixes.kernels import program

COPY = "o_ref[...] = y_ref[...]\n"
LOAD = "y = y_ref[...]\n"
BRANCH, LOOP, NUMBER = "traced-bool-branch", "traced-as-python-index", "traced-to-python-number"

BLOCKS = [
    (BRANCH, f"{COPY}if x_ref[0] > 1:\n    o_ref[...] = -y_ref[...]", ["@pl.when(x_ref[0] > 1)", "def _():"]),
    (BRANCH, f"{COPY}if x_ref[0]:  # a flag\n    # turned\n    o_ref[...] = -y_ref[...]", ["@pl.when(x_ref[0])", "def _():  # a flag"]),
    (BRANCH, f"{COPY}if x_ref[0] > 1 and x_ref[1] > 1:\n    o_ref[0] = y_ref[1]", ["@pl.when((x_ref[0] > 1) & (x_ref[1] > 1))", "def _():"]),
    (BRANCH, f"{COPY}if x_ref[0] or not x_ref[1]:\n    o_ref[0] = y_ref[1]", ["@pl.when(jnp.logical_or(x_ref[0], jnp.logical_not(x_ref[1])))", "def _():"]),
    (BRANCH, f"{COPY}if 0 < x_ref[0] < 3:\n    o_ref[0] = y_ref[1]", ["@pl.when((0 < x_ref[0]) & (x_ref[0] < 3))", "def _():"]),
    (BRANCH, f"{COPY}if x_ref[0] not in (0, 1):\n    o_ref[0] = y_ref[1]", ["@pl.when((x_ref[0] != 0) & (x_ref[0] != 1))", "def _():"]),
    (
        BRANCH,
        "if x_ref[0] > 1:\n    t = y_ref[...] * 2\n    o_ref[...] = t\nelse:\n    t = y_ref[...] * 3\n    o_ref[...] = t",
        ["condition = x_ref[0] > 1", "@pl.when(condition)", "def _():", "@pl.when(jnp.logical_not(condition))", "def _():"],
    ),
    (
        BRANCH,
        f"{COPY}i = x_ref[0]\nif i == 0:\n    o_ref[0] = y_ref[1]\nelif i == 1:\n    o_ref[1] = y_ref[2]  # next\nelse: o_ref[2] = y_ref[3]",
        [
            "@pl.when(i == 0)", "def _():", "@pl.when(jnp.logical_not(i == 0) & (i == 1))", "def _():",
            "@pl.when(jnp.logical_not(i == 0) & jnp.logical_not(i == 1))", "def _():", "o_ref[2] = y_ref[3]",
        ],
    ),
    (BRANCH, f"{COPY}for k in range(3):\n  if x_ref[k]: o_ref[k] = y_ref[7]; o_ref[k + 4] = y_ref[6]", [
        "@pl.when(x_ref[k])", "def _():", "o_ref[k] = y_ref[7]; o_ref[k + 4] = y_ref[6]",
    ]),
]  # fmt: skip

BLOCKS += [
    (
        BRANCH,
        "a = 1\nif x_ref[0]:\n    t = y_ref[...] * 2\n    o_ref[0] = t[0]\nt = y_ref[...]\no_ref[...] = t",
        ["@pl.when(x_ref[0])", "def _():"],
    ),
]

CHOICES = [
    (BRANCH, "o_ref[...] = y_ref[...] if x_ref[0] else -y_ref[...]", ["o_ref[...] = jnp.where(x_ref[0], y_ref[...], -y_ref[...])"]),
    (BRANCH, "s = (1.0 if x_ref[0] == 2 else 2.0)\no_ref[...] = y_ref[...] * s", ["s = jnp.where(x_ref[0] == 2, 1.0, 2.0)"]),
    (BRANCH, f"{LOAD}if x_ref[0] > 1:\n    y = -y\no_ref[...] = y", ["y = jnp.where(x_ref[0] > 1, -y, y)"]),
    (BRANCH, f"{LOAD}if x_ref[0] > 1: y *= x_ref[1] + 1\nelse: y = y + 1\no_ref[...] = y", ["y = jnp.where(x_ref[0] > 1, y * (x_ref[1] + 1), y + 1)"]),
    (BRANCH, "a = 1\nb = 2\ni = x_ref[0]\nif i > 1:\n    a = 3\n    b = a + i\no_ref[...] = y_ref[...] * a * b", ["a = jnp.where(i > 1, 3, a)", "b = jnp.where(i > 1, a + i, b)"]),
    (BRANCH, "def body(j, acc):\n    if j % 2 == 0:\n        return acc + y_ref[j]\n    return acc - y_ref[j]\n\nrow = jnp.zeros((128,))\no_ref[...] = jnp.broadcast_to(jax.lax.fori_loop(0, 8, body, row), o_ref.shape)", [
        "return jax.lax.cond(j % 2 == 0, lambda: acc + y_ref[j], lambda: acc - y_ref[j])",
    ]),
    (BRANCH, "def sign(x):\n    if x_ref[0]: return x\n    else: return -x\n\no_ref[...] = sign(y_ref[...])", ["return jnp.where(x_ref[0], x, -x)"]),
    (BRANCH, "a, b = (x_ref[1], 2) if x_ref[0] > 1 else (3, x_ref[2])\no_ref[...] = y_ref[...] * a * b", [
        "a, b = jax.lax.cond(x_ref[0] > 1, lambda: (x_ref[1], 2), lambda: (3, x_ref[2]))",
    ]),
    (BRANCH, "i = x_ref[0]\no_ref[...] = y_ref[...] * (y_ref[i - 1, 0] if i > 0 else 0.5)", [
        "o_ref[...] = y_ref[...] * jax.lax.cond(i > 0, lambda: y_ref[i - 1, 0], lambda: 0.5)",
    ]),
    (BRANCH, "o_ref[...] = y_ref[...] * min(x_ref[0], x_ref[1])", ["o_ref[...] = y_ref[...] * jnp.minimum(x_ref[0], x_ref[1])"]),
    (BRANCH, "o_ref[...] = y_ref[...] * max([x_ref[0], 1, x_ref[1]])", ["o_ref[...] = y_ref[...] * jnp.maximum(jnp.maximum(x_ref[0], 1), x_ref[1])"]),
    (BRANCH, "o_ref[...] = y_ref[...] * (not x_ref[0])", ["o_ref[...] = y_ref[...] * jnp.logical_not(x_ref[0])"]),
    (BRANCH, f"{LOAD}b = x_ref[0] > 1 and x_ref[1] < 2\no_ref[...] = jnp.where(b, y, 0)", ["b = (x_ref[0] > 1) & (x_ref[1] < 2)"]),
    (BRANCH, "o_ref[...] = y_ref[...] * bool(x_ref[0])", ["o_ref[...] = y_ref[...] * (x_ref[0] != 0)"]),
]  # fmt: skip

LOOPS = [
    (LOOP, f"{COPY}for i in range(x_ref[0]):\n    o_ref[i] = y_ref[7]", ["def body(i, _):", "jax.lax.fori_loop(0, x_ref[0], body, None)"]),
    (LOOP, f"{COPY}for i in range(1, x_ref[0]):  # rows\n    # all of them\n    o_ref[i] = y_ref[7]  # the last\no_ref[0] = y_ref[1]", [
        "def body(i, _):  # rows", "jax.lax.fori_loop(1, x_ref[0], body, None)",
    ]),
    (LOOP, "acc = jnp.zeros((8, 128))\nfor i in range(x_ref[0]):\n    acc = acc + y_ref[...] * i\no_ref[...] = acc", [
        "def body(i, acc):", "return acc", "acc = jax.lax.fori_loop(0, x_ref[0], body, acc)",
    ]),
    (LOOP, f"{LOAD}m = y\nfor i in range(x_ref[0]):\n    t = y * i\n    y += t\n    m = jnp.maximum(m, t)\no_ref[...] = y * m", [
        "def body(i, carry):", "y, m = carry", "return y, m", "y, m = jax.lax.fori_loop(0, x_ref[0], body, (y, m))",
    ]),
    (LOOP, "s = 0.0\nfor i in range(x_ref[0]): s = s + jnp.sum(y_ref[i])\no_ref[...] = jnp.full(o_ref.shape, s)", [
        "def body(i, s):", "s = s + jnp.sum(y_ref[i])", "return s", "s = jax.lax.fori_loop(0, x_ref[0], body, s)",
    ]),
    ("unroll-needs-static-bounds", "o_ref[...] = jax.lax.fori_loop(0, x_ref[0], lambda i, c: c + 1, y_ref[...], unroll=2)", [
        "o_ref[...] = jax.lax.fori_loop(0, x_ref[0], lambda i, c: c + 1, y_ref[...])",
    ]),
    ("loop-carry-mismatch", "o_ref[...] = jax.lax.fori_loop(0, x_ref[0], lambda i, c: c + y_ref[...], y_ref[...].astype(jnp.bfloat16))", [
        "o_ref[...] = jax.lax.fori_loop(0, x_ref[0], lambda i, c: c + y_ref[...], y_ref[...].astype(jnp.bfloat16).astype(jnp.float32))",
    ]),
    ("loop-carry-mismatch", "def body(i, c):\n    o_ref[i] = y_ref[i]\n\njax.lax.fori_loop(0, 8, body, 0)", ["return c"]),
    ("loop-carry-mismatch", "o_ref[...] = jax.lax.fori_loop(0, x_ref[0], lambda i, c: c + y_ref[...], 0)", [
        "o_ref[...] = jax.lax.fori_loop(0, x_ref[0], lambda i, c: c + y_ref[...], jnp.full((8, 128), 0, jnp.float32))",
    ]),
]  # fmt: skip

NUMBERS = [
    (NUMBER, "n = int(jnp.sum(y_ref[...]) + 1)\no_ref[...] = y_ref[...] * n", ["n = (jnp.sum(y_ref[...]) + 1).astype(jnp.int32)"]),
    (NUMBER, "o_ref[...] = y_ref[...] * float(x_ref[0])", ["o_ref[...] = y_ref[...] * x_ref[0].astype(jnp.float32)"]),
    (NUMBER, "n = x_ref[0].item()\no_ref[...] = y_ref[...] * n", ["n = x_ref[0]"]),
    (NUMBER, "import math\no_ref[...] = y_ref[...] * math.sqrt(x_ref[0])", ["o_ref[...] = y_ref[...] * jnp.sqrt(x_ref[0])"]),
    (NUMBER, "import math\no_ref[...] = y_ref[...] * math.floor(y_ref[0, 0])", ["o_ref[...] = y_ref[...] * jnp.floor(y_ref[0, 0]).astype(jnp.int32)"]),
    ("traced-to-numpy", "import numpy as np\no_ref[...] = np.exp(y_ref[...])", ["o_ref[...] = jnp.exp(y_ref[...])"]),
    ("traced-value-slice-bounds", f"{LOAD}o_ref[...] = jnp.full(o_ref.shape, jnp.sum(y[:x_ref[0]]))", [
        "o_ref[...] = jnp.full(o_ref.shape, jnp.sum(jnp.where(jax.lax.broadcasted_iota(jnp.int32, y.shape, 0) < x_ref[0], y, 0)))",
    ]),
    ("dynamic-python-slice", f"{COPY}i = x_ref[0]\no_ref[0:2] = y_ref[(slice(i, i + 2), slice(None))]", [
        "o_ref[0:2] = y_ref[(pl.ds(i, 2), slice(None))]",
    ]),
    ("dynamic-python-slice", "n = x_ref[0] + 1\no_ref[...] = jnp.zeros_like(o_ref)\no_ref[0] = jnp.max(y_ref[:n], axis=0)", [
        "o_ref[0] = jnp.max(jnp.where(jax.lax.broadcasted_iota(jnp.int32, y_ref.shape, 0) < n, y_ref[...], -jnp.inf), axis=0)",
    ]),
    ("boolean-mask-index", f"{LOAD}o_ref[...] = jnp.full(o_ref.shape, jnp.sum(y[y > 0]))", [
        "o_ref[...] = jnp.full(o_ref.shape, jnp.sum(jnp.where(y > 0, y, 0)))",
    ]),
]  # fmt: skip

UNCERTAIN = [
    (BRANCH, f"assert x_ref[0] > 0, 'none'\n{COPY}", ["pl.debug_check(x_ref[0] > 0, 'none')"]),
    (NUMBER, "n = x_ref[0] + 1\no_ref[...] = y_ref[...] * int(n)", ["o_ref[...] = y_ref[...] * n.astype(jnp.int32)"]),
]  # fmt: skip


def traced(body: str) -> str:
    """The program with this body."""
    return program(body, x="i32[4]", y="f32[8,128]", in_specs="[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec()]")


SAFE = [(rule, body, traced(body), lines) for rule, body, lines in [*BLOCKS, *CHOICES, *LOOPS, *NUMBERS, UNCERTAIN[-1]]]
UNSAFE = [(rule, body, traced(body), lines) for rule, body, lines in UNCERTAIN[:-1]]
