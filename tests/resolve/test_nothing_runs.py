"""Looking names up runs no code of the workspace or its environment, wherever Python would run some."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from resolve.workspace import Workspace

LOOK_EVERYTHING_UP = """
import os, sys
from pallas_lsp.resolve.environment import find_environment, jax_version
from pallas_lsp.resolve.exports import import_statements
from pallas_lsp.resolve.imports import LibraryName, import_targets
from pallas_lsp.resolve.project import Project

root = os.getcwd()
for explicit in (None, ".venv/bin/python"):
    environment = find_environment(root, explicit)
assert environment and jax_version(environment) == "0.9.9"
project = Project([root], environment)
main = os.path.join(root, "main.py")
targets = {}
for statement in import_statements(project.parsed(main).tree.body):
    targets |= import_targets(statement, main, project)
assert project.importers(os.path.join(root, "trap.py"))
try:
    import jedi
except ImportError:
    pass
else:
    from pallas_lsp.resolve.installed import InstalledNames
    from pallas_lsp.resolve.jedi_lookup import JediLookup
    lookup = JediLookup(project, 60.0)
    libraries = {name: target for name, target in targets.items() if isinstance(target, LibraryName)}
    found = {name: InstalledNames(project, lookup).resolve(target, main) for name, target in libraries.items()}
    assert found["installed"], found
    source = project.read(main)
    answers = [lookup.place(main, source, offset) for offset, char in enumerate(source.text) if char.isalpha()]
    assert any(answers)
print("looked up", len(targets))
"""

MAIN = """
# pallas
import trap, evil, conftest, setup, sitecustomize
import evil.native
import evil.native as native
from evil.native import something
from evil import native as again
from installed import value as installed
from installed.native import other
import installed.native as third
import compiled
from compiled import fourth
import json, math, _struct, numpy, jax
x = evil.native.something
y = installed.value
z = third.other
w = compiled.fourth
u = numpy.zeros
v = math.sqrt
"""


@pytest.fixture
def trapped(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A workspace where whatever runs leaves a file in ``tmp_path/ran``."""
    ran = tmp_path / "ran"
    ran.mkdir()

    def trap(name: str) -> str:
        return f"open({str(ran / name)!r}, 'w').close()\nvalue = 1\n"

    packages = ".venv/lib/python3.11/site-packages"
    for name in ("trap", "conftest", "setup", "sitecustomize", "usercustomize", "json", "math"):
        workspace.write(f"{name}.py", f"import trap\n{trap(name)}")
    workspace.write("main.py", MAIN)
    workspace.write("evil/__init__.py", trap("evil"))
    workspace.write(f"{packages}/installed/__init__.py", trap("installed"))
    for name in ("sitecustomize", "usercustomize"):
        workspace.write(f"{packages}/{name}.py", trap(f"installed {name}"))
    for folder in ("evil", f"{packages}/installed"):
        workspace.write(f"{folder}/native.so", "not even a library")
    workspace.write(f"{packages}/compiled.so", "nor this")
    workspace.write(f"{packages}/trap.pth", "import trap\n")
    workspace.write(f"{packages}/jax-0.9.9.dist-info/METADATA", "Version: 0.9.9\n")
    workspace.write(f"{packages}/jax/__init__.py", trap("jax"))
    workspace.write(f"{packages}/numpy/__init__.py", trap("numpy"))
    workspace.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    for name in ("python", "python3", "python3.11"):
        interpreter = workspace.write(f".venv/bin/{name}", f"#!/bin/sh\n: > '{ran}/interpreter'\n")
        os.chmod(interpreter, 0o755)
    return workspace


def run(workspace: Workspace, code: str, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([before, *sys.path] if before else sys.path),
        "PATH": os.pathsep.join([workspace.path(".venv/bin"), os.environ["PATH"]]),
        "VIRTUAL_ENV": workspace.path(".venv"),
        "XDG_CACHE_HOME": str(workspace.root.parent / "cache"),
    }
    command = [sys.executable, *arguments, "-c", code]
    return subprocess.run(command, cwd=workspace.root, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_nothing_runs(trapped: Workspace, tmp_path: Path) -> None:
    finished = run(trapped, LOOK_EVERYTHING_UP, "-P")  # like a console script: the current folder is not on sys.path
    assert finished.returncode == 0, finished.stderr
    assert "looked up" in finished.stdout
    assert os.listdir(tmp_path / "ran") == []


def test_the_traps_are_sprung_by_what_runs_code(trapped: Workspace, tmp_path: Path) -> None:
    packages = trapped.path(".venv/lib/python3.11/site-packages")
    run(trapped, "import evil, conftest, setup, installed, jax", before=packages)
    subprocess.run([trapped.path(".venv/bin/python")], check=True, timeout=60)
    sprung = {"evil", "conftest", "setup", "installed", "jax", "trap", "installed sitecustomize", "interpreter"}
    assert sprung <= set(os.listdir(tmp_path / "ran"))


ASK_JEDI = """
import os, sys
from pallas_lsp.resolve.environment import Environment
from pallas_lsp.resolve.imports import LibraryName
from pallas_lsp.resolve.jedi_lookup import JediLookup
from pallas_lsp.resolve.project import Project

root = os.getcwd()
lookup = JediLookup(Project([root], Environment((os.path.join(root, "shared"),))), 60.0)
for name in ("shared.native.other", "shared.native", "shared.value"):
    print(name, lookup.imported(LibraryName.of(name), os.path.join(root, "main.py")))
"""


def test_what_this_process_could_import_is_not_imported_either(trapped: Workspace, tmp_path: Path) -> None:
    """jedi by itself imports a package that is on this process's path for the sake of an extension module in it."""
    pytest.importorskip("jedi")
    ran = tmp_path / "ran" / "shared"
    trapped.write("shared/shared/__init__.py", f"open({str(ran)!r}, 'w').close()\nvalue = 1\n")
    trapped.write("shared/shared/native.so", "no library")
    finished = run(trapped, ASK_JEDI, "-P", before=trapped.path("shared"))
    assert finished.returncode == 0, finished.stderr
    assert "Place" in finished.stdout
    assert not ran.exists()
