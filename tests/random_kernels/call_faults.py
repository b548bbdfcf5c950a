"""One fault in a kernel call: what JAX says about each is JAX's business, most are refused."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels.call_plan import SCRATCH, CallPlan, Window
from random_kernels.plan import Dice

Fault = Callable[[CallPlan, Dice], bool]
"""Changes a plan; False where the plan has nothing that it could change."""


def _blocked(plan: CallPlan, dice: Dice) -> Window | None:
    found = [window for window in plan.windows if window.block is not None]
    return dice.choice(found) if found else None


def _mapped(plan: CallPlan, dice: Dice) -> Window | None:
    found = [window for window in plan.windows if window.index is not None]
    return dice.choice(found) if found else None


def block_size(plan: CallPlan, dice: Dice) -> bool:
    window = _blocked(plan, dice)
    if window is None or window.block is None:
        return False
    axis = dice.randrange(len(window.block))
    size = int(window.block[axis]) if window.block[axis].isdigit() else 1
    window.block[axis] = dice.pick(str(size + 1), str(max(size // 4, 1)), "4", "64", "0", "-1", str(size * 3))
    return True


def block_entry(plan: CallPlan, dice: Dice) -> bool:
    window = _blocked(plan, dice)
    if window is None or window.block is None:
        return False
    axis = dice.randrange(len(window.block))
    size = window.block[axis] if window.block[axis].isdigit() else "1"
    window.block[axis] = dice.pick(f'"{size}"', f"jnp.int32({size})", f"{size}.0", f"[{size}]", f"np.int64({size})", f"pl.Element({size})", f"pl.Blocked({size})", "None", "x", "'rows'")
    return True


def block_rank(plan: CallPlan, dice: Dice) -> bool:
    window = _blocked(plan, dice)
    if window is None or window.block is None:
        return False
    index = window.index if window.index is not None else []
    if dice.chance(0.5):
        window.block.insert(0, dice.pick("1", "None"))
        if dice.chance(0.7):
            index.insert(0, "0")
    else:
        window.block.pop(0)
        del index[: dice.pick(0, 1)]
    return True


def block_no_sequence(plan: CallPlan, dice: Dice) -> bool:
    window = _blocked(plan, dice)
    if window is None:
        return False
    window.spec = dice.pick("pl.BlockSpec(128)", "pl.BlockSpec(lambda *_: (0, 0), (8, 128))", "pl.BlockSpec('rows', lambda *_: (0, 0))")
    return True


def index_length(plan: CallPlan, dice: Dice) -> bool:
    window = _mapped(plan, dice)
    if window is None or window.index is None:
        return False
    if dice.chance(0.5):
        window.index.append("0")
    elif len(window.index) > 1:
        window.index.pop()
    else:
        return False
    return True


def index_arity(plan: CallPlan, dice: Dice) -> bool:
    window = _mapped(plan, dice)
    if window is None:
        return False
    if dice.chance(0.5):
        window.takes = [*[name for name in window.takes if name != "*_"], "more"]
    elif window.takes:
        window.takes = window.takes[:-1]
        window.index = ["0"] * len(window.index or ())
    window.style = dice.pick("lambda", "def")
    return True


def index_value(plan: CallPlan, dice: Dice) -> bool:
    window = _mapped(plan, dice)
    if window is None or window.index is None:
        return False
    axis = plan.axes[0] if plan.axes else "0"
    wrong = ["0.0", f"{axis} / 2", "jnp.float32(0)", "True", "None", "()", f"({axis}, 0)", "'0'", "jnp.zeros((1,), jnp.int32)", f"0 if {axis} > 0 else 1", f"max({axis}, 0)"]
    wrong += ["jnp.int32(0)", "np.int32(0)", f"[0, 1][{axis}]", f"range(4)[{axis}]", f"np.arange(4)[{axis}]", "pl.program_id(0)", "pl.num_programs(0)"]
    wrong += [name for name in window.takes if name in plan.prefetch]
    window.index[dice.randrange(len(window.index))] = dice.choice(wrong)
    return True


def index_capture(plan: CallPlan, dice: Dice) -> bool:
    window = _mapped(plan, dice)
    if window is None or window.index is None:
        return False
    table = dice.pick("jnp.arange(8)", "np.arange(8)", "(0, 0, 0)", "0", "jnp.int32(0)")
    plan.top.append(f"TABLE = {table}")
    window.index[0] = dice.pick("TABLE[0]", f"TABLE[{(plan.axes or ['0'])[0]}]") if "(" in table and "int32" not in table else "TABLE"
    return True


def index_no_function(plan: CallPlan, dice: Dice) -> bool:
    window = _blocked(plan, dice)
    if window is None or window.block is None:
        return False
    window.spec = f"pl.BlockSpec(({', '.join(window.block)},), {dice.pick('(0, 0)', '0', '[0]', chr(34) + 'i' + chr(34))})"
    return True


def spec_option(plan: CallPlan, dice: Dice) -> bool:
    window = dice.choice(plan.windows)
    name, text = dice.pick(
        ("memory_space", '"vmem"'), ("memory_space", "pl.ANY"), ("memory_space", "pltpu.SMEM"), ("memory_space", "pltpu.HBM"), ("memory_space", "pltpu.VMEM"),
        ("memory_space", "pltpu.SEMAPHORE"), ("memory_space", "None"), ("pipeline_mode", "pl.Buffered(3)"), ("pipeline_mode", "2"), ("pipeline_mode", "pl.Buffered(1)"),
        ("pipeline_mode", "pl.Buffered(2, use_lookahead=True)"), ("indexing_mode", "None"), ("space", "pltpu.VMEM"), ("grid", "(2,)"),
    )  # fmt: skip
    window.options[name] = text
    return True


def spec_positional(plan: CallPlan, dice: Dice) -> bool:
    window = _mapped(plan, dice)
    if window is None or window.block is None:
        return False
    window.spec = f"pl.BlockSpec(({', '.join(window.block)},), lambda *_: ({'0, ' * len(window.index or ())}), {dice.pick('pltpu.VMEM', 'pl.ANY')})"
    return True


def spec_none(plan: CallPlan, dice: Dice) -> bool:
    dice.choice(plan.windows).spec = dice.pick("None", "(8, 128)", "pltpu.VMEM", "pl.BlockSpec", "jax.ShapeDtypeStruct((8, 128), jnp.float32)", "pl.no_block_spec")
    return True


def specs_structure(plan: CallPlan, dice: Dice) -> bool:
    side = dice.pick("in_specs", "out_specs")
    plan.specs[side] = dice.pick(
        "pl.BlockSpec()", "[pl.BlockSpec()]", "[pl.BlockSpec()] * 2", "[[pl.BlockSpec()]]", "None", "{'a': pl.BlockSpec()}", "(pl.BlockSpec() for _ in range(1))",
        "(pl.BlockSpec(), pl.BlockSpec(), pl.BlockSpec())", "()", "Pair(pl.BlockSpec(), pl.BlockSpec())",
    )  # fmt: skip
    return True


def out_shape(plan: CallPlan, dice: Dice) -> bool:
    array = f"({', '.join(map(str, plan.outputs[0].array))},)"
    plan.specs["out_shape"] = dice.pick(
        array, "jnp.float32", "None", "8", "'f32'", f"jax.ShapeDtypeStruct({array})", f"[jax.ShapeDtypeStruct({array}, jnp.float32)] * 3",
        f"jnp.zeros({array})", f"np.zeros({array})", f"jax.ShapeDtypeStruct({array}, np.float64)", f"jax.ShapeDtypeStruct({array}, float)",
        "jax.ShapeDtypeStruct(128, jnp.float32)", f"jax.ShapeDtypeStruct({array}, jnp.int64)", "x", "lambda: 0",
    )  # fmt: skip
    return True


def parameters(plan: CallPlan, dice: Dice) -> bool:
    """Another head than the call's refs fit."""
    count = len(plan.prefetch) + len(plan.inputs) - bool(plan.grouped) + (1 if plan.out_form == "dict" else len(plan.outputs))
    count += len(plan.scratch) if plan.scratch_form != "dict" else 0
    names = [f"r{k}" for k in range(max(count + dice.pick(-1, 1, 2), 0))]
    plan.head = dice.pick(names, names, [*names, "*", "flag"], [*names[:1], "*rest"], ["**refs"], [*names, "flag=1"])
    return True


