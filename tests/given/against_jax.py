"""The kernels behind a call, as JAX has them in its program and as the checker finds them."""

from __future__ import annotations

import types
from typing import Any

from checker import PATH, analysis_of
from real_kernels.jax_calls import evaluated, kernels_in

from pallas_lsp.given import read_call


def kernels_of_jax(text: str, call: str) -> list[str]:
    """The names of the kernels in the program that JAX lowers for the call."""
    module = types.ModuleType("ops")
    exec(compile(text, PATH, "exec", dont_inherit=True), module.__dict__)
    return [_name(kernel) for kernel in kernels_in(evaluated(call, module).lower())]


def _name(kernel: Any) -> str:
    name: str = kernel.debug_info.func_name
    return name


def known_kernels(text: str, call: str) -> list[str]:
    """The names of the kernels that the checker finds behind the call."""
    return [site.kernel_name or "" for site in analysis_of(text, call=read_call(call)).sites]
