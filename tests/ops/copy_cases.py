"""Copies, semaphores and scoped buffers."""

from __future__ import annotations

from call.modules import module
from ops.modules import NEW, Case

DMA, REGULAR, BARRIER = (f"pltpu.SemaphoreType.{kind}" for kind in ("DMA", "REGULAR", "BARRIER"))
SCRATCH = "pltpu.VMEM((8, 128), jnp.float32)"


def copy(body: str, scratch: str = SCRATCH, semaphore: str = DMA, x: str = "f32[64,128]", out: str = "f32[8,128]") -> str:
    """A kernel with operand and output in HBM, a buffer and a semaphore."""
    keywords = {"in_specs": "[ANY]", "out_specs": "ANY", "scratch_shapes": f"[{scratch}, {semaphore}]"}
    return module(body, refs="x_ref, o_ref, buffer, sem", x=x, out=out, **keywords)  # type: ignore[arg-type]


def made(source: str, destination: str, waited: str = "sem", after: str = "copy.start()\ncopy.wait()", **changes: str) -> str:
    """A kernel that makes one copy."""
    return copy(f"copy = pltpu.make_async_copy({source}, {destination}, {waited})\n{after}", **changes)


def scoped(function: str, *types: str, **named: str) -> str:
    """A kernel that runs a function with buffers of its own."""
    arguments = ", ".join(["body", *types, *(f"{name}={text}" for name, text in named.items())])
    return module(f"def body{function}\npl.run_scoped({arguments})\no_ref[...] = x_ref[...]")


_SHAPES: list[Case] = [
    ("a copy of a block", None, made("x_ref.at[0:8]", "buffer")),
    ("a copy of all to a block", "dma-shape-mismatch", made("x_ref", "buffer")),
    ("a copy of a row to a block", "dma-shape-mismatch", made("x_ref.at[0]", "buffer")),
    ("a copy of a row to a row", None, made("x_ref.at[0]", "buffer.at[3]")),
    ("a copy of one row, kept as such", None, made("x_ref.at[0:1]", "buffer.at[pl.ds(3, 1)]")),
    (
        "a wait for another shape",
        None,
        made("x_ref.at[0:8]", "buffer", after="copy.start()\npltpu.make_async_copy(x_ref.at[0:8], buffer, sem).wait()"),
    ),
    (
        "a wait for a copy between other shapes",
        "dma-shape-mismatch" if NEW else None,
        made("x_ref.at[0:8]", "buffer", after="copy.start()\npltpu.make_async_copy(x_ref, buffer, sem).wait()"),
    ),
    (
        "a wait for a copy between other dtypes",
        "dma-dtype-mismatch" if NEW else None,
        made("x_ref.at[0:8]", "o_ref", after="copy.start()\npltpu.make_async_copy(x_ref.at[0:8], buffer, sem).wait()", scratch="pltpu.VMEM((8, 128), jnp.int32)"),
    ),
    ("a copy that is made only", None, made("x_ref", "buffer", after="")),
    ("a copy to another dtype", "dma-dtype-mismatch", made("x_ref.at[0:8]", "buffer", scratch="pltpu.VMEM((8, 128), jnp.bfloat16)")),
    ("sync_copy", None, copy("pltpu.sync_copy(x_ref.at[0:8], buffer)\npltpu.sync_copy(buffer, o_ref)")),
    ("sync_copy of all", "dma-shape-mismatch", copy("pltpu.sync_copy(x_ref, buffer)")),
    ("async_copy", None, copy("pltpu.async_copy(x_ref.at[0:8], buffer, sem).wait()")),
    ("async_copy of all", "dma-shape-mismatch", copy("pltpu.async_copy(x_ref, buffer, sem).wait()")),
    ("a copy of booleans", None if NEW else "dma-bool", made("x_ref.at[0:8]", "o_ref", x="bool[64,128]", out="bool[8,128]")),
    (
        "a copy in a branch",
        "dma-shape-mismatch",
        copy("@pl.when(pl.program_id(0) == 0)\ndef _():\n    pltpu.async_copy(x_ref, buffer, sem).wait()").replace(
            "scratch_shapes=", "grid=(1,), scratch_shapes="
        ),
    ),
]

_SEMAPHORES: list[Case] = [
    ("a copy with None for a semaphore", "semaphore-missing", copy("pltpu.make_async_copy(x_ref.at[0:8], buffer, None).start()")),
    ("a scope of a shape and a dtype", "scratch-invalid-type", scoped("(a):\n    pass", "jax.ShapeDtypeStruct((8, 128), jnp.float32)")),
    ("a scope of a shape", "scratch-invalid-type", scoped("(a):\n    pass", "(8, 128)")),
    ("a scope of a memory space", "scratch-invalid-type", scoped("(a):\n    pass", a="pltpu.VMEM")),
    ("a copy without a semaphore", "semaphore-missing", copy("pltpu.make_async_copy(x_ref.at[0:8], buffer).start()")),
    ("one of several semaphores", None, made("x_ref.at[0:8]", "buffer", "sem.at[1]", semaphore=f"{DMA}((2,))")),
    ("several semaphores", "semaphore-not-scalar", made("x_ref.at[0:8]", "buffer", "sem", semaphore=f"{DMA}((2,))")),
    ("a row of several semaphores", "semaphore-not-scalar", made("x_ref.at[0:8]", "buffer", "sem.at[1]", semaphore=f"{DMA}((2, 2))")),
    ("a wait with a regular semaphore", "semaphore-kind", made("x_ref.at[0:8]", "buffer", semaphore=REGULAR)),
    ("a signal", None, copy("pl.semaphore_signal(sem, 1)\npl.semaphore_wait(sem, 1)", semaphore=REGULAR)),
    ("a signal of a DMA semaphore", "semaphore-kind", copy("pl.semaphore_signal(sem, 1)", semaphore=DMA)),
    ("a wait for a DMA semaphore", "semaphore-kind", copy("pl.semaphore_wait(sem, 1)", semaphore=DMA)),
    ("a signal of several", "semaphore-not-scalar", copy("pl.semaphore_signal(sem, 1)", semaphore=f"{REGULAR}((2,))")),
    ("a signal of one of several", None, copy("pl.semaphore_signal(sem.at[0], 1)", semaphore=f"{REGULAR}((2,))")),
    ("a read of a semaphore", None, copy("pl.semaphore_read(sem)", semaphore=REGULAR)),
    ("a signal of a buffer", "semaphore-not-scalar", copy("pl.semaphore_signal(buffer, 1)")),
]

_SCOPES: list[Case] = [
    ("a scoped buffer", None, scoped("(buffer):\n    buffer[...] = jnp.zeros((8, 128))", SCRATCH)),
    ("a scoped buffer by name", None, scoped("(buffer, sem):\n    buffer[...] = jnp.zeros((8, 128))", SCRATCH, sem=DMA)),
    ("a buffer that the function does not take", "run-scoped-arity", scoped("():\n    pass", SCRATCH)),
    ("a buffer that is missing", "run-scoped-arity", scoped("(buffer, other):\n    pass", SCRATCH)),
    ("a buffer of an unknown name", "run-scoped-arity", scoped("(buffer):\n    pass", SCRATCH, other=SCRATCH)),
    ("a value that comes back", None, scoped("(buffer):\n    buffer[...] = jnp.zeros((8, 128))\n    return buffer[...]", SCRATCH)),
]

COPIES = [*_SHAPES, *_SEMAPHORES, *_SCOPES]
