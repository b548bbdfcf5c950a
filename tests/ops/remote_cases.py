"""Copies and signals to another device, and what a copy that stays on its device does not have."""

from __future__ import annotations

from textwrap import indent

from ops.copy_cases import copy, made
from ops.modules import NEW, Case

_MODULE = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P


def kernel(x_ref, o_ref, send, recv):
{body}


def local(x):
    hbm = pl.BlockSpec(memory_space=pl.ANY)
    sems = [pltpu.SemaphoreType.DMA] * 2
    return pl.pallas_call(kernel, out_shape=x, in_specs=[hbm], out_specs=hbm, scratch_shapes=sems, compiler_params={params})(x)


def run(x):
{run}


ARGS = [jax.ShapeDtypeStruct((32, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""
_SHARDED = """\
mesh = AbstractMesh({sizes}, {names}, axis_types=(AxisType.Auto,) * {rank})
return jax.shard_map(local, mesh=mesh, in_specs=P({axes}), out_specs=P({axes}), check_vma=False)(x)"""
RIGHT = "right = (lax.axis_index('x') + 1) % 2\n"
DONE = "copy.start()\ncopy.wait()"


def remote(body: str, names: tuple[str, ...] | None = ("x",), collective: bool = False) -> str:
    """A kernel under a mesh of two devices along each of the named axes; None: under no mesh."""
    run = "return local(x)"
    if names is not None:
        axes = ", ".join(map(repr, names))
        run = _SHARDED.format(sizes=(2,) * len(names), names=names, rank=len(names), axes=axes)
    params = "pltpu.CompilerParams(collective_id=0)" if collective else "None"
    return _MODULE.format(body=indent(body, "    "), run=indent(run, "    "), params=params)


def sent(device: str, more: str = "", before: str = RIGHT, **around: object) -> str:
    """A kernel that sends its operand to a device."""
    body = f"{before}copy = pltpu.make_async_remote_copy(x_ref, o_ref, send, recv, device_id={device}{more})\n{DONE}"
    return remote(body, **around)  # type: ignore[arg-type]


def signalled(device: str, before: str = RIGHT, **around: object) -> str:
    """A kernel that signals a device and waits for another one's signal."""
    body = f"{before}barrier = pltpu.get_barrier_semaphore()\npl.semaphore_signal(barrier, 1, device_id={device})\npl.semaphore_wait(barrier, 1)"
    return remote(body, collective=True, **around)  # type: ignore[arg-type]


_MAKE = "copy = pltpu.make_async_remote_copy(x_ref, o_ref, {})\n" + DONE
_BLOCK = "pl.ds(lax.axis_index('x') * 8, 8)"
XY = {"names": ("x", "y")}
LOGICAL, MESH = (f", device_id_type=pl.DeviceIdType.{kind}" for kind in ("LOGICAL", "MESH"))

_DEVICES: list[Case] = [
    ("a coordinate", None, sent("(right,)")),
    ("a coordinate that is no tuple", None, sent("right")),
    ("a coordinate in a list", None, sent("[right]")),
    ("a coordinate by its axis", None, sent("{'x': right}")),
    ("a constant by its axis", None, sent("{'x': 1}", before="")),
    ("two coordinates", None, sent("(right, 0)", **XY)),
    ("one of two axes", None, sent("{'x': right}", **XY)),
    ("two axes as one", None, sent("{('x', 'y'): right}", **XY)),
    ("coordinates, said to be some", None, sent("(right,)", MESH)),
    ("a coordinate too many", "remote-device-id-count", sent("(right, 0)")),
    ("a coordinate too few", "remote-device-id-count", sent("(right,)", **XY)),
    ("one number for two axes", "remote-device-id-count", sent("right", **XY)),
    ("a constant where no axis is used", "remote-device-id-count", sent("(1,)", before="")),
    ("a constant where an axis is used elsewhere", None, sent("(1,)", before=f"pltpu.sync_copy(x_ref.at[{_BLOCK}], o_ref.at[0:8])\n")),
    ("another axis", "remote-device-id-axis", sent("{'z': right}")),
    ("one axis of the mesh and another", "remote-device-id-axis", sent("{'x': right, 'z': 0}")),
    ("a logical id", None, sent("right", LOGICAL)),
    ("a logical id without a mesh", None, sent("0", LOGICAL, before="", names=None)),
    ("logical coordinates", "remote-device-id-logical", sent("(right,)", LOGICAL)),
    ("a logical axis", "remote-device-id-logical", sent("{'x': right}", LOGICAL)),
    ("a word for the type of an id", "remote-device-id-logical", sent("(right,)", ", device_id_type='mesh'")),
    ("an axis without a mesh", "remote-outside-shard-map", sent("{'x': 1}", before="", names=None)),
    ("no device", "remote-device-id-none", sent("None")),
    ("a device that is not said", "remote-device-id-none", remote(_MAKE.format("send, recv"))),
    ("one semaphore", "remote-semaphore-missing", remote(_MAKE.format("send, device_id={'x': 0}"))),
    ("no semaphore", "remote-semaphore-missing", remote(_MAKE.format("device_id={'x': 0}"))),
    ("no semaphore for sending", "remote-semaphore-missing", remote(_MAKE.format("None, recv, {'x': 0}"))),
    ("no semaphore for receiving", "remote-semaphore-missing", remote(_MAKE.format("send, None, {'x': 0}"))),
]

_SIGNALS: list[Case] = [
    ("a signal", None, signalled("(right,)")),
    ("a signal by axis", None, signalled("{'x': right}")),
    ("a signal to a constant", None, signalled("(1,)", before="")),
    ("a signal to a list", None, signalled("[right]")),
    ("a signal to a 16-bit id", "signal-device-id-dtype", signalled("(right.astype(jnp.int16),)")),
    ("a signal to a float", "signal-device-id-dtype", signalled("{'x': right * 1.0}")),
    ("a signal with a coordinate too many", "remote-device-id-count", signalled("(right, 0)")),
    ("a signal along another axis", "remote-device-id-axis", signalled("{'z': right}")),
    ("a signal by logical axis", "remote-device-id-logical", signalled(f"{{'x': right}}{LOGICAL}")),
    ("a signal to a logical id", None, signalled(f"right{LOGICAL}")),
    ("a signal without a mesh", "remote-outside-shard-map", signalled("{'x': 1}", before="", names=None)),
    ("a signal to a logical id without a mesh", "remote-outside-shard-map", signalled(f"1{LOGICAL}", before="", names=None)),
    ("a signal to a coordinate without a mesh", "remote-outside-shard-map", signalled("(1,)", before="", names=None)),
]

_OTHER = f"{RIGHT}pltpu.make_async_remote_copy(x_ref.at[pl.ds(0, 4)], o_ref.at[pl.ds(0, 8)], send, recv, device_id={{'x': right}}).STEP()\n"
_WAITS: list[Case] = [
    (f"{step} for a remote copy between other shapes", "dma-shape-mismatch" if NEW else None, remote(_OTHER.replace("STEP", step)))
    for step in ("wait_recv", "wait_send")
]

STORED = "pltpu.sync_copy(x_ref, o_ref)\n"
_AXES: list[Case] = [
    ("the index on an axis", None, remote(f"i = lax.axis_index('x')\n{STORED}")),
    ("the size of an axis", None, remote(f"i = lax.axis_size('x') + 1\n{STORED}")),
    ("the index on another axis", "axis-name-unbound", remote(f"i = lax.axis_index('z')\n{STORED}")),
    ("the size of another axis", "axis-name-unbound", remote(f"i = lax.axis_size('z')\n{STORED}")),
    ("the index on an axis without a mesh", "axis-name-unbound", remote(f"i = lax.axis_index('x')\n{STORED}", names=None)),
    ("the index in a branch without a mesh", "axis-name-unbound", remote(f"pl.when(True)(lambda: lax.axis_index('x'))\n{STORED}", names=None)),
]

_LOCAL: list[Case] = [
    ("wait_send of a copy that stays", "wait-send-on-local-copy", made("x_ref.at[0:8]", "buffer", after="copy.start()\ncopy.wait_send()")),
    ("wait_read of a copy that stays", "wait-send-on-local-copy", made("x_ref.at[0:8]", "buffer", after="copy.start()\ncopy.wait_read()\ncopy.wait()")),
    ("wait_recv of a copy that stays", None, made("x_ref.at[0:8]", "buffer", after="copy.start()\ncopy.wait_recv()")),
    ("wait_send of a copy that goes", None, sent("{'x': right}").replace("copy.wait()", "copy.wait_send()\n    copy.wait_recv()")),
    *(
        (f"a copy of priority {number}", None if number in ("0", "1", "True") else "dma-priority",
         made("x_ref.at[0:8]", "buffer", after=f"copy.start({how}{number})\ncopy.wait()"))
        for number in ("0", "1", "2", "-1", "True") for how in ("", "priority=")
    ),
    ("an async_copy of priority 2", "dma-priority", copy("pltpu.async_copy(x_ref.at[0:8], buffer, sem, priority=2).wait()")),
    ("a copy that adds", "dma-add-on-tensorcore", made("x_ref.at[0:8]", "buffer", after="copy.start(add=True)\ncopy.wait()")),
    ("a copy that does not add", None, made("x_ref.at[0:8]", "buffer", after="copy.start(add=False)\ncopy.wait()")),
    ("an async_copy that adds", "dma-add-on-tensorcore", copy("pltpu.async_copy(x_ref.at[0:8], buffer, sem, add=True).wait()")),
    ("a sync_copy that adds", "dma-add-on-tensorcore", copy("pltpu.sync_copy(x_ref.at[0:8], buffer, add=True)")),
]  # fmt: skip

REMOTE: list[Case] = [*_DEVICES, *_WAITS, *_SIGNALS, *_AXES, *_LOCAL]
