"""Write ``pallas_lsp/data/public_names.toml`` from the sources of several JAX versions, which are only read.

    python tests/resolve/generate_names.py SITE_PACKAGES... > pallas_lsp/data/public_names.toml

Each argument is a folder that holds ``jax/`` and ``jax-*.dist-info`` of one version, such as an unpacked wheel.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from pallas_lsp.data.names import version_key
from pallas_lsp.resolve.environment import Environment, jax_version
from pallas_lsp.resolve.exports import Exports, exports_of

# Where one object has several public names, the first of these modules names it.
PUBLIC_MODULES = (
    "jax.experimental.pallas", "jax.experimental.pallas.tpu", "jax.experimental.pallas.tpu_sc", "jax.experimental.pallas.mosaic_gpu",
    "jax.experimental.pallas.triton", "jax.experimental.pallas.fuser", "jax.ref", "jax", "jax.numpy", "jax.lax", "jax.nn", "jax.random",
    "jax.tree", "jax.tree_util", "jax.core", "jax.dtypes", "jax.sharding", "jax.debug", "jax.ad_checkpoint", "jax.custom_derivatives",
    "jax.custom_batching", "jax.memory", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax.linalg", "jax.nn.initializers",
    "jax.scipy.special", "jax.experimental",
)  # fmt: skip
# The modules of which the table says what each version has.
LISTED_MODULES = [*PUBLIC_MODULES[:6], "jax.ref", "jax", "jax.numpy", "jax.lax", "jax.nn", "jax.random"]
_NOT_API = {"annotations", "typing", "sys", "os"}


@dataclass
class Facts:
    """What one version says: ``present``: module → its public names; ``same``: sets of dotted names of one object."""

    present: dict[str, set[str]] = field(default_factory=dict)
    same: list[set[str]] = field(default_factory=list)
    modules: dict[str, str] = field(default_factory=dict)  # public name → the private module it is

    def has(self, name: str) -> bool:
        """Whether ``name`` is a public name of this version."""
        module, _, last = name.rpartition(".")
        return last in self.present.get(module, ())


class Sources:
    """The modules of one JAX version by dotted name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._exports: dict[str, Exports | None] = {}
        self._deleted: dict[str, set[str]] = {}

    def file(self, dotted: str) -> str | None:
        path = os.path.join(self.folder, *dotted.split("."))
        return next((file for file in (os.path.join(path, "__init__.py"), f"{path}.py") if os.path.isfile(file)), None)

    def exports(self, dotted: str) -> Exports | None:
        if dotted not in self._exports:
            file = self.file(dotted)
            tree = _tree(file) if file else None
            self._exports[dotted] = exports_of(tree) if tree else None
            deletions = [target for node in tree.body if isinstance(node, ast.Delete) for target in node.targets] if tree else []
            self._deleted[dotted] = {target.id for target in deletions if isinstance(target, ast.Name)}
        return self._exports[dotted]

    def submodules(self, dotted: str) -> set[str]:
        file = self.file(dotted)
        if file is None or not file.endswith("__init__.py"):
            return set()
        entries = {name.removesuffix(".py") for name in os.listdir(os.path.dirname(file)) if not name.startswith("_")}
        return {name for name in entries if self.file(f"{dotted}.{name}")}

    def deprecated(self, module: str) -> dict[str, ast.expr | None]:
        """The names that ``module`` still gives through ``deprecation_getattr``, and None for those that it only says are gone."""
        values: dict[str, ast.expr | None] = {}
        exports = self.exports(module)
        for statement in exports.bindings.get("_deprecations", ()) if exports else ():
            table = getattr(statement, "value", None)
            for key, entry in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
                if isinstance(key, ast.Constant) and isinstance(entry, ast.Tuple):
                    last = entry.elts[-1]
                    values[key.value] = None if isinstance(last, ast.Constant) and last.value is None else last
        return values

    def public(self, module: str) -> set[str]:
        """The public names that ``module`` binds or still gives."""
        exports = self.exports(module)
        deprecated = self.deprecated(module)
        names = ({*exports.bindings} - self._deleted[module]) | {*deprecated} if exports else set()
        return {name for name in names if not name.startswith("_") and deprecated.get(name, name) is not None} - _NOT_API

    def next_name(self, dotted: str) -> str | None:
        """The name that ``dotted`` (module.name) is bound to by its one import or plain assignment, None where it is no mere name."""
        module, _, name = dotted.rpartition(".")
        exports = self.exports(module)
        if exports is None:
            return None
        old = self.deprecated(module).get(name)
        if old is not None:
            return self.named(module, old)
        statements = exports.bindings.get(name, ())
        return self._source_of(module, name, statements[0]) if len(statements) == 1 else None

    def _source_of(self, module: str, name: str, statement: ast.stmt) -> str | None:
        match statement:
            case ast.ImportFrom(module=str(source), level=0, names=aliases):
                return next(f"{source}.{alias.name}" for alias in aliases if (alias.asname or alias.name) == name)
            case ast.Import(names=aliases):
                return next((alias.name for alias in aliases if alias.asname == name), None)
            case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self.named(module, value)
            case ast.Assign(targets=[ast.Name(id=first), *_]) if first != name:
                return f"{module}.{first}"
            case _:
                return None

    def named(self, module: str, value: ast.expr) -> str | None:
        """The dotted name that an expression at the top level of ``module`` spells."""
        if isinstance(value, ast.Name):
            exports = self.exports(module)
            return f"{module}.{value.id}" if exports and value.id in exports.bindings else None
        if isinstance(value, ast.Attribute) and (owner := self.named(module, value.value)):
            return f"{owner}.{value.attr}"
        return None

    def chain(self, dotted: str) -> list[str]:
        """``dotted`` and every name on the way to its definition."""
        found = [dotted]
        while following := self.next_name(found[-1]):
            following = self.through_modules(following)
            if following in found or not following.startswith("jax."):
                break
            found.append(following)
        return found

    def through_modules(self, dotted: str) -> str:
        """``module.alias.name``, where ``alias`` is an imported module, as ``its module.name``."""
        owner, _, name = dotted.rpartition(".")
        while owner and not self.file(owner) and (following := self.next_name(owner)):
            owner = following
        return f"{owner}.{name}"


