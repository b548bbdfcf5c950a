"""One public dotted name for each thing of JAX, however it was reached."""

from __future__ import annotations

from functools import lru_cache

from ..data.names import load_names


@lru_cache(maxsize=16384)
def canonical(dotted: str) -> str:
    """The public name of what ``dotted`` names: ``jax._src.pallas.core.BlockSpec`` is ``jax.experimental.pallas.BlockSpec``.

    A name that is the same thing in no other guise is returned as it is, so are names of other libraries. ``numpy.X`` and
    ``jax.numpy.X`` stay apart, even where JAX hands on NumPy's own object.
    """
    if not dotted.startswith("jax"):
        return dotted
    table = load_names().canonical
    known: str | None = dotted
    while known is not None:
        dotted, known = known, _renamed(known, table)
    return dotted


def exists(public_name: str, jax_version: str) -> bool | None:
    """Whether JAX ``jax_version`` has ``public_name``, spelled as the user does (``jax.experimental.pallas.load``).

    None where that is not known: a module whose names are not listed, or a version outside those read or between two that
    differ. Raises ValueError for text that is no version.
    """
    module, _, name = public_name.rpartition(".")
    return load_names().exists(module, name, jax_version)


def public_names(module: str) -> frozenset[str]:
    """The names that the JAX module ``module`` has in any version read; empty where it is not a listed one."""
    return frozenset(load_names().present.get(module, ()))


def _renamed(dotted: str, table: dict[str, str]) -> str | None:
    """``dotted`` with the longest beginning that has another name replaced by it, None where there is no such beginning."""
    beginning, rest = dotted, ""
    while beginning:
        if beginning in table:
            return table[beginning] + rest
        beginning, _, last = beginning.rpartition(".")
        rest = f".{last}{rest}"
    return None
