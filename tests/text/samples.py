"""The kernels that the tests of this folder break and edit."""

from __future__ import annotations

from pathlib import Path

KERNELS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "kernels").glob("*.py"))}
