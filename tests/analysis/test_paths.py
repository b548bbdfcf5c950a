"""Undecided conditions: followed path by path, named in the message where the finding depends on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.projects import HEAD, analysed, findings, write

CALL = "    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32){more})({operands})\n"


def check(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    """Rule and message of each finding of one file."""
    write(tmp_path, kernels=HEAD + text)
    return [(diagnostic.rule, diagnostic.message) for diagnostic in analysed(tmp_path, "kernels.py").diagnostics]


def test_a_finding_under_a_condition_names_it(tmp_path: Path) -> None:
    text = """
def run(x, causal=False):
    def kernel(x_ref, o_ref):
        if causal:
            o_ref[0, 0] = 1.0
        o_ref[...] = x_ref[...]
"""
    ((rule, message),) = check(tmp_path, text + CALL.format(more="", operands="x"))
    assert rule == "store-scalar-to-vmem"
    assert message.endswith("(when `causal` is true)")


def test_a_finding_under_both_answers_names_no_condition(tmp_path: Path) -> None:
    text = """
def run(x, causal=False):
    def kernel(x_ref, o_ref):
        o_ref[0, 0] = 1.0 if causal else 0.0
"""
    ((_, message),) = check(tmp_path, text + CALL.format(more="", operands="x"))
    assert "when" not in message


def test_a_none_spec_and_a_none_operand_agree(tmp_path: Path) -> None:
    text = """
def kernel(x_ref, mask_ref, o_ref):
    o_ref[...] = x_ref[...]
    if mask_ref is not None:
        o_ref[...] += mask_ref[...]


def run(x, mask=None):
    spec = pl.BlockSpec((8, 128), lambda: (0, 0))
    specs = [spec, spec if mask is not None else None]
"""
    assert check(tmp_path, text + CALL.format(more=", in_specs=specs", operands="x, mask")) == []


def test_a_guard_that_raises_is_passed_and_teaches(tmp_path: Path) -> None:
    text = """
def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[0]


def run(x):
    if x.ndim != 3:
        raise ValueError("rank")
    if not (x.shape[1] == 8 and x.shape[2] == 128):
        raise ValueError("shape")
"""
    assert check(tmp_path, text + CALL.format(more="", operands="x")) == []
    wrong = text.replace("x_ref[0]", "x_ref[...]")
    ((rule, _),) = check(tmp_path, wrong + CALL.format(more="", operands="x"))
    assert rule == "store-shape-mismatch"


@pytest.mark.parametrize("switch", ["interpret=True", "interpret=pltpu.InterpretParams()", 'backend="mosaic_gpu"', 'backend="triton"'])
def test_other_ways_of_running_get_no_tpu_finding(tmp_path: Path, switch: str) -> None:
    text = "\ndef kernel(x_ref, o_ref):\n    o_ref[0, 0] = 1.0\n\n\ndef run(x):\n"
    assert check(tmp_path, text + CALL.format(more="", operands="x"))
    if "Interpret" not in switch:
        assert check(tmp_path, text + CALL.format(more=f", {switch}", operands="x")) == []


def test_a_loop_of_unknown_length_leaves_open_what_it_changes(tmp_path: Path) -> None:
    text = """
def kernel(x_ref, o_ref):
    value = x_ref[0]
    for _ in unknown_steps():
        value = value[None]
    o_ref[...] = value


