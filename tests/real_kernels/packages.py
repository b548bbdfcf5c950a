"""The kernels' packages as a project: copies, which the tests may import and change."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from corpus.recording import copy_of_jax_kernels
from jax._src.random import prng
from real_kernels.calls import JAX, PACKAGE, RealCall
from real_kernels.package_calls import OTHERS

_GENERATORS = frozenset(prng.prngs)


def copied(folder: Path) -> list[RealCall]:
    """Copies JAX's kernels and the other packages that are installed to ``folder``; gives the calls of all of them."""
    copy_of_jax_kernels(folder, PACKAGE)
    calls = list(JAX)
    for name in dict.fromkeys(call.package for call in OTHERS):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            shutil.copytree(Path(spec.origin).parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            calls += [call for call in OTHERS if call.package == name]
    return calls


@contextlib.contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Around what imports modules from ``folder``; they are forgotten then."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        forget(folder)


def forget(folder: Path) -> None:
    """Let modules of ``folder`` be imported anew."""
    forget_generators()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def forget_generators() -> None:
    """Let random generators that modules registered be registered anew."""
    for generator in set(prng.prngs) - _GENERATORS:
        del prng.prngs[generator]
