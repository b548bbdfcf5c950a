"""Random kernel calls: grids, specs, index maps, scratch, prefetched operands, pytrees and aliases, in the ways people write them.

A plan is drawn whole and sound; ``call_faults`` may then change a part of it; ``text_of`` writes it down as a module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import indent

from random_kernels.plan import Dice

DTYPES = ("float32", "float32", "float32", "bfloat16", "int32", "int8")
SCRATCH = (
    "pltpu.VMEM((8, 128), jnp.float32)", "pltpu.VMEM((16, 256), jnp.bfloat16)", "pltpu.SMEM((4,), jnp.int32)", "pltpu.VMEM((3, 5), jnp.int32)",
    "pltpu.SemaphoreType.DMA", "pltpu.SemaphoreType.DMA((2,))", "pltpu.VMEM((1, 128), 'float32')",
)  # fmt: skip


@dataclass
class Window:
    """One operand or output with its spec, as texts.

    ``block``: None for a spec without one; ``index``: what the index map returns, None for no index map; ``takes``: its parameters;
    ``options``: further arguments of the BlockSpec; ``spec``: what stands in the place of the whole BlockSpec.
    """

    name: str
    role: str
    array: list[int]
    dtype: str
    block: list[str] | None = None
    index: list[str] | None = None
    takes: list[str] = field(default_factory=list)
    style: str = "lambda"
    options: dict[str, str] = field(default_factory=dict)
    spec: str | None = None

    @property
    def struct(self) -> str:
        return f"jax.ShapeDtypeStruct({_tuple(map(str, self.array))}, jnp.{self.dtype})"


@dataclass
class CallPlan:
    """A kernel call, as texts.

    ``grouped``: the first two inputs come as one operand, a ``tuple`` or a ``dict``; ``out_form``: ``plain tuple list dict pair``; ``given``:
    further arguments of the pallas_call; ``returned``: the kernel's return statement.
    """

    dice: Dice
    grid: list[int]
    grid_text: str
    prefetch: list[str]
    inputs: list[Window]
    outputs: list[Window]
    scratch: dict[str, str]
    scratch_form: str = "list"
    out_form: str = "plain"
    in_form: str = "list"
    grouped: str = ""
    kernel_form: str = "def"
    wrap: str = "direct"
    count: int = 0
    given: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)
    top: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    specs: dict[str, str] = field(default_factory=dict)
    kernel: str = ""

    @property
    def axes(self) -> list[str]:
        """The parameters that an index map has for the grid."""
        return ["i", "j", "k"][: len(self.grid)]

    @property
    def windows(self) -> list[Window]:
        return [*self.inputs, *self.outputs]


def random_plan(dice: Dice) -> CallPlan:
    """A call that JAX lowers, as far as one can tell."""
    grid = [dice.pick(1, 2, 2, 3, 4) for _ in range(dice.weighted({0: 2, 1: 5, 2: 4, 3: 1}))]
    prefetch = ["ids", "lens"][: dice.weighted({0: 7, 1: 2, 2: 1})] if grid else []
    inputs = [_window(dice, name, "input", grid, prefetch) for name in ("x", "y", "z")[: dice.weighted({1: 4, 2: 4, 3: 1})]]
    outputs = [_window(dice, name, "output", grid, prefetch) for name in ("o", "p")[: dice.weighted({1: 6, 2: 3})]]
    scratch = {name: dice.pick(*SCRATCH) for name in ("acc_ref", "buf_ref")[: dice.weighted({0: 5, 1: 4, 2: 2})]}
    plan = CallPlan(dice, grid, _tuple(map(str, grid)), prefetch, inputs, outputs, scratch)
    if len(grid) == 1 and dice.chance(0.25):
        plan.grid_text = dice.pick(str(grid[0]), f"[{grid[0]}]", f"(np.int64({grid[0]}),)")
    plan.scratch_form = dice.weighted({"list": 6, "tuple": 2, "dict": 2})
    plan.out_form = dice.weighted({"tuple": 3, "list": 3, "dict": 1, "pair": 1} if len(outputs) == 2 else {"plain": 6, "list": 2, "dict": 1})
    plan.in_form = dice.pick("list", "list", "tuple", "grown")
    plan.grouped = dice.pick("tuple", "dict") if len(inputs) > 1 and dice.chance(0.2) else ""
    plan.kernel_form = dice.weighted({"def": 6, "stars": 2, "partial": 2, "keyword": 1, "method": 1, "default": 1, "nested": 2})
    plan.wrap = "prefetch" if prefetch else dice.weighted({"direct": 5, "grid_spec": 2, "prefetch": 1})
    if plan.wrap != "direct" and plan.scratch_form == "dict":
        plan.scratch_form = "list"  # a grid spec takes no dict
    plan.count = len(prefetch)
    if grid and dice.chance(0.25):
        words = [dice.pick('"arbitrary"', '"parallel"', "pltpu.PARALLEL", "pltpu.ARBITRARY") for _ in grid]
        plan.parameters["dimension_semantics"] = _tuple(words)
    if dice.chance(0.1):
        plan.parameters["vmem_limit_bytes"] = "32 << 20"
    plan.operands = [*prefetch, *(window.name for window in inputs)]
    if dice.chance(0.2) and not plan.grouped:
        first = outputs[0]
        first.array, first.dtype, first.block, first.index = list(inputs[0].array), inputs[0].dtype, inputs[0].block, inputs[0].index
        first.takes, first.style = inputs[0].takes, inputs[0].style
        if "memory_space" not in inputs[0].options:
            plan.given["input_output_aliases"] = f"{{{len(prefetch)}: 0}}"
    return plan


def _window(dice: Dice, name: str, role: str, grid: list[int], prefetch: list[str]) -> Window:
    dtype = dice.pick(*DTYPES)
    rank = dice.weighted({1: 1, 2: 6, 3: 3, 4: 0.5})
    if rank == 1:
        block: list[int | None] = [4096]
    else:
        block = [dice.pick(1, 2, None) for _ in range(rank - 2)] + [dice.pick(8, 16, 32), dice.pick(128, 256)]
    counts = [dice.pick(1, 1, 2, 3) for _ in block]
    array = [(size or 1) * count for size, count in zip(block, counts, strict=True)]
    if rank > 1 and dice.chance(0.15):  # the whole of an odd dim
        axis = dice.pick(-1, -2)
        array[axis] = dice.pick(1, 7, 100)
        block[axis], counts[axis] = array[axis], 1
    window = Window(name, role, array, dtype)
    kinds = {"blocked": 6, "none": 1, "whole": 1, "smem": 1, "any": 1} if grid else {"none": 3, "whole": 2, "smem": 1, "any": 1}
    kind = dice.weighted(kinds)
    if kind in ("smem", "any"):
        if role == "output":
            kind = "whole"
        elif kind == "smem":
            window.array, window.dtype = dice.pick([4], [2, 3]), dice.pick("float32", "int32")
            window.options["memory_space"] = "pltpu.SMEM"
        else:
            window.options["memory_space"] = dice.pick("pl.ANY", "pltpu.HBM")
    axes = ["i", "j", "k"][: len(grid)]
    if kind == "blocked":
        window.block = [dice.pick("None", "pl.squeezed") if size is None else str(size) for size in block]
        window.index = [_index(dice, count, grid, axes, prefetch) for count in counts]
    elif kind == "whole":
        window.block, window.index = [str(size) for size in window.array], ["0"] * len(window.array)
        if dice.chance(0.3):
            window.index = None
    if window.index is not None:
        window.takes = [*axes, *(["*_"] if prefetch and dice.chance(0.4) and "[" not in "".join(window.index) else prefetch)]
        window.style = dice.weighted({"lambda": 6, "def": 2, "default": 1, "partial": 1, "list": 1})
    if kind == "blocked" and dice.chance(0.1):
        window.options["pipeline_mode"] = "pl.Buffered(2)"
    return window


def _index(dice: Dice, count: int, grid: list[int], axes: list[str], prefetch: list[str]) -> str:
    """An index into ``count`` blocks."""
    if count == 1:
        return "0"
    axis = dice.choice(axes)
    forms = [f"{axis} % {count}", f"jnp.minimum({axis}, {count - 1})", f"jnp.where({axis} > 0, 1, 0)", f"lax.rem({axis}, {count})", f"{axis} // {count}"]
    forms += [axis] * 6 if grid[axes.index(axis)] <= count else []
    forms += [f"{prefetch[0]}[{axis}]"] * 2 if prefetch else []
    return dice.choice(forms)


# --- the text


_HEAD = """\
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


