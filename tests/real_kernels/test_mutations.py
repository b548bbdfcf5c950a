"""JAX's own kernels with one thing changed each: nothing that JAX lowers is refused, and most that it refuses is found, where it is wrong.

A fixed sample; ``make mutants`` draws fresh ones, of other packages' kernels too.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_kernels.calls import JAX
from real_kernels.kept import Kept
from real_kernels.lowering import forget_users
from real_kernels.mutating import COMPUTATION, KINDS, mutants
from real_kernels.packages import copied, importable
from real_kernels.ran import executed
from real_kernels.trials import Trial, planned, trials

CALLS = [call for call in JAX if "splash" not in call.name]  # those take the longest
MODULE = """
def kernel(x_ref, o_ref, acc_ref):
    acc_ref[...] = x_ref[0, pl.ds(8 * i, 8)].astype(jnp.float32)
    o_ref[...] = jnp.sum(acc_ref[...], axis=1, keepdims=True) + lax.dot(a, b, preferred_element_type=jnp.float32)

def q_index_map(i, j):
    return i, j

call = pl.pallas_call(
    kernel,
    in_specs=[pl.BlockSpec((8, n), lambda i, j: (i, j)), row_spec],
    scratch_shapes=[pltpu.VMEM((8, 128), jnp.int32)],
)
"""


def test_what_is_changed() -> None:
    """Every kind of change, on lines that run only."""
    lines = set(range(1, MODULE.count("\n") + 1))
    made = mutants("kernel.py", MODULE, lines, lines)
    assert {mutant.kind for mutant in made} == set(KINDS)
    changed = {mutant.of(MODULE) for mutant in made}
    assert len(changed) == len(made) and MODULE not in changed
    for text in changed:
        compile(text, "kernel.py", "exec")
    assert any("lambda j: (i, j)" in text for text in changed)
    assert any("pltpu.SMEM((8, 128), jnp.int32)" in text for text in changed)
    assert any("[row_spec]" in text for text in changed)
    assert any("x_ref[0]." in text for text in changed)
    assert any("keepdims=False" in text for text in changed)
    assert any("i, j, extra" in text for text in changed)
    assert {mutant.line for mutant in mutants("kernel.py", MODULE, {3}, {3})} == {3}
    assert {mutant.kind for mutant in mutants("kernel.py", MODULE, lines, set())}.isdisjoint(COMPUTATION)


def test_a_changed_module_is_seen_through_packages(tmp_path: Path) -> None:
    """What takes a function from a package that hands it on gets the changed one, and the old one after that."""
    files = {
        "own_lib/__init__.py": "from .made import answer",
        "own_lib/made.py": "def answer(): return 1",
        "own_app/deep/inner/__init__.py": "from .user import ask",
        "own_app/deep/inner/user.py": "from own_lib import answer\ndef ask(): return answer()",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    changed = tmp_path / "own_lib/made.py"
    with importable(tmp_path):
        for number in (1, 20, 300, 1):
            changed.write_text(f"def answer(): return {number}")
            importlib.invalidate_caches()
            forget_users(tmp_path, str(changed))
            assert importlib.import_module("own_app.deep.inner").ask() == number


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Trial]]:
    folder = tmp_path_factory.mktemp("project").resolve()
    copied(folder)
    with importable(folder):
        kept = Kept()
        ran = executed(CALLS, folder, kept)
        assert set(ran) == set(CALLS)
        yield list(trials(planned(ran, seed=0, number=100, most_calls=1), folder, kept))


def test_what_jax_lowers_is_not_refused(tried: list[Trial]) -> None:
    assert [trial for trial in tried if trial.outcome in ("false alarm", "conditional")] == []
    assert sum(trial.refusal is None for trial in tried) >= 5


def test_what_jax_refuses_is_found_at_its_place(tried: list[Trial]) -> None:
    outcomes = Counter(trial.outcome for trial in tried)
    refused = outcomes["caught"] + outcomes["elsewhere"] + outcomes["missed"]
    assert refused >= 20
    assert outcomes["caught"] + outcomes["elsewhere"] >= 0.8 * refused, [trial for trial in tried if trial.outcome == "missed"]
    assert outcomes["caught"] >= 0.7 * refused, [trial for trial in tried if trial.outcome == "elsewhere"]
