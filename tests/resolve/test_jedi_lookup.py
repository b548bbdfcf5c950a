"""What jedi is asked: names of installed packages, with JAX installed beside them and without."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest
from resolve.workspace import Workspace, library

from pallas_lsp.resolve import jedi_lookup
from pallas_lsp.resolve.environment import Environment
from pallas_lsp.resolve.imports import LibraryName
from pallas_lsp.resolve.installed import InstalledNames, definition
from pallas_lsp.resolve.jedi_lookup import JediLookup, Place

pytest.importorskip("jedi")

PL = "jax.experimental.pallas"
PLTPU = "jax.experimental.pallas.tpu"
PATIENT = 60.0  # seconds: these tests are about what jedi says, not when

SHIM = """\
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.tpu import VMEM
from .inner import helper
from .inner import helper as renamed
try:
    from jax.experimental.pallas.tpu import CompilerParams
except ImportError:
    from jax.experimental.pallas.tpu import TPUCompilerParams as CompilerParams
SMEM = pltpu.SMEM
Spec = pl.BlockSpec
if hasattr(pltpu, "MemorySpace"):
    MS = pltpu.MemorySpace
else:
    MS = pltpu.TPUMemorySpace
def spec(n):
    return pl.BlockSpec((n, n), lambda i: (i, 0))