def run(x):
"""
    assert check(tmp_path, "from elsewhere import unknown_steps\n" + text + CALL.format(more="", operands="x")) == []


HOSTILE = {
    "recursion": "def f(n):\n    return f(n + 1)\n\n\nx = f(0)\n",
    "mutual recursion": "def f(n):\n    return g(n)\n\n\ndef g(n):\n    return f(n)\n\n\nx = f(0)\n",
    "endless loop": "while True:\n    pass\n",
    "growing list": "items = [1]\nfor item in items:\n    items.append(item)\n",
    "huge power": "x = 10 ** 10 ** 10\n",
    "huge shift": "x = 1 << 10 ** 9\n",
    "huge repetition": 'x = [0] * 10 ** 9\ny = "a" * 10 ** 10\n',
    "huge range": "for i in range(10 ** 12):\n    y = i\n",
    "nested comprehensions": "x = [a for a in range(900) for b in range(900) for c in range(900)]\n",
    "deep expression": "x = " + "+".join(["1"] * 700) + "\n",
    "deep number": "def f(n):\n    return n // (" + "+".join(["n"] * 400) + ")\n\n\nx = f(unknown())\n",
    "cyclic list": "a = []\na.append(a)\nb = [a, a]\n",
    "self-referring class": "class A:\n    def __getattr__(self, name):\n        return self.other\n\n\nx = A().y\n",
    "generator without end": "def g():\n    while True:\n        yield 1\n\n\nx = list(g())\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs_end_and_later_kernels_are_still_seen(tmp_path: Path, name: str) -> None:
    kernel = "\ndef kernel(x_ref, o_ref):\n    o_ref[0, 0] = 1.0\n\n\ndef run(x):\n" + CALL.format(more="", operands="x")
    assert [rule for rule, _ in check(tmp_path, HOSTILE[name] + kernel)] == ["store-scalar-to-vmem"]


def test_an_expression_too_deep_to_parse_ends(tmp_path: Path) -> None:
    assert check(tmp_path, "x = " + "+".join(["1"] * 50_000) + "\n") == []


def test_no_size_of_an_array_is_below_one(tmp_path: Path) -> None:
    text = """
def tile_of(size):
    return 1 if size < 1 else size


