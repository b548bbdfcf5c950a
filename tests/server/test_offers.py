"""Hints, lenses, definitions, completion, commands and fixing all, as VS Code, Neovim, Emacs and a client that pulls see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import pytest_lsp
from lsprotocol import types
from server.editing import PATIENCE, Editor, RecordingClient, config
from small_kernel import BAD, CALL, GOOD, HEAD, KERNEL

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULE = "store-scalar-to-vmem"
WIDE = "𝛼 = 'é𝛼'; "
"""What stands before a place to make its column another one in each encoding."""


@pytest_lsp.fixture(scope="module", params=["vscode", "neovim", "emacs", "pulling"], config=config())
async def client(
    lsp_client: RecordingClient, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    lsp_client.editor = Editor(lsp_client, request.param, tmp_path_factory.mktemp("workspace"))
    await lsp_client.editor.start(jaxVersion="0.10.2")
    yield
    await lsp_client.shutdown_session()
    assert lsp_client.messages == [] and lsp_client.problems() == []


@pytest.fixture
def editor(client: RecordingClient) -> Editor:
    return client.editor


async def test_hints_are_beside_the_parameters_and_follow_the_text(editor: Editor) -> None:
    editor.open("hints.py", GOOD)
    expected = ["x_ref: f32[8,128] vmem", "o_ref: f32[8,128] vmem"]
    assert await editor.hints("hints.py") == expected
    editor.change("hints.py", GOOD.replace("def kernel(", f"{WIDE}\n\n\ndef kernel("))
    assert await editor.hints("hints.py") == expected
    editor.change("hints.py", GOOD.replace("8, 128", "16, 128"))
    assert await editor.hints("hints.py") == [hint.replace("8,128", "16,128") for hint in expected]


async def test_hints_behind_wide_characters(editor: Editor) -> None:
    text = GOOD.replace("    o_ref[...] = x_ref[...]", f"    {WIDE}view = x_ref.at[...]\n    o_ref[...] = view[...]")
    editor.open("wide.py", text)
    assert (await editor.hints("wide.py"))[-1] == "view: f32[8,128] vmem"


async def test_hints_for_the_part_that_is_on_the_screen(editor: Editor) -> None:
    editor.open("part.py", GOOD)
    at = editor.text("part.py").position_of("def run")
    params = types.InlayHintParams(types.TextDocumentIdentifier(editor.uri("part.py")), types.Range(at, at))
    assert not await editor.client.text_document_inlay_hint_async(params)


async def test_a_lens_says_whether_the_call_lowers(editor: Editor) -> None:
    editor.open("lens.py", GOOD)
    (lens,) = await editor.lenses("lens.py")
    assert lens.command is not None and lens.command.title == "VMEM 8 KiB · lowers as it is called" and lens.command.command == ""
    assert editor.text("lens.py").slice(lens.range).startswith("pl.pallas_call(")
    editor.change("lens.py", "\n" + BAD.replace("    o_ref[0, 0]", f"    {WIDE}o_ref[0, 0]"))
    (lens,) = await editor.lenses("lens.py")
    assert lens.command is not None and lens.command.title == "VMEM 8 KiB · 1 error"
    if editor.name == "pulling":
        assert lens.command.command == "", "it shows no place on request"
        return
    assert lens.command.command == "pallas-lsp.goTo" and lens.command.arguments is not None
    await editor.run(lens.command.command, *lens.command.arguments)
    shown = editor.client.shown_documents[-1]
    assert shown.uri == editor.uri("lens.py") and shown.selection is not None
    assert editor.text("lens.py").slice(shown.selection) == "o_ref[0, 0]"


async def test_from_parameter_to_spec_and_operand_and_back(editor: Editor) -> None:
    editor.open("places.py", BAD.replace("        in_specs=", "        # 𝛼\n        in_specs=").replace("    o_ref[0, 0]", f"    {WIDE}o_ref[0, 0]"))
    text = editor.text("places.py")
    spec, operand = await editor.definition("places.py", text.position_of("x_ref, o_ref"))
    assert text.slice(spec.range) == "pl.BlockSpec((8, 128), lambda: (0, 0))" and text.slice(operand.range) == "x"
    (parameter,) = await editor.definition("places.py", text.position_of("o_ref[0, 0]"))
    assert text.slice(parameter.range) == "o_ref" and parameter.range.start == text.position_of("o_ref):")
    back = await editor.definition("places.py", text.position_of("(8, 128), lambda"))
    assert [text.slice(place.range) for place in back] == ["x_ref", "x"]
    assert await editor.definition("places.py", types.Position(0, 0)) == []
    params = types.TypeDefinitionParams(types.TextDocumentIdentifier(editor.uri("places.py")), text.position_of("x_ref[...]"))
    found = await editor.client.text_document_type_definition_async(params)
    assert isinstance(found, list) and [text.slice(place.range) for place in found if isinstance(place, types.Location)] == [text.slice(spec.range)]


async def test_a_definition_in_a_file_that_is_not_open(editor: Editor) -> None:
    (editor.folder / "far_kernels.py").write_text("𝛼 = 1\n" + HEAD + KERNEL)
    editor.open("far_ops.py", HEAD + "from far_kernels import kernel\n" + CALL)
    parameter, operand = await editor.definition("far_ops.py", editor.text("far_ops.py").position_of("(8, 128), lambda"))
    assert parameter.uri == editor.uri("far_kernels.py") and operand.uri == editor.uri("far_ops.py")
    assert parameter.range.start == types.Position(7, len("def kernel("))


async def test_completion_needs_no_analysis_and_no_sound_text(editor: Editor) -> None:
    editor.open("complete.py", GOOD.replace("jnp.float32))", f"jnp.float32))\n{WIDE}pl.BlockSpec((8, 128), memory_space=pltpu.V"))
    text = editor.text("complete.py")
    items = await editor.completed("complete.py", text.position(len(text.text) - 1 if text.text.endswith("\n") else len(text.text)))
    assert [item.label for item in items] == ["pltpu.VMEM", "pltpu.SMEM", "pl.ANY", "pltpu.HBM", "pltpu.SEMAPHORE"]
    assert [item.sort_text for item in items] == sorted(item.sort_text or "" for item in items)
    edit = items[1].text_edit
    assert isinstance(edit, types.TextEdit) and text.edited([edit]).rstrip().endswith("memory_space=pltpu.SMEM")
    assert (items[0].documentation is not None) == (editor.name in ("vscode", "neovim")), "pages are Markdown"
    assert await editor.completed("complete.py", types.Position(0, 0)) == []


async def test_the_rule_of_the_line_is_the_first_to_ignore(editor: Editor) -> None:
    editor.open("ignored.py", BAD)
    await editor.eventually("ignored.py", RULE)
    editor.change("ignored.py", BAD.replace("jnp.sum(x_ref[...])", "jnp.sum(x_ref[...])  # pallas: ignore["))
    items = await editor.completed("ignored.py", editor.text("ignored.py").position(editor.texts["ignored.py"].index("ignore[") + 7))
    assert items[0].label == RULE and items[0].detail


async def test_a_rule_is_explained_on_its_page(editor: Editor) -> None:
    editor.open("explained.py", BAD)
    (found,) = await editor.diagnostics("explained.py")
    offered = [action for action in await editor.actions("explained.py", found.range) if action.title == f"Explain `{RULE}`"]
    if editor.name == "pulling":
        assert offered == []
        return
    (action,) = offered
    assert action.command is not None and action.command.arguments == [RULE]
    uri = await editor.run(action.command.command, *action.command.arguments)
    assert editor.client.shown_documents[-1].uri == uri
    page = Path(unquote(urlparse(str(uri)).path)).read_text()
    assert f"id: {RULE}\n" in page and "## Use instead" in page
    assert await editor.run("pallas-lsp.explainRule", "no-such-rule") is None


SEVERAL = BAD.replace("    o_ref[0, 0]", "    o_ref[1, 1] = jnp.sum(x_ref[...])\n    o_ref[0, 0]") + "x = 1  # pallas: ignore[top-k]\n"


async def test_all_that_is_safely_fixed_at_once(editor: Editor) -> None:
    editor.open("all.py", SEVERAL.replace("\n", "\r\n"))
    assert len(await editor.diagnostics("all.py")) == 3
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    for only in ("source.fixAll.pallas-lsp", "source.fixAll", "source"):
        (action,) = await editor.actions("all.py", start, only)
        assert action.kind == "source.fixAll.pallas-lsp"
    lazy = editor.name in ("vscode", "neovim")
    assert (action.edit is None) == lazy, "worked out when it is chosen, where the client can wait"
    if lazy:
        stale = types.CodeAction(action.title, data={**action.data, "version": 0})  # type: ignore[dict-item]
        assert (await editor.client.code_action_resolve_async(stale)).edit is None
        action = await editor.client.code_action_resolve_async(action)
    assert action.edit is not None
    fixed = editor.applied(action.edit)["all.py"]
    assert "\n" not in fixed.replace("\r\n", ""), "in the line endings of the file"
    editor.change("all.py", fixed)
    assert await editor.diagnostics("all.py") == []
    assert await editor.actions("all.py", start, "source.fixAll") == []


OPERATIONS = GOOD.replace("jnp.float32", "jnp.bfloat16")
"""A kernel of two refs in bfloat16, whose one statement each test writes anew."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "o_ref[...] = x_ref[...] + jnp.sum((x_ref[...] @ x_ref[...].T), axis=1, keepdims=True)",
            "o_ref[...] = x_ref[...] + jnp.sum(jnp.dot(x_ref[...], x_ref[...].T, preferred_element_type=jnp.float32).astype(x_ref.dtype), axis=1, keepdims=True)",
        ),
        ("o_ref[...] = x_ref[...] * 2 % 3", "o_ref[...] = ((x_ref[...] * 2).astype(jnp.float32) % 3).astype(o_ref.dtype)"),
        (
            "if jnp.sum(x_ref[...]) > 0:  # 𝛼\n        o_ref[...] = x_ref[...]\n    else: o_ref[...] = -x_ref[...]",
            "condition = jnp.sum(x_ref[...]) > 0\n    @pl.when(condition)\n    def _():  # 𝛼\n        o_ref[...] = x_ref[...]\n"
            "    @pl.when(jnp.logical_not(condition))\n    def _():\n        o_ref[...] = -x_ref[...]",
        ),
    ],
    ids=["a product", "a cast around", "blocks"],
)
async def test_an_operation_is_written_as_it_lowers(editor: Editor, before: str, after: str) -> None:
    old, new = (OPERATIONS.replace("    o_ref[...] = x_ref[...]", f"    {WIDE}pass\n    {body}").replace("\n", "\r\n") for body in (before, after))
    name = f"operation{len(before)}.py"
    editor.open(name, old)
    found = (await editor.diagnostics(name))[0]
    action = (await editor.actions(name, found.range, "quickfix"))[0]
    assert action.edit is not None and editor.applied(action.edit)[name] == new


