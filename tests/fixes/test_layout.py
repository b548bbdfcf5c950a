"""Fixes keep the author's layout: exact texts before and after."""

from __future__ import annotations

from textwrap import dedent

import pytest
from fixes.kernels import analysed, fixed, fixes, program
from referee import Verdict, lower

HEADER = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
"""

TAIL = """

ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""

PLTPU = "from jax.experimental.pallas import tpu as pltpu\n"


def source(text: str, imports: str = HEADER + PLTPU) -> str:
    return imports + dedent(text) + TAIL


def named(text: str, title: str) -> str:
    """The text after the first fix whose title begins with ``title``."""
    return fixed(text, next(fix for fix in fixes(text) if fix.title.startswith(title)))


def test_a_store_over_many_lines() -> None:
    before = source("""

        def kernel(x_ref, o_ref):
            o_ref[  # the corner
                0,
                0,
            ] = jnp.sum(
                x_ref[...],  # all of it
            )


        def run(x):
            return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1, 1), jnp.float32))(x)
        """)
    after = before.replace("        0,\n        0,\n", "        ...\n").replace("# all of it\n", "# all of it\n        keepdims=True,\n")
    assert named(before, "Keep") == after
    assert lower(after) == Verdict(ok=True)


SPECS = """

    def kernel(x_ref, o_ref, acc_ref):
        acc_ref[0] = jnp.sum(x_ref[...])
        o_ref[0] = acc_ref[0]


    def run(x):
        return pl.pallas_call(
            kernel,
            out_specs=pl.BlockSpec(
                (1,),
                lambda: (0,),{more}
            ),  # one number
            out_shape=jax.ShapeDtypeStruct((1,), jnp.float32),
            scratch_shapes=[
                pltpu.{space}((1,), jnp.float32),  # the sum
            ],
        )(x)
    """


def test_a_spec_and_a_scratch_entry_over_many_lines() -> None:
    before = source(SPECS.format(more="", space="VMEM"))
    specified = source(SPECS.format(more="\n                memory_space=pltpu.SMEM,", space="VMEM"))
    after = source(SPECS.format(more="\n                memory_space=pltpu.SMEM,", space="SMEM"))
    assert named(named(before, "Put `acc_ref`"), "Put `o_ref`") == after
    assert named(specified, "Put `acc_ref`") == after
    assert lower(after) == Verdict(ok=True)


@pytest.mark.parametrize(
    ("imports", "added", "space"),
    [
        (HEADER, PLTPU, "pltpu.SMEM"),
        (HEADER + "import jax.experimental.pallas.tpu as tpu\n", "", "tpu.SMEM"),
        (
            HEADER + "from jax.experimental.pallas.tpu import VMEM\n",
            "from jax.experimental.pallas.tpu import SMEM\n",
            "SMEM",
        ),
        (HEADER + "from jax.experimental.pallas.tpu import SMEM\n", "", "SMEM"),
    ],
    ids=["not imported", "another alias", "single names", "the name itself"],
)
def test_memory_spaces_are_named_as_the_file_does(imports: str, added: str, space: str) -> None:
    call = "pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1,), jnp.float32){})(x)"
    text = f"""

        def kernel(x_ref, o_ref):
            o_ref[0] = jnp.sum(x_ref[...])


        def run(x):
            return {call}
        """
    before = source(text.replace("{}", ""), imports)
    after = source(text.replace("{}", f", out_specs=pl.BlockSpec(memory_space={space})"), imports + added)
    assert named(before, "Put") == after
    assert lower(after) == Verdict(ok=True)


def test_no_import_where_its_usual_name_is_taken() -> None:
    text = """
        pltpu = None

        def kernel(x_ref, o_ref):
            o_ref[0] = jnp.sum(x_ref[...])

        def run(x):
            return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1,), jnp.float32))(x)
        """
    assert [fix.title for fix in fixes(source(text, HEADER))] == ["Store a vector of one element to all of `o_ref`"]


