"""Which lines of kernels a call runs, and which kernels: what a mutant needs to be tried at all."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import jax
from jax.experimental import pallas as pl
from real_kernels.calls import RealCall
from real_kernels.jax_calls import traceable
from real_kernels.kept import Kept, key_of
from referee import on_chip

Place = tuple[str, int]


@dataclass
class Ran:
    """What runs while JAX lowers a call: ``lines`` of each file, ``inside`` those that run while a kernel is traced, and the ``kernels``,
    each a file and the line of its function."""

    lines: dict[str, set[int]] = field(default_factory=dict)
    inside: dict[str, set[int]] = field(default_factory=dict)
    kernels: set[Place] = field(default_factory=set)


def executed(calls: Iterable[RealCall], folder: Path, kept: Kept) -> dict[RealCall, Ran]:
    """What each call runs of the files in ``folder``; calls that JAX refuses are left out."""
    found = {}
    for call in calls:
        key = key_of("ran", call.module, call.text, _texts(folder / call.package))
        if key not in kept:
            kept.put(key, _json(_executed(call, folder), folder))
        if kept[key] is not None:
            lines, inside, kernels = kept[key]
            found[call] = Ran(_sets(lines, folder), _sets(inside, folder), {(str(folder / path), line) for path, line in kernels})
    return found


def _executed(call: RealCall, folder: Path) -> Ran | None:
    ran = Ran()
    jax.clear_caches()
    importlib.import_module(call.module)
    try:
        with on_chip("v5e"), _Tracing(str(folder), ran).around_kernels():
            traceable(call).lower()
    except Exception:
        return None
    return ran


@functools.cache
def _texts(package: Path) -> str:
    return "".join(path.read_text() for path in sorted(package.rglob("*.py")))


def _json(ran: Ran | None, folder: Path) -> Any:
    def short(path: str) -> str:
        return str(Path(path).relative_to(folder))

    if ran is None:
        return None
    lines, inside = ({short(path): sorted(numbers) for path, numbers in found.items()} for found in (ran.lines, ran.inside))
    return [lines, inside, sorted((short(path), line) for path, line in ran.kernels)]


def _sets(lines: dict[str, list[int]], folder: Path) -> dict[str, set[int]]:
    return {str(folder / path): set(numbers) for path, numbers in lines.items()}


class _Tracing:
    """Around what runs: notes each line of a file in the folder."""

    def __init__(self, prefix: str, ran: Ran) -> None:
        self.prefix, self.ran, self.depth = prefix, ran, 0

    @contextlib.contextmanager
    def around_kernels(self) -> Iterator[None]:
        with mock.patch.object(pl, "pallas_call", self._noting(pl.pallas_call)), mock.patch.object(pl, "kernel", self._noting(pl.kernel)):
            before = sys.gettrace()
            sys.settrace(self._enter)
            try:
                yield
            finally:
                sys.settrace(before)

    def _noting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """``pl.pallas_call`` or ``pl.kernel``, told when the kernel that it is given runs."""

        def calling(kernel: Any = None, *args: Any, **kwargs: Any) -> Any:
            kernel = kwargs.pop("body", kernel)
            if not callable(kernel):  # ``@pl.kernel(...)``
                return lambda body: calling(body, *args, **kwargs)

            @functools.wraps(kernel)
            def inside(*refs: Any, **more: Any) -> Any:
                self.depth += 1
                try:
                    return kernel(*refs, **more)
                finally:
                    self.depth -= 1

            code = getattr(inspect.unwrap(_whole(kernel)), "__code__", None)
            if code is not None and code.co_filename.startswith(self.prefix):
                self.ran.kernels.add((code.co_filename, code.co_firstlineno))
            return call(inside, *args, **kwargs)

        return calling

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if frame.f_code.co_filename.startswith(self.prefix) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        path = frame.f_code.co_filename
        self.ran.lines.setdefault(path, set()).add(frame.f_lineno)
        if self.depth:
            self.ran.inside.setdefault(path, set()).add(frame.f_lineno)
        return self._line


def _whole(kernel: Any) -> Any:
    while isinstance(kernel, functools.partial):
        kernel = kernel.func
    return kernel
