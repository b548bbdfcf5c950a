"""What the checker knows of the refs of JAX's own kernels, beside the refs that JAX hands them."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import pytest
from corpus.calls import CALLS, PACKAGE
from corpus.recording import SeenCall, SeenRef, copy_of_jax_kernels, recorded
from referee import lower

from pallas_lsp.analysis import analyze
from pallas_lsp.kernels.refs import RefInfo
from pallas_lsp.kernels.site import KernelSite
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

SPACES = {"default": "vmem", "semaphore_mem": "semaphore"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    copy_of_jax_kernels(made, PACKAGE)
    sys.path.insert(0, str(made))
    try:
        yield made
    finally:
        sys.path.remove(str(made))
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]


def seen_by_jax(folder: Path, text: str) -> list[SeenCall]:
    jax.clear_caches()
    with recorded(folder) as seen:
        assert lower(text).message == ""
    return seen


def known_sites(folder: Path, text: str) -> dict[tuple[str, int], list[KernelSite]]:
    """What the checker knows of each call, by file and line."""
    path = str(folder / "call.py")
    project = Project([str(folder)], overlay={path: f"# A caller of pallas kernels.\n{text}"})
    source = project.read(path)
    assert source is not None
    sites: dict[tuple[str, int], list[KernelSite]] = {}
    for site in analyze(source, project, Settings(jax_version=jax.__version__)).sites:
        file = project.read(site.location.path)
        assert file is not None
        sites.setdefault((site.location.path, file.line_of(site.location.span.start) + 1), []).append(site)
    return sites


def wrong_claims(known: tuple[RefInfo, ...], seen: tuple[SeenRef, ...]) -> list[str]:
    """Where the checker is sure of something else than JAX; symbols and what is unknown claim nothing.

    A name of a dtype claims that all refs of this name have one dtype.
    """
    if len(known) != len(seen):
        return [f"{len(known)} refs, JAX has {len(seen)}"]
    wrong = []
    called: dict[str, str] = {}
    for ours, jaxs in zip(known, seen, strict=True):
        shape = ours.shape is None or (
            len(ours.shape) == len(jaxs.shape)
            and all(not isinstance(dim, int) or dim == size for dim, size in zip(ours.shape, jaxs.shape, strict=True))
        )
        space = ours.memory_space in (None, SPACES.get(jaxs.space, jaxs.space))
        dtype = ours.dtype or (called.setdefault(ours.dtype_name, jaxs.dtype) if ours.dtype_name is not None else None)
        if not (shape and space and dtype in (None, jaxs.dtype)):
            wrong.append(f"{ours.name}: {ours.shape} {dtype} {ours.memory_space}, JAX has {jaxs}")
    return wrong


@pytest.mark.parametrize("name", CALLS)
def test_what_is_known_of_the_refs_is_what_jax_hands_to_the_kernel(folder: Path, name: str) -> None:
    seen: dict[tuple[str, int], list[SeenCall]] = {}
    for call in seen_by_jax(folder, CALLS[name]):
        seen.setdefault((call.path, call.line), []).append(call)
    known = known_sites(folder, CALLS[name])
    assert seen.keys() & known.keys()
    for place in seen.keys() & known.keys():
        wrong = [min((wrong_claims(site.refs, call.refs) for call in seen[place]), key=len) for site in known[place]]
        # Several configurations are alternatives, under conditions that the checker could not decide: one of them has to be the real one.
        assert min(wrong, key=len) == []
        right = known[place][wrong.index([])]
        facts = [fact for ref in right.refs for fact in (ref.shape, ref.dtype, ref.memory_space)]
        assert sum(fact is not None for fact in facts) >= 0.8 * len(facts)
