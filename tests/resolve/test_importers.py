"""Which files import a file: directly, or what it defines through one re-export; bounded, whatever the folder holds."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path

import jax
import pytest
from resolve.workspace import Workspace

from pallas_lsp.resolve import importers as importers_module
from pallas_lsp.resolve.exports import import_statements


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    workspace.write("app/__init__.py", "from .kernels import matmul\nfrom .other import thing\n")
    workspace.write("app/kernels.py", "from jax.experimental import pallas as pl\ndef matmul(): pass\ndef hidden(): pass\n")
    workspace.write("app/other.py", "thing = 1\n")
    workspace.write("app/ops.py", "from .kernels import (  # a comment with a )\n    matmul,\n    hidden,\n)\n")
    workspace.write("app/lazy.py", "def f():\n    import app.kernels as k\n")
    workspace.write("app/dotted.py", "import app.kernels\n")
    workspace.write("app/unrelated.py", "from . import other\nimport kernels_of_another_project\n")
    workspace.write("bench/run.py", "from app import matmul\n")
    workspace.write("bench/module.py", "import app\n")
    workspace.write("bench/thing.py", "from app import thing\n")
    workspace.write("bench/two_steps.py", "from run import matmul\n")
    return workspace


def importers(workspace: Workspace, name: str) -> set[str]:
    return {os.path.relpath(path, workspace.root) for path in workspace.project.importers(workspace.path(name))}


def test_direct_and_through_one_re_export(project: Workspace) -> None:
    assert importers(project, "app/kernels.py") == {
        "app/__init__.py",
        "app/ops.py",
        "app/lazy.py",
        "app/dotted.py",
        "bench/run.py",
        "bench/module.py",
    }


def test_a_star_re_export_passes_every_name_on(project: Workspace) -> None:
    project.write("app/__init__.py", "from .kernels import *\n")
    project.write("bench/hidden.py", "from app import hidden\n")
    assert {"bench/run.py", "bench/hidden.py"} <= importers(project, "app/kernels.py")


def test_a_package_is_imported_by_its_name_or_by_dots(project: Workspace) -> None:
    project.write("app/uses_package.py", "from jax.experimental import pallas\nfrom . import matmul\n")
    assert "app/uses_package.py" in importers(project, "app/__init__.py")
    assert "app/uses_package.py" in importers(project, "app/kernels.py")


def test_files_that_have_nothing_to_do_with_pallas_are_left_out(project: Workspace) -> None:
    assert importers(project, "app/other.py") == {"app/__init__.py", "app/dotted.py"}  # which import the kernels
    project.write("app/unrelated.py", "from . import other  # for pallas\n")
    assert importers(project, "app/other.py") == {"app/__init__.py", "app/dotted.py", "app/unrelated.py"}


def test_changes_are_seen(project: Workspace) -> None:
    assert "app/ops.py" in importers(project, "app/kernels.py")
    project.write("app/ops.py", "x = 1\n")
    assert "app/ops.py" not in importers(project, "app/kernels.py")
    project.project.set_overlay(project.path("app/ops.py"), "from app.kernels import hidden\n")
    assert "app/ops.py" in importers(project, "app/kernels.py")
    project.project.set_overlay(project.path("app/unsaved.py"), "from app.kernels import hidden\n")
    assert "app/unsaved.py" in importers(project, "app/kernels.py")


def test_folders_that_are_not_the_projects_own_are_skipped(project: Workspace) -> None:
    for folder in (".hidden", ".venv/lib/python3.11/site-packages", "node_modules/x", "build/lib", "lib/site-packages", "__pycache__"):
        project.write(f"{folder}/user.py", "from app.kernels import matmul\n")
    assert not any("user.py" in name for name in importers(project, "app/kernels.py"))


def test_loops_of_links_and_broken_files_do_no_harm(project: Workspace) -> None:
    os.symlink(project.root, project.path("app/loop"))
    os.symlink(project.path("self.py"), project.path("self.py"))
    os.mkfifo(project.path("pipe.py"))
    project.write("broken.py", "from app.kernels import (\ndef f(:\nimport app.kernels\n")
    found = importers(project, "app/kernels.py")
    assert "broken.py" in found
    assert not any("loop" in name for name in found)


def test_the_number_of_files_is_bounded_and_the_nearest_come_first(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers_module, "FILE_LIMIT", 8)
    for number in range(30):
        project.write(f"aaa/user{number}.py", "from app.kernels import matmul\n")
    found = importers(project, "app/kernels.py")
    assert {"app/ops.py", "app/lazy.py"} <= found
    assert len(found) <= 8


def test_imports_are_found_in_the_text_as_in_the_tree() -> None:
    """Over JAX's own Pallas sources: the statements that the scan cuts out of a text are those that ``ast`` finds in it."""
    for path in sorted(Path(jax.__file__).parent.glob("**/pallas/**/*.py")):
        text = path.read_text(encoding="utf-8")
        cut = [ast.dump(node) for found in importers_module._mentions_in(text).imports for node in importers_module._parsed_imports(found)]
        assert {ast.dump(node) for node in import_statements(ast.parse(text).body)} <= set(cut), path


def test_a_text_made_to_be_slow_is_not() -> None:
    unclosed, continued, chained = "from x import (\n" * 100_000, "from x import \\\n" * 100_000, "from " + "import " * 200_000
    for text in (unclosed, continued, chained, "import (" * 200_000, "#" * 1_000_000):
        started = time.process_time()
        importers_module._mentions_in(text)
        assert time.process_time() - started < 5
