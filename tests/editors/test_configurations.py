"""The configurations in the pages of the other editors: what is in them is right, and real Emacs, where it is installed, works with its own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from editors.test_neovim import KERNEL

from pallas_lsp.__main__ import COMMANDS
from pallas_lsp.server.options import read_options

REPOSITORY = Path(__file__).parents[2]
EDITORS = REPOSITORY / "editors"


def blocks(page: str, language: str) -> list[str]:
    """The code of one language in a page of ``editors/``."""
    return re.findall(rf"^```{language}\n(.*?)^```", (EDITORS / page).read_text(), re.DOTALL | re.MULTILINE)


def test_helix() -> None:
    (configuration,) = (tomllib.loads(block) for block in blocks("helix.md", "toml"))
    server = configuration["language-server"]["pallas-lsp"]
    assert server["args"][0] in COMMANDS and server["command"] == "pallas-lsp"
    assert read_options(server["config"])[1] == []
    assert "pallas-lsp" in configuration["language"][0]["language-servers"]


def test_zed() -> None:
    ((task,),) = (json.loads(block) for block in blocks("zed.md", "json"))
    assert task["args"][0] in COMMANDS and task["command"] == "pallas-lsp"


def test_neovim_settings_are_known() -> None:
    table = next(block for block in blocks("nvim/README.md", "lua") if "settings = {" in block)
    settings = re.findall(r"^      (\w+) = (?:\{ (\w+ = .*) \})?", table, re.MULTILINE)
    section = {name: dict.fromkeys(re.findall(r"(\w+) =", inner)) or None for name, inner in settings}
    assert section and read_options(section)[1] == []


def has_eglot() -> bool:
    if not shutil.which("emacs"):
        return False
    asked = ["emacs", "-q", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return subprocess.run(asked, capture_output=True).returncode == 0


@pytest.mark.editor
@pytest.mark.skipif(not has_eglot(), reason="needs Emacs with Eglot (on Debian: emacs-nox and elpa-eglot)")
def test_emacs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    server = tmp_path / "bin/pallas-lsp"
    server.write_text(f'#!/bin/sh\nPYTHONPATH="{REPOSITORY}" exec "{sys.executable}" -m pallas_lsp "$@"\n')
    server.chmod(0o755)
    kernel = tmp_path / "kernel.py"
    kernel.write_text(KERNEL)
    (tmp_path / "pyproject.toml").write_text('[tool.pallas-lsp]\njax-version = "0.10.2"\n')
    configuration = tmp_path / "configuration.el"
    configuration.write_text(blocks("emacs.md", "elisp")[0])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    command = ["emacs", "-q", "--batch", "-l", str(Path(__file__).with_name("emacs.el")), str(kernel), str(configuration)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout[: done.stdout.rindex("}") + 1])
    assert seen["text"] == "o_ref[0, 0]" and "VMEM" in seen["finding"]
    assert "Cannot store scalars to VMEM" in seen["hover"]
    assert "Ignore `store-scalar-to-vmem` on this line" in seen["actions"]
    assert "o_ref[0, 0] = jnp.sum" not in kernel.read_text()
