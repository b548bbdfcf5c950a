"""Calls of real kernels as JAX makes them: the same text that the checker reads, evaluated in the kernel's own module."""

from __future__ import annotations

import ast
import importlib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import jax
from jax.experimental import pallas as pl
from real_kernels.calls import RealCall

_SHORT = {"f32": "float32", "bf16": "bfloat16", "i32": "int32", "i8": "int8", "u32": "uint32", "bool": "bool"}


@dataclass(frozen=True)
class Traceable:
    """A function of arrays, and what it is traced with."""

    function: Callable[..., Any]
    operands: list[jax.ShapeDtypeStruct]

    def lower(self) -> Any:
        """Trace and lower for a TPU; gives the jaxpr, or raises what JAX raises."""
        traced = self.trace()
        traced.lower(lowering_platforms=("tpu",))
        return traced.jaxpr.jaxpr

    def trace(self) -> Any:
        """Trace it for a TPU, whatever the program makes of the backend and the devices that there are."""
        pallas_call = pl.pallas_call

        def compiled(*args: Any, **kwargs: Any) -> Any:
            return pallas_call(*args, **(kwargs | {"interpret": False}))

        chip = types.SimpleNamespace(platform="tpu", device_kind="TPU v5 lite", num_cores=1, id=0, process_index=0)
        with (
            mock.patch.object(jax, "default_backend", lambda: "tpu"),
            mock.patch.object(jax, "devices", lambda backend=None: [chip]),
            mock.patch.object(pl, "pallas_call", compiled),
        ):
            return jax.jit(self.function).trace(*self.operands)


def traceable(call: RealCall) -> Traceable:
    """The call with its shapes as operands."""
    return evaluated(call.text, importlib.import_module(call.module))


def evaluated(text: str, module: types.ModuleType) -> Traceable:
    """The call that ``text`` writes, among the names of ``module``."""
    shapes = _Shapes()
    body = shapes.visit(ast.parse(text.replace("[]", "[()]"), mode="eval").body)
    names = [ast.arg(f"operand_{index}") for index in range(len(shapes.found))]
    function = ast.Lambda(ast.arguments([], names, None, [], [], None, []), body)
    code = compile(ast.fix_missing_locations(ast.Expression(function)), "<call>", "eval", dont_inherit=True)
    return Traceable(eval(code, _names(module)), [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes.found])


def kernels_in(jaxpr: Any) -> Iterator[Any]:
    """The jaxpr of every kernel that is called somewhere in ``jaxpr``."""
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for part in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(part, "jaxpr", part)
                if not hasattr(inner, "eqns"):
                    continue
                if equation.primitive.name == "pallas_call":
                    yield inner
                else:
                    yield from kernels_in(inner)


def _names(module: types.ModuleType) -> dict[str, Any]:
    return {"jax": jax, "jnp": jax.numpy, "lax": jax.lax} | vars(module)


class _Shapes(ast.NodeTransformer):
    """Puts an operand's name for every ``f32[8,128]``."""

    def __init__(self) -> None:
        self.found: list[tuple[tuple[int, ...], str]] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.value, ast.Name) or node.value.id not in _SHORT:
            return node
        shape = ast.literal_eval(node.slice)
        self.found.append((shape if isinstance(shape, tuple) else (shape,), _SHORT[node.value.id]))
        return ast.Name(f"operand_{len(self.found) - 1}", ast.Load())
