"""Copies and signals to another device: which one, and how it is named.

Mirrors ``jax/_src/pallas/mosaic/primitives.py`` (``make_async_remote_copy``, ``AsyncCopyDescriptor``), ``jax/_src/pallas/primitives.py``
(``device_id_to_logical``, ``_semaphore_signal_abstract_eval``) and ``jax/_src/pallas/mosaic/lowering.py`` (``_device_id_to_logical``,
``MosaicGridMapping._prepare_mesh_info``).
"""

from __future__ import annotations

from ..interpreter.operation_events import CopyMade, CopyStep, SemaphoreUse, Target, UnseenMesh
from ..interpreter.values import ABSENT, Array, Library, Ref, Value
from . import words
from .diagnostic import Related
from .registry import Context, Finding, rule

Sent = CopyStep | SemaphoreUse


def _target(event: CopyMade | Sent) -> Target | None:
    """Where a copy that starts, or a signal, goes."""
    if isinstance(event, CopyStep):
        return event.copy.target if event.step == "start" else None
    return event.target


def _kind(value: Value) -> str:
    """``MESH`` or ``LOGICAL``, how a device id is to be read; empty where that is not known."""
    if value is ABSENT:
        return "MESH"
    name = value.name if isinstance(value, Library) else ""
    return name.rpartition(".")[2] if ".DeviceIdType." in name else ""


@rule("remote-semaphore-missing", on=CopyMade, order=6, also=(CopyStep,), stage="trace")
def remote_semaphore_missing(event: CopyMade | CopyStep, context: Context) -> Finding | None:
    """A remote copy lacks one of its two semaphores."""
    made = event.copy if isinstance(event, CopyStep) else event
    target = made.target
    if target is None or target.device is None:
        return None
    for value, name, text in ((target.send, "send_sem", "is done sending"), (target.receive, "recv_sem", "has arrived")):
        if value is ABSENT and event is made:
            function = made.function.rpartition(".")[2]
            jax = f"{function}() missing 1 required positional argument: '{name}'"
            return Finding(event.where.location, f"this remote copy has no `{name}`, which tells that it {text}", jax_message=jax)
        if value is None and target.device is not ABSENT and _refused_here(name, event, made, context):
            jax = _NO_SEMAPHORE[0 if context.jax(since="0.12") else 1 if name == "send_sem" else 2]
            return Finding(event.where.location, f"`{name}` of this remote copy is None: it tells that the copy {text}", jax_message=jax)
    return None


_NO_SEMAPHORE = (
    "Both `src_sem` and `dst_sem` (`sem`) must be set when `device_id` is set.",
    "Either both or neither `src_sem` and `device_id` can be set.",
    "DMA source/destination/semaphore arguments must be Refs.",
)


def _refused_here(name: str, event: CopyMade | CopyStep, made: CopyMade, context: Context) -> bool:
    """Whether JAX refuses a semaphore that is None at this event: when the copy is made, or, in an older JAX, when it starts."""
    if context.jax(since="0.12") or name == "send_sem":
        return event is made
    return context.jax(until="0.12") and isinstance(event, CopyStep) and event.step == "start"


@rule("remote-device-id-none", on=CopyMade, order=7, stage="trace")
def remote_device_id_none(event: CopyMade, context: Context) -> Finding | None:
    """A remote copy says no device."""
    target = event.target
    if target is None or target.device not in (None, ABSENT) or (target.device is None and not isinstance(target.send, Ref)):
        return None
    function = event.function.rpartition(".")[2]
    if target.device is ABSENT:
        jax = f"{function}() missing 1 required positional argument: 'device_id'"
    elif context.jax(since="0.12"):
        jax = "`device_id` is required for a remote copy. Use `make_async_copy` for a local one."
    else:
        jax = "Either both or neither `src_sem` and `device_id` can be set."
    what = f"this remote copy does not say to which device it goes: `device_id` does, and `pltpu.{function.replace('remote_', '')}` copies on one device"
    return Finding(event.where.location, what, jax_message=jax)