def test_jnp_is_spelled_as_the_file_does() -> None:
    before = program("o_ref[...] = 1.5").replace("import jax.numpy as jnp\n", "import jax.numpy\n").replace("jnp.", "jax.numpy.")
    assert named(before, "Store") == before.replace("= 1.5", "= jax.numpy.full(o_ref.shape, 1.5)")


COUNTERS = {
    "out": ("i32[4]", "f32[8,128]"),
    "out_specs": "[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec()]",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_loop_is_indented_as_its_place_and_ends_its_lines_as_the_file(newline: str) -> None:
    counting = "@pl.when(i == 0)\ndef _():\n  o_ref[...] = jnp.zeros((4,), jnp.int32)\n  o_ref[1] = 2\n"
    body = f"i = pl.program_id(0)\n{counting}p_ref[...] = x_ref[...]"
    before = program(body, grid="(1,)", **COUNTERS).replace("\n", newline)
    loop = f"for j in range(o_ref.shape[0]):{newline}        o_ref[j] = 0"
    after = before.replace("o_ref[...] = jnp.zeros((4,), jnp.int32)", loop)
    assert named(before, "Store to `o_ref` one") == after
    assert lower(after.replace(newline, "\n")) == Verdict(ok=True)


def test_text_outside_ascii_moves_nothing() -> None:
    before = program("𝛼, é = '𝛼é', 1.5; o_ref[...] = é")
    assert named(before, "Store") == before.replace("o_ref[...] = é", "o_ref[...] = jnp.full(o_ref.shape, é)")


def test_a_cast_of_a_call_over_many_lines_stands_behind_it() -> None:
    before = program("o_ref[...] = jnp.dot(\n    x_ref[...],\n    y_ref[...],\n)", x="f32[8,8]", y="f32[8,128]", out="bf16[8,128]")
    after = before.replace("        y_ref[...],\n    )", "        y_ref[...],\n    ).astype(o_ref.dtype)")
    assert named(before, "Cast") == after
    assert lower(after) == Verdict(ok=True)


HALF = {"x": "bf16[128,128]", "y": "bf16[128,128]", "out": "bf16[128,128]"}
FLAGS = {"x": "i32[4]", "y": "f32[8,128]", "in_specs": "[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec()]"}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "é = '𝛼'; o_ref[...] = x_ref[...] @ y_ref[...]",
            "é = '𝛼'; o_ref[...] = jnp.dot(x_ref[...], y_ref[...], {preferred}).astype(o_ref.dtype)",
        ),
        (
            "o_ref[...] = (x_ref[...]  # rows\n  @  # by columns\n  y_ref[...])",
            "o_ref[...] = jnp.dot(x_ref[...],  # rows\n  # by columns\n  y_ref[...], {preferred}).astype(o_ref.dtype)",
        ),
        (
            "o_ref[...] = x_ref[...] @ \\\n  y_ref[...]",
            "o_ref[...] = jnp.dot(x_ref[...], \\\n  y_ref[...], {preferred}).astype(o_ref.dtype)",
        ),
        (
            "o_ref[...] = jnp.dot(x_ref[...], y_ref[...]  # '#'\n)",
            "o_ref[...] = jnp.dot(x_ref[...], y_ref[...], {preferred}  # '#'\n).astype(o_ref.dtype)",
        ),
        (
            "o_ref[...] = ((x_ref[...]) @ (\n    y_ref[...]))",
            "o_ref[...] = jnp.dot((x_ref[...]), (\n    y_ref[...]), {preferred}).astype(o_ref.dtype)",
        ),
    ],
    ids=["not ascii", "comments", "continued", "a comment at the end", "parentheses"],
)
def test_a_product_becomes_a_call_where_it_stands(before: str, after: str, newline: str) -> None:
    text = program(before, **HALF).replace("\n", newline)
    written = program(after.format(preferred="preferred_element_type=jnp.float32"), **HALF).replace("\n", newline)
    assert named(text, "Multiply") == written
    assert lower(written.replace(newline, "\n")) == Verdict(ok=True)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "if x_ref[0]:  # é\n\to_ref[...] = y_ref[...]\n\n\t# 𝛼\nelse:\n\n\to_ref[...] = -y_ref[...]",
            "condition = x_ref[0]\n@pl.when(condition)\ndef _():  # é\n\to_ref[...] = y_ref[...]\n\n\t# 𝛼\n"
            "@pl.when(jnp.logical_not(condition))\ndef _():\n\n\to_ref[...] = -y_ref[...]",
        ),
        (
            "o_ref[...] = y_ref[...]\nif (x_ref[0] > 0\n      and x_ref[1] > 0): o_ref[0] = y_ref[1]",
            "o_ref[...] = y_ref[...]\n@pl.when((x_ref[0] > 0) & (x_ref[1] > 0))\ndef _():\n    o_ref[0] = y_ref[1]",
        ),
        (
            "y = y_ref[...]\nif x_ref[0]:\n    y = -y\nelse:\n    # kept\n    y = (y +\n         1)  # one\no_ref[...] = y",
            "y = y_ref[...]\n# kept\n# one\ny = jnp.where(x_ref[0], -y, y +\n         1)\no_ref[...] = y",
        ),
        (
            "acc = y_ref[...]\nfor i in range(\n    x_ref[0]\n):  # é\n  acc = acc + i; acc = acc * 2  # twice\no_ref[...] = acc",
            "acc = y_ref[...]\ndef body(i, acc):  # é\n  acc = acc + i; acc = acc * 2  # twice\n  return acc\n"
            "acc = jax.lax.fori_loop(0, x_ref[0], body, acc)\no_ref[...] = acc",
        ),
    ],
    ids=["tabs", "one line", "values", "a loop"],
)
def test_blocks_keep_their_comments_and_indentation(before: str, after: str, newline: str) -> None:
    text, written = (program(body, **FLAGS).replace("\n", newline) for body in (before, after))
    assert fixed(text, fixes(text)[0]) == written
    assert lower(written.replace(newline, "\n")) == Verdict(ok=True)


