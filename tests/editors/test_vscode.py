"""The VS Code extension: its settings are the server's, its lock file names no registry, and it packages."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from pallas_lsp.server.options import read_options
from pallas_lsp.settings import TARGETS

EXTENSION = Path(__file__).parents[2] / "editors/vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text())
SETTINGS = {name.removeprefix("pallas-lsp."): setting for name, setting in MANIFEST["contributes"]["configuration"]["properties"].items()}


def test_every_setting_is_one_that_the_server_knows() -> None:
    rules = ["store-scalar-to-vmem"]
    values = {"select": rules, "ignore": rules, "jaxVersion": "0.10.2", "target": "v5e", "interpreter": "x"}
    assert SETTINGS.keys() == values.keys() | {"trace.server"}
    _, problems = read_options({**values, "trace": {"server": "off"}})
    assert problems == []
    assert SETTINGS["target"]["enum"] == ["", *TARGETS]


def test_what_is_not_set_is_no_choice_for_the_server() -> None:
    defaults = {name: setting["default"] for name, setting in SETTINGS.items() if name != "trace.server"}
    assert read_options(defaults) == read_options({})


def test_an_untrusted_workspace_cannot_choose_what_is_started() -> None:
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited" and trust["restrictedConfigurations"] == ["pallas-lsp.interpreter"]


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    assert all(package.get("integrity") for name, package in lock["packages"].items() if name)
    locked = {name: lock["packages"][f"node_modules/{name}"]["version"] for name in MANIFEST["devDependencies"]}
    assert locked == MANIFEST["devDependencies"], "exact versions, and those"


@pytest.mark.editor
@pytest.mark.skipif(not shutil.which("npm") or not (EXTENSION / "node_modules").is_dir(), reason="needs `npm ci` in editors/vscode")
def test_it_packages(tmp_path: Path) -> None:
    package = tmp_path / "pallas-lsp.vsix"
    for script in (("check",), ("bundle",)):
        subprocess.run(["npm", "run", *script], cwd=EXTENSION, check=True, capture_output=True)
    vsce = ["npx", "vsce", "package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", str(package)]
    subprocess.run(vsce, cwd=EXTENSION, check=True, capture_output=True)
    with zipfile.ZipFile(package) as archive:
        names = {name for name in archive.namelist() if name.startswith("extension/")}
    assert names == {"extension/package.json", "extension/readme.md", "extension/dist/extension.js"}