"""


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """jedi's settings belong to the process: keep what these tests make it write out of the user's folder."""
    monkeypatch.setattr(jedi_lookup._jedi().settings, "cache_directory", str(tmp_path / "cache"))


@pytest.fixture
def shim(workspace: Workspace, environment: Environment) -> Workspace:
    """A project whose environment has the package ``mycompat``."""
    packages = Path(environment.site_packages[0])
    (packages / "mycompat").mkdir()
    (packages / "mycompat" / "__init__.py").write_text("from .pallas_compat import *\n")
    (packages / "mycompat" / "pallas_compat.py").write_text(SHIM)
    (packages / "mycompat" / "inner.py").write_text("def helper(ref): return ref[...]\n")
    (packages / "second.py").write_text("from mycompat import SMEM as SECOND\n")
    workspace.use(environment)
    return workspace


def in_packages(workspace: Workspace, name: str) -> str:
    return os.path.join(workspace.project.environment.site_packages[0], *name.split("/"))


@pytest.mark.parametrize("module", ["mycompat.pallas_compat", "mycompat"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SMEM", f"{PLTPU}.SMEM"),
        ("VMEM", f"{PLTPU}.VMEM"),
        ("MS", f"{PLTPU}.MemorySpace"),
        ("Spec", f"{PL}.BlockSpec"),
        ("CompilerParams", f"{PLTPU}.CompilerParams"),
        ("pl", PL),
        ("pltpu", PLTPU),
    ],
)
def test_a_compat_module_hands_on_names_of_jax(shim: Workspace, module: str, name: str, expected: str) -> None:
    target = shim.imports("main.py", f"from {module} import {name}")[name]
    assert isinstance(target, LibraryName) and not target.is_known
    installed = InstalledNames(shim.project, JediLookup(shim.project, PATIENT))
    assert installed.resolve(target, shim.path("main.py")) == library(expected)


@pytest.mark.parametrize(
    ("name", "file", "there"),
    [("spec", "pallas_compat", "spec"), ("helper", "inner", "helper"), ("renamed", "inner", "helper")],
)
def test_functions_of_an_installed_package_are_places_to_read(shim: Workspace, name: str, file: str, there: str) -> None:
    installed = InstalledNames(shim.project, JediLookup(shim.project, PATIENT))
    target = installed.resolve(library(f"mycompat.{name}"), shim.path("main.py"))
    assert (target.path, target.name) == (in_packages(shim, f"mycompat/{file}.py"), there)


def test_modules_and_packages_that_build_on_another(shim: Workspace) -> None:
    installed = InstalledNames(shim.project, JediLookup(shim.project, PATIENT))
    assert installed.resolve(library("mycompat.inner"), shim.path("main.py")).path == in_packages(shim, "mycompat/inner.py")
    assert installed.resolve(library("second.SECOND"), shim.path("main.py")) == library(f"{PLTPU}.SMEM")


def test_what_is_nowhere_is_none(shim: Workspace) -> None:
    installed = InstalledNames(shim.project, JediLookup(shim.project, PATIENT))
    for name in ("mycompat.nothing", "no_such_package.x", "mycompat.pallas_compat.SMEM.name", "single", ".relative.x", "a b.c"):
        assert installed.resolve(library(name), shim.path("main.py")) is None


def test_known_libraries_are_not_asked_about(shim: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JediLookup, "imported", None)
    installed = InstalledNames(shim.project, JediLookup(shim.project, PATIENT))
    assert installed.resolve(library(f"{PL}.BlockSpec"), shim.path("main.py")) == library(f"{PL}.BlockSpec")


def test_the_place_of_a_name_in_a_text(shim: Workspace) -> None:
    path = shim.write("main.py", "# \u00e9\U0001f600\nfrom mycompat import spec, helper\n\ndef f(x):\n    return helper(spec(x))\n")
    source = shim.project.read(path)
    assert source
    lookup = JediLookup(shim.project, PATIENT)
    place = lookup.place(path, source, source.text.rindex("spec"))
    assert place == Place(in_packages(shim, "mycompat/pallas_compat.py"), 16, "spec", "mycompat.pallas_compat.spec")
    assert definition(place, shim.project) == shim.project.member(place.path, "spec")
    assert lookup.place(path, source, source.text.index("return")) is None
    assert lookup.place(path, source, 10_000) is None


def test_jax_is_named_in_public_words_where_it_is_installed(shim: Workspace) -> None:
    if len(shim.project.environment.site_packages) == 1:
        pytest.skip("no jax in this environment")
    text = "from jax.experimental import pallas as pl\nfrom jax.experimental.pallas import tpu as pltpu\nimport jax.numpy as jnp\n"
    lookup = JediLookup(shim.project, PATIENT)
    for expression, expected in [("pl.BlockSpec", f"{PL}.BlockSpec"), ("pltpu.VMEM", f"{PLTPU}.VMEM"), ("jnp.sum", "jax.numpy.sum")]:
        path = shim.write("main.py", f"{text}x = {expression}\n")
        source = shim.project.read(path)
        assert source
        place = lookup.place(path, source, len(source.text) - 2)
        assert place and definition(place, shim.project) == library(expected)


def test_the_same_question_is_put_once(shim: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    goto = jedi_lookup._goto
    monkeypatch.setattr(jedi_lookup, "_goto", lambda code, *rest: (asked.append(code), goto(code, *rest))[1])
    lookup = JediLookup(shim.project, PATIENT)
    first = lookup.imported(library("mycompat.helper"), shim.path("main.py"))
    assert first
    assert lookup.imported(library("mycompat.helper"), shim.path("other.py")) == first  # the same folder
    assert len(asked) == 1
    lookup.forget()
    assert lookup.imported(library("mycompat.helper"), shim.path("main.py")) == first
    assert len(asked) == 2


def test_a_late_answer_is_none_and_there_the_next_time(shim: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    goto, go_on = jedi_lookup._goto, threading.Event()
    monkeypatch.setattr(jedi_lookup, "_goto", lambda *question: (go_on.wait(PATIENT), goto(*question))[1])
    lookup = JediLookup(shim.project, 0.05)
    assert lookup.imported(library("mycompat.helper"), shim.path("main.py")) is None
    started = time.perf_counter()
    for name in ("a", "b", "c", "d", "e", "f"):
        assert lookup.imported(library(f"mycompat.{name}"), shim.path("main.py")) is None
    assert time.perf_counter() - started < 0.2  # nothing waits behind a job that is overdue
    go_on.set()
    deadline = time.monotonic() + PATIENT
    while (place := lookup.imported(library("mycompat.helper"), shim.path("main.py"))) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert place and place.path == in_packages(shim, "mycompat/inner.py")


@pytest.mark.parametrize("failure", [RuntimeError, RecursionError, SystemExit, KeyboardInterrupt])
def test_whatever_jedi_raises_is_no_answer(shim: Workspace, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]) -> None:
    def fail(*_question: object) -> None:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(jedi_lookup, "_goto", fail)
        assert JediLookup(shim.project, PATIENT).imported(library("mycompat.helper"), shim.path("main.py")) is None
    assert JediLookup(shim.project, PATIENT).imported(library("mycompat.helper"), shim.path("main.py"))


def test_jedi_leaves_the_search_path_of_this_process_alone(shim: Workspace) -> None:
    before, seen = sys.path, set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add(id(sys.path))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert JediLookup(shim.project, PATIENT).imported(library("mycompat.CompilerParams"), shim.path("main.py"))
    finally:
        done.set()
        watcher.join()
    assert seen == {id(before)}


def test_the_cache_is_in_a_folder_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert jedi_lookup._cache_folder() == str(tmp_path / "pallas-lsp" / "jedi")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert os.path.isabs(jedi_lookup._cache_folder())
    assert not os.path.exists("relative")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    folder = jedi_lookup._cache_folder()
    assert os.path.isdir(folder) and not folder.startswith(str(tmp_path / "file"))