@pytest.mark.parametrize(
    "body",
    [
        "o_ref[...] = (y_ref[...]  # yes\n              if x_ref[0] else -y_ref[...])",
        "y = y_ref[...]\nif x_ref[0]:\n    o_ref[...] = y\n    return\no_ref[...] = -y",
        "t = 1\nif x_ref[0]:\n    t = 2\n    o_ref[...] = y_ref[...]\no_ref[0] = y_ref[1] * t",
        "o_ref[...] = y_ref[...]\nfor i in range(x_ref[0]):\n    if i is None: break\n    o_ref[i] = y_ref[1]",
        "o_ref[...] = y_ref[...]\nfor i in range(x_ref[0]):\n    o_ref[i] = y_ref[1]\no_ref[0] = y_ref[1] * i",
        "name = 'a' if x_ref[0] else 'b'\no_ref[...] = y_ref[...]",
        "o_ref[...] = y_ref[...]\nwhile x_ref[0] > 0:\n    o_ref[0] = y_ref[1]",
    ],
    ids=["a comment in between", "return", "a variable of both", "break", "the index behind", "texts", "while"],
)
def test_no_fix_where_something_would_be_lost(body: str) -> None:
    assert fixes(program(body, **FLAGS)) == []


def test_a_copy_is_given_what_it_reads_itself() -> None:
    before = program("pltpu.sync_copy(x_ref[0:8], o_ref)", x="f32[16,128]", in_specs="[pl.BlockSpec(memory_space=pl.ANY)]")
    after = before.replace("x_ref[0:8]", "x_ref.at[0:8]")
    titles = {found.rule: [fixed(before, fix) for fix in found.fixes] for found in analysed(before).diagnostics}
    assert titles["access-any-or-hbm"][0] == titles["copy-operand-not-ref"][0] == after
    assert lower(after) == Verdict(ok=True)
