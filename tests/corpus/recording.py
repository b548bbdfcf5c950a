"""What JAX itself hands to kernels: every ref of every ``pallas_call`` while a module is traced."""

from __future__ import annotations

import contextlib
import functools
import inspect
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import jax
from jax.experimental import pallas as pl

Shape = tuple[int, ...]

_KERNELS = Path(jax.__file__).parent / "experimental/pallas/ops/tpu"
_THEIR_NAME = "jax.experimental.pallas.ops.tpu"


def copy_of_jax_kernels(folder: Path, package: str) -> None:
    """JAX's TPU kernels as a package of the project in ``folder``."""
    shutil.copytree(_KERNELS, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / package).rglob("*.py"):
        path.write_text(path.read_text().replace(_THEIR_NAME, package))


@dataclass(frozen=True)
class SeenRef:
    """A ref as JAX saw it; ``space`` is JAX's name, ``default`` where nothing was said."""

    shape: Shape
    dtype: str
    space: str


@dataclass(frozen=True)
class SeenCall:
    """A ``pallas_call`` on ``line`` of ``path``, its kernel's refs, and its grid with None for a traced size."""

    path: str
    line: int
    refs: tuple[SeenRef, ...]
    grid: tuple[int | None, ...] = ()


@contextlib.contextmanager
def recorded(folder: Path) -> Iterator[list[SeenCall]]:
    """Fills the list with the kernel calls in files of ``folder`` that are traced inside of the ``with`` block."""
    seen: list[SeenCall] = []
    original = pl.pallas_call

    def pallas_call(kernel: Callable[..., None], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        place = next(((frame.filename, frame.lineno) for frame in inspect.stack(0)[1:] if frame.filename.startswith(str(folder))), None)

        @functools.wraps(kernel)
        def recording(*refs: Any, **more: Any) -> None:
            if place is not None:
                leaves = jax.tree_util.tree_leaves((refs, more))
                seen.append(SeenCall(*place, tuple(seen_ref(jax.typeof(leaf)) for leaf in leaves), _grid(kwargs)))
            return kernel(*refs, **more)

        return original(recording, *args, **kwargs)

    with mock.patch.object(pl, "pallas_call", pallas_call):
        yield seen


def _grid(arguments: dict[str, Any]) -> tuple[int | None, ...]:
    grid = arguments["grid_spec"].grid if arguments.get("grid_spec") is not None else arguments.get("grid", ())
    return tuple(size if isinstance(size, int) else None for size in (grid if isinstance(grid, tuple | list) else (grid,)))


def seen_ref(aval: Any) -> SeenRef:
    """A ref by its type."""
    return SeenRef(tuple(aval.shape), str(aval.dtype), str(aval.memory_space))
