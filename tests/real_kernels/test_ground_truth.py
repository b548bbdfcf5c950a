"""What `inspect --call` says of real kernels is what JAX does when it traces the same call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_kernels.calls import JAX, RealCall
from real_kernels.comparing import Comparison, compare
from real_kernels.package_calls import OTHERS
from real_kernels.packages import copied, importable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("project")
    copied(made)
    with importable(made):
        yield made


def compared(calls: list[RealCall], folder: Path) -> tuple[Comparison, Counter[str]]:
    """All comparisons as one, and how many calls got which verdict; the calls that JAX refuses tell nothing."""
    whole, verdicts = Comparison(), Counter[str]()
    for call in calls:
        one = compare(call, folder)
        if one.failure:
            continue
        whole.contradictions += [f"{call.name}: {line}" for line in one.contradictions]
        whole.known += one.known
        whole.refs += one.refs
        whole.unknown += [f"{call.name}: {line}" for line in one.unknown]
        verdicts[next((word for word in ("fails", "undecided") if word in one.verdicts), "lowers")] += 1
    return whole, verdicts


def test_jax_kernels(folder: Path) -> None:
    found, verdicts = compared(JAX, folder)
    assert found.contradictions == []
    assert found.known >= 0.95 * found.refs, found.unknown
    assert not verdicts["fails"]
    assert verdicts["lowers"] >= 0.9 * verdicts.total()


@pytest.mark.corpus
def test_kernels_of_other_packages(folder: Path) -> None:
    installed = [call for call in OTHERS if (folder / call.package).is_dir()]
    if not installed:
        pytest.skip("none of them is installed beside JAX")
    found, verdicts = compared(installed, folder)
    assert found.contradictions == []
    assert found.known >= 0.8 * found.refs, found.unknown
    assert not verdicts["fails"]