@rule("remote-device-id-logical", on=CopyMade, order=8, also=(CopyStep, SemaphoreUse), stage="trace")
def remote_device_id_logical(event: CopyMade | Sent, context: Context) -> Finding | None:
    """A logical device id is one number."""
    target = event.target if isinstance(event, CopyMade) else _target(event)
    if target is None:
        return None
    if isinstance(target.kind, str) and not isinstance(event, CopyMade):
        what = f"`device_id_type` is {target.kind!r}: it is `pl.DeviceIdType.MESH` or `pl.DeviceIdType.LOGICAL`"
        return Finding(event.where.location, what, jax_message=f"Unsupported device id type: {target.kind}")
    copies = isinstance(event, CopyMade)
    if _kind(target.kind) != "LOGICAL" or isinstance(event, CopyStep) or not isinstance(target.device, tuple | dict if copies else dict):
        return None
    given = "names of mesh axes" if isinstance(target.device, dict) else "coordinates"
    jax = "LOGICAL device_id_type does not support device_id as a tuple or dict."
    if not copies:
        jax = "`device_id_type` must be MESH if `device_id` is a dict, got: ..."
    what = f"`device_id` gives {given}, which `DeviceIdType.MESH` reads, `LOGICAL` reads the number of a device"
    return Finding(event.where.location, what, jax_message=jax)


@rule("signal-device-id-dtype", on=SemaphoreUse, order=9, stage="trace")
def signal_device_id_dtype(event: SemaphoreUse, context: Context) -> Finding | None:
    """The device that a signal goes to is no 32-bit integer."""
    device = event.target.device if event.target is not None else None
    parts = device.values() if isinstance(device, dict) else device if isinstance(device, tuple | list) else [device]
    wrong = next((part for part in parts if isinstance(part, Array) and part.dtype not in (None, "int32")), None)
    if wrong is None:
        return None
    what = f"the id of a device is int32, this one is {words.array(wrong)}"
    return Finding(event.where.location, what, jax_message=f"`device_id`s must be an int32 value, but got {wrong.dtype}")


@rule("remote-device-id-count", on=CopyStep, order=40, also=(SemaphoreUse, UnseenMesh), stage="lower", since="0.8.3")
def remote_device_id_count(event: Sent | UnseenMesh, context: Context) -> Finding | None:
    """The number of coordinates of a device is not that of the axes of the mesh."""
    if isinstance(event, UnseenMesh):
        ids = event.copy.target.ids if event.copy.target is not None else None
        if ids is None:
            return None
        what = (
            "the kernel uses no axis of the mesh, so that JAX takes the mesh for one without axes: "
            f"`device_id={{'axis': ...}}` names the axis of {'each coordinate' if ids > 1 else 'the coordinate'}"
        )
        return Finding(event.where.location, what, jax_message=_COUNT.format(ids, 0))
    target = _target(event)
    if target is None or target.ids is None or target.axes is None or target.ids in (0, len(target.axes)) or not target.axes:
        return None
    given = "1 coordinate" if target.ids == 1 else f"{target.ids} coordinates"
    what = f"`device_id` has {given}, the mesh has {words.axes(len(target.axes))}: {words.listed([f'`{axis}`' for axis in target.axes])}"
    return Finding(event.where.location, what, jax_message=_COUNT.format(target.ids, len(target.axes)))


_COUNT = "Number of device ids must match the number of mesh axes, but got {} ids for a {}D mesh."


@rule("remote-device-id-axis", on=CopyStep, order=41, also=(SemaphoreUse,), stage="lower")
def remote_device_id_axis(event: Sent, context: Context) -> Finding | None:
    """A device is named by an axis that the mesh does not have."""
    target = _target(event)
    if target is None or not isinstance(target.device, dict) or not target.axes:
        return None
    names = [name for key in target.device for name in (key if isinstance(key, tuple) else (key,))]
    other = next((name for name in names if isinstance(name, str) and name not in target.axes), None)
    if other is None:
        return None
    what = f"`device_id` names the axis `{other}`, the mesh has {words.listed([f'`{axis}`' for axis in target.axes])}"
    return Finding(event.where.location, what, jax_message=f"Unrecognized axes in device_id: {{'{other}': ...}}")


@rule("remote-outside-shard-map", on=CopyStep, order=42, also=(SemaphoreUse,), stage="lower")
def remote_outside_shard_map(event: Sent, context: Context) -> Finding | None:
    """A kernel outside of ``shard_map`` names another device by an axis of a mesh."""
    target = _target(event)
    named = target is not None and (isinstance(target.device, dict) or isinstance(event, SemaphoreUse))
    if target is None or target.axes != {} or not named or event.where.call is None:
        return None
    what = "this kernel speaks to other devices, but nothing around it says over which mesh it runs: `jax.shard_map` does"
    related = (Related(event.where.location, "here it does"),)
    return Finding(event.where.call, what, related, "Cannot use communication in pallas_call without shard_map.")
