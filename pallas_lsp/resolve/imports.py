"""What an import statement binds: a name of a library, a module of the project, or a name inside one."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .canonical import canonical, public_names

if TYPE_CHECKING:
    from .project import Project

STAR = "*"

# Libraries whose names are known by their dotted name alone: no file of theirs is ever looked for.
_KNOWN_LIBRARIES = sys.stdlib_module_names | {"jax", "jaxlib", "ml_dtypes", "numpy"}
# ... except the kernels that JAX ships: ordinary Pallas code, which a checkout of JAX has as project files.
_JAX_KERNELS = "jax.experimental.pallas.ops"


@dataclass(frozen=True, slots=True)
class LibraryName:
    """A name outside the project. ``dotted`` is its canonical name, ``spelled`` the name by which it was reached.

    Two library names are equal when their canonical names are.
    """

    dotted: str
    spelled: str = field(compare=False)

    @classmethod
    def of(cls, spelled: str) -> LibraryName:
        """The library name reached as ``spelled``, e.g. ``jax.experimental.pallas.tpu.TPUMemorySpace.SMEM``."""
        return cls(canonical(spelled), spelled)

    def member(self, name: str) -> LibraryName:
        """The attribute ``name`` of this module or class."""
        return LibraryName.of(f"{self.spelled}.{name}")

    def has(self, name: str) -> bool:
        """Whether this is a module of JAX whose public names, in any version read, include ``name``."""
        return name in public_names(self.dotted)

    @property
    def is_known(self) -> bool:
        """Whether the dotted name says what it is; otherwise its package has to be read to tell."""
        return is_known_library(self.dotted)


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A module by its file; a folder stands for a namespace package, whose only names are its submodules."""

    path: str


@dataclass(frozen=True, slots=True)
class ProjectAttribute:
    """The name ``name`` that the top level of the file ``path`` binds."""

    path: str
    name: str


Target = LibraryName | ProjectModule | ProjectAttribute


def is_known_library(dotted: str) -> bool:
    """Whether ``dotted`` belongs to JAX, NumPy or the standard library."""
    top = dotted.partition(".")[0]
    return top in _KNOWN_LIBRARIES and not f"{dotted}.".startswith(f"{_JAX_KERNELS}.")


def import_targets(node: ast.Import | ast.ImportFrom, importer: str, project: Project) -> dict[str, Target]:
    """What each name bound by ``node`` denotes, for the file ``importer`` (an absolute path).

    A star import gives the one key ``STAR``, whose target is the module that is imported from. Nothing is executed
    and nothing raises; a module that the project does not have is a ``LibraryName``.
    """
    if isinstance(node, ast.Import):
        return dict(_plain_import(alias, importer, project) for alias in node.names)
    module = node.module or ""
    known = node.level == 0 and is_known_library(module)
    path = None if known else project.find_module(module, importer, node.level)
    # A relative import that leads nowhere keeps its dots, so that no library name can be mistaken for it.
    base = "." * node.level + module
    targets: dict[str, Target] = {}
    for alias in node.names:
        found: Target | None = None
        if path is not None:
            found = ProjectModule(path) if alias.name == STAR else project.member(path, alias.name, importer)
        spelled = base if alias.name == STAR else f"{base}.{alias.name}" if module else f"{base}{alias.name}"
        targets[alias.asname or alias.name] = found or LibraryName.of(spelled)
    return targets


def _plain_import(alias: ast.alias, importer: str, project: Project) -> tuple[str, Target]:
    """``import a.b.c as d`` binds the submodule, ``import a.b.c`` binds ``a``."""
    top = alias.name.partition(".")[0]
    path = None if is_known_library(alias.name) else project.find_module(alias.name, importer)
    if path is None or not path.endswith(".py"):  # a mere folder gives way to what may be installed under its name
        return (alias.asname, LibraryName.of(alias.name)) if alias.asname else (top, LibraryName.of(top))
    if alias.asname is None:
        return top, ProjectModule(project.find_module(top, importer) or path)
    package, _, last = alias.name.rpartition(".")
    parent = project.find_module(package, importer) if package else None
    return alias.asname, (project.member(parent, last, importer) if parent else None) or ProjectModule(path)
