"""A whole module around a random body: imports, constants, specs and the call, in the many ways people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from random_kernels.bodies import Body, indented
from random_kernels.plan import DTYPES, Dice, Ref, Scope, Shape, random_grid, random_refs

Lines = list[str]


@dataclass(frozen=True)
class Kernel:
    """A module with ``run`` and ``ARGS``. ``stated``: its text says what ``run`` is called with; ``sound``: no fault was put in on purpose."""

    text: str
    stated: bool
    sound: bool


def random_kernel(seed: object) -> Kernel:
    """The kernel of this seed, the same one always."""
    dice = Dice(str(seed))
    faulty = dice.chance(0.5)
    in_plan = faulty and dice.chance(0.2)
    grid = random_grid(dice)
    refs = random_refs(dice, grid)
    module = _Module(dice, grid, refs)
    body = Body(dice, faulty and not in_plan)
    lines = body.whole(module.scope())
    if in_plan:
        module.refs = _changed(dice, refs)
    text = module.text(body.helpers, lines)
    return Kernel(text, module.stated, not faulty)


def _changed(dice: Dice, refs: list[Ref]) -> list[Ref]:
    """The refs after one of them got another memory space, dtype, shape or squeezed dim."""
    place = dice.choice([k for k, ref in enumerate(refs) if ref.is_array])
    ref = refs[place]
    kind = dice.pick("space", "dtype", "squeeze", "shape")
    if kind == "space":
        space = dice.choice([s for s in ("vmem", "smem", "any", "hbm") if s != ref.space])
        ref = replace(ref, space=space, block=None if space in ("any", "hbm") else ref.block)
    elif kind == "dtype":
        ref = replace(ref, dtype=dice.choice([d for d in ("f32", "bf16", "i32") if d != ref.dtype]))
    elif kind == "squeeze" and ref.block and len(ref.block) > 2:
        first = 1 if ref.block[0] is None else None
        ref = replace(ref, block=(first, *ref.block[1:])) if ref.block[0] in (1, None) else ref
    elif ref.block is None and ref.array:
        axis = dice.randrange(len(ref.array))
        ref = replace(ref, array=tuple(dim * 2 if k == axis else dim for k, dim in enumerate(ref.array)))
    return [*refs[:place], ref, *refs[place + 1 :]]


class _Module:
    """Draws the text outside of the kernel's body."""

    def __init__(self, dice: Dice, grid: Shape, refs: list[Ref]) -> None:
        self.dice, self.grid, self.refs = dice, grid, refs
        self.prelude: Lines = []  # module level, before the kernel
        self.local: Lines = []  # in the host function, before the call
        self.imports: Lines = []
        self.stated = dice.chance(0.96)
        self.form = dice.weighted(
            {"def": 5, "nested": 3, "partial": 4, "variable": 2, "factory": 1, "method": 0.7, "lambda": 1, "decorated": 0.5}
        )
        self.stars = dice.weighted({"": 8, "all": 1, "rest": 1})
        self.constants: dict[str, object] = {}
        self.keywords: dict[str, object] = {}
        self._constants()

    def _constants(self) -> None:
        """Constants of the module, and those the kernel is given by name."""
        dice = self.dice
        for name, value in (("ROWS", 8), ("LANES", 128), ("DEBUG", False)):
            if dice.chance(0.35):
                self.constants[name] = value
        if self.form in ("partial", "variable", "factory", "lambda", "method"):
            for name, value in (("rows", 8), ("causal", dice.pick(True, False)), ("lanes", 128)):
                if dice.chance(0.5):
                    self.keywords[name] = value

    def scope(self) -> Scope:
        """What the kernel's body sees."""
        numbers: dict[int, tuple[str, ...]] = {}
        flags = []
        for name, value in (self.constants | self.keywords).items():
            if isinstance(value, bool):
                flags.append((name, value))
            elif isinstance(value, int):
                numbers[value] = (*numbers.get(value, ()), name)
        return Scope(refs=tuple(self.refs), grid=self.grid, numbers=numbers, flags=tuple(flags))

    # The kernel

    def text(self, helpers: list[Lines], body: Lines) -> str:
        dice = self.dice
        kernel = self._kernel(body)
        host = self._host(kernel)
        constants = [f"{name} = {value!r}" for name, value in self.constants.items()]
        parts: list[Lines] = [self._imports(), constants, self.prelude, *helpers]
        parts += [kernel] if self.form not in ("nested", "decorated", "factory", "method") else []
        parts += [self._factory(kernel)] if self.form == "factory" else []
        parts += [self._class(kernel)] if self.form == "method" else []
        parts += [host, self._args()]
        if self.stated:
            parts.append(self._fact())
        text = "\n\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"
        return _renamed(dice, text)

    def _kernel(self, body: Lines) -> Lines:
        names = [ref.name for ref in self.refs]
        first: Lines = []
        head = ", ".join(names)
        if self.stars == "all":
            head, first = "*refs", [f"{head} = refs" if len(names) > 1 else f"({names[0]},) = refs"]
        elif self.stars == "rest" and len(names) > 2:
            rest = names[1:]
            way = self.dice.pick("unpack", "index", "iter")
            head = f"{names[0]}, *rest"
            if way == "unpack":
                first = [f"{', '.join(rest)} = rest"]
            elif way == "index":
                first = [f"{name} = rest[{k}]" for k, name in enumerate(rest)]
            else:
                first = ["it = iter(rest)", *(f"{name} = next(it)" for name in rest)]
        if self.keywords and self.form != "factory":
            defaults = ", ".join(f"{name}={value!r}" if self.dice.chance(0.2) else name for name, value in self.keywords.items())
            head += f", {defaults}" if "*" in head else f", *, {defaults}"
        if self.form == "method":
            head = f"self, {head}"
        lines = [f"def kernel({head}):", *indented([*first, *body])]
        return lines

    def _given(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.keywords.items())

    def _factory(self, kernel: Lines) -> Lines:
        return [f"def make_kernel({', '.join(self.keywords)}):", *indented([*kernel, "", "return kernel"])]

    def _class(self, kernel: Lines) -> Lines:
        return ["class Op:", *indented(kernel)]

    def _kernel_expression(self) -> str:
        given = self._given()
        if self.form == "partial":
            return f"functools.partial(kernel, {given})" if given else "functools.partial(kernel)"
        if self.form == "variable":
            self.local.append(f"body = functools.partial(kernel{', ' + given if given else ''})")
            return "body"
        if self.form == "factory":
            return f"make_kernel({given})"
        if self.form == "method":
            return f"functools.partial(Op().kernel, {given})" if given else "Op().kernel"
        if self.form == "lambda":
            names = ", ".join(ref.name for ref in self.refs)
            head = self.dice.pick("*refs", names)
            return f"lambda {head}: kernel({head}{', ' + given if given else ''})"
        return "kernel"

    # The host

    def _host(self, kernel: Lines) -> Lines:
        dice = self.dice
        operands = [ref for ref in self.refs if ref.role in ("prefetch", "input")]
        self.names = [
            f"{ref.name.removesuffix('_ref')}_in" if ref.name in ("a", "b", "bias") else ref.name.removesuffix("_ref") for ref in operands
        ]
        self.arrays = dict(zip(self.names, operands, strict=True))
        keywords = self._call_keywords()
        given = ", ".join(self.names)
        parameters = dice.pick(given, "*operands") if not self._uses_operands else given
        passed = given if parameters != "*operands" else "*operands"
        lines = [*kernel, ""] if self.form == "nested" else []
        function = self._kernel_expression() if self.form != "decorated" else ""
        call = [f"{name}={value}" for name, value in keywords.items()]
        way = (
            "decorated"
            if self.form == "decorated"
            else dice.weighted({"direct": 6, "variable": 2, "options": 1, "partial": 0.5, "lines": 4})
        )
        lines += self.local
        if way == "decorated":
            lines += [f"@functools.partial(pl.pallas_call, {', '.join(call)})", *kernel, "", f"return kernel({passed})"]
        elif way == "direct":
            lines.append(f"return pl.pallas_call({', '.join([function, *call])})({passed})")
        elif way == "variable":
            lines += [f"call = pl.pallas_call({', '.join([function, *call])})", f"return call({passed})"]
        elif way == "options":
            lines += [f"options = dict({', '.join(call)})", f"return pl.pallas_call({function}, **options)({passed})"]
        elif way == "partial":
            lines += [f"call = functools.partial(pl.pallas_call, {', '.join(call)})", f"return call({function})({passed})"]
        else:
            lines += ["return pl.pallas_call(", f"    {function},", *(f"    {text}," for text in call), f")({passed})"]
        head = ["@jax.jit"] if dice.chance(0.2) else ["@functools.partial(jax.jit, static_argnames=())"] if dice.chance(0.05) else []
        return [*head, f"def run({parameters}):", *indented(lines)]

    def _call_keywords(self) -> dict[str, str]:
        dice = self.dice
        self._uses_operands = False
        prefetch = [ref for ref in self.refs if ref.role == "prefetch"]
        inputs, outputs, scratch = ([ref for ref in self.refs if ref.role == role] for role in ("input", "output", "scratch"))
        words: dict[str, str] = {}
        if self.grid:
            words["grid"] = str(self.grid) if len(self.grid) > 1 or dice.chance(0.6) else str(self.grid[0])
        plain = all(ref.space == "vmem" and ref.block is None for ref in inputs)
        if not plain or dice.chance(0.5):
            words["in_specs"] = self._spec_list("in_specs", inputs)
        if len(outputs) > 1 or outputs[0].space != "vmem" or outputs[0].block is not None or dice.chance(0.4):
            words["out_specs"] = self._spec_list("out_specs", outputs) if len(outputs) > 1 else self._spec(outputs[0])
        if scratch:
            words["scratch_shapes"] = self._list("scratch_shapes", [self._scratch(ref) for ref in scratch])
        out_shape = [self._struct(ref) for ref in outputs]
        out = {"out_shape": self._list("out_shape", out_shape) if len(outputs) > 1 else out_shape[0]}
        if len(outputs) == 1 and dice.chance(0.2):
            self.local.append(f"out_shape = {out['out_shape']}")
            out["out_shape"] = "out_shape"
        if len(outputs) == 1 and dice.chance(0.1) and "out_specs" in words:
            out["out_shape"], words["out_specs"] = f"[{out['out_shape']}]", f"[{words['out_specs']}]"
        if dice.chance(0.15):
            out["name"] = '"kernel"'
        if dice.chance(0.15):
            semantics = ", ".join(f'"{dice.pick("arbitrary", "parallel")}"' for _ in self.grid)
            out["compiler_params"] = f"pltpu.CompilerParams(dimension_semantics=({semantics}{',' if len(self.grid) == 1 else ''}))"
        if prefetch or dice.chance(0.25):
            kind = "pltpu.PrefetchScalarGridSpec" if prefetch or dice.chance(0.5) else "pl.GridSpec"
            if kind.startswith("pltpu"):
                words = {"num_scalar_prefetch": str(len(prefetch)), **words}
                words.setdefault("grid", "()")
            made = f"{kind}({', '.join(f'{name}={value}' for name, value in words.items())})"
            if dice.chance(0.4):
                self.local.append(f"grid_spec = {made}")
                made = "grid_spec"
            return {"grid_spec": made, **out} if dice.chance(0.5) else {**out, "grid_spec": made}
        return {**words, **out} if dice.chance(0.5) else {**out, **words}

    def _list(self, name: str, items: Lines) -> str:
        """A list in one of the ways to make it."""
        dice = self.dice
        way = dice.weighted({"list": 6, "tuple": 2, "variable": 3, "append": 2, "sum": 1, "repeat": 2, "each": 1})
        literal = f"[{', '.join(items)}]"
        if way in ("repeat", "each") and len(set(items)) == 1 and len(items) > 1:
            one = f"[{items[0]}] * {len(items)}"
            return one if way == "repeat" else f"[{items[0]} for _ in range({len(items)})]"
        if way == "tuple":
            return f"({', '.join(items)},)"
        if way == "variable":
            self.local.append(f"{name} = {literal}")
            return name
        if way == "append":
            self.local += [f"{name} = []", *(f"{name}.append({item})" if dice.chance(0.8) else f"{name} += [{item}]" for item in items)]
            return name
        if way == "sum" and len(items) > 1:
            return f"[{items[0]}] + [{', '.join(items[1:])}]"
        return literal

    def _spec_list(self, name: str, refs: list[Ref]) -> str:
        specs = [self._spec(ref) for ref in refs]
        for k, spec in enumerate(specs):
            if self.dice.chance(0.15):
                self.local.append(f"{refs[k].name}_spec = {spec}")
                specs[k] = f"{refs[k].name}_spec"
        return self._list(name, specs)

    def _space(self, space: str) -> str:
        dice, upper = self.dice, space.upper()
        if space == "any":
            return dice.pick("pl.ANY", "pl.ANY", "pl.MemorySpace.ANY")
        way = dice.weighted({"direct": 8, "enum": 2, "alias": 1, "import": 1, "local": 1, "class": 0.6})
        if way == "alias":
            self._once(self.prelude, f"_{upper} = pltpu.{upper}")
            return f"_{upper}"
        if way == "import":
            self._once(self.imports, f"from jax.experimental.pallas.tpu import {upper}")
            return upper
        if way == "local":
            self._once(self.local, f"{space} = pltpu.{upper}", first=True)
            return space
        if way == "class":
            self._once(self.prelude, "MS = pltpu.MemorySpace")
            return f"MS.{upper}"
        return f"pltpu.MemorySpace.{upper}" if way == "enum" else f"pltpu.{upper}"

    def _once(self, lines: Lines, line: str, first: bool = False) -> None:
        if line not in lines:
            lines.insert(0 if first else len(lines), line)

    def _spec(self, ref: Ref) -> str:
        dice = self.dice
        parts: Lines = []
        if ref.block is not None:
            parts = [dice.pick("", "block_shape=") + self._block(ref)]
            parts.append(("index_map=" if "=" in parts[0] or dice.chance(0.15) else "") + self._index_map(ref))
        if ref.space != "vmem" or (ref.block is None and dice.chance(0.5)) or dice.chance(0.1):
            parts.append(f"memory_space={self._space(ref.space)}")
        if len(parts) == 2 and "=" not in parts[0] and "=" not in parts[1].split("lambda")[0] and dice.chance(0.15):
            if "def block(shape, index_map, **more):" not in self.prelude:
                self.prelude += ["def block(shape, index_map, **more):", "    return pl.BlockSpec(shape, index_map, **more)"]
            return f"block({', '.join(parts)})"
        return f"pl.BlockSpec({', '.join(parts)})"

    def _block(self, ref: Ref) -> str:
        assert ref.block is not None
        dice = self.dice
        if None not in ref.block and ref.block == ref.array and ref.role == "input" and dice.chance(0.3):
            self._uses_operands = True
            return f"{self._operand(ref)}.shape"
        dims = [
            dice.pick("None", "None", "pl.squeezed") if dim is None else self._dim(ref, axis, dim) for axis, dim in enumerate(ref.block)
        ]
        return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})" if dice.chance(0.93) else f"[{', '.join(dims)}]"

    def _operand(self, ref: Ref) -> str:
        return self.names[[r.name for r in self.arrays.values()].index(ref.name)]

    def _dim(self, ref: Ref, axis: int, dim: int) -> str:
        dice = self.dice
        named = [name for name, value in self.constants.items() if value == dim and value is not False]
        if named and dice.chance(0.5):
            return named[0]
        if ref.role == "input" and ref.array[axis] == dim and dice.chance(0.15):
            self._uses_operands = True
            return f"{self._operand(ref)}.shape[{axis}]"
        if dim > 2 and dice.chance(0.1):
            name = f"block_{dim}"
            self._once(self.local, f"{name} = {dim}", first=True)
            return name
        return str(dim)

    def _index_map(self, ref: Ref) -> str:
        assert ref.block is not None
        dice = self.dice
        axes = ["i", "j", "k"][: len(self.grid)]
        prefetch = [name for name, r in self.arrays.items() if r.role == "prefetch"]
        parameters = ", ".join([*axes, *(["*_"] if prefetch and dice.chance(0.5) else prefetch)])
        blocks, free = [], list(axes)
        for array, size in zip(ref.array, ref.block, strict=True):
            moves = array > (size or 1) and free
            blocks.append((free.pop(0) if dice.chance(0.8) else "0") if moves else "0")
        result = f"({', '.join(blocks)}{',' if len(blocks) == 1 else ''})"
        if dice.chance(0.15):
            name = f"{ref.name}_map"
            target = self.prelude if dice.chance(0.5) else self.local
            target += [f"def {name}({parameters}):", f"    return {result[1:-1]}"]
            return name
        if axes and not prefetch and all(block == "0" for block in blocks) and dice.chance(0.3):
            parameters = "*_"
        return f"lambda {parameters}: {result}" if parameters else f"lambda: {result}"

    def _scratch(self, ref: Ref) -> str:
        if ref.space == "dma_sem":
            return (
                f"pltpu.SemaphoreType.DMA({ref.array})"
                if ref.array
                else self.dice.pick("pltpu.SemaphoreType.DMA", "pltpu.SemaphoreType.DMA(())")
            )
        constructor = "pl.ANY" if ref.space == "any" else f"pltpu.{ref.space.upper()}"
        same = [r for r in self.refs if r.role == "input" and r.array == ref.array]
        shape, dtype = str(ref.array), f"jnp.{DTYPES[ref.dtype]}"
        if same and self.dice.chance(0.2):
            self._uses_operands = True
            shape = f"{self._operand(same[0])}.shape"
            dtype = f"{self._operand(same[0])}.dtype" if same[0].dtype == ref.dtype else dtype
        return f"{constructor}({shape}, {dtype})"

    def _struct(self, ref: Ref) -> str:
        same = [r for r in self.refs if r.role == "input" and r.array == ref.array]
        shape, dtype = str(ref.array), f"jnp.{DTYPES[ref.dtype]}"
        if same and self.dice.chance(0.4):
            self._uses_operands = True
            shape = f"{self._operand(same[0])}.shape"
            if same[0].dtype == ref.dtype:
                dtype = f"{self._operand(same[0])}.dtype"
                if self.dice.chance(0.3):
                    return f"jax.ShapeDtypeStruct(shape={shape}, dtype={dtype})"
        return f"jax.ShapeDtypeStruct({shape}, {dtype})"

    # The rest of the file

    def _imports(self) -> Lines:
        dice = self.dice
        lines = ["import functools", "", "import jax", "import jax.numpy as jnp", "import numpy as np", "from jax import lax"]
        lines.append(
            dice.pick(
                "from jax.experimental import pallas as pl",
                "from jax.experimental import pallas as pl",
                "import jax.experimental.pallas as pl",
            )
        )
        tpu = ("from jax.experimental.pallas import tpu as pltpu", "import jax.experimental.pallas.tpu as pltpu")
        return [*lines, dice.pick(tpu[0], *tpu), *self.imports]

    def _args(self) -> Lines:
        dice = self.dice
        structs = [f"jax.ShapeDtypeStruct({ref.array}, jnp.{DTYPES[ref.dtype]})" for ref in self.arrays.values()]
        if dice.chance(0.2):
            return ["S = jax.ShapeDtypeStruct", f"ARGS = [{', '.join(structs).replace('jax.ShapeDtypeStruct', 'S')}]"]
        return [f"ARGS = [{', '.join(structs)}]"]

    def _fact(self) -> Lines:
        """Where the file says what it calls ``run`` with."""
        dice = self.dice
        zeros = ", ".join(f"jnp.zeros({ref.array}, jnp.{DTYPES[ref.dtype]})" for ref in self.arrays.values())
        return dice.pick(
            ['if __name__ == "__main__":', "    jax.jit(run).lower(*ARGS)"], ['if __name__ == "__main__":', "    print(jax.eval_shape(run, *ARGS))"],
            ["def test_run():", f"    run({zeros})"], ['if __name__ == "__main__":', f"    print(jax.jit(run)({zeros}))"],
        )  # fmt: skip


def _renamed(dice: Dice, text: str) -> str:
    """The text under other names for the modules it imports."""
    for usual, others in (("pltpu", ("tpu", "pt")), ("pl", ("pallas", "plx")), ("jnp", ("np_", "jnumpy"))):
        if dice.chance(0.1):
            text = re.sub(rf"(?<![\w.]){usual}(?=\.|$)|(?<=as ){usual}\b", dice.pick(*others), text, flags=re.MULTILINE)
    if dice.chance(0.1):
        text = text.replace("functools.partial", "partial").replace("import functools\n", "from functools import partial\n")
    return text
