"""Write ``pallas_lsp/data/signatures.toml`` from the sources of several JAX versions, which are only read.

    python tests/resolve/generate_signatures.py SITE_PACKAGES... > pallas_lsp/data/signatures.toml

Each argument is a folder that holds ``jax/`` and ``jax-*.dist-info`` of one version, such as an unpacked wheel.
"""

from __future__ import annotations

import ast
import sys
from itertools import groupby

from resolve.generate_names import Sources, _tree

from pallas_lsp.data.names import version_key
from pallas_lsp.resolve.environment import Environment, jax_version

PL, TPU = "jax.experimental.pallas", "jax.experimental.pallas.tpu"
# What is described, and under which names, newest first, a version may have it.
FUNCTIONS = {
    f"{PL}.pallas_call": [f"{PL}.pallas_call"],
    f"{PL}.kernel": [f"{PL}.kernel"],
    f"{PL}.core_map": [f"{PL}.core_map"],
    f"{PL}.BlockSpec": [f"{PL}.BlockSpec"],
    f"{PL}.GridSpec": [f"{PL}.GridSpec"],
    f"{TPU}.PrefetchScalarGridSpec": [f"{TPU}.PrefetchScalarGridSpec"],
    f"{TPU}.CompilerParams": [f"{TPU}.CompilerParams", f"{TPU}.TPUCompilerParams"],
    f"{TPU}.MemorySpace.__call__": [f"{TPU}.MemorySpace.__call__", f"{TPU}.TPUMemorySpace.__call__"],
    f"{TPU}.SemaphoreType.__call__": [f"{TPU}.SemaphoreType.__call__"],
    f"{PL}.CostEstimate": [f"{PL}.CostEstimate"],
    f"{PL}.Buffered": [f"{PL}.Buffered"],
    "jax.ShapeDtypeStruct": ["jax.ShapeDtypeStruct"],
}


def signature_of(sources: Sources, names: list[str]) -> str | None:
    """The parameters of the first of these names that the version has: ``a b= * c=``, a ``=`` where there is a default."""
    for name in names:
        owner, _, method = name.removesuffix(".__call__"), "", "__call__" if name.endswith(".__call__") else "__init__"
        module, _, public = owner.rpartition(".")
        if sources.file(module) is None or public not in sources.public(module):
            continue
        definition = _definition(sources, sources.chain(owner)[-1])
        if isinstance(definition, ast.FunctionDef):
            return _parameters(definition)
        if isinstance(definition, ast.ClassDef):
            own = next((f for f in definition.body if isinstance(f, ast.FunctionDef) and f.name == method), None)
            return _parameters(own, skip=1) if own is not None else _fields(definition)
    return None


def _definition(sources: Sources, dotted: str) -> ast.stmt | None:
    module, _, name = dotted.rpartition(".")
    file = sources.file(module)
    found = [s for s in (_tree(file).body if file else ()) if isinstance(s, ast.FunctionDef | ast.ClassDef) and s.name == name]
    return found[-1] if found else None


def _parameters(function: ast.FunctionDef, skip: int = 0) -> str:
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    first = len(positional) - len(spec.defaults)
    words = [f"{p.arg}{'=' if i >= first else ''}" for i, p in enumerate(positional)][skip:]
    if spec.kwonlyargs:
        words.append("*")
        words += [f"{p.arg}{'=' if d is not None else ''}" for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
    return " ".join([*words, *(["**"] if spec.kwarg else [])])


def _fields(cls: ast.ClassDef) -> str:
    """The parameters that ``dataclass`` makes of the fields of a class."""
    words: list[str] = []
    keyword_only: list[str] = []
    for statement in cls.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and "ClassVar" not in ast.unparse(statement.annotation):
            default = statement.value
            options = {k.arg: k.value for k in default.keywords} if isinstance(default, ast.Call) and ast.unparse(default.func).endswith("field") else None
            has_default = default is not None if options is None else bool({"default", "default_factory"} & options.keys())
            where = keyword_only if options and "kw_only" in options else words
            where.append(f"{statement.target.id}{'=' if has_default else ''}")
    return " ".join([*words, *(["*", *keyword_only] if keyword_only else [])])


def table_of(folders: list[str]) -> dict[str, dict[str, str | None]]:
    """Function → version → its parameters."""
    versions = {jax_version(Environment((folder,))) or sys.exit(f"no jax in {folder}"): Sources(folder) for folder in folders}
    ordered = sorted(versions, key=version_key)
    return {function: {v: signature_of(versions[v], names) for v in ordered} for function, names in FUNCTIONS.items()}


def main(folders: list[str]) -> None:
    table = table_of(folders)
    versions = list(next(iter(table.values())))
    print("# Written by tests/resolve/generate_signatures.py from the sources of these versions of JAX; do not edit.")
    print(f"versions = {versions}".replace("'", '"'))
    print("\n# From..to which of the versions above a function takes which parameters: `a b= * c=`, a `=` where there is a default.")
    for function, by_version in table.items():
        print(f'[signatures."{function}"]')
        for text, run in groupby(versions, key=lambda v: by_version[v]):
            listed = list(run)
            if text is not None:
                print(f'"{listed[0]}..{listed[-1]}" = "{text}"')
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
