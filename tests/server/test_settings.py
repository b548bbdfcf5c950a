"""Where the server's settings come from, and that a change of them is seen at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from server.editing import PATIENCE, Editor, RecordingClient, config
from small_kernel import BAD

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


async def test_a_folder_that_is_removed_takes_its_settings_with_it(editor: Editor) -> None:
    folder = editor.folder.parent / f"{editor.folder.name}-removed"
    folder.mkdir()
    added = [types.WorkspaceFolder(folder.as_uri(), "removed")]
    await editor.configure({"ignore": [RULE]}, folder=folder)
    change = types.WorkspaceFoldersChangeEvent(added=added, removed=[])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(change))
    name = (folder / "removed.py").as_uri()
    editor.open(name, BAD)
    await editor.eventually(name)
    await editor.configure({})
    change = types.WorkspaceFoldersChangeEvent(added=[], removed=added)
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(change))
    await editor.eventually(name, RULE)


async def test_what_is_shown_in_the_text_can_be_switched(editor: Editor) -> None:
    editor.open("shown.py", BAD.replace("    o_ref[0, 0]", "    total = x_ref[...] * 2\n    o_ref[0, 0]"))
    refs, values = ["x_ref: f32[8,128] vmem", "o_ref: f32[8,128] vmem"], ["total: f32[8,128]"]
    assert (await editor.hints("shown.py"), len(await editor.lenses("shown.py"))) == (refs, 1)
    await editor.configure({"inlayHints": {"refs": False, "values": True}, "codeLens": False})
    async with asyncio.timeout(PATIENCE):
        while (await editor.hints("shown.py"), await editor.lenses("shown.py")) != (values, []):
            await asyncio.sleep(0.01)
    await editor.configure({})
    async with asyncio.timeout(PATIENCE):
        while (await editor.hints("shown.py"), len(await editor.lenses("shown.py"))) != (refs, 1):
            await asyncio.sleep(0.01)


async def test_what_type_checkers_report_is_left_to_them(editor: Editor) -> None:
    editor.open("typed.py", BAD.replace("        in_specs=", "        in_spec="))
    await editor.eventually("typed.py")
    await editor.configure({"typeCheckerRules": True})
    await editor.eventually("typed.py", "pallas-call-signature")
    await editor.configure({})
    await editor.eventually("typed.py")


async def test_a_configuration_that_cannot_be_used_is_told_once_and_the_defaults_hold(editor: Editor) -> None:
    editor.open("configured.py", BAD)
    pyproject = editor.folder / "pyproject.toml"
    pyproject.write_text(f'[tool.pallas-lsp]\nignor = ["{RULE}"]\n')
    for _ in range(3):
        editor.changed_on_disk("pyproject.toml")
        await editor.eventually("configured.py", RULE)
    (told,) = editor.client.messages
    assert told.type == types.MessageType.Warning and "did you mean 'ignore'" in told.message and str(pyproject) in told.message
    pyproject.unlink()
    editor.changed_on_disk("pyproject.toml")
    await editor.eventually("configured.py", RULE)
    editor.client.messages.clear()


async def test_the_client_is_asked_to_tell_of_changes(editor: Editor) -> None:
    registered = {entry.method: entry.register_options for entry in editor.client.registered}
    if editor.name == "pulling":
        assert registered == {}
        return
    assert registered.keys() == {"workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration"}
    assert "**/pyproject.toml" in str(registered["workspace/didChangeWatchedFiles"])
    assert "pallas-lsp" in str(registered["workspace/didChangeConfiguration"])


async def test_how_much_is_logged_and_traced(editor: Editor) -> None:
    assert any(str(editor.folder) in entry.message for entry in editor.client.log_messages), "what it works with"
    await editor.configure({"logLevel": "error"})
    await editor.eventually("configured.py", RULE)
    before = len(editor.client.log_messages)
    await editor.configure({"target": "v99", "logLevel": "error"})
    await editor.eventually("configured.py", RULE)
    assert len(editor.client.log_messages) == before
    assert editor.client.traces == []
    for value, expected in ((types.TraceValue.Messages, True), (types.TraceValue.Off, False)):
        editor.client.traces.clear()
        editor.client.set_trace(types.SetTraceParams(value))
        editor.change("configured.py", editor.texts["configured.py"] + "\n")
        await editor.eventually("configured.py", RULE)
        assert any("analysed" in line and "configured.py" in line for line in editor.client.traces) == expected
