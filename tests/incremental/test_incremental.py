"""An analysis that remembers earlier ones says what one says that starts from nothing, whatever was edited in between."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator

import pytest
from incremental.comparing import Edited, differences
from jax.experimental.pallas.ops.tpu import flash_attention, matmul
from jax.experimental.pallas.ops.tpu.megablox import gmm

from pallas_lsp.interpreter import run

INSERTED = [" ", "\n", "\n    ", "x", "(", "[", "]", ")", ".T", "  # c", "0", "[0]", "[None]", " + 1", "jnp.sum(", "pl.", "None"]


def edits(text: str, seed: int, count: int) -> Iterator[str]:
    """Texts, each an edit of the one before or, now and then, of the first."""
    draw, now = random.Random(seed), text
    for _ in range(count):
        now = text if draw.random() < 0.3 else now
        at, kind = draw.randrange(len(now)), draw.random()
        if kind < 0.3:
            now = now[:at] + now[at + 1 :]
        elif kind < 0.4:
            now = now[:at] + now[now.find("\n", at) :]
        elif kind < 0.5:
            lines = now.split("\n")
            row = draw.randrange(len(lines))
            now = "\n".join([*lines[:row], lines[row], *lines[row:]])
        else:
            now = now[:at] + draw.choice(INSERTED) + now[at:]
        yield now


@pytest.mark.parametrize(("module", "count"), [(flash_attention, 8), (gmm, 4), (matmul, 25)], ids=lambda m: getattr(m, "__name__", None))
def test_nothing_differs_after_random_edits(module: object, count: int) -> None:
    text = inspect.getsource(module)  # type: ignore[arg-type]
    document = Edited("/p/kernels.py", text)
    document.remembered()
    for edited in edits(text, seed=count, count=count):
        document.write(edited)
        assert not differences(document.remembered(), document.anew()), edited


HELPERS = """
import jax.numpy as jnp

SCALE = 2.0

def scaled(x):
    return x * SCALE

def total(x):
    return jnp.sum(x)
"""

KERNELS = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from helpers import scaled, total

TILE = 128
SPEC = pl.BlockSpec((8, TILE), lambda i: (i, 0))

def double_kernel(x_ref, o_ref):
    o_ref[...] = scaled(x_ref[...])

def add_kernel(x_ref, y_ref, o_ref, acc_ref):
    acc_ref[...] = x_ref[...] + y_ref[...]
    o_ref[...] = acc_ref[...]

def double(x):
    return pl.pallas_call(double_kernel, grid=(4,), in_specs=[SPEC], out_specs=SPEC, out_shape=jax.ShapeDtypeStruct((32, TILE), x.dtype))(x)

def add(x, y, scratch=None):
    shapes = [pltpu.VMEM((8, TILE), jnp.float32)] if scratch is None else scratch
    return pl.pallas_call(
        add_kernel, grid=(4,), in_specs=[SPEC, SPEC], out_specs=SPEC, out_shape=jax.ShapeDtypeStruct((32, TILE), x.dtype), scratch_shapes=shapes
    )(x, y)
"""

CALLER = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from kernels import SPEC, add_kernel, double

print(double(jnp.ones((32, 128), jnp.float32)))

def own(x):
    return pl.pallas_call(add_kernel, grid=(4,), in_specs=[SPEC, SPEC], out_specs=SPEC, out_shape=x, scratch_shapes=[])(x, x)
