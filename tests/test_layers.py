"""The order of the layers: a module imports its own layer or lower ones, and each outside package has one place."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pallas_lsp"

# From low to high.
ORDER = (
    "__init__", "errors", "depth", "given", "settings", "patterns", "text", "data", "resolve", "shapes", "interpreter", "kernels", "rules", "fixes", "pages",
    "config", "notes", "glimpse", "interpreting", "analysis", "features", "cli", "server", "__main__",
)  # fmt: skip

# The only modules that may import a package, by the prefix of their dotted names.
HOMES = {"pygls": ("server",), "lsprotocol": ("server",), "jedi": ("resolve.jedi_lookup",), "parso": ("text",)}

HEAVY = {"pygls", "lsprotocol", "cattrs", "attr", "asyncio", "jedi", "parso", "jax", "numpy"}

LONGEST = 450

MODULES = sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    """The name of a module within the package: ``text.span``, ``text`` for the layer's own file."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports(path: Path) -> Iterator[str]:
    """Every module that ``path`` imports anywhere in it, as an absolute dotted name."""
    package = ("pallas_lsp", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            yield from (f"{module}.{alias.name}" if node.level or module == "pallas_lsp" else module for alias in node.names)


def layer(name: str) -> int:
    """The height of a module, by its dotted name within the package."""
    return ORDER.index(name.split(".")[0])


def test_every_module_has_a_layer() -> None:
    assert {dotted(path).split(".")[0] for path in MODULES} <= set(ORDER)


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_go_down(path: Path) -> None:
    own = [name.removeprefix("pallas_lsp.") for name in imports(path) if name.startswith("pallas_lsp.")]
    high = [name for name in own if name.split(".")[0] in ORDER and layer(name) > layer(dotted(path))]
    assert high == []


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_outside_packages_are_imported_in_one_place_only(path: Path) -> None:
    for name in imports(path):
        package = name.split(".")[0]
        allowed = package == "pallas_lsp" or package in sys.stdlib_module_names or dotted(path).startswith(HOMES.get(package, ()))
        assert allowed, f"{dotted(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_a_module_is_short_enough_to_be_one_idea(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


def loaded_by(*arguments: str) -> set[str]:
    """Which of the packages that a person waits for a command imports."""
    program = "import sys; from pallas_lsp.__main__ import main; code = main(sys.argv[1:]); print(*sys.modules); sys.exit(code)"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env={"PYTHONPATH": str(PACKAGE.parent)}, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    return HEAVY & {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize("command", [("check",), ("check", "--output-format", "json"), ("inspect",)])
def test_checking_kernels_needs_no_outside_package(command: tuple[str, ...], tmp_path: Path) -> None:
    kernel = PACKAGE.parent / "tests/demo/matmul.py"
    (tmp_path / "matmul.py").write_bytes(kernel.read_bytes())
    assert loaded_by(*command, str(tmp_path)) == set()


@pytest.mark.parametrize("command", [("explain", "store-scalar-to-vmem"), ("rules",), ("config",)])
def test_reading_pages_needs_no_analysis(command: tuple[str, ...]) -> None:
    assert loaded_by(*command) == set()