def facts_of(folder: str) -> Facts:
    """Read the public modules of the JAX in ``folder``."""
    sources, facts = Sources(folder), Facts()
    groups: dict[str, set[str]] = {}
    for module in filter(sources.file, PUBLIC_MODULES):
        facts.present[module] = sources.public(module) | sources.submodules(module)
        for name in sources.public(module):
            chain = sources.chain(f"{module}.{name}")
            if not sources.file(chain[-1]):
                members = _members(sources, module, chain)
                members.update(*(groups[member] for member in members if member in groups))
                groups.update(dict.fromkeys(members, members))
            elif "._src." in chain[-1]:
                facts.modules[chain[0]] = chain[-1]
    facts.same = list({id(group): group for group in groups.values() if len(group) > 1}.values())
    return facts


def _members(sources: Sources, module: str, chain: list[str]) -> set[str]:
    """The names of ``chain``; for ``MEMBER = Class.MEMBER`` also the member under the class's name in ``module``.

    Where ``module`` does not export that class, the member's own name stands alone: versions differ in which class it is.
    """
    owner, _, member = chain[-1].rpartition(".")
    if sources.file(owner):
        return {name for name in chain if "._" not in name or "._src." in name}
    here = f"{module}.{owner.rpartition('.')[2]}"
    return {chain[0], chain[-1], f"{here}.{member}"} if sources.chain(here)[-1] == owner else {chain[0]}


def _tree(path: str) -> ast.Module:
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read())


class Table:
    """The facts of several versions, put together."""

    def __init__(self, facts: dict[str, Facts]) -> None:
        self.facts = facts
        self.versions = sorted(facts, key=version_key)

    @cached_property
    def spellings(self) -> dict[str, str]:
        """Every other name of an object → the one to use. Where versions disagree, the newest is right."""
        found: dict[str, str] = {}
        for version in self.versions:
            facts = self.facts[version]
            found = {name: other for name, other in found.items() if not (facts.has(name) and facts.has(other))}
            for group in facts.same:
                public = sorted(filter(_module_of, group), key=_preference)
                if public:
                    found.update({name: public[0] for name in group if name != public[0]})
            found.update(facts.modules)
        return found

    def presence(self, module: str) -> dict[str, list[str]]:
        """Runs of versions ("0.6.2..0.8.3 0.10.0..0.10.2") → the names that exactly these have."""
        runs: dict[str, list[str]] = defaultdict(list)
        for name in sorted({name for facts in self.facts.values() for name in facts.present.get(module, ())}):
            runs[self._runs(module, name)].append(name)
        return runs

    def _runs(self, module: str, name: str) -> str:
        runs: list[list[str]] = []
        previous = False
        for version in self.versions:
            present = name in self.facts[version].present.get(module, ())
            if present and previous:
                runs[-1][1] = version
            elif present:
                runs.append([version, version])
            previous = present
        return " ".join(f"{first}..{last}" for first, last in runs)

    def lines(self) -> Iterable[str]:
        yield "# Written by tests/resolve/generate_names.py from the sources of these versions of JAX; do not edit."
        yield f"versions = {list(self.versions)}".replace("'", '"')
        yield "\n# The versions, of those above, from..to which a module has the names."
        for module in LISTED_MODULES:
            yield f'[present."{module}"]'
            yield from (f'"{runs}" = {_words(names)}' for runs, names in sorted(self.presence(module).items()))
            yield ""
        yield '# Where else the names of a module are found; "a=b": the a there is the b of the module.'
        grouped: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for spelled, name in self.spellings.items():
            owner, _, last = spelled.rpartition(".")
            module, _, public = name.rpartition(".")
            grouped[module][owner].append(last if last == public else f"{last}={public}")
        for module in sorted(grouped):
            yield f'[names."{module}"]'
            yield from (f'"{owner}" = {_words(sorted(names))}' for owner, names in sorted(grouped[module].items()))
            yield ""


def _module_of(name: str) -> str:
    """The public module that ``name`` is in; empty where it is in none."""
    return max((module for module in PUBLIC_MODULES if name.startswith(f"{module}.") and "._" not in name), key=len, default="")


def _preference(name: str) -> tuple[int, int, int, str]:
    """Sorts first: a member of the module itself, then of the earlier module, then the shorter name."""
    module = _module_of(name)
    return name.count(".") - module.count("."), PUBLIC_MODULES.index(module), len(name), name


def _words(names: Iterable[str], width: int = 130) -> str:
    lines, line = [], ""
    for name in names:
        if line and len(line) + len(name) >= width:
            lines.append(line)
            line = ""
        line += f" {name}" if line else name
    lines.append(line)
    return f'"{lines[0]}"' if len(lines) == 1 else '"""\n' + "\n".join(lines) + '"""'


def main(folders: list[str]) -> None:
    facts = {jax_version(Environment((folder,))) or sys.exit(f"no jax in {folder}"): facts_of(folder) for folder in folders}
    print("\n".join(Table(facts).lines()))


if __name__ == "__main__":
    main(sys.argv[1:])
