"""The server as VS Code, Neovim, Emacs and a client that pulls see it, from start to end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from server.editing import Editor, RecordingClient, config
from small_kernel import BAD, CALL, GOOD, HEAD, KERNEL

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENCODINGS = {"vscode": "utf-16", "neovim": "utf-8", "emacs": "utf-32", "pulling": "utf-16"}


@pytest_lsp.fixture(scope="module", params=list(ENCODINGS), config=config())
async def client(
    lsp_client: RecordingClient, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    lsp_client.editor = Editor(lsp_client, request.param, tmp_path_factory.mktemp("workspace"))
    await lsp_client.editor.start(jaxVersion="0.10.2")
    yield
    await lsp_client.shutdown_session()
    assert lsp_client.messages == [], "nothing pops up"
    assert lsp_client.problems() == [], "nothing went wrong"


@pytest.fixture
def editor(client: RecordingClient) -> Editor:
    return client.editor


async def test_what_is_agreed_on(editor: Editor) -> None:
    offered = editor.server.capabilities
    assert isinstance(offered.text_document_sync, types.TextDocumentSyncOptions) and editor.server.server_info is not None
    assert editor.encoding == ENCODINGS[editor.name]
    assert offered.text_document_sync.change == types.TextDocumentSyncKind.Full
    assert (offered.diagnostic_provider is not None) == (editor.name == "pulling"), "pushed or pulled, never both"
    assert editor.server.server_info.name == "pallas-lsp"


async def test_opening_shows_the_finding(editor: Editor) -> None:
    editor.open("opened.py", BAD)
    (found,) = await editor.diagnostics("opened.py")
    assert (found.code, found.severity, found.source) == ("store-scalar-to-vmem", types.DiagnosticSeverity.Error, "pallas-lsp")
    assert editor.text("opened.py").slice(found.range) == "o_ref[0, 0]"
    assert found.code_description is not None and found.code_description.href.startswith("https://docs.jax.dev/")
    assert found.tags is None
    assert found.data == {"rule": "store-scalar-to-vmem"}
    if editor.name == "emacs":
        assert found.related_information is None, "it cannot show them"
    else:
        (related,) = found.related_information or []
        assert related.location.uri == editor.uri("opened.py")
        assert editor.text("opened.py").slice(related.location.range).startswith("pl.BlockSpec((8, 128)")


async def test_editing_takes_it_away_and_brings_it_back(editor: Editor) -> None:
    editor.open("edited.py", GOOD)
    assert await editor.diagnostics("edited.py") == []
    editor.change("edited.py", "# one line more\n" + BAD)
    (found,) = await editor.diagnostics("edited.py")
    assert editor.text("edited.py").slice(found.range) == "o_ref[0, 0]"
    editor.change("edited.py", GOOD)
    assert await editor.diagnostics("edited.py") == []


STATEMENT = "o_ref[0, 0] = jnp.sum"
BEFORE = {
    "non-bmp": (STATEMENT, f"𝛼 = 'é𝛼'; {STATEMENT}"),
    "form-feed": ("import jax\n", "import jax  # \x0c\n"),
    "line-separators": ("import jax\n", "import jax  # \u2028 \x85 \u2029\n"),
    "byte-order-mark": ("import jax\n", "\ufeffimport jax\n"),
    "long-string": ("import jax\n", '"""𝛼\n\x0b\u2028\n"""\nimport jax\n'),
    "broken-line": ("import jax\n", "import jax\n𝛼 = (\n"),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
async def test_positions(editor: Editor, before: str, ending: str) -> None:
    name = f"{before}-{len(ending)}{ord(ending[0])}.py"
    editor.open(name, BAD.replace(*BEFORE[before], 1).replace("\n", ending))
    (found,) = await editor.diagnostics(name)
    assert editor.text(name).slice(found.range) == "o_ref[0, 0]"
    hover = await editor.hover(name, found.range.start)
    assert hover is not None and hover.range is not None and editor.text(name).slice(hover.range) == "o_ref"
    editor.change(name, editor.applied(await editor.ignore(name, found.range))[name])
    assert await editor.diagnostics(name) == []
    editor.close(name)


async def test_hover_says_why(editor: Editor) -> None:
    editor.open("hovered.py", BAD)
    (found,) = await editor.diagnostics("hovered.py")
    hover = await editor.hover("hovered.py", found.range.start)
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    markdown = editor.name != "emacs"
    assert hover.contents.kind == ("markdown" if markdown else "plaintext")
    quoted = "```text\nCannot store scalars to VMEM\n```" if markdown else "JAX says:\nCannot store scalars to VMEM\n"
    assert quoted in hover.contents.value
    assert "o_ref: f32[8,128] in VMEM" in hover.contents.value
    assert ("**" in hover.contents.value) == markdown
    api = await editor.hover("hovered.py", editor.text("hovered.py").position_of("BlockSpec"))
    assert api is not None and "BlockSpec" in api.contents.value  # type: ignore[union-attr]
    assert await editor.hover("hovered.py", types.Position(0, 0)) is None
    assert await editor.hover("hovered.py", types.Position(1000, 1000)) is None
    assert await editor.hover("not-open.py", types.Position(0, 0)) is None


async def test_actions_are_quick_fixes_of_the_finding(editor: Editor) -> None:
    editor.open("fixed.py", BAD)
    (found,) = await editor.diagnostics("fixed.py")
    offered = await editor.actions("fixed.py", found.range, "quickfix")
    fixes = [action for action in offered if action.edit]
    assert [action.title for action in fixes][-2:] == [
        "Ignore `store-scalar-to-vmem` on this line", "Ignore `store-scalar-to-vmem` in this file"
    ]  # fmt: skip
    assert {action.kind for action in fixes} == {types.CodeActionKind.QuickFix}
    assert all([diagnostic.range for diagnostic in action.diagnostics or []] == [found.range] for action in fixes)
    explain = [action for action in offered if not action.edit]
    assert [action.title for action in explain] == ["Explain `store-scalar-to-vmem`"] * (editor.name != "pulling"), "it can show no page"
    unasked = await editor.actions("fixed.py", found.range)
    assert unasked[: len(offered)] == offered
    assert await editor.actions("fixed.py", found.range, "source.organizeImports") == []
    assert await editor.actions("fixed.py", types.Range(types.Position(0, 0), types.Position(0, 0))) == []


async def test_every_fix_takes_the_finding_away(editor: Editor) -> None:
    editor.open("fixes.py", BAD)
    (found,) = await editor.diagnostics("fixes.py")
    offered = await editor.actions("fixes.py", found.range)
    assert len(offered) > 1, "there is more to do than to ignore it"
    assert sum(bool(action.is_preferred) for action in offered) <= 1
    fixed = [(action.title, editor.applied(action.edit)["fixes.py"]) for action in offered if action.edit]
    for title, text in fixed:
        editor.change("fixes.py", text)
        assert await editor.diagnostics("fixes.py") == [], title


async def test_pieces_of_text_are_understood_although_whole_texts_are_asked_for(editor: Editor) -> None:
    before = GOOD.replace("import jax\n", "import jax  # \x0c \u2028\n", 1).replace("    o_ref[...] =", "    𝛼 = 1; o_ref[...] =")
    editor.open("pieces.py", before)
    assert await editor.diagnostics("pieces.py") == []
    editor.replace("pieces.py", "o_ref[...]", "o_ref[0, 0]")
    editor.replace("pieces.py", "x_ref[...]", "jnp.sum(x_ref[...])")
    (found,) = await editor.diagnostics("pieces.py")
    assert editor.text("pieces.py").slice(found.range) == "o_ref[0, 0]"


async def test_a_burst_ends_with_the_last_text(editor: Editor) -> None:
    editor.open("burst.py", GOOD)
    for number in range(20):
        editor.change("burst.py", (GOOD if number % 2 == 0 else BAD) + f"# {number}\n")
    (found,) = await editor.diagnostics("burst.py")
    assert editor.text("burst.py").slice(found.range) == "o_ref[0, 0]"
    await editor.quiet("burst.py")
    if not editor.pulls:
        assert editor.published("burst.py")[-1].version == editor.versions["burst.py"]


FLAG = """\
import functools
{head}
def kernel(x_ref, o_ref, *, flag):
    {sure}
    if flag:
        {perhaps}
    o_ref[...] = x_ref[...]