def returned(plan: CallPlan, dice: Dice) -> bool:
    plan.top.append("VALUE = 1.0")
    plan.body = [f"return {dice.pick('0', '()', 'None', 'VALUE', 'jnp.zeros((8, 128))', '(None,)', '[]', 'lambda: 0')}"]
    return True


def captured(plan: CallPlan, dice: Dice) -> bool:
    constant = dice.pick("jnp.ones((1, 128))", "np.ones((1, 128), np.float32)", "jnp.float32(2)", "2.0", "np.float32(2)", "jnp.ones((8,))[0]")
    plan.top.append(f"CONST = {constant}")
    first = plan.outputs[0]
    if plan.out_form == "dict" or first.dtype != "float32" or len(first.array) < 2:
        return False
    plan.body = [f"{first.name}_ref[...] = jnp.zeros({first.name}_ref.shape, jnp.float32) + CONST{dice.pick('', '', '.shape[0]' if '((1' in constant else '')}"]
    return True


def grid_axis(plan: CallPlan, dice: Dice) -> bool:
    plan.body = [f"step = pl.{dice.pick('program_id', 'num_programs')}({dice.pick(len(plan.grid), len(plan.grid) + 1, -1, 0)})"]
    return True


def grid(plan: CallPlan, dice: Dice) -> bool:
    size = str((plan.grid or [2])[0])
    plan.grid_text = dice.pick(
        f"({size}.0,)", f"{size}.0", f"({size} / 1,)", f"('{size}',)", f"'{size}'", "None", "(None,)", f"np.int64({size})", f"np.int32({size})", f"({size}, 2, 2)",
        f"np.array([{size}])", f"(jnp.int32({size}),)", "(True,)", f"[[{size}]]", "()", f"(('i', {size}),)", f"({size},)", f"jnp.int32({size})", "(x.shape[0],)",
    )  # fmt: skip
    return True


