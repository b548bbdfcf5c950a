"""The VS Code extension: its settings are the server's, its commands are documented, its lock files name no registry, and what it ships."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path

import pytest

import pallas_lsp
from pallas_lsp.server.options import read_options
from pallas_lsp.settings import TARGETS

REPOSITORY = Path(__file__).parents[2]
EXTENSION = REPOSITORY / "editors/vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text())
SETTINGS = {name.removeprefix("pallas-lsp."): setting for name, setting in MANIFEST["contributes"]["configuration"]["properties"].items()}
OF_THE_EXTENSION = {"enable", "importStrategy", "trace.server"}
README = (EXTENSION / "README.md").read_text()


def is_fresh(package: Path) -> bool:
    """Whether ``package`` was built after the last change of what it is built from."""
    sources = [path for path in (REPOSITORY / "pallas_lsp").rglob("*") if path.suffix != ".pyc" and path.is_file()]
    return package.is_file() and package.stat().st_mtime > max(path.stat().st_mtime for path in sources)


def nested(settings: dict[str, object]) -> dict[str, object]:
    """Settings as VS Code sends them: a dot in a name is a table."""
    sent: dict[str, object] = {}
    for name, value in settings.items():
        *tables, last = name.split(".")
        table = sent
        for part in tables:
            table = table.setdefault(part, {})  # type: ignore[assignment]
        table[last] = value
    return sent


def test_every_setting_is_one_that_the_server_knows() -> None:
    rules = ["store-scalar-to-vmem"]
    values = {"select": rules, "ignore": rules, "jaxVersion": "0.10.2", "target": "v5e", "interpreter": "x", "logLevel": "debug"}
    switches = {name: not setting["default"] for name, setting in SETTINGS.items() if setting["type"] == "boolean"}
    assert SETTINGS.keys() == values.keys() | switches.keys() | OF_THE_EXTENSION
    options, problems = read_options(nested({**values, **switches, "importStrategy": "useBundled", "trace.server": "verbose"}))
    assert problems == []
    assert options != read_options(nested(values))[0], "the switches count"
    assert SETTINGS["target"]["enum"] == ["", *TARGETS]


def test_what_is_not_set_is_no_choice_for_the_server() -> None:
    assert read_options(nested({name: setting["default"] for name, setting in SETTINGS.items()})) == read_options({})


def test_settings_are_of_the_folder_and_documented() -> None:
    of_the_window = {"enable", "importStrategy", "interpreter", "logLevel", "trace.server"}
    assert {name for name, setting in SETTINGS.items() if setting["scope"] != "resource"} == of_the_window
    assert set(re.findall(r"^\| `pallas-lsp\.([\w.]+)`", README, re.MULTILINE)) == SETTINGS.keys()
    commands = {command["title"].rstrip("…") for command in MANIFEST["contributes"]["commands"]}
    assert set(re.findall(r"\*\*Pallas: ([^*]+?)…?\*\*", README)) == commands


def test_an_untrusted_workspace_cannot_choose_what_is_started() -> None:
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited"
    assert set(trust["restrictedConfigurations"]) == {"pallas-lsp.interpreter", "pallas-lsp.importStrategy"}


@pytest.mark.parametrize("folder", [EXTENSION, REPOSITORY / "tests/editors/vscode"], ids=["extension", "tests"])
def test_the_lock_file_names_no_registry(folder: Path) -> None:
    lock = json.loads((folder / "package-lock.json").read_text())
    manifest = json.loads((folder / "package.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    assert all(package.get("integrity") for name, package in lock["packages"].items() if name)
    wanted = {**manifest.get("dependencies", {}), **manifest.get("devDependencies", {})}
    assert {name: lock["packages"][f"node_modules/{name}"]["version"] for name in wanted} == wanted, "exact versions, and those"


def test_versions_agree() -> None:
    assert MANIFEST["version"] == pallas_lsp.__version__
    assert f"## {pallas_lsp.__version__}" in (EXTENSION / "CHANGELOG.md").read_text()


def test_the_pictures_exist_and_are_small() -> None:
    shown = set(re.findall(r"!\[[^]]+\]\((pictures/[\w-]+\.png)\)", README))
    assert {str(picture.relative_to(EXTENSION)) for picture in (EXTENSION / "pictures").glob("*.png")} == shown
    for picture in shown:
        data = (EXTENSION / picture).read_bytes()
        assert data.startswith(b"\x89PNG") and len(data) < 150_000, picture
    assert struct.unpack(">II", (EXTENSION / MANIFEST["icon"]).read_bytes()[16:24]) == (256, 256)


@pytest.mark.editor
@pytest.mark.skipif(not is_fresh(EXTENSION / "pallas-lsp.vsix"), reason="needs `make vsix`, after the last change")
def test_the_vsix_holds_the_server_and_nothing_of_one_platform() -> None:
    with zipfile.ZipFile(EXTENSION / "pallas-lsp.vsix") as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist() if name.startswith("extension/")}
        version = archive.read("extension/bundled/libs/pallas_lsp/__init__.py").decode()
        assert f'"{pallas_lsp.__version__}"' in version
        assert "TargetPlatform" not in archive.read("extension.vsixmanifest").decode()
    ours = {name for name in names if not name.startswith("bundled/libs/")}
    assert ours == {"package.json", "readme.md", "changelog.md", "LICENSE.txt", "icon.png", "dist/extension.js", "bundled/serve.py"}
    pages = {f"bundled/libs/{page.relative_to(REPOSITORY)}" for page in (REPOSITORY / "pallas_lsp/pages/rules").glob("*.md")}
    assert pages <= names
    packages = {line.partition("==")[0] for line in (EXTENSION / "bundled/requirements.txt").read_text().splitlines() if "==" in line}
    assert {name.split("-")[0] for name in {name.split("/")[2] for name in names - ours} if name.endswith(".dist-info")} == packages | {
        "pallas_lsp"
    }
    assert not [name for name in names if name.endswith((".so", ".pyd", ".dylib", ".pyc"))]
