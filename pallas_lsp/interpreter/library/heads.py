"""A kernel call of which only the first operands are known: the refs that they surely become.

The kernel is not run, for what else it gets is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import KernelRun
from ..machine import Arguments, Machine
from ..values import Function, PallasCall, Ref, UnknownLength, Value
from .grids import is_absent, specs_of
from .refusals import place
from .running import underlying
from .trees import is_node
from .windows import block_ref, input_window, prefetch_ref


def note_heads(machine: Machine, call: PallasCall, arguments: Arguments) -> None:
    """Tell the refs of the operands that stand before an unknown number of others."""
    parts = specs_of(call)
    if parts is None or not isinstance(parts[-1], int):
        return
    grid, in_specs, _, _, count = parts
    refs = list(_refs(machine, call, arguments.args[: arguments.head], in_specs, count))
    kernel, received = underlying(call.arguments.get("kernel"), Arguments(list(refs)))
    if refs and isinstance(kernel, Function):
        where = place(machine, call.origin.module, call.origin.node)
        missing = ("how many operands the call has",)
        machine.emit(KernelRun(where, kernel, grid, tuple(_named(kernel, received.args)), missing, call.arguments.get("kernel")))


def _refs(machine: Machine, call: PallasCall, operands: list[Value], in_specs: Value, count: int) -> Iterator[Ref]:
    """The refs of the first operands, up to one that is a pytree or has no known spec."""
    specs = in_specs.head if isinstance(in_specs, UnknownLength) else in_specs
    for index, operand in enumerate(map(machine.settle, operands)):
        window = input_window(operand) if not is_node(operand) else None
        if window is None:
            return
        if index < count:
            yield prefetch_ref(operand, call.origin)
            continue
        known = isinstance(specs, tuple | list) and index - count < len(specs)
        if not known and not is_absent(specs):
            return
        ref = block_ref(window, machine.settle(specs[index - count]) if known else in_specs, call.origin)
        if not isinstance(ref, Ref):
            return
        yield ref


def _named(kernel: Function, values: list[Value]) -> Iterator[tuple[str, Value]]:
    """Each ref under the name of the parameter that receives it."""
    spec = kernel.node.args
    names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
    rest = spec.vararg.arg if spec.vararg is not None else None
    for index, value in enumerate(values):
        name = names[index] if index < len(names) else f"{rest}[{index - len(names)}]" if rest is not None else None
        if name is not None:
            if isinstance(value, Ref):
                value.root.name = name
            yield name, value
