"""`check` runs nothing of what it finds in the folder it is started in, wherever Python would look for code to run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DEMO = REPOSITORY / "tests/demo/rms_norm.py"

# Modules that Python or the tool imports by these names; a file of the user's may have the same name. Python itself imports some of
# its own (``types``, ``functools``, ...) between looking at the current folder and coming to us with ``-m``: for those there is no help
# but ``-P`` or the installed script, which never look there.
NAMES = (
    "argparse", "ast", "bisect", "dataclasses", "difflib", "fnmatch", "glob", "hashlib", "inspect", "jax", "jaxlib", "jedi", "json",
    "logging", "lsprotocol", "numpy", "parso", "pygls", "shutil", "string", "subprocess", "tempfile", "textwrap", "threading", "tokenize",
    "tomllib", "traceback", "typing", "unicodedata", "conftest", "setup", "sitecustomize", "usercustomize", "backend", "kernel",
)  # fmt: skip


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A workspace in which every file that could be run leaves its name in ``fired``, a folder beside it."""
    folder, fired = tmp_path / "workspace", tmp_path / "fired"
    fired.mkdir()
    site_packages = folder / ".venv/lib/python3.11/site-packages"
    site_packages.mkdir(parents=True)
    (folder / ".venv/bin").mkdir()

    def planted(name: str) -> str:
        return f"open({str(fired / name)!r}, 'w').close()\n"

    for name in NAMES:
        (folder / f"{name}.py").write_text(planted(name))
        (site_packages / f"{name}.py").write_text(planted(f"{name}-in-site-packages"))
    (folder / "kernel.py").write_text(planted("kernel") + DEMO.read_text() + "\nimport helpers\nhelpers.norm(rms_norm)\n")
    (folder / "helpers").mkdir()
    (folder / "helpers/__init__.py").write_text(planted("helpers") + "from .norms import norm\n")
    (folder / "helpers/norms.py").write_text(planted("norms") + "import jax.experimental.pallas as pl\nnorm = print\n")
    (folder / "conftest.py").write_text(planted("conftest") + "import pallas\n")
    (folder / "tests").mkdir()
    (folder / "tests/conftest.py").write_text(planted("tests-conftest") + "from jax.experimental import pallas\n")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[tool.pallas-lsp]\njax-version = "0.10.2"\n'
    )
    (site_packages / "planted.pth").write_text(f"import os; {planted('pth')}")
    (site_packages / "jax-0.10.2.dist-info").mkdir()
    (folder / ".venv/pyvenv.cfg").write_text("home = .\n")
    for program in ("python", "python3", "pip", "git", "jax"):
        for place in (folder / ".venv/bin", folder):
            path = place / program
            path.write_text(f"#!/bin/sh\ntouch '{fired / program}'\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def fired(trap: Path) -> list[str]:
    return sorted(path.name for path in (trap.parent / "fired").iterdir())


def start(trap: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{trap}/.venv/bin:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY), **environment}
    return subprocess.run([sys.executable, *arguments], cwd=trap, env=environment, capture_output=True, text=True)


def test_the_trap_works(trap: Path) -> None:
    for module in ("jedi", "conftest", "helpers", "kernel", "tests.conftest"):
        start(trap, "-c", f"import {module}")
    start(trap, "-c", "import site; site.addsitedir('.venv/lib/python3.11/site-packages')")
    subprocess.run([trap / ".venv/bin/python"], check=True)
    assert {"jedi", "conftest", "helpers", "norms", "kernel", "tests-conftest", "pth", "python"} <= set(fired(trap))


@pytest.mark.parametrize("command", [("check", "."), ("check", "kernel.py"), ("check", "--diff", "."), ("inspect", "."), ("config",)])
def test_nothing_fires(trap: Path, command: tuple[str, ...]) -> None:
    done = start(trap, "-m", "pallas_lsp", *command)
    assert fired(trap) == []
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == "" or command[:2] == ("check", "--diff")


def test_nothing_fires_where_pythonpath_leads_here_and_the_environment_is_activated(trap: Path) -> None:
    for name in ("sitecustomize", "usercustomize"):  # Python runs these itself then, before us
        (trap / f"{name}.py").unlink()
    done = start(trap, "-m", "pallas_lsp", "check", ".", VIRTUAL_ENV=f"{trap}/.venv", PYTHONPATH=f"{REPOSITORY}:{trap}")
    assert fired(trap) == []
    assert done.returncode in (0, 1), done.stderr


def test_a_safe_path_keeps_even_pythons_own_start_from_here(trap: Path) -> None:
    """As the installed script does: it has no current folder on its path from the start."""
    (trap / "importlib.py").write_text(f"open({str(trap.parent / 'fired/importlib')!r}, 'w').close()\n")
    done = start(trap, "-P", "-m", "pallas_lsp", "check", ".")
    assert fired(trap) == []
    assert done.returncode in (0, 1), done.stderr
