"""Our types as the protocol's, by what a client can take."""

from __future__ import annotations

import pytest
from lsprotocol import types
from server.editing import capabilities

from pallas_lsp.features.actions import Action
from pallas_lsp.features.hover import Hover
from pallas_lsp.rules.diagnostic import Diagnostic, Fix, Related
from pallas_lsp.server.client import Client
from pallas_lsp.server.convert import Converter, result_id, without_markdown
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Edit, Location, Span

KERNEL = Source("/w/kernel.py", "é𝛼 = bad\nx = 1\n")
OPS = Source("/w/ops.py", "call = 1\n")
SOURCES = {source.path: source for source in (KERNEL, OPS)}
EDITS = (Edit(KERNEL.path, Span(5, 8), "good"), Edit(OPS.path, Span(0, 4), "use"), Edit(KERNEL.path, Span(9, 9), "y"))
FIX = Fix("Mend both", "safe", EDITS)
FINDING = Diagnostic(
    "store-scalar-to-vmem",
    "warning",
    "it is bad",
    Location(KERNEL.path, Span(5, 8)),
    (Related(Location(OPS.path, Span(0, 4)), "called here"), Related(Location("/gone.py", Span(0, 1)), "gone")),
    (FIX,),
)


def converter(name: str) -> Converter:
    client = Client(capabilities(name), {"vscode": "utf-16", "neovim": "utf-8", "emacs": "utf-32"}.get(name, "utf-16"))  # type: ignore[arg-type]
    return Converter(client, lambda path: f"file://{path}", {KERNEL.path: 7}.get)


def places(found: types.Range) -> tuple[int, int, int, int]:
    return found.start.line, found.start.character, found.end.line, found.end.character


@pytest.mark.parametrize(("client", "column"), [("vscode", 6), ("neovim", 9), ("emacs", 5)])
def test_columns_are_in_the_clients_units(client: str, column: int) -> None:
    found = converter(client).diagnostic(FINDING, SOURCES)
    assert places(found.range) == (0, column, 0, column + 3)


def test_a_finding_with_all_there_is_to_it() -> None:
    found = converter("vscode").diagnostic(FINDING, SOURCES)
    assert (found.message, found.code, found.source, found.severity) == (
        "it is bad", "store-scalar-to-vmem", "pallas-lsp", types.DiagnosticSeverity.Warning
    )  # fmt: skip
    assert found.code_description is not None and found.code_description.href.startswith("https://")
    (related,) = found.related_information or []
    assert (related.location.uri, related.message) == ("file:///w/ops.py", "called here")
    assert found.data == {"rule": "store-scalar-to-vmem"}
    assert converter("emacs").diagnostic(FINDING, SOURCES).related_information is None


def test_edits_are_for_the_versions_at_hand_where_the_client_can_say_so() -> None:
    action = Action(FIX.title, FIX.edits, (FINDING,), preferred=True)
    found = converter("vscode").action(action, SOURCES)
    assert (found.title, found.kind, found.is_preferred) == ("Mend both", types.CodeActionKind.QuickFix, True)
    assert found.edit is not None and found.edit.changes is None
    changes = [change for change in found.edit.document_changes or [] if isinstance(change, types.TextDocumentEdit)]
    assert [(change.text_document.uri, change.text_document.version) for change in changes] == [
        ("file:///w/kernel.py", 7), ("file:///w/ops.py", None)
    ]  # fmt: skip
    assert [(places(edit.range), edit.new_text) for edit in changes[0].edits] == [  # type: ignore[union-attr]
        ((0, 6, 0, 9), "good"), ((1, 0, 1, 0), "y")
    ]  # fmt: skip
    plain = converter("neovim").action(action, SOURCES).edit  # it does not announce versioned changes
    assert plain is not None and plain.document_changes is None and (plain.changes or {}).keys() == {"file:///w/kernel.py", "file:///w/ops.py"}


def test_diagnostics_are_pulled_only_by_a_client_that_would_see_all_of_them() -> None:
    assert {name: Client(capabilities(name), "utf-16").pulls for name in ("vscode", "neovim", "emacs", "pulling")} == {
        "vscode": False, "neovim": False, "emacs": False, "pulling": True
    }  # fmt: skip
    assert not Client(types.ClientCapabilities(), "utf-16").pulls


def test_the_name_of_a_result_changes_with_what_is_shown() -> None:
    first, again = ([converter("vscode").diagnostic(FINDING, SOURCES)] for _ in range(2))
    moved = [converter("neovim").diagnostic(FINDING, SOURCES)]
    assert result_id(first) == result_id(again) != result_id(moved) != result_id([])


def test_hover_in_plain_text() -> None:
    finding = "**error** `a-rule`: x \\*y\\* `*z`\n\n```text\nJAX **says** `this`\n```\n"
    page = "\n# Title\n\n[docs](https://docs.jax.dev/x)\n\n---\n\n- item\n"
    plain = "error a-rule: x *y* *z\n\nJAX **says** `this`\n\nTitle\n\ndocs: https://docs.jax.dev/x\n\n- item"
    assert without_markdown(finding + page) == plain
    found = converter("emacs").hover(Hover(Span(5, 8), "**x**"), KERNEL)
    assert found.contents == types.MarkupContent(types.MarkupKind.PlainText, "x")
    assert converter("vscode").hover(Hover(Span(5, 8), "**x**"), KERNEL).contents == types.MarkupContent(types.MarkupKind.Markdown, "**x**")