async def test_it_is_offered_beside_other_actions_where_it_costs_nothing(editor: Editor) -> None:
    editor.open("beside.py", BAD)
    (found,) = await editor.diagnostics("beside.py")
    kinds = [action.kind for action in await editor.actions("beside.py", found.range)]
    assert kinds.count("source.fixAll.pallas-lsp") == (editor.name in ("vscode", "neovim"))
    assert await editor.actions("beside.py", types.Range(types.Position(0, 0), types.Position(0, 0))) == []


async def test_what_a_comment_does_not_need_is_greyed_out(editor: Editor) -> None:
    editor.open("tags.py", GOOD + "x = 1  # pallas: ignore[top-k]\n")
    (found,) = await editor.diagnostics("tags.py")
    assert list(found.tags or ()) == ([types.DiagnosticTag.Unnecessary] if editor.name != "pulling" else [])


async def test_a_text_for_bug_reports(editor: Editor) -> None:
    text = str(await editor.run("pallas-lsp.debugInformation"))
    assert text.startswith("pallas-lsp ") and str(editor.folder) in text and "jax_version 0.10.2" in text
    assert f"columns in {editor.encoding}" in text


async def test_documents_that_are_not_open_get_nothing(editor: Editor) -> None:
    (editor.folder / "closed.py").write_text(GOOD)
    editor.texts["closed.py"] = GOOD
    assert await editor.hints("closed.py") == [] and await editor.lenses("closed.py") == []
    assert await editor.definition("closed.py", types.Position(0, 0)) == []
    assert await editor.completed("closed.py", types.Position(0, 0)) == []
    del editor.texts["closed.py"]


