"""What the checker says of the kernel calls behind a call, beside what JAX does."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import jax
from corpus.recording import SeenCall, SeenRef, recorded, seen_ref
from real_kernels.calls import RealCall
from real_kernels.jax_calls import kernels_in, traceable
from referee import on_chip

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.given import read_call
from pallas_lsp.kernels.site import KernelSite, RefInfo
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

SPACES = {"default": "vmem", "semaphore_mem": "semaphore"}


@dataclass
class Comparison:
    """``contradictions``: what the checker is sure of and JAX did otherwise; ``known``, ``refs``: how many refs it knows whole, of how many;
    ``unknown``: what it does not know; ``failure``: what JAX refused the call with; ``verdicts``: the checker's, one a kernel call;
    ``doubts``: what keeps it from one."""

    failure: str = ""
    contradictions: list[str] = field(default_factory=list)
    known: int = 0
    refs: int = 0
    unknown: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    kernels: set[str] = field(default_factory=set)


def path_of(call: RealCall) -> Path:
    """The file of the module that the call is of."""
    spec = importlib.util.find_spec(call.module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin)


def analysed(call: RealCall, folder: Path) -> tuple[Analysis, Project]:
    """The checker's view of the call; ``folder`` holds the kernels' package."""
    project = Project([str(folder)])
    source = project.read(str(path_of(call)))
    assert source is not None
    return analyze(source, project, Settings(jax_version=jax.__version__), call=read_call(call.text)), project


def seen_by_jax(call: RealCall, folder: Path) -> tuple[str, list[SeenCall]]:
    """What JAX refuses the call with, if it does, and the kernel calls in files of ``folder``: all that it traced where it refuses one of
    them, else those that are in the program (a function that brings its own derivative is traced even where only its rules are used)."""
    jax.clear_caches()
    with recorded(folder) as seen, on_chip("v5e"):
        try:
            jaxpr = traceable(call).lower()
        except Exception as error:
            return f"{type(error).__name__}: {error}".splitlines()[0], seen
    used = {tuple(seen_ref(variable.aval) for variable in kernel.invars) for kernel in kernels_in(jaxpr)}
    return "", [one for one in seen if one.refs in used]


def compare(call: RealCall, folder: Path) -> Comparison:
    """Set the two views beside each other."""
    result = Comparison()
    result.failure, seen = seen_by_jax(call, folder)
    analysis, project = analysed(call, folder)
    sites: dict[tuple[str, int], list[KernelSite]] = {}
    for site in analysis.sites:
        file = project.read(site.location.path)
        assert file is not None
        if "pallas_call" not in file.slice(site.location.span):
            continue  # a kernel of a mesh, or a pipeline: what is recorded of JAX is what `pallas_call` makes
        sites.setdefault((site.location.path, file.line_of(site.location.span.start) + 1), []).append(site)
        result.verdicts.append(site.verdict)
        result.doubts += site.unknowns
    calls: dict[tuple[str, int], list[SeenCall]] = {}
    for one in dict.fromkeys(seen):
        calls.setdefault((one.path, one.line), []).append(one)
    for place, ours in sites.items():
        for site in ours:
            # What rests on an assumption is said to do so: it may be another call than the one that JAX makes.
            wrong = min((_wrong(site, one) for one in calls.get(place, ())), key=len, default=["JAX makes no such kernel call"])
            result.contradictions += [f"{_shown(place)} {line}" for line in (wrong if not site.conditions else ())]
    for place, jaxs in calls.items():
        for one in jaxs:
            result.kernels.add(f"{_shown(place)}")
            result.refs += len(one.refs)
            fits = [site for site in sites.get(place, ()) if not _wrong(site, one)]
            missing = min((_missing(site, one) for site in fits), key=len, default=None)
            result.known += len(one.refs) - len(missing) if missing is not None else 0
            result.unknown += [f"{_shown(place)} {line}" for line in (missing if missing is not None else [f"nothing of {len(one.refs)} refs"])]
    return result


def _shown(place: tuple[str, int]) -> str:
    return f"{Path(place[0]).parent.name}/{Path(place[0]).name}:{place[1]}"


def _wrong(site: KernelSite, seen: SeenCall) -> list[str]:
    """Where the checker is sure of something else than JAX; symbols and what is unknown claim nothing."""
    if len(site.refs) != len(seen.refs):
        return [f"{len(site.refs)} refs, JAX has {len(seen.refs)}"]
    wrong = [] if site.grid is None or _fits(site.grid, seen.grid) else [f"grid {site.grid}, JAX has {seen.grid}"]
    for ours, jaxs in zip(site.refs, seen.refs, strict=True):
        shape = ours.shape is None or _fits(ours.shape, jaxs.shape)
        space = ours.memory_space in (None, SPACES.get(jaxs.space, jaxs.space))
        if not (shape and space and ours.dtype in (None, jaxs.dtype)):
            wrong.append(f"{ours.name}: {ours.shape} {ours.dtype} {ours.memory_space}, JAX has {jaxs}")
    return wrong


def _fits(ours: tuple[object, ...], jaxs: tuple[int | None, ...]) -> bool:
    return len(ours) == len(jaxs) and all(not isinstance(a, int) or b is None or a == b for a, b in zip(ours, jaxs, strict=True))


def _missing(site: KernelSite, seen: SeenCall) -> list[str]:
    """The refs that the checker does not know whole."""
    return [f"{ours.name}: {ours.shape} {ours.dtype} {ours.memory_space} {ours.why}" for ours, jaxs in zip(site.refs, seen.refs, strict=True) if not _is_whole(ours, jaxs)]


def _is_whole(ours: RefInfo, jaxs: SeenRef) -> bool:
    return ours.shape == jaxs.shape and ours.dtype == jaxs.dtype and ours.memory_space == SPACES.get(jaxs.space, jaxs.space)
