"""What the client can take, by the capabilities that it announced."""

from __future__ import annotations

import functools
from typing import Any, cast

from lsprotocol import types

from ..text.source import Encoding


class Client:
    """What the client can take, by the capabilities it announced."""

    def __init__(self, capabilities: types.ClientCapabilities, encoding: Encoding) -> None:
        self.encoding: Encoding = encoding
        """The units that columns are counted in, as agreed in ``initialize``."""

        def ability(name: str) -> Any:
            return functools.reduce(lambda value, part: getattr(value, part, None), name.split("."), cast(Any, capabilities))

        def can(name: str) -> bool:
            return ability(name) is True

        self.pulls = (
            can("text_document.diagnostic.related_document_support") and can("workspace.diagnostics.refresh_support")
        )
        """Whether diagnostics are pulled; else they are pushed. A finding can lie in a file that is not the edited one, so only a client
        that takes reports on other documents and can be asked to pull again would see all of them by pulling."""
        asked = "text_document.diagnostic" if self.pulls else "text_document.publish_diagnostics"
        self.takes_related = can(f"{asked}.related_information")
        self.takes_markdown = types.MarkupKind.Markdown in (ability("text_document.hover.content_format") or ())
        self.takes_literals = ability("text_document.code_action.code_action_literal_support") is not None
        self.takes_preferred = can("text_document.code_action.is_preferred_support")
        self.takes_document_changes = can("workspace.workspace_edit.document_changes")
        self.gives_configuration = can("workspace.configuration")
        self.resolves_edits = "edit" in (ability("text_document.code_action.resolve_support.properties") or ()) and can(
            "text_document.code_action.data_support"
        )
        """Whether code actions may come without their edits, which the client asks for when they are taken."""
        self.shows_documents = can("window.show_document.support")
        self.shows_progress = can("window.work_done_progress")
        self.shows_pages_of_completions = types.MarkupKind.Markdown in (
            ability("text_document.completion.completion_item.documentation_format") or ()
        )
        self.tags = frozenset(ability(f"{asked}.tag_support.value_set") or ())
        self.refreshes_hints = can("workspace.inlay_hint.refresh_support")
        self.refreshes_lenses = can("workspace.code_lens.refresh_support")
        self.watches_files = can("workspace.did_change_watched_files.dynamic_registration")
        self.registers_configuration = can("workspace.did_change_configuration.dynamic_registration")
