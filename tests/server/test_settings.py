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
    assert len(await editor.diagnostics("settings.py")) == 1
    await editor.configure({"ignore": [RULE]})
    assert await editor.shown("settings.py") == []
    await editor.configure({"select": ["load-vector-from-smem"]})
    assert await editor.shown("settings.py") == []
    await editor.configure({})
    assert [found.code for found in await editor.shown("settings.py")] == [RULE]


async def test_what_cannot_be_obeyed_is_logged_and_nothing_else(editor: Editor) -> None:
    editor.open("wrong.py", BAD)
    await editor.configure({"target": "v99", "ignore": ["store-scalar-to-vmen"]})
    assert len(await editor.shown("wrong.py")) == 1
    logged = "\n".join(message.message for message in editor.client.log_messages)
    assert "v99" in logged and "did you mean 'store-scalar-to-vmem'" in logged
    await editor.configure({})


async def test_the_projects_settings_and_their_change(editor: Editor) -> None:
    editor.open("project.py", BAD)
    assert len(await editor.diagnostics("project.py")) == 1
    pyproject = editor.folder / "pyproject.toml"
    pyproject.write_text(f'[tool.pallas-lsp]\nignore = ["{RULE}"]\n')
    change = types.FileEvent(editor.uri("pyproject.toml"), types.FileChangeType.Created)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
    assert await editor.shown("project.py") == []
    pyproject.write_text("[tool.pallas-lsp]\n")
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri("project.py"))))
    assert len(await editor.shown("project.py")) == 1, "a client that watches no files tells what it saves"
    pyproject.unlink()


async def test_a_module_changed_on_disk(editor: Editor) -> None:
    (editor.folder / "shapes.py").write_text("BLOCK = (8, 128)\n")
    editor.open("reads.py", "import shapes\n" + BAD.replace("pl.BlockSpec((8, 128)", "pl.BlockSpec(shapes.BLOCK"))
    assert len(await editor.diagnostics("reads.py")) == 1
    (editor.folder / "shapes.py").write_text("BLOCK = None  # not a shape\n")
    change = types.FileEvent(editor.uri("shapes.py"), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
    await editor.quiet("reads.py")
    editor.change("reads.py", editor.texts["reads.py"] + "\n")
    await editor.diagnostics("reads.py")


async def test_another_folder_is_added(editor: Editor) -> None:
    editor.open("stays.py", BAD)
    other = editor.folder.parent / f"{editor.folder.name}-other"
    other.mkdir()
    (other / "pyproject.toml").write_text(f'[tool.pallas-lsp]\nignore = ["{RULE}"]\n')
    event = types.WorkspaceFoldersChangeEvent(added=[types.WorkspaceFolder(other.as_uri(), "other")], removed=[])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    assert len(await editor.shown("stays.py")) == 1
    editor.open((other / "in_other.py").as_uri(), BAD)
    assert await editor.diagnostics((other / "in_other.py").as_uri()) == []
