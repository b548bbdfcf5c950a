"""Path patterns mean what git says they mean."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pallas_lsp.patterns import parse_patterns

NAMES = ("a", "b", "ab", "a b", "a-b", "!a", "#a", "[a]", "c*", "\\a", "a ", "x.py", ".x")
PIECES = ("a", "b", "c", "x.py", ".", "*", "**/", "/**", "/**/", "?", "/", "[a-c]", "[!a]", "[^b]", "[]a]", "\\", " ", "!", "#", "-", "[")

PATHS = [*NAMES, *(f"{folder}/{name}" for folder in (*NAMES[:6], "a/b") for name in NAMES)]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def git_ignores(repository: Path, lines: list[str]) -> set[str]:
    """Which of `PATHS` git would ignore as files."""
    (repository / ".gitignore").write_text("\n".join(lines) + "\n")
    asked = subprocess.run(
        ["git", "-C", repository, "check-ignore", "--no-index", "-z", "--stdin"], input="\0".join(PATHS), capture_output=True, text=True
    )
    return set(asked.stdout.split("\0")) - {""}


def we_ignore(folder: Path, lines: list[str]) -> set[str]:
    patterns = parse_patterns(str(folder), lines)
    return {path for path in PATHS if patterns.covers(str(folder / path))}


@pytest.mark.parametrize(
    "lines",
    [
        ["a"], ["/a"], ["a/"], ["a/b"], ["*/b"], ["**/b"], ["a/**"], ["a/**/b"], ["*.py", "!x.py"], ["a*", "!ab"], ["a", "!a/b"],
        ["# a", "\\#a", "\\!a"], ["a\\ ", "b  "], ["[ab]"], ["[!a]*"], ["[]a]"], ["[a"], ["a\\"], ["", "/", "!"], ["***/b"], ["/*", "!/a"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_patterns_as_people_write_them(repository: Path, lines: list[str]) -> None:
    assert we_ignore(repository, lines) == git_ignores(repository, lines)


@settings(max_examples=150)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), min_size=1, max_size=3))
def test_any_pattern(repository: Path, lines: list[str]) -> None:
    if any("***" in line or "**//" in line or line.count("/**") > 1 for line in lines):
        return  # where git's matcher and its own documentation part
    assert we_ignore(repository, lines) == git_ignores(repository, lines)
