"""Files of a made-up project, and what the names in them denote."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

from pallas_lsp.resolve.bindings import binding_target
from pallas_lsp.resolve.environment import Environment
from pallas_lsp.resolve.exports import import_statements
from pallas_lsp.resolve.imports import LibraryName, ProjectAttribute, ProjectModule, Target, import_targets
from pallas_lsp.resolve.project import Project


class Workspace:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = Project([str(root)])

    def use(self, environment: Environment) -> None:
        self.project = Project([str(self.root)], environment)

    def path(self, name: str) -> str:
        return os.path.join(str(self.root), *name.split("/"))

    def write(self, name: str, text: str) -> str:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)

    def imports(self, name: str, text: str | None = None) -> dict[str, Target]:
        """What all imports of the file ``name`` bind, the file written with ``text`` first."""
        path = self.write(name, text) if text is not None else self.path(name)
        parsed = self.project.parsed(path)
        assert parsed is not None
        found: dict[str, Target] = {}
        for statement in import_statements(parsed.tree.body):
            found |= import_targets(statement, path, self.project)
        return found

    def target(self, text: str, name: str) -> Target | None:
        """What a file with ``text`` binds ``name`` to."""
        return binding_target(self.write("module.py", text), name, self.project)

    def module(self, name: str) -> ProjectModule:
        return ProjectModule(self.path(name))

    def attribute(self, module: str, name: str) -> ProjectAttribute:
        return ProjectAttribute(self.path(module), name)


def library(dotted: str) -> LibraryName:
    return LibraryName(dotted, dotted)