def run(x, flag):
    body = functools.partial(kernel, flag=flag)
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), in_specs=[pl.BlockSpec((8, 128))])(x)
"""


async def test_the_first_findings_come_before_the_rest(editor: Editor) -> None:
    editor.open("first.py", FLAG.format(head=HEAD, sure="pass", perhaps="pass"))
    assert await editor.diagnostics("first.py") == []
    refreshes = editor.client.diagnostic_refresh_count
    editor.change("first.py", FLAG.format(head=HEAD, sure="o_ref[0, 0] = 1.0", perhaps="o_ref[0, 1] = 1.0"))
    if editor.pulls:
        report = await editor.pull("first.py")
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert editor.text("first.py").slice(report.items[0].range) == "o_ref[0, 0]"
    rest = await editor.diagnostics("first.py")
    assert [editor.text("first.py").slice(found.range) for found in rest] == ["o_ref[0, 0]", "o_ref[0, 1]"]
    told = [len(params.diagnostics) for params in editor.published("first.py") if params.version == 2]
    assert told == ([] if editor.pulls else [1, 2])
    assert editor.client.diagnostic_refresh_count == refreshes + editor.pulls, "the client is asked to pull again"


async def test_a_kernel_in_another_file(editor: Editor) -> None:
    (editor.folder / "two_kernels.py").write_text(HEAD + KERNEL)
    editor.open("two_ops.py", HEAD + "from two_kernels import kernel\n" + CALL)
    if editor.pulls:
        report = await editor.pull("two_ops.py")
        assert list(report.items) == []  # type: ignore[union-attr]
        elsewhere = (report.related_documents or {})[editor.uri("two_kernels.py")].items  # type: ignore[union-attr]
    else:
        elsewhere = (await editor.publication("two_kernels.py", None)).diagnostics
    assert [found.code for found in elsewhere] == ["store-scalar-to-vmem"]

    editor.open("two_kernels.py", HEAD + "\n\n" + KERNEL)
    (found,) = await editor.diagnostics("two_kernels.py")
    assert editor.text("two_kernels.py").slice(found.range) == "o_ref[0, 0]"
    if editor.name != "emacs":
        assert any(related.location.uri == editor.uri("two_ops.py") for related in found.related_information or [])

    offered = [editor.applied(action.edit) for action in await editor.actions("two_kernels.py", found.range) if action.edit]
    (in_ops,) = [texts for texts in offered if texts.keys() == {"two_ops.py"}]
    refreshes = editor.client.diagnostic_refresh_count
    for text in ("import two_kernels\n", in_ops["two_ops.py"]):
        editor.change("two_ops.py", text)
        await editor.eventually("two_kernels.py")
        editor.change("two_ops.py", HEAD + "from two_kernels import kernel\n" + CALL)
        await editor.eventually("two_kernels.py", "store-scalar-to-vmem")
    assert (editor.client.diagnostic_refresh_count > refreshes) == editor.pulls


async def test_closing_clears(editor: Editor) -> None:
    editor.open("closed.py", BAD)
    assert len(await editor.diagnostics("closed.py")) == 1
    editor.close("closed.py")
    if editor.pulls:
        assert await editor.diagnostics("closed.py") == []
    else:
        assert list((await editor.publication("closed.py", None)).diagnostics) == []


async def test_documents_that_are_no_files(editor: Editor) -> None:
    editor.open("untitled:Untitled-1", BAD)
    (found,) = await editor.diagnostics("untitled:Untitled-1")
    (editor.folder / "shapes.py").write_text("SHAPE = (8, 128)\n")
    text = "import shapes\n" + BAD.replace("jax.ShapeDtypeStruct((8, 128)", "jax.ShapeDtypeStruct(shapes.SHAPE")
    editor.change("untitled:Untitled-1", text)
    (found,) = await editor.diagnostics("untitled:Untitled-1")
    assert editor.text("untitled:Untitled-1").slice(found.range) == "o_ref[0, 0]"
    ignore = await editor.ignore("untitled:Untitled-1", found.range)
    assert editor.applied(ignore).keys() == {"untitled:Untitled-1"}
    editor.close("untitled:Untitled-1")


async def test_python_without_pallas(editor: Editor) -> None:
    editor.open("plain.py", "import os\nprint(os.getcwd())\n")
    assert await editor.diagnostics("plain.py") == []
    editor.change("plain.py", "import os\nprint(os.getcwd()\n")
    assert await editor.diagnostics("plain.py") == []


async def test_what_was_known_stays_while_most_of_the_text_is_in_an_open_string(editor: Editor) -> None:
    text = "x = 1\n" * 100 + BAD
    editor.open("typed.py", text)
    assert len(await editor.diagnostics("typed.py")) == 1
    known = (await editor.pull("typed.py")).result_id if editor.pulls else None
    editor.change("typed.py", '"""' + text)
    if editor.pulls:
        report = await editor.pull("typed.py", known)
        assert isinstance(report, types.RelatedUnchangedDocumentDiagnosticReport)
    else:
        await editor.quiet("typed.py")
        assert editor.published("typed.py")[-1].version == 1, "the squiggle stays where the editor moved it"
    editor.change("typed.py", GOOD)
    assert await editor.diagnostics("typed.py") == []


async def test_a_broken_call_costs_no_finding(editor: Editor) -> None:
    editor.open("broken.py", BAD.replace("run(jnp.zeros(", "run(jnp.zeros((("))
    assert [found.code for found in await editor.diagnostics("broken.py")] == ["store-scalar-to-vmem"]
