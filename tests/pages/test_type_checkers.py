"""The rules that pages say Python's type checkers report too are reported by one, on the marked line of the example, and gone from the other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages.reading import marked_line, page_of

from pallas_lsp.pages import repeats_type_checkers

TY = shutil.which("ty", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]))


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The lines of each file that the type checker reports."""
    if TY is None:
        pytest.skip("ty is not installed")
    folder: Path = tmp_path_factory.mktemp("pages")
    for rule in repeats_type_checkers():
        page = page_of(rule)
        (folder / f"{rule}.bad.py").write_text(page.example)
        (folder / f"{rule}.good.py").write_text(page.use_instead)
    command = [TY, "check", "--python", sys.prefix, "--output-format", "concise", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found: dict[str, list[int]] = {}
    for match in re.finditer(r"^([\w-]+\.\w+)\.py:(\d+):\d+: error", done.stdout, re.MULTILINE):
        found.setdefault(match[1], []).append(int(match[2]))
    assert found, done.stderr
    return found


@pytest.mark.parametrize("rule", sorted(repeats_type_checkers()))
def test_a_type_checker_reports_the_line(rule: str, reported: dict[str, list[int]]) -> None:
    page = page_of(rule)
    line = marked_line(page)
    good = page.use_instead.splitlines()
    assert line in reported[f"{rule}.bad"]
    assert page.example.splitlines()[line - 1] not in good, "and the line is not there any more in what to use instead"
