"""The environment of a workspace is found by looking at files."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import jax
import pytest

from pallas_lsp.resolve.environment import Environment, find_environment, jax_version


@pytest.fixture(autouse=True)
def no_activated_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def make_environment(prefix: Path, jax: str | None = None, config: str = "home = /usr/bin\n") -> str:
    packages = prefix / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "bin" / "python").write_text("#!/bin/sh\nexit 3\n")
    (prefix / "pyvenv.cfg").write_text(config)
    if jax:
        (packages / f"jax-{jax}.dist-info").mkdir()
        (packages / f"jaxlib-{jax}9.dist-info").mkdir()
    return str(packages)


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_under_the_root(tmp_path: Path, name: str) -> None:
    packages = make_environment(tmp_path / name)
    assert find_environment(str(tmp_path)) == Environment((packages,))


def test_dot_venv_goes_before_venv_and_both_before_the_activated_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    activated = make_environment(tmp_path / "elsewhere")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "elsewhere"))
    assert find_environment(str(tmp_path)) == Environment((activated,))
    second = make_environment(tmp_path / "venv")
    assert find_environment(str(tmp_path)) == Environment((second,))
    first = make_environment(tmp_path / ".venv")
    assert find_environment(str(tmp_path)) == Environment((first,))


def test_conda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = make_environment(tmp_path / "conda")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert find_environment(str(tmp_path)) == Environment((packages,))


@pytest.mark.parametrize("explicit", ["envs/a/bin/python", "envs/a", "{root}/envs/a/bin/python"])
def test_an_explicit_interpreter_or_folder(tmp_path: Path, explicit: str) -> None:
    make_environment(tmp_path / ".venv")
    packages = make_environment(tmp_path / "envs" / "a")
    assert find_environment(str(tmp_path), explicit.format(root=tmp_path)) == Environment((packages,))


def test_an_interpreter_that_is_a_link_stands_for_the_folder_it_is_in(tmp_path: Path) -> None:
    packages = make_environment(tmp_path / "a")
    (tmp_path / "a" / "bin" / "python").unlink()
    (tmp_path / "a" / "bin" / "python").symlink_to("/usr/bin/python3")
    assert find_environment(str(tmp_path), str(tmp_path / "a" / "bin" / "python")) == Environment((packages,))


def test_an_explicit_choice_that_is_none_is_not_replaced_by_another(tmp_path: Path) -> None:
    make_environment(tmp_path / ".venv")
    assert find_environment(str(tmp_path), "no/such/python") is None


def test_nothing_there(tmp_path: Path) -> None:
    assert find_environment(str(tmp_path)) is None
    assert find_environment("/no/such/folder") is None


def test_system_packages_behind_a_venv(tmp_path: Path) -> None:
    system = make_environment(tmp_path / "base")
    own = make_environment(tmp_path / ".venv", config=f"home = {tmp_path}/base/bin\nInclude-System-Site-Packages = TRUE\n")
    assert find_environment(str(tmp_path)) == Environment((own, system))


def test_editable_installs_are_found_and_code_in_path_files_is_not_run(tmp_path: Path) -> None:
    packages = make_environment(tmp_path / ".venv")
    source = tmp_path / "checkout" / "src"
    source.mkdir(parents=True)
    lines = ["# comment", "", str(source), "/no/such/folder", f"import os; os.mkdir({str(tmp_path / 'ran')!r})", "\0"]
    (Path(packages) / "editable.pth").write_text("\n".join(lines))
    assert find_environment(str(tmp_path)) == Environment((packages, str(source)))
    assert not (tmp_path / "ran").exists()


def test_jax_version_by_the_name_of_the_folder(tmp_path: Path) -> None:
    make_environment(tmp_path / ".venv", jax="0.9.2")
    environment = find_environment(str(tmp_path))
    assert environment
    assert jax_version(environment) == "0.9.2"


def test_jax_version_by_metadata(tmp_path: Path) -> None:
    packages = make_environment(tmp_path / ".venv", jax="0.11.1.dev0_g123")
    metadata = Path(packages) / "jax-0.11.1.dev0_g123.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: jax\nVersion: 0.11.1.dev0+g123\n")
    assert jax_version(Environment((packages,))) == "0.11.1.dev0+g123"


def test_the_version_of_the_installed_jax() -> None:
    assert jax_version(Environment((sysconfig.get_path("purelib"),))) == jax.__version__


def test_no_jax(tmp_path: Path) -> None:
    packages = make_environment(tmp_path / ".venv")
    (Path(packages) / "jax-flows-1.dist-info").mkdir()
    assert jax_version(Environment((packages, "/no/such/folder"))) is None
    assert jax_version(Environment()) is None