def grid_spec(plan: CallPlan, dice: Dice) -> bool:
    if plan.wrap == "direct":
        plan.given["grid_spec"] = dice.pick("pl.GridSpec(grid=(2,))", "(2,)", "None", "{}")
    else:
        name, text = dice.pick(("grid", "(2,)"), ("in_specs", "[pl.BlockSpec()]"), ("out_specs", "pl.BlockSpec()"), ("scratch_shapes", f"[{SCRATCH[0]}]"), ("grid", "()"))
        plan.given[name] = text
    return True


def prefetch_count(plan: CallPlan, dice: Dice) -> bool:
    plan.wrap = "prefetch"
    plan.count += dice.pick(-1, 1) if plan.count else 1
    return True


def scratch(plan: CallPlan, dice: Dice) -> bool:
    plan.specs["scratch_shapes"] = dice.pick(
        SCRATCH[0], f"[{SCRATCH[0]}] * {len(plan.scratch) + 1}", "[(8, 128)]", "None", "[jax.ShapeDtypeStruct((8, 128), jnp.float32)]", "[pltpu.VMEM]", "[None]", "8",
        "[pltpu.VMEM((8, 128))]", "[pltpu.VMEM(128, jnp.float32)]", "[pltpu.VMEM((8, 128.0), jnp.float32)]", f"{{'other_ref': {SCRATCH[0]}}}", "[]", f"({SCRATCH[0]}, ({SCRATCH[1]}, {SCRATCH[2]}))",
        "[pl.BlockSpec((8, 128))]",
    )  # fmt: skip
    return True


def aliases(plan: CallPlan, dice: Dice) -> bool:
    first = len(plan.prefetch)
    plan.given["input_output_aliases"] = dice.pick(
        f"{{{first}: 0}}", "{9: 0}", f"{{{first}: 9}}", "{-1: 0}", f"{{{first}: -1}}", "[(0, 0)]", "None", "{'x': 0}", f"{{{first}: 0, {first + 1}: 0}}", "{}", "(0, 0)", "{0: 0}",
    )  # fmt: skip
    return True


