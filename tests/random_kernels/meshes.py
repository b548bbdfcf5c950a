"""Random kernels of meshes: SparseCores above all, TensorCores, ``core_map``, and pipelines in them."""

from __future__ import annotations

from random_kernels.bodies import indented
from random_kernels.modules import Kernel
from random_kernels.plan import Dice, Shape
from referee import jax_version

Lines = list[str]
_WORDS = {"f32": "float32", "i32": "int32", "bf16": "bfloat16"}
_UNARY = (
    "-{}", "jnp.abs({})", "jnp.exp({})", "{} + 1", "{} * 2.0", "jnp.maximum({}, 0)", "jnp.where({} > 0, {}, 0)", "{}.astype(jnp.int32)",
    "jnp.clip({}, 0, 1)", "jnp.zeros_like({})", "{}[...]", "{} / 3", "lax.max({}, {})", "jnp.negative({})", "{} % 2", "jnp.sign({})",
    "jax.nn.leaky_relu({})", "{}.reshape({}.shape)", "{} * lax.axis_index('c')", "jnp.full_like({}, 2)", "jnp.minimum({}, {})", "{} + {}",
)  # fmt: skip
_LACKING = (
    "{} ** 2", "jnp.sqrt({})", "jnp.tanh({})", "jax.nn.sigmoid({})", "jax.nn.relu({})", "jnp.floor({})", "jnp.log({})", "jnp.square({})",
    "jnp.round({})", "{}.at[0].set(0)", "jax.nn.softmax({})", "jax.nn.silu({})", "jnp.sin({})", "jnp.dot({}, {})", "jnp.argmax({})", "{} // 2",
    "jnp.cumprod({})", "lax.rsqrt({})", "jnp.power({}, 3)", "jnp.isfinite({})", "jnp.sort({})", "jnp.cumsum({})", "jnp.flip({})",
    "{}[::2]", "{}[lax.axis_index('s')]", "jax.nn.gelu({})", "jnp.roll({}, 1)", "jnp.mean({})", "lax.rev({}, (0,))", "lax.cumsum({}, reverse=True)",
)  # fmt: skip


def random_mesh_kernel(seed: object) -> Kernel:
    """The kernel of this seed, the same one always with one JAX."""
    dice = Dice(f"mesh {seed}")
    faulty = dice.chance(0.6)
    kind = dice.weighted({"vector": 8, "scalar": 2, "tensor": 2, "core_map": 1.5})
    return Kernel(_Mesh(dice, kind, faulty).text(), stated=True, sound=not faulty)


