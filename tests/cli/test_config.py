"""``[tool.pallas-lsp]``: what it may say, and what is said of a mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.command_line import Run

from pallas_lsp.config import Config, ConfigError, find_config, load_config
from pallas_lsp.given import read_call
from pallas_lsp.settings import Settings

FULL = """
[tool.pallas-lsp]
select = ["store-scalar-to-vmem", "masked-load"]
ignore = ["masked-load"]
jax-version = "0.10.2"
target = "v5e"
exclude = ["old/", "*_generated.py"]
per-file-ignores = { "tests/**" = ["ref-index-bounds"], "kernel.py" = ["masked-load"] }

[tool.pallas-lsp.shapes]
"ops.attend" = ["f32[8,128]", "causal=True"]
"pkg.ops.norm" = [["f32[8,128]"], ["bf16[8,256]"]]
"""


def write(folder: Path, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return str(folder / "pyproject.toml")


def test_everything_it_may_say(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, FULL))
    assert config is not None
    assert config.settings == Settings(
        select=frozenset({"store-scalar-to-vmem", "masked-load"}),
        ignore=frozenset({"masked-load"}),
        jax_version="0.10.2",
        target="v5e",
        shapes=(
            read_call("attend(f32[8,128], causal=True)", "ops"),
            read_call("norm(f32[8,128])", "pkg.ops"),
            read_call("norm(bf16[8,256])", "pkg.ops"),
        ),
    )
    assert config.keys == {"select", "ignore", "jax-version", "target", "exclude", "per-file-ignores", "shapes"}
    assert config.excludes(str(tmp_path / "a/old/b/c.py"))
    assert config.excludes(str(tmp_path / "x_generated.py"))
    assert not config.excludes(str(tmp_path / "old.py"))
    assert config.ignores(str(tmp_path / "tests/deep/a.py"), "ref-index-bounds")
    assert config.ignores(str(tmp_path / "pkg/kernel.py"), "masked-load")
    assert not config.ignores(str(tmp_path / "pkg/kernel.py"), "ref-index-bounds")
    assert not config.ignores(str(tmp_path.parent / "kernel.py"), "masked-load")


def test_the_nearest_file_with_the_table_holds(tmp_path: Path) -> None:
    outer = write(tmp_path, '[tool.pallas-lsp]\ntarget = "v4"\n')
    inner = write(tmp_path / "a", '[tool.pallas-lsp]\ntarget = "v5e"\n')
    write(tmp_path / "b", "[project]\nname = 'b'\n")
    assert find_config(str(tmp_path / "a")).path == inner
    assert find_config(str(tmp_path / "b")).path == outer
    assert find_config(str(tmp_path / "a/b/c")).settings.target == "v5e"


def test_no_table_is_the_default(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, "[tool.other]\n")) is None
    assert load_config(str(tmp_path / "missing/pyproject.toml")) is None
    assert load_config(write(tmp_path, "[tool.pallas-lsp]\n")) == Config(path=str(tmp_path / "pyproject.toml"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jax_version = '0.10.2'", "has no key 'jax_version' (did you mean 'jax-version'?)"),
        ("select = 'masked-load'", "select: expected a list of strings, found a string"),
        ("ignore = [1]", "ignore: expected a string, found an integer"),
        ("ignore = ['masked-laod']", "ignore: there is no rule 'masked-laod' (did you mean 'masked-load'?)"),
        ("jax-version = 0.10", "jax-version: expected a string, found a float"),
        ("jax-version = 'latest'", "jax-version: 'latest' is no JAX version (expected one like 0.10.2)"),
        ("target = 'v5'", "target: there is no target 'v5' (there are v4, v5e, v5p, v6e, tpu7x)"),
        ("exclude = true", "exclude: expected a list of strings, found a boolean"),
        ("per-file-ignores = ['a']", "per-file-ignores: expected a table, found a list"),
        ("shapes = 2026-01-01", "shapes: expected a table, found a date or time"),
        ("shapes = { 'ops.f' = 'f32[8]' }", "shapes: expected a list of strings, found a string"),
        ("shapes = { f = ['f32[8]'] }", "shapes: expected the name of a function with its module ('ops.attention'), found 'f'"),
        ("shapes = { 'ops.f' = ['f32[8'] }", "shapes: 'f(f32[8)' is no call: closing parenthesis ')' does not match opening parenthesis '['"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_key(run: Run, tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, f"[tool.pallas-lsp]\n{line}\n")
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    assert str(raised.value) == f"{path}: [tool.pallas-lsp] {message}"
    (tmp_path / "a.py").write_text("import pallas\n")
    result = run("check")
    assert (result.code, result.out, result.err) == (2, "", f"pallas-lsp: {path}: [tool.pallas-lsp] {message}\n")


def test_a_table_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[tool.pallas-lsp\] expected a table, found an integer"):
        load_config(write(tmp_path, "[tool]\npallas-lsp = 1\n"))


def test_a_file_that_is_no_toml_is_named_with_the_line(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "[tool.pallas-lsp\n")
    (tmp_path / "a.py").write_text("import pallas\n")
    result = run("check")
    assert result.code == 2
    assert result.err.startswith(f"pallas-lsp: {tmp_path / 'pyproject.toml'}: ")
    assert "line 1" in result.err
    assert result.err.count("\n") == 1


def test_config_shows_where_each_setting_comes_from(run: Run, tmp_path: Path) -> None:
    table = '[tool.pallas-lsp]\nignore = ["masked-load"]\ntarget = "v4"\nexclude = ["old/"]\n'
    write(tmp_path, table + 'per-file-ignores = { "a.py" = ["float-index"] }\n')
    (tmp_path / ".venv/lib/python3.11/site-packages/jax-0.10.2.dist-info").mkdir(parents=True)
    result = run("config", "--target", "v6e")
    assert (result.code, result.err) == (0, "")
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in result.out.splitlines()]
    assert rows == [
        ["configuration", "pyproject.toml"],
        ["select", "all rules", "default"],
        ["ignore", "masked-load", "configuration"],
        ["jax-version", "0.10.2", "installed in .venv/lib/python3.11/site-packages"],
        ["target", "v6e", "command line"],
        ["exclude", "old/", "configuration"],
        ["per-file-ignores", "a.py: float-index", "configuration"],
    ]


def test_config_without_any(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    rows = [line.split(maxsplit=1) for line in run("config").out.splitlines()]
    assert rows[0] == ["configuration", "none found"]
    assert rows[3][1] == "what all known versions agree on  no environment with JAX found"
    assert run("config", "nowhere").code == 2