"""

CHANGES = [
    ("o_ref[...] = scaled(x_ref[...])", "o_ref[0, 0] = total(x_ref[...])"),
    ("o_ref[...] = acc_ref[...]", "o_ref[...] = acc_ref[...][None]"),
    ("TILE = 128", "\nTILE = 64\n"),
    ("(i, 0)", "(i,)"),
    ("scaled, total", "total"),
    ("def double(x):", "@jax.jit\ndef double(x):"),
    ("def double_kernel", "def first(x):\n    return x[0]\n\ndef double_kernel"),
    ("import tpu as pltpu", "import tpu as other"),
    ("acc_ref[...] = x_ref[...] + y_ref[...]", "acc_ref[0, 0] = x_ref[0, 0] + (y_ref["),
    ("in_specs=[SPEC]", "in_specs=[SPEC, SPEC]"),
]


@pytest.mark.parametrize("seed", range(3))
def test_nothing_differs_where_callers_and_helpers_are_other_files(seed: int) -> None:
    draw = random.Random(seed)
    files = {"/p/pyproject.toml": "", "/p/helpers.py": HELPERS, "/p/caller.py": CALLER}
    document = Edited("/p/kernels.py", KERNELS, files)
    document.remembered()
    done: list[tuple[str, str]] = []
    for _ in range(10):
        if done and draw.random() < 0.4:
            after, before = done.pop(draw.randrange(len(done)))
            text = document.text.replace(before, after, 1)
        else:
            before, after = draw.choice(CHANGES)
            text = document.text.replace(before, after, 1)
            done.append((before, after))
        document.write(text)
        assert not differences(document.remembered(), document.anew()), text


def test_another_file_that_changes_counts() -> None:
    files = {"/p/pyproject.toml": "", "/p/helpers.py": HELPERS}
    document = Edited("/p/kernels.py", KERNELS, files)
    assert not document.remembered().diagnostics
    document.project.set_overlay("/p/helpers.py", HELPERS.replace("x * SCALE", "jnp.sum(x)"))
    assert document.remembered().diagnostics
    assert not differences(document.remembered(), document.anew())


def entries_run(monkeypatch: pytest.MonkeyPatch, document: Edited) -> list[str]:
    """The functions that run as entries in the next analysis."""
    ran: list[str] = []
    real = run._run_entry

    def noted(machine: object, module: object, function: tuple[object, object], modes: object) -> None:
        ran.append(function[0].name)  # type: ignore[attr-defined]
        real(machine, module, function, modes)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(run, "_run_entry", noted)
        document.remembered()
    return list(dict.fromkeys(ran))


def test_only_what_reaches_the_edit_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/p/pyproject.toml": "", "/p/helpers.py": HELPERS, "/p/caller.py": CALLER}
    document = Edited("/p/kernels.py", KERNELS, files)
    assert entries_run(monkeypatch, document) == ["double", "add", "own"]
    assert entries_run(monkeypatch, document) == []
    document.write(KERNELS.replace("    o_ref[...] = acc_ref", "    # out\n    o_ref[...] = acc_ref"))
    assert entries_run(monkeypatch, document) == ["add", "own"]
    document.write(document.text.replace("scaled(x_ref[...])", "scaled(x_ref[...]) * 2"))
    assert entries_run(monkeypatch, document) == ["double"]
    document.write(document.text.replace("TILE = 128", "TILE = 256"))
    assert entries_run(monkeypatch, document) == ["double", "add", "own"]


def test_the_fixes_of_what_was_kept_are_those_of_an_analysis_anew() -> None:
    files = {"/p/pyproject.toml": "", "/p/helpers.py": HELPERS}
    text = KERNELS.replace("o_ref[...] = scaled(x_ref[...])", "o_ref[0, 0] = total(x_ref[...])")
    document = Edited("/p/kernels.py", text, files)
    document.remembered()
    document.write(text.replace("def add(", "# another\ndef add("))
    kept, anew = document.remembered().diagnostics, document.anew().diagnostics
    assert kept and list(kept[0].fixes) and [list(one.fixes) for one in kept] == [list(one.fixes) for one in anew]


LEAVING = """
import jax
from jax.experimental import pallas as pl

SHAPES = []

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

def first(x):
    SHAPES.append(jax.ShapeDtypeStruct((8, 128), x.dtype))
    return pl.pallas_call(kernel, out_shape=SHAPES[0])(x)

def second(x):
    return pl.pallas_call(kernel, out_shape=SHAPES)(x)
"""


def test_runs_that_leave_something_behind_are_not_kept() -> None:
    document = Edited("/p/kernels.py", LEAVING)
    document.remembered()
    for before, after in (("def second(x):", "def second(x):\n    y = 1"), ("(8, 128)", "(8, 256)"), ("[...] = x", "[0] = x")):
        document.write(document.text.replace(before, after))
        assert not differences(document.remembered(), document.anew())


def test_a_first_run_that_leaves_something_behind_counts_for_those_kept() -> None:
    quiet = LEAVING.replace("    SHAPES.append(jax.ShapeDtypeStruct((8, 128), x.dtype))\n", "").replace("SHAPES[0]", "x")
    document = Edited("/p/kernels.py", quiet)
    document.remembered()
    document.write(LEAVING)
    assert not differences(document.remembered(), document.anew())


def test_nothing_runs_again_for_a_comment_and_all_moves_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = KERNELS.replace("def double_kernel(x_ref, o_ref):\n", "def double_kernel(x_ref, o_ref):\n    a = 1\n    o_ref[0, 0] = 1.0\n")
    document = Edited("/p/kernels.py", text)
    assert [d.rule for d in document.remembered().diagnostics] == ["store-scalar-to-vmem"]
    for line in ("a = 1", "def double_kernel(x_ref, o_ref):", "SPEC = pl.BlockSpec((8, TILE), lambda i: (i, 0))"):
        text = text.replace(line, f"{line}  # why")
        document.write(text)
        assert entries_run(monkeypatch, document) == []
        assert not differences(document.remembered(), document.anew())
    (found,) = document.remembered().diagnostics
    assert text[found.location.span.start :].startswith("o_ref[0, 0]") and "SPEC = " in text[: found.related[0].location.span.start]
