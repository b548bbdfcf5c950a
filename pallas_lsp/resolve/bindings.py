"""What a name at the top level of a file is, as far as reading tells."""

from __future__ import annotations

import ast

from .imports import LibraryName, ProjectAttribute, ProjectModule, Target, import_targets
from .project import Project

_STEPS = 8  # of one name through re-exports and aliases
_SOURCES = 4  # of one name in a file: more are not compared


def binding_target(path: str, name: str, project: Project) -> Target | None:
    """What the top level of the file ``path`` binds ``name`` to: imports, re-exports and plain aliases are followed.

    A ``ProjectAttribute`` where it ends at anything else (a function, a call, bindings that differ): only executing that
    file tells more. None where the file cannot be read or does not bind the name.
    """
    return _bound(path, name, project, _STEPS)


def _bound(path: str, name: str, project: Project, steps: int) -> Target | None:
    exports = project.exports(path)
    if exports is None:
        return None
    if name not in exports.bindings:
        return _from_stars(path, name, project, steps)
    itself = ProjectAttribute(path, name)
    statements = exports.bindings[name]
    if steps == 0 or len(statements) > _SOURCES:
        return itself
    found = {_bound_by(statement, itself, project, steps - 1) for statement in statements}
    return found.pop() if len(found) == 1 else itself


def _from_stars(path: str, name: str, project: Project, steps: int) -> Target | None:
    for module in reversed(project.star_modules(path) if steps else []):
        match module:
            case ProjectModule(source) if project.binds(source, name):
                return _bound(source, name, project, steps - 1)
            case LibraryName() if module.has(name):
                return module.member(name)
            case _:
                continue
    return None


def _bound_by(statement: ast.stmt, itself: ProjectAttribute, project: Project, steps: int) -> Target:
    match statement:
        case ast.Import() | ast.ImportFrom():
            target = import_targets(statement, itself.path, project)[itself.name]
            return _followed(target, project, steps) or itself
        case ast.Assign(value=ast.Name() | ast.Attribute() as value, targets=targets) if any(
            isinstance(target, ast.Name) and target.id == itself.name for target in targets
        ):
            return _spelled(value, itself.path, project, steps) or itself
        case _:
            return itself


def _spelled(value: ast.expr, path: str, project: Project, steps: int) -> Target | None:
    """What a dotted expression at the top level of ``path`` denotes; None where only running it would tell."""
    match value:
        case ast.Name(id=name):
            return _bound(path, name, project, steps)
        case ast.Attribute(value=owner, attr=name):
            match _spelled(owner, path, project, steps):
                case LibraryName() as library:
                    return library.member(name)
                case ProjectModule(module):
                    return _followed(project.member(module, name), project, steps)
    return None


def _followed(target: Target | None, project: Project, steps: int) -> Target | None:
    return _bound(target.path, target.name, project, steps) if isinstance(target, ProjectAttribute) else target
