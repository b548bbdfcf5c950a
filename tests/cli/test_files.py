"""Which files a folder stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pallas_lsp.cli.files import Tree


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def listed(folder: Path, excludes: str | None = None) -> list[str]:
    tree = Tree(str(folder), lambda path, is_folder: os.path.basename(path) == excludes)
    found = [os.path.relpath(path, folder) for path in tree.files()]
    assert all(tree.holds(os.path.join(folder, name)) for name in found)
    return found


def test_python_files_in_order_and_nothing_else(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a.py", "pkg/c.py", "pkg/d.pyi", "pkg/e.txt", "pkg/f.ipynb")
    assert listed(tmp_path) == ["a.py", "b.py", "pkg/c.py"]


def test_folders_of_other_peoples_code_are_passed_over(tmp_path: Path) -> None:
    folders = (".venv", "venv", "node_modules", "build", "__pycache__", ".git", "mine")
    make(tmp_path, *(f"{folder}/a.py" for folder in folders), "mine/pyvenv.cfg")
    assert listed(tmp_path) == []


def test_a_folder_named_by_the_user_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    make(tmp_path, "venv/site-packages/jax/kernel.py", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("venv/\n")
    assert listed(tmp_path / "venv/site-packages/jax") == ["kernel.py"]


def test_gitignore_files_of_the_repository_count_from_its_top_down(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "pkg/keep.py", "pkg/skip.py", "pkg/sub/skip.py", "pkg/gen/a.py", "pkg/local.py")
    (tmp_path / ".gitignore").write_text("skip.py\ngen/\n")
    (tmp_path / "pkg/sub/.gitignore").write_text("!skip.py\n")
    (tmp_path / ".git/info").mkdir()
    (tmp_path / ".git/info/exclude").write_text("local.py\n")
    assert listed(tmp_path / "pkg") == ["keep.py", "sub/skip.py"]


def test_a_gitignore_above_a_folder_in_no_repository_does_not_count(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.py")
    (tmp_path / ".gitignore").write_text("*\n")
    assert listed(tmp_path / "pkg") == ["a.py"]


def test_what_is_excluded(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "old/b.py", "pkg/old/c.py", "pkg/d.py")
    assert listed(tmp_path, excludes="old") == ["a.py", "pkg/d.py"]


def test_links_make_no_loop_and_linked_files_are_files(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.py", "elsewhere.txt")
    (tmp_path / "pkg/loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "pkg/linked.py").symlink_to(tmp_path / "elsewhere.txt")
    (tmp_path / "pkg/dangling.py").symlink_to(tmp_path / "nowhere")
    assert listed(tmp_path) == ["pkg/a.py", "pkg/linked.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_folder_below_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "closed/b.py")
    (tmp_path / "closed").chmod(0)
    assert listed(tmp_path) == ["a.py"]


def test_a_file_outside_is_not_held(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.py", "other/b.py", "pkg/.venv/c.py")
    tree = Tree(str(tmp_path / "pkg"), lambda path, is_folder: False)
    assert tree.holds(str(tmp_path / "pkg/a.py"))
    assert not tree.holds(str(tmp_path / "other/b.py"))
    assert not tree.holds(str(tmp_path / "pkg/.venv/c.py"))