def compiler_parameters(plan: CallPlan, dice: Dice) -> bool:
    if dice.chance(0.2):
        plan.parameters.clear()
        plan.given["compiler_params"] = dice.pick("{}", "dict(mosaic=dict())", "None", "'fast'", "(1,)")
        return True
    name, text = dice.pick(
        ("dimension_semantics", "('parallel',) * 4"), ("dimension_semantics", "('sequential',)"), ("dimension_semantics", "'parallel'"), ("dimension_semantics", "()"),
        ("dimension_semantics", f"({len(plan.grid)} * ('core_parallel',))"), ("vmem_limit_bytes", "1e6"), ("vmem_limit_bytes", "'1'"), ("vmem_limit_bytes", "np.int64(1 << 24)"),
        ("collective_id", "0"), ("num_warps", "4"), ("has_side_effects", "True"), ("dim_semantics", "()"), ("vmem_limit_bytes", "jnp.int32(1 << 24)"), ("disable_bounds_checks", "True"),
        ("dimension_semantics", f"[{', '.join(['None'] * len(plan.grid))}]"),
    )  # fmt: skip
    plan.parameters[name] = text
    return True


def cost(plan: CallPlan, dice: Dice) -> bool:
    flops = dice.pick("1.5", "1", "np.int64(1)", "x.size * 2" if not plan.grouped else "2", "'1'", "jnp.int32(1)", "x.size / 2" if not plan.grouped else "0.5")
    plan.given["cost_estimate"] = dice.pick(f"pl.CostEstimate(flops={flops}, transcendentals=0, bytes_accessed=0)", "pl.CostEstimate(flops=1)", "{}")
    return True


def keyword(plan: CallPlan, dice: Dice) -> bool:
    name = dice.pick("out_spec", "scratch", "grids", "num_scalar_prefetch", "input_output_alias", "name", "debug", "interpret", "metadata", "backend")
    plan.given[name] = {"name": '"my kernel!"', "debug": "False", "interpret": dice.pick("False", "True"), "metadata": "{'a': 'b'}"}.get(name, "None")
    return True


def operand(plan: CallPlan, dice: Dice) -> bool:
    kind = dice.pick("replace", "drop", "add", "name", "swap")
    if kind == "replace":
        wrong = ("'x'", "2.0", "None", "[1, 2]", "np.ones((8, 128))", "jnp.float32", "len", "object()", "lambda: 0", "pl.BlockSpec()", "jax.ShapeDtypeStruct((8, 128), jnp.float32)", "range(3)")
        plan.operands[-1] = dice.pick(*wrong)
    elif kind == "drop":
        plan.operands.pop()
    elif kind == "add":
        plan.operands.append(dice.pick("jnp.ones((8, 128))", plan.operands[-1], "None"))
    elif kind == "name":
        plan.operands[-1] = f"{plan.operands[-1]}={plan.operands[-1]}"
    else:
        plan.operands.reverse()
    if plan.grouped:
        plan.grouped = ""
    return True


def kernel(plan: CallPlan, dice: Dice) -> bool:
    plan.kernel_form = "def"
    plan.kernel = dice.pick("functools.partial(kernel, nope=1)", "functools.partial(kernel, None)", "None", "'kernel'", "(kernel,)", "jax.jit(kernel)", "lambda *refs: kernel(*refs)", "8", "lambda *refs: 0")
    return True


FAULTS: dict[Fault, float] = {
    block_size: 4, block_entry: 3, block_rank: 2, block_no_sequence: 1, index_length: 2, index_arity: 2, index_value: 3, index_capture: 1.5, index_no_function: 1,
    spec_option: 3, spec_positional: 1, spec_none: 2, specs_structure: 2, out_shape: 3, parameters: 3, returned: 1.5, captured: 1.5, grid_axis: 1, grid: 3, grid_spec: 1,
    prefetch_count: 1, scratch: 2.5, aliases: 2, compiler_parameters: 2.5, cost: 1, keyword: 1.5, operand: 3, kernel: 2,
}  # fmt: skip