class Pair(NamedTuple):
    first: object
    second: object
"""


def text_of(plan: CallPlan) -> str:
    """The module: kernel, ``run``, ``ARGS`` and a call of ``run`` with them."""
    kernel = _kernel(plan, _parameter_names(plan))
    specs = [_spec(plan, window) for window in plan.windows]
    call = _call(plan, specs[: len(plan.inputs)], specs[len(plan.inputs) :])
    nested = plan.kernel_form == "nested"
    run = [*(kernel if nested else []), *plan.before, *call]
    parameters = [*plan.prefetch, *_grouped(plan, [window.name for window in plan.inputs], named=True)]
    structs = ["jax.ShapeDtypeStruct((8,), jnp.int32)" for _ in plan.prefetch] + _grouped(plan, [window.struct for window in plan.inputs])
    parts = [_HEAD, *plan.top, "" if nested else "\n".join(kernel), f"def run({', '.join(parameters)}):\n{indent(chr(10).join(run), '    ')}"]
    main = 'if __name__ == "__main__":\n    jax.jit(run).lower(*ARGS)'
    return "\n\n".join([*filter(None, parts), f"ARGS = [{', '.join(structs)}]", main]) + "\n"


def _grouped(plan: CallPlan, texts: list[str], named: bool = False) -> list[str]:
    if not plan.grouped:
        return texts
    if named:
        return ["pair", *texts[2:]]
    first = f"({texts[0]}, {texts[1]})" if plan.grouped == "tuple" else f"{{'a': {texts[0]}, 'b': {texts[1]}}}"
    return [first, *texts[2:]]


def _parameter_names(plan: CallPlan) -> list[str]:
    outs = [f"{window.name}_ref" for window in plan.outputs]
    if plan.out_form == "dict":
        outs = ["out_ref"]
    inputs = _grouped(plan, [f"{window.name}_ref" for window in plan.inputs], named=True)
    return [*(f"{name}_ref" for name in plan.prefetch), *inputs, *outs]


def _kernel(plan: CallPlan, names: list[str]) -> list[str]:
    outs = ["out_ref['a']", "out_ref['b']"] if plan.out_form == "dict" else [f"{window.name}_ref" for window in plan.outputs]
    stores = [f"{out}[...] = jnp.zeros({out}.shape, {out}.dtype)" for out, _ in zip(outs, plan.outputs, strict=False)]
    names = [*names, *(plan.scratch if plan.scratch_form != "dict" else [])]
    keywords = list(plan.scratch) if plan.scratch_form == "dict" else []
    if plan.head:
        names, keywords = plan.head, []
    body = [*plan.body, *stores] if not plan.head else [*plan.body, "pass"]
    head, first, expression = ", ".join(names), list[str](), "kernel"
    if plan.kernel_form == "stars" and not plan.head:
        head, first = "*refs", [f"{', '.join(names)}{',' if len(names) == 1 else ''} = refs"]
    elif plan.kernel_form == "partial" and not plan.head:
        head, expression = f"flag, {head}", "functools.partial(kernel, True)"
    elif plan.kernel_form == "keyword" and not plan.head:
        keywords, expression = [*keywords, "flag"], "functools.partial(kernel, flag=True)"
    elif plan.kernel_form == "default" and not plan.head and not keywords:
        head = f"{head}, flag=True"
    head += f"{', ' if '*' in head else ', *, '}{', '.join(keywords)}" if keywords else ""
    method = plan.kernel_form == "method"
    lines = [f"def kernel({'self, ' if method else ''}{head}):", *(f"    {line}" for line in [*first, *body])]
    plan.kernel = plan.kernel or ("Holder().kernel" if method else expression)
    return ["class Holder:", *(f"    {line}" for line in lines)] if method else lines


def _spec(plan: CallPlan, window: Window) -> str:
    if window.spec is not None:
        return window.spec
    parts = []
    if window.block is not None:
        parts.append(_tuple(window.block))
    if window.index is not None:
        parts.append(("" if window.block is not None else "index_map=") + _index_map(plan, window))
    return f"pl.BlockSpec({', '.join([*parts, *(f'{name}={text}' for name, text in window.options.items())])})"


def _index_map(plan: CallPlan, window: Window) -> str:
    assert window.index is not None
    result = f"[{', '.join(window.index)}]" if window.style == "list" else _tuple(window.index)
    takes = ", ".join(window.takes)
    if window.style == "def":
        name = f"{window.name}_map"
        plan.before += [f"def {name}({takes}):", f"    return {result}"]
        return name
    if window.style == "default" and "*_" not in window.takes:
        takes += f"{', ' if takes else ''}shift=0"
    if window.style == "partial" and "*_" not in window.takes:
        return f"functools.partial(lambda {', '.join(['shift', *window.takes])}: {result}, 0)"
    return f"lambda {takes}: {result}" if takes else f"lambda: {result}"


def _call(plan: CallPlan, ins: list[str], outs: list[str]) -> list[str]:
    given: dict[str, str] = {}
    if plan.grid or plan.grid_text != "()":
        given["grid"] = plan.grid_text
    in_specs = _grouped(plan, ins)
    if plan.in_form == "grown" and "in_specs" not in plan.specs:
        plan.before += ["in_specs = []", *(f"in_specs.append({spec})" for spec in in_specs)]
        given["in_specs"] = "in_specs"
    else:
        given["in_specs"] = _tuple(in_specs) if plan.in_form == "tuple" else f"[{', '.join(in_specs)}]"
    given["out_specs"] = _outs(plan, outs)
    if plan.scratch:
        texts = list(plan.scratch.values())
        named = f"{{{', '.join(f'{name!r}: {text}' for name, text in plan.scratch.items())}}}"
        given["scratch_shapes"] = {"list": f"[{', '.join(texts)}]", "tuple": _tuple(texts), "dict": named}[plan.scratch_form]
    given |= {name: text for name, text in plan.specs.items() if name != "out_shape"}
    arguments = {"out_shape": plan.specs.get("out_shape", _outs(plan, [window.struct for window in plan.outputs]))}
    if plan.wrap == "direct":
        arguments |= given
    else:
        first = [f"num_scalar_prefetch={plan.count}"] if plan.wrap == "prefetch" else []
        kind = "pltpu.PrefetchScalarGridSpec" if plan.wrap == "prefetch" else "pl.GridSpec"
        arguments["grid_spec"] = f"{kind}({', '.join([*first, *(f'{name}={text}' for name, text in given.items())])})"
    if plan.parameters:
        arguments["compiler_params"] = f"pltpu.CompilerParams({', '.join(f'{n}={t}' for n, t in plan.parameters.items())})"
    arguments |= plan.given
    operands = plan.operands
    if plan.grouped:
        operands = [name for name in operands if name not in ("x", "y")]
        operands.insert(len(plan.prefetch), "pair")
    texts = [plan.kernel, *(f"{name}={text}" for name, text in arguments.items())]
    if plan.dice.chance(0.3):
        return [f"call = pl.pallas_call({', '.join(texts)})", f"return call({', '.join(operands)})"]
    return ["return pl.pallas_call(", *(f"    {text}," for text in texts), f")({', '.join(operands)})"]


def _outs(plan: CallPlan, texts: list[str]) -> str:
    forms = {"plain": texts[0], "tuple": _tuple(texts), "list": f"[{', '.join(texts)}]", "pair": f"Pair({', '.join(texts)})"}
    return forms.get(plan.out_form) or "{" + ", ".join(f"'{name}': {text}" for name, text in zip("ab", texts, strict=False)) + "}"


def _tuple(texts: object) -> str:
    items = list(texts)  # type: ignore[call-overload]
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