def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def run(x, bits):
    x = jnp.zeros((8 * (32 // bits), 128))
    spec = pl.BlockSpec((tile_of(x.shape[0]), 128), lambda: (0, 0))
    return pl.pallas_call(kernel, in_specs=[spec], out_specs=spec, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
"""
    assert check(tmp_path, text) == []


def test_findings_give_places(tmp_path: Path) -> None:
    write(tmp_path, kernels=HEAD + "\ndef kernel(x_ref, o_ref):\n    o_ref[0, 0] = 1.0\n\n\ndef run(x):\n" + CALL.format(more="", operands="x"))
    assert findings(analysed(tmp_path, "kernels.py")) == [("store-scalar-to-vmem", "kernels.py", 7)]


@pytest.mark.parametrize(
    ("flag", "answer"),
    [
        ("os.environ.get('SCALAR', '0') == '1'", "`os.environ['SCALAR']` is '1'"),
        ("bool(int(os.getenv('SCALAR', '0')))", ""),
        ("int(os.environ.get('SCALAR', '1')) == 1", None),
    ],
)
def test_a_variable_of_the_environment_is_by_default_what_its_reader_says(tmp_path: Path, flag: str, answer: str | None) -> None:
    """None: the default is the fault's side, so that no condition has to be named."""
    text = f"""
import os

SCALAR = {flag}


def run(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]
        if SCALAR:
            o_ref[0, 0] = 1.0
"""
    ((rule, message),) = check(tmp_path, text + CALL.format(more="", operands="x"))
    assert rule == "store-scalar-to-vmem"
    assert ("when" in message) == (answer is not None)
    assert answer is None or answer in message


@pytest.mark.parametrize(
    "condition",
    [
        "jax.default_backend() == 'tpu'",
        "jax.default_backend() in ('tpu', 'other')",
        "jax.devices()[0].platform == 'tpu'",
        "'TPU' in jax.devices()[0].device_kind",
        "generation() >= 4",
        "not_a_tpu_or_new()",
    ],
)
def test_the_kernels_are_for_a_tpu(tmp_path: Path, condition: str) -> None:
    """A program that asks is told so first; what it does elsewhere is done under that condition."""
    text = f"""
import re

KIND = re.compile(r"TPU(?: v)?(\\\\d+)")


def generation():
    if version := KIND.match(jax.devices()[0].device_kind):
        return int(version[1])
    raise NotImplementedError("no TPU")


def not_a_tpu_or_new():
    return not ('TPU' in jax.devices()[0].device_kind) or generation() >= 4


def run(x):
    right = {condition}

    def kernel(x_ref, o_ref, extra_ref):
        o_ref[...] = x_ref[...]

    def wrong(x_ref, o_ref):
        o_ref[0, 0] = 1.0
        o_ref[...] = x_ref[...]
    kernel = kernel if right else wrong
"""
    found = dict(check(tmp_path, text + CALL.format(more="", operands="x")))
    assert found.keys() == {"kernel-arity", "store-scalar-to-vmem"}
    # Of which TPU it is nothing is taken for granted.
    assert ("when" in found["kernel-arity"]) == condition.startswith("generation")
    assert "when" in found["store-scalar-to-vmem"]


UNRELATED = """
import pathlib


def load(path):
    return path.read_text() if path.exists() else ""


def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...]


def run(x):
    text = load(pathlib.Path("tuned.json"))
    {more}
"""


def test_two_guesses_that_are_each_taken_alone(tmp_path: Path) -> None:
    """Callers give both operands with scales or none: that each is decided by itself makes no fault of the other two pairs."""
    text = """
class Scaled:
    pass


def kernel(*refs):
    refs[-1][...] = refs[0][...]


def run(k, v):
    k, k_scales = (k.weight, k.scales) if isinstance(k, Scaled) else (k, None)
    v, v_scales = (v.weight, v.scales) if isinstance(v, Scaled) else (v, None)
    scale = pl.BlockSpec() if k_scales is not None and v_scales is not None else None
    specs = [pl.BlockSpec(), pl.BlockSpec(), scale, scale]
"""
    assert check(tmp_path, text + CALL.format(more=", in_specs=specs", operands="k, v, k_scales, v_scales")) == []


@pytest.mark.parametrize(
    ("more", "call", "rules"),
    [
        # The kernel takes one ref too many, whatever the file holds.
        ("pass", CALL.format(more="", operands="x"), ["kernel-arity"]),
        # Only one answer leads to the fault, and it is nothing but a guess.
        ("x, operands = x, (x, x) if 'a' in text else (x,)", CALL.format(more="", operands="*operands"), []),
        ("specs = [pl.BlockSpec()] * (3 if text.startswith('a') else 2)", CALL.format(more=", in_specs=specs", operands="x, x"), []),
        ("specs = [pl.BlockSpec()] * (3 if text.startswith('a') else 2)", CALL.format(more=", in_specs=specs", operands="x"), ["in-specs-tree-mismatch"]),
    ],
)
def test_an_unknown_condition_matters_where_it_changes_something(tmp_path: Path, more: str, call: str, rules: list[str]) -> None:
    assert [rule for rule, _ in check(tmp_path, UNRELATED.format(more=more) + call)] == rules


def test_loops_in_loops_are_not_run_twice_for_each_loop_around_them(tmp_path: Path) -> None:
    """Which dtype a carry has that starts as a plain number is known once the body ran: that run tells it of the loops in the body too."""
    depth = 10
    body = "".join(f"{'    ' * level}    def body{level}(i, carry):\n" for level in range(depth))
    body += f"{'    ' * depth}    o_ref[0, 0] = 1.0\n{'    ' * depth}    return carry + jnp.int32(1)\n"
    for level in reversed(range(depth)):
        body += f"{'    ' * level}    {'return' if level else 'o_ref[...] = x_ref[...] +'} jax.lax.fori_loop(0, 4, body{level}, 0)\n"
    write(tmp_path, kernels=f"{HEAD}\ndef kernel(x_ref, o_ref):\n{body}\ndef run(x):\n" + CALL.format(more="", operands="x"))
    analysis = analysed(tmp_path, "kernels.py")
    assert [diagnostic.rule for diagnostic in analysis.diagnostics] == ["store-scalar-to-vmem"]
    assert not analysis.cut.get("steps")


def test_a_later_turn_of_a_loop_of_unknown_length_does_not_see_what_was_before_the_first(tmp_path: Path) -> None:
    text = """
def kernel(x_ref, o_ref, *, turns):
    shape, rows = (), []
    for turn in range(turns):
        if turn == 0:
            shape = (8, 128)
        else:
            o_ref[...] = jnp.zeros(shape, jnp.float32) + jnp.sum(jnp.stack(rows), axis=0)
        rows.append(x_ref[...])


def call(x, turns):
    return pl.pallas_call(
        lambda *refs: kernel(*refs, turns=turns), out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32)
    )(x)
"""
    assert check(tmp_path, text) == []


def test_the_first_turn_of_a_loop_of_unknown_length_sees_what_was_before(tmp_path: Path) -> None:
    text = """
def kernel(x_ref, o_ref, *, turns):
    shape = ()
    for turn in range(turns):
        o_ref[...] = jnp.zeros(shape, jnp.float32)
        shape = (8, 128)


def call(x, turns):
    return pl.pallas_call(
        lambda *refs: kernel(*refs, turns=turns), out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32)
    )(x)
"""
    assert [rule for rule, _ in check(tmp_path, text)] == ["store-shape-mismatch"]


def test_items_of_two_loops_over_one_range_differ(tmp_path: Path) -> None:
    text = """
def kernel(x_ref, o_ref, *, turns):
    for i in range(turns):
        for j in range(turns):
            if i != j:
                o_ref[0, 0] = 1.0


def call(x, turns):
    return pl.pallas_call(
        lambda *refs: kernel(*refs, turns=turns), out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32)
    )(x)
"""
    assert [rule for rule, _ in check(tmp_path, text)] == ["store-scalar-to-vmem"]


@pytest.mark.parametrize("guard", ["scaled and scale is None", "scale is None and scaled", "not (scale is not None or not scaled)"])
def test_a_guard_of_which_one_part_is_open_tells_it(tmp_path: Path, guard: str) -> None:
    text = f"""
def kernel(*refs):
    refs[-1][...] = refs[0][...]


def call(x, flag, scale=None):
    scaled = {{1: True, 2: False}}[1 if flag else 2]
    if {guard}:
        raise ValueError("no scale")
    spec = pl.BlockSpec(memory_space=pltpu.VMEM)
    in_specs = [spec, spec if scaled else None]
    return pl.pallas_call(kernel, in_specs=in_specs, out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype))(x, scale if scaled else None)
"""
    assert check(tmp_path, text) == []


@pytest.mark.parametrize("asked", ["rows is None", "rows is None and KIND.fullmatch(jax.devices()[0].device_kind) is not None"])
def test_what_a_table_may_not_have(tmp_path: Path, asked: str) -> None:
    """``get`` of a dict that is not known may give None; that a device's kind is as the program expects needs no word."""
    text = f"""
import json
import re

TUNED, KIND = json.loads("{{}}"), re.compile("TPU.*")


def kernel(x_ref, o_ref, buffer):
    o_ref[...] = x_ref[...]
    buffer[...] = x_ref[...]


def run(x):
    rows = TUNED.get("rows")
    if {asked}:
        rows = 1 << (15).bit_length()
        rows = rows * 2 if (0.5 * rows).is_integer() and rows.bit_count() == 1 else 4
    more = [pltpu.VMEM((rows, 128), jnp.float32)]
"""
    ((rule, message),) = check(tmp_path, text + CALL.format(more=", in_specs=[pl.BlockSpec((8, 128))], scratch_shapes=more", operands="x"))
    assert rule == "store-shape-mismatch"
    assert "shape (32, 128)" in message and message.endswith("(when `TUNED.get('rows')` is None)")
