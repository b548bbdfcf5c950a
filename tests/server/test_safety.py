"""The server runs nothing of the workspace: not the files it reads, not the interpreter it is told of, nothing on the way of an import."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from server.wire import REPOSITORY, Wire, started
from small_kernel import BAD

# Modules that the server or what it is built on imports when it starts or later; the workspace has a file of each name.
NAMES = ("attrs", "bisect", "cattrs", "conftest", "dataclasses", "hashlib", "jax", "jedi", "json", "lsprotocol", "numpy", "parso", "pygls")
NAMES += ("setup", "sitecustomize", "textwrap", "tokenize", "tomllib", "traceback", "typing_extensions", "urllib", "usercustomize", "uuid")


INFO = 3


def planted(marker: Path) -> str:
    return f"open({str(marker)!r}, 'w').close()\n"


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A workspace in which whatever is run leaves a file in ``fired`` beside it."""
    workspace, fired = tmp_path / "workspace", tmp_path / "fired"
    site_packages = workspace / ".venv/lib/python3.11/site-packages"
    for folder in (fired, site_packages, workspace / ".venv/bin"):
        folder.mkdir(parents=True)
    for name in NAMES:
        (workspace / f"{name}.py").write_text(planted(fired / name) + "import pallas\n")
        (site_packages / f"{name}.py").write_text(planted(fired / f"installed-{name}"))
    (workspace / "helpers.py").write_text(planted(fired / "helpers") + "from jax.experimental.pallas import tpu as pltpu\n")
    (workspace / "kernel.py").write_text(planted(fired / "kernel") + "import helpers\n" + BAD)
    (workspace / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n[tool.pallas-lsp]\njax-version = "0.10.2"\n'
    )
    (site_packages / "planted.pth").write_text(f"import os; {planted(fired / 'pth')}")
    (site_packages / "jax-0.10.2.dist-info").mkdir()
    (workspace / ".venv/pyvenv.cfg").write_text("home = .\n")
    for program in ("python", "python3", "pip", "git", "node"):
        for folder in (workspace / ".venv/bin", workspace):
            path = folder / program
            path.write_text(f"#!/bin/sh\ntouch '{fired / program}'\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return workspace


def say_everything(server: Wire, workspace: Path) -> None:
    """All that an editor could say about the workspace, and a proper end."""
    kernel = {"uri": (workspace / "kernel.py").as_uri()}
    text = (workspace / "kernel.py").read_text()
    literals = {"textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}}}
    server.initialize(rootUri=workspace.as_uri(), capabilities=literals, initializationOptions={"interpreter": ".venv/bin/python"})
    for path in sorted(workspace.glob("*.py")):
        server.open(path.as_uri(), path.read_text())
    for line, content in enumerate(text.splitlines()):
        for character in range(0, len(content), 4):
            for feature in ("hover", "definition", "typeDefinition", "completion"):
                server.request(f"textDocument/{feature}", {"textDocument": kernel, "position": {"line": line, "character": character}})
        whole_line = {"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}}
        server.request("textDocument/codeAction", {"textDocument": kernel, "range": whole_line, "context": {"diagnostics": []}})
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
    assert server.request("textDocument/inlayHint", {"textDocument": kernel, "range": whole})
    assert server.request("textDocument/codeLens", {"textDocument": kernel})
    fix_all = {"diagnostics": [], "only": ["source.fixAll"]}
    assert server.request("textDocument/codeAction", {"textDocument": kernel, "range": whole, "context": fix_all})
    for command in ("pallas-lsp.explainRule", "pallas-lsp.debugInformation"):
        server.request("workspace/executeCommand", {"command": command, "arguments": ["../kernel"] * command.endswith("Rule")})
    server.notify("textDocument/didChange", {"textDocument": {**kernel, "version": 2}, "contentChanges": [{"text": text + "\n"}]})
    server.notify("textDocument/didSave", {"textDocument": kernel})
    hover = server.request("textDocument/hover", {"textDocument": kernel, "position": position_of(text, "o_ref[0, 0]")})
    assert "o_ref: f32[8,128] in VMEM" in hover["contents"]["value"], "all that was asked for was there all the same"
    assert server.end() == 0
    told = [message for message in server.received if message["method"] != "textDocument/publishDiagnostics"]
    assert all(message["method"] == "window/logMessage" and message["params"]["type"] == INFO for message in told), "nothing went wrong"


def position_of(text: str, needle: str) -> dict[str, int]:
    before = text[: text.index(needle)]
    return {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}


def fired(trap: Path) -> list[str]:
    return sorted(path.name for path in (trap.parent / "fired").iterdir())


def test_the_trap_works(trap: Path) -> None:
    for module in ("conftest", "helpers", "kernel"):
        subprocess.run([sys.executable, "-c", f"import {module}"], cwd=trap, capture_output=True)
    subprocess.run([sys.executable, "-c", "import site; site.addsitedir('.venv/lib/python3.11/site-packages')"], cwd=trap, check=True)
    subprocess.run(["./.venv/bin/python"], cwd=trap, check=True)
    assert {"conftest", "helpers", "kernel", "pth", "python"} <= set(fired(trap))


def test_a_whole_session_fires_nothing(trap: Path) -> None:
    environment = {"PATH": f"{trap}/.venv/bin:{os.environ['PATH']}", "VIRTUAL_ENV": f"{trap}/.venv"}
    with started("-m", "pallas_lsp", "server", cwd=trap, environment=environment) as server:
        say_everything(server, trap)
    assert fired(trap) == []


def test_nor_does_one_with_the_workspace_on_pythons_path(trap: Path) -> None:
    for name in ("sitecustomize", "usercustomize"):  # Python runs these itself then, before us
        (trap / f"{name}.py").unlink()
    environment = {"PYTHONPATH": f"{REPOSITORY}{os.pathsep}{trap}"}
    with started("-m", "pallas_lsp", "server", cwd=trap, environment=environment) as server:
        say_everything(server, trap)
    assert fired(trap) == []