class _Mesh:
    """Draws a module. ``refs``: the refs of the body with memory space, shape and dtype."""

    def __init__(self, dice: Dice, kind: str, faulty: bool) -> None:
        self.dice, self.kind, self.faulty = dice, kind, faulty
        self.sparse = kind in ("vector", "scalar")
        far = "hbm" if self.sparse else "any"
        shapes: tuple[Shape, ...] = ((16,), (32,), (8, 16), (2, 16), (64, 16)) if self.sparse else ((8, 128), (16, 128))
        self.inputs = {"x_ref": (far, dice.choice(shapes), dice.weighted({"f32": 4, "i32": 2, "bf16": 0.5})), "o_ref": (far, (16,), "f32")}
        if not self.sparse:
            self.inputs["o_ref"] = (far, (16, 128), "f32")
        self.scratch = {f"s{index}": self._buffer(shapes) for index in range(dice.randint(2, 4))}
        self.refs = self.inputs | self.scratch
        self.registers = kind == "vector" and dice.chance(0.3)
        self.lines: Lines = []
        self.count = 0

    def _buffer(self, shapes: tuple[Shape, ...]) -> tuple[str, Shape, str]:
        dice = self.dice
        space = dice.weighted({"vmem": 6, "smem": 2, "vmem_shared": 0.7} if self.kind == "vector" else {"smem": 4, "vmem_shared": 0.5} if self.sparse else {"vmem": 5, "smem": 1})
        return space, dice.choice(shapes), dice.weighted({"f32": 5, "i32": 3, "bf16": 0.5})

    def _fault(self, share: float) -> bool:
        """Whether something is put in here that JAX may refuse."""
        return self.faulty and self.dice.chance(share)

    # Statements

    def text(self) -> str:
        for _ in range(self.dice.randint(2, 6)):
            self.lines += self._statement()
        return self._module()

    def _statement(self, depth: int = 0) -> Lines:
        kinds = {"compute": 6, "copy": 4, "block": 1.5 if depth < 2 else 0, "scalar": 1.5, "print": 0.5, "far": 0.4}
        if self.sparse:
            kinds |= {"plsc": 3, "gather": 1.2}
        elif depth == 0:
            kinds["pipeline"] = 1.5
        return getattr(self, f"_{self.dice.weighted(kinds)}")(depth)

    def _new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def _named(self, *spaces: str, dtype: str | None = None) -> str | None:
        """A ref in one of the memory spaces, None where there is none."""
        found = [name for name, (space, _, of) in self.refs.items() if space in spaces and dtype in (None, of)]
        return self.dice.choice(found) if found else None

    def _index(self, name: str) -> str:
        """What indexes a ref: all of it as a rule."""
        dice, rank = self.dice, len(self.refs[name][1])
        rows, last = self.refs[name][1][0], self.refs[name][1][-1]
        if rank == 1:
            return dice.weighted({"...": 6, ":": 1, f"pl.ds(0, {last})": 1, "0:16": 1, "pl.ds(0, 16)": 2, "pl.ds(0, 8)": 0.5, "0": 0.5 * self.faulty, "::2": 0.4 * self.faulty})
        return dice.weighted({
            "...": 4, "0": 3, f"{rows - 1}": 1, "pl.ds(0, 1)": 1, "0, pl.ds(0, 16)": 1, "0, :": 1, "pl.ds(1, 1), 0:8": 0.5, "0:1, 3": 0.3, ":, 0": 0.5 * self.faulty,
            "0, 0": 0.5 * self.faulty, "pl.ds(0, 2, 1)": 0.3, "::2": 0.3 * self.faulty, "pl.ds(0, 2), 0": 0.2 * self.faulty, "lax.axis_index('c')": 1,
        })  # fmt: skip

    def _compute(self, depth: int) -> Lines:
        """A load, some operations, and a store of the same place."""
        name = self._named("vmem") or self._named("smem")
        if name is None:
            return ["pass"]
        if self.refs[name][0] == "smem":
            return self._scalar(depth)
        index, value = self._index(name), self._new()
        lines = [f"{value} = {name}[{index}]"]
        for _ in range(self.dice.randint(0, 2)):
            template = self.dice.choice(_LACKING if self._fault(0.15) else _UNARY)
            made = template.format(*[value] * template.count("{}")) if self.dice.chance(0.7) else f"{value} + {value}"
            lines.append(f"{value} = {made if made.startswith('{') or '(' in made else f'({made})'}")
        other = self._fault(0.08)
        target = self._named("vmem", "smem", *(("vmem_shared",) if self._fault(0.2) else ())) if other else name
        stored = value if self._fault(0.05) else f"jnp.broadcast_to({value}, {name}.at[{index}].shape).astype({name}.dtype)"
        return [*lines, f"{target or name}[{index}] = {stored}"]

    def _scalar(self, depth: int) -> Lines:
        name = self._named("smem") or (self._named("vmem") if self._fault(0.3) else None)
        if name is None:
            return ["pass"]
        shape = self.refs[name][1]
        at = ", ".join(self.dice.pick("0", "1", "lax.axis_index('c')") for _ in shape)
        if self._fault(0.15):
            at = "..."
        expression = self.dice.pick("{0}[{1}] + 1", "{0}[{1}] * 2", "jnp.maximum({0}[{1}], 0)", "-{0}[{1}]", "{0}[{1}] // 3" if self.refs[name][2] == "i32" else "{0}[{1}] - 1")
        if self._fault(0.2):
            expression = self.dice.pick("lax.sqrt({0}[{1}])", "{0}[{1}] ** 2", "jnp.tanh({0}[{1}])", "jnp.floor({0}[{1}])")
        return [f"{name}[{at}] = ({expression.format(name, at)}).astype({name}.dtype)"]

    def _copy(self, depth: int) -> Lines:
        """A copy between two refs of one shape and dtype, in one of its forms."""
        dice = self.dice
        pairs = [(a, b) for a in self.refs for b in self.refs if a != b and (self.refs[a][1:] == self.refs[b][1:] or self._fault(0.05))]
        if not self.sparse:
            pairs = [pair for pair in pairs if "smem" not in [self.refs[name][0] for name in pair]]
        if not pairs:
            return ["pass"]
        source, destination = dice.choice(pairs)
        if dice.chance(0.2) and len(self.refs[source][1]) == 2:
            source, destination = f"{source}.at[pl.ds(0, 2)]", f"{destination}.at[{dice.pick('pl.ds(0, 2)', '0:2', 'pl.ds(lax.axis_index(' + repr('c') + '), 2)')}]"
        if dice.chance(0.6):
            return [f"pltpu.sync_copy({source}, {destination})"]
        return [f"pltpu.async_copy({source}, {destination}, sem).wait()"]

    def _block(self, depth: int) -> Lines:
        """Statements in a traced loop or branch."""
        dice, name = self.dice, self._new()
        inside = [line for _ in range(dice.randint(1, 2)) for line in self._statement(depth + 1)]
        head = dice.pick(f"@pl.loop(0, {dice.pick(2, 4)})", "@pl.when(lax.axis_index('c') == 0)", f"for {name} in range(2):", *(("@plsc.parallel_loop(0, 4)",) if self.sparse else ()))
        if head.startswith("for"):
            return [head, *indented(inside)]
        return [head, f"def {name}({'' if 'when' in head else 'k'}):", *indented(inside)]

    def _print(self, depth: int) -> Lines:
        name = self._named("smem")
        value = f", {name}[{', '.join('0' for _ in self.refs[name][1])}]" if name is not None else ""
        label = "'x {}'" if bool(value) == (not self.sparse) or self._fault(0.3) else "'x'"
        return [f"pl.debug_print({label}{value})"]

    def _far(self, depth: int) -> Lines:
        """Memory that no core reads or writes directly, shapes of refs, and names of axes."""
        if not self._fault(0.5):
            return [self.dice.pick("assert x_ref.shape[0] > 0", "n = x_ref.shape[0]", "lax.axis_index('c')", "lax.axis_size('c')")]
        name = self._named("hbm", "any", "vmem_shared") or "x_ref"
        return [self.dice.pick(f"{name}[...]", f"{name}[...] = {name}[...]", f"v = {name}[0]", "pl.program_id(0)", "lax.axis_index('z')", "pl.num_programs(0)")]

    def _pipeline(self, depth: int) -> Lines:
        """A kernel in the kernel, over blocks of an input."""
        dice = self.dice
        source = self._named("any", dtype="f32")
        rows = self.refs[source or "o_ref"][1][0]
        block = dice.weighted({8: 6, rows: 2, 4: 0.6 * self.faulty, 5: 0.6 * self.faulty})
        body = self._new()
        space = ", memory_space=pl.ANY" if self._fault(0.15) else ""
        spec = f"pl.BlockSpec(({block}, 128), lambda i: (i, 0){space})"
        access = dice.pick("b[...] = a[...] + 1", "b[...] = a[...] * 2.0", "b[...] = jnp.maximum(a[...], 0)") if not self._fault(0.3) else dice.pick("b[...] = a[0, 0]", "b[0, 0] = 1.0", "b[...] = jnp.sort(a[...])")
        return [f"def {body}(a, b):", *indented([access]), f"pltpu.emit_pipeline({body}, grid=({max(rows // block, 1)},), in_specs=[{spec}], out_specs=[{spec}])({source or 'o_ref'}, o_ref)"]

    def _plsc(self, depth: int) -> Lines:
        """One of the functions that only subcores have."""
        dice, name = self.dice, self._named("vmem", dtype="f32") or self._named("smem") or "x_ref"
        shape = self.refs[name][1]
        view = f"{name}.at[{dice.pick('...', 'pl.ds(0, 16)') if len(shape) == 1 else dice.pick('0', '...')}]"
        view = name if self._fault(0.2) else view
        value, vector = self._new(), f"{name}[{'pl.ds(0, 16)' if len(shape) == 1 else '0'}]"
        lines = [f"{value} = {vector}"] if not (self._fault(0.1)) else [f"{value} = {name}[...]"]
        mask = f"{value} > 0" if not self._fault(0.15) else value
        form = dice.pick(
            f"plsc.addupdate({view}, {value})", f"plsc.store_compressed({view}, {value}, mask={mask})", f"{value} = plsc.load_expanded({view}, mask={mask})",
            f"{value} = plsc.cumsum({value})", f"{value} = plsc.cumsum({value}, mask={mask})", f"{value} = plsc.all_reduce_population_count({mask})", f"{value} = plsc.all_reduce_ffs({mask})",
            f"{value} = plsc.sort_key_val({value}, {value})[0]", f"{value} = jnp.sort({value})", f"{value} = jnp.cumsum({value})", f"{value} = jnp.sum({value})", f"{value} = jnp.arange({dice.pick(16, 16, 16 if not self.faulty else 24)})",
            f"{value} = plsc.load_gather({name}, [{', '.join('jnp.arange(16)' for _ in shape[: None if not self._fault(0.3) else 1])}])",
            f"plsc.store_scatter({name}, [{', '.join('jnp.arange(16)' for _ in shape)}], {value})", "plsc.subcore_barrier()",
            f"{value} = plsc.pack({value}, {value}, format=plsc.PackFormat.INTERLEAVED)", f"{value} = {value}[jnp.arange(16)]", f"{value} = {value}[::-1]", f"{value} = {value}[3]",
        )  # fmt: skip
        return [*lines, form]

    def _gather(self, depth: int) -> Lines:
        """A copy by indices."""
        far, indices = self._named("hbm", "vmem_shared"), self._named("vmem", dtype="i32") or (self._named("smem", dtype="i32") if self.faulty else None)
        near = [name for name, (space, shape, dtype) in self.refs.items() if space == "vmem" and far and dtype == self.refs[far][2] and shape[1:] == self.refs[far][1][1:]]
        if far is None or indices is None or not near:
            return ["pass"]
        ends = [f"{far}.at[{indices}]", self.dice.choice(near)]
        if self._fault(0.15):
            ends = [far, f"{ends[1]}.at[{indices}]"]
        if self._fault(0.1):
            ends[0] += ".at[0:1]"
        if self.dice.chance(0.35):
            ends.reverse()
        add = ", add=True" if self.dice.chance(0.25) else ""
        return [f"pltpu.sync_copy({', '.join(ends)}{add})"]

    # The module around

    def _module(self) -> str:
        dice = self.dice
        scratch = [f"pltpu.{space.upper()}({shape}, jnp.{_WORDS[dtype]})" for space, shape, dtype in self.scratch.values()]
        names = ", ".join((*self.inputs, *self.scratch, "sem")) if self.kind != "core_map" else ", ".join((*self.scratch, "sem"))
        mesh = {
            "vector": "plsc.VectorSubcoreMesh(core_axis_name='c', subcore_axis_name='s')", "scalar": "plsc.ScalarSubcoreMesh(axis_name='c')",
        }.get(self.kind, "pltpu.TensorCoreMesh(axis_name='c', num_cores=1)" if jax_version() >= (0, 11) else "pltpu.create_tensorcore_mesh('c', num_cores=1)")  # fmt: skip
        (_, x, dtype), (_, out, _) = self.inputs["x_ref"], self.inputs["o_ref"]
        options = ", compiler_params=pltpu.CompilerParams(needs_layout_passes=False)" if self.registers else ""
        entries = f"[{', '.join((*scratch, 'pltpu.SemaphoreType.DMA'))}]"
        run = [f"out = jax.ShapeDtypeStruct({out}, jnp.float32)"]
        if self.kind == "core_map":
            run = ["x_ref = jax.new_ref(x)", f"o_ref = jax.new_ref(jnp.zeros({out}, jnp.float32))", f"@pl.core_map({mesh}, scratch_shapes={entries})", f"def _({names}):", *indented(self.lines), "return o_ref[...]"]
            body: Lines = []
        else:
            body = [f"def kernel({names}):", *indented(self.lines)]
            call = f"mesh={mesh}, scratch_types={entries}{options}"
            run.append(f"return pl.kernel(kernel, {dice.pick('out', 'out_type=out')}, {call})(x)")
        imports = ["import jax", "import jax.numpy as jnp", "from jax import lax", "from jax.experimental import pallas as pl", "from jax.experimental.pallas import tpu as pltpu"]
        if self.sparse:
            imports.append("from jax.experimental.pallas import tpu_sc as plsc")
        end = ["", f"ARGS = [jax.ShapeDtypeStruct({x}, jnp.{_WORDS[dtype]})]", "if __name__ == '__main__':", "    jax.jit(run).lower(*ARGS)"]
        return "\n".join([*imports, "", *body, "", "def run(x):", *indented(run), *end]) + "\n"
