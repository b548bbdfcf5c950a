"""Where the server's settings come from, and that a change of them is seen at once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from server.editing import Editor, RecordingClient, config
from server.texts import BAD

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULE = "store-scalar-to-vmem"


@pytest_lsp.fixture(scope="module", params=["vscode", "pulling"], config=config())
async def client(
    lsp_client: RecordingClient, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    """VS Code is asked for its settings; the other client can only push them."""
    lsp_client.editor = Editor(lsp_client, request.param, tmp_path_factory.mktemp("workspace"))
    await lsp_client.editor.start(jaxVersion="0.10.2")
    yield
    await lsp_client.shutdown_session()
    assert lsp_client.messages == []


@pytest.fixture
def editor(client: RecordingClient) -> Editor:
    return client.editor


async def test_the_editors_settings(editor: Editor) -> None:
    editor.open("settings.py", BAD)
    await editor.eventually("settings.py", RULE)
    await editor.configure({"ignore": [RULE]})
    await editor.eventually("settings.py")
    await editor.configure({})
    await editor.eventually("settings.py", RULE)
    await editor.configure({"select": ["load-vector-from-smem"]})
    await editor.eventually("settings.py")
    await editor.configure({})
    await editor.eventually("settings.py", RULE)


async def test_what_cannot_be_obeyed_is_logged_and_nothing_else(editor: Editor) -> None:
    editor.open("wrong.py", BAD)
    await editor.configure({"target": "v99", "select": ["store-scalar-to-vmen"], "ignore": [RULE]})
    await editor.eventually("wrong.py")
    logged = "\n".join(message.message for message in editor.client.log_messages)
    assert "v99" in logged and "did you mean 'store-scalar-to-vmem'" in logged
    await editor.configure({})
    await editor.eventually("wrong.py", RULE)


async def test_the_projects_settings_and_their_change(editor: Editor) -> None:
    editor.open("project.py", BAD)
    await editor.eventually("project.py", RULE)
    pyproject = editor.folder / "pyproject.toml"
    pyproject.write_text(f'[tool.pallas-lsp]\nignore = ["{RULE}"]\n')
    editor.changed_on_disk("pyproject.toml")
    await editor.eventually("project.py")
    pyproject.unlink()
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri("project.py"))))
    await editor.eventually("project.py", RULE)  # for a client that watches no files but tells what it saves


async def test_a_module_changed_on_disk(editor: Editor) -> None:
    spaces = editor.folder / "spaces.py"
    spaces.write_text("from jax.experimental.pallas import tpu as pltpu\nOUT = pltpu.VMEM\n")
    out_specs = "out_specs=pl.BlockSpec((8, 128), lambda: (0, 0)"
    editor.open("reads.py", "import spaces\n" + BAD.replace(out_specs, f"{out_specs}, memory_space=spaces.OUT"))
    await editor.eventually("reads.py", RULE)
    spaces.write_text("from jax.experimental.pallas import tpu as pltpu\nOUT = pltpu.SMEM\n")
    editor.changed_on_disk("spaces.py")
    await editor.eventually("reads.py")


async def test_a_folder_that_is_added_has_its_own_settings(editor: Editor) -> None:
    other = editor.folder.parent / f"{editor.folder.name}-other"
    other.mkdir()
    await editor.configure({"ignore": [RULE]}, folder=other)
    event = types.WorkspaceFoldersChangeEvent(added=[types.WorkspaceFolder(other.as_uri(), "other")], removed=[])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    in_other, in_first = (other / "in_other.py").as_uri(), "in_first.py"
    editor.open(in_other, BAD)
    editor.open(in_first, BAD)
    await editor.eventually(in_other)
    await editor.eventually(in_first, *([RULE] if editor.name == "vscode" else []))  # what is pushed is for all folders