async def test_what_another_file_changes_is_asked_for_again(editor: Editor) -> None:
    size = "SIZE = 8\n"
    editor.open("sizes.py", size)
    editor.open("sized.py", "from sizes import SIZE\n" + GOOD.replace("(8, 128)", "(SIZE, 128)"))
    assert await editor.hints("sized.py") == ["x_ref: f32[8,128] vmem", "o_ref: f32[8,128] vmem"]
    before = dict(editor.client.refreshed)
    editor.change("sizes.py", "SIZE = 16\n")
    assert await editor.hints("sizes.py") == []
    assert await editor.hints("sized.py") == ["x_ref: f32[16,128] vmem", "o_ref: f32[16,128] vmem"]
    asked = {"vscode": ["hints", "lenses"], "neovim": ["hints"]}.get(editor.name, [])
    async with asyncio.timeout(PATIENCE):
        while [what for what, count in editor.client.refreshed.items() if count > before[what]] != asked:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("text", [GOOD, "", "\ufeff", BAD + "x = (\n", "def kernel(x_ref, o_ref", '"""', GOOD.replace("\n", "\r")], ids=range(7))
async def test_every_request_about_a_place_that_is_not_there_is_answered(editor: Editor, text: str) -> None:
    editor.open("nowhere.py", "# pallas\n" + text)
    far = types.Position(10_000, 10_000)
    assert await editor.hover("nowhere.py", far) is None
    assert await editor.definition("nowhere.py", far) == []
    assert await editor.completed("nowhere.py", far) == []
    assert await editor.actions("nowhere.py", types.Range(types.Position(0, 0), types.Position(0, 0))) == []
    for place in (types.Range(far, far), types.Range(far, types.Position(0, 0))):
        params = types.InlayHintParams(types.TextDocumentIdentifier(editor.uri("nowhere.py")), place)
        assert not await editor.client.text_document_inlay_hint_async(params)
    await editor.lenses("nowhere.py")
    editor.close("nowhere.py")
