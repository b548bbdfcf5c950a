"""Names of installed packages: jedi says in which file they are, our own reading of that file what they are."""

from __future__ import annotations

import os
import sysconfig

from .bindings import binding_target
from .imports import LibraryName, ProjectModule, Target, is_known_library
from .jedi_lookup import JediLookup, Place
from .project import Project

_QUESTIONS = 4  # to jedi about one name, each from a package further


class InstalledNames:
    """What a name of an installed package is, so that it can be treated like one of the project or of a known library."""

    def __init__(self, project: Project, lookup: JediLookup) -> None:
        self._project = project
        self._lookup = lookup

    def resolve(self, name: LibraryName, importer: str) -> Target | None:
        """What ``name``, a module or a name that a module binds, denotes where the file ``importer`` imports it.

        A ``LibraryName`` of a known library, or a place in a file to be read; None where it is not found or not in time.
        """
        for _ in range(_QUESTIONS):
            if name.is_known:
                return name
            place = self._lookup.imported(name, importer)
            target = definition(place, self._project) if place else None
            if not isinstance(target, LibraryName):
                return target
            name, importer = target, place.path if place else importer
        return None


def definition(place: Place, project: Project) -> Target | None:
    """What is defined at ``place``: simple re-exports and aliases are followed, anything else is left to be executed.

    None where the file cannot be read or does not bind the name.
    """
    if place.full_name and _is_in_known_library(place.path, project):
        return LibraryName.of(place.full_name)
    if place.is_module:
        return ProjectModule(place.path)
    return binding_target(place.path, place.name, project)


def _is_in_known_library(path: str, project: Project) -> bool:
    for folder in (*project.environment.site_packages, sysconfig.get_path("stdlib")):
        if path.startswith(os.path.join(folder, "")):
            return is_known_library(os.path.relpath(path, folder).removesuffix(".py").replace(os.sep, "."))
    return False
