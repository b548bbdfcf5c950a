"""The project's files: open buffers before the disk, read once until they change, and never an exception."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from resolve.workspace import Workspace

from pallas_lsp.resolve.imports import STAR
from pallas_lsp.resolve.project import Project


def text_of(project: Project, path: str) -> str | None:
    source = project.read(path)
    return source.text if source else None


def test_a_file_is_read_once_until_it_changes(workspace: Workspace) -> None:
    path = workspace.write("a.py", "x = 1\n")
    first = workspace.project.read(path)
    assert workspace.project.read(path) is first
    assert workspace.project.parsed(path) is workspace.project.parsed(path)
    workspace.write("a.py", "x = 22\n")
    assert text_of(workspace.project, path) == "x = 22\n"
    os.remove(path)
    assert workspace.project.read(path) is None
    assert workspace.project.parsed(path) is None


def test_a_change_that_time_and_size_do_not_show_needs_invalidate(workspace: Workspace) -> None:
    path = workspace.write("a.py", "x = 1\n")
    workspace.project.read(path)
    before = os.stat(path)
    workspace.write("a.py", "x = 2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    workspace.project.invalidate(path)
    assert text_of(workspace.project, path) == "x = 2\n"


def test_the_open_buffer_stands_before_the_disk(workspace: Workspace) -> None:
    path = workspace.write("a.py", "x = 1\n")
    project = Project([str(workspace.root)], overlay={path: "y = 2\n"})
    assert text_of(project, path) == "y = 2\n"
    source = project.read(path)
    project.set_overlay(path, "y = 2\n")
    assert project.read(path) is source  # the same text: nothing derived from it has to be done again
    assert project.binds(path, "y")
    project.set_overlay(path, "z = 3\n")
    assert project.binds(path, "z")
    assert not project.binds(path, "y")
    project.set_overlay(path, None)
    assert text_of(project, path) == "x = 1\n"


def test_an_unsaved_file_is_a_module(workspace: Workspace) -> None:
    main = workspace.write("main.py", "")
    assert workspace.project.find_module("fresh", main) is None
    workspace.project.set_overlay(workspace.path("fresh.py"), "x = 1")
    assert workspace.project.find_module("fresh", main) == workspace.path("fresh.py")
    workspace.project.set_overlay(workspace.path("fresh.py"), None)
    assert workspace.project.find_module("fresh", main) is None


def test_a_new_package_is_seen_after_invalidate(workspace: Workspace) -> None:
    user = workspace.write("lib/core/user.py", "")
    workspace.write("lib/core/ops.py", "")
    assert workspace.project.find_module("core.ops", user) is None
    for name in ("lib/__init__.py", "lib/core/__init__.py"):
        workspace.project.invalidate(workspace.write(name, ""))
    os.remove(workspace.path("lib/__init__.py"))
    workspace.project.invalidate(workspace.path("lib/__init__.py"))
    assert workspace.project.find_module("core.ops", user) == workspace.path("lib/core/ops.py")


def test_big_and_special_files_are_not_read(workspace: Workspace) -> None:
    big = workspace.write("big.py", "x = 1  # " + "-" * 2_000_000)
    assert workspace.project.read(big) is None
    folder = workspace.path("folder.py")
    os.mkdir(folder)
    assert workspace.project.read(folder) is None
    pipe = workspace.path("pipe.py")
    os.mkfifo(pipe)
    assert workspace.project.read(pipe) is None
    loop = workspace.path("loop.py")
    os.symlink(loop, loop)
    assert workspace.project.read(loop) is None
    for odd in ("", "\0", "a\0b.py", workspace.path("a.py") + "\0", "x" * 5000):
        assert workspace.project.read(odd) is None
        assert workspace.project.find_module("a.b", odd) is None
        assert isinstance(workspace.project.importers(odd), list)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_not_read(workspace: Workspace) -> None:
    path = workspace.write("secret.py", "x = 1\n")
    os.chmod(path, 0)
    assert workspace.project.read(path) is None


def test_bytes_that_are_no_text_do_not_raise(workspace: Workspace) -> None:
    pytest.importorskip("parso")  # finds what is whole
    path = workspace.path("binary.py")
    Path(path).write_bytes(b"\xff\xfe\x00\x01 = \x80\n# coding: nonsense\n")
    workspace.project.read(path)
    workspace.project.parsed(path)
    assert workspace.project.exports(path) is not None


def test_broken_code_has_the_names_of_what_is_whole(workspace: Workspace) -> None:
    pytest.importorskip("parso")  # finds what is whole
    path = workspace.write("a.py", "SPACE = 1\ndef f(:\n    pass\ndef g(): pass\n")
    assert workspace.project.binds(path, "SPACE")
    assert workspace.project.binds(path, "g")


def test_circular_star_imports_end(workspace: Workspace) -> None:
    a = workspace.write("a.py", "from b import *\n")
    workspace.write("b.py", "from a import *\nx = 1\n")
    assert workspace.project.binds(a, "x")
    assert not workspace.project.binds(a, "y")
    assert workspace.imports("c.py", "from a import *") == {STAR: workspace.module("a.py")}


def test_the_names_a_file_binds(workspace: Workspace) -> None:
    path = workspace.write(
        "a.py",
        """
        import os.path, sys as system
        a, (b, *c) = 1, (2, 3)
        d: int = 4
        nothing: int
        e = f = 5
        for g in (): h = 6
        with open("x") as i: pass
        class J:
            inside = 7
        async def k(): local = 8
        if a:
            m = 9
        o.attribute = p[0] = 10
        """,
    )
    exports = workspace.project.exports(path)
    assert exports is not None
    assert set(exports.bindings) == {"os", "system", "a", "b", "c", "d", "e", "f", "g", "h", "i", "J", "k", "m"}


def test_all_is_obeyed_where_it_is_literal(workspace: Workspace) -> None:
    literal = workspace.project.exports(workspace.write("a.py", "__all__ = ('_x',)\n_x = y = 1\n"))
    computed = workspace.project.exports(workspace.write("b.py", "__all__ = ['_x']\n__all__ += other\n_x = y = 1\n"))
    assert literal and literal.is_public("_x") and not literal.is_public("y")
    assert computed and computed.is_public("y") and not computed.is_public("_x")


def test_an_installed_file_does_not_see_the_project_around_its_environment(workspace: Workspace) -> None:
    workspace.write("utils.py", "")
    installed = workspace.write(".venv/lib/python3.11/site-packages/shim/__init__.py", "")
    workspace.write(".venv/lib/python3.11/site-packages/other.py", "")
    assert workspace.project.find_module("utils", installed) is None
    assert workspace.project.find_module("other", installed) == workspace.path(".venv/lib/python3.11/site-packages/other.py")
    assert workspace.project.find_module("shim", installed) == installed


def test_project_root(tmp_path: Path, workspace: Workspace) -> None:
    inner = workspace.write("a/b/c.py", "")
    assert workspace.project.project_root(inner) == str(workspace.root)
    assert Project([str(workspace.root), workspace.path("a")]).project_root(inner) == workspace.path("a")
    assert Project().project_root(inner) == str(workspace.root)  # by its pyproject.toml
    assert Project([str(tmp_path / "elsewhere")]).project_root(inner) == str(workspace.root)


def test_a_module_of_a_package_does_not_see_its_neighbours_under_bare_names(workspace: Workspace) -> None:
    """Only a script does, for its own folder comes first on Python's path."""
    workspace.write("pkg/__init__.py", "")
    inside, neighbour = workspace.write("pkg/numpy.py", "import numpy\n"), workspace.write("pkg/ops.py", "")
    assert workspace.project.find_module("numpy", inside) is None
    assert workspace.project.find_module("numpy", neighbour) is None
    assert workspace.project.find_module("numpy", neighbour, level=1) == inside
    script, beside = workspace.write("scripts/run.py", ""), workspace.write("scripts/helpers.py", "")
    assert workspace.project.find_module("helpers", script) == beside


def test_a_package_around_a_namespace_package_is_found(workspace: Workspace) -> None:
    workspace.write("lib/__init__.py", "")
    workspace.write("lib/ops/attention/__init__.py", "")
    sizes = workspace.write("lib/sizes.py", "BLOCK = 128\n")
    importer = workspace.write("lib/ops/attention/kernel.py", "from lib.sizes import BLOCK\n")
    project = Project()
    assert project.find_module("lib.sizes", importer) == sizes
    assert project.search_path(importer)[:2] == (workspace.path("lib/ops"), str(workspace.root))
