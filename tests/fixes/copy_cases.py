"""Copies that a kernel does not finish: (the lines of the kernel that make it, the lines that the fix adds)."""

from __future__ import annotations

from ops.copy_cases import copy

_MADE = "pltpu.make_async_copy(x_ref.at[0:8], buffer, sem)"
_DONE = "pltpu.async_copy(x_ref.at[0:8], buffer, sem).wait()"

LEFT = [
    (f"{_MADE}.start()", [_DONE]),
    (_MADE, [_DONE]),
    (f"{_MADE}.wait()", [_DONE]),
    ("pltpu.async_copy(x_ref.at[0:8], buffer, sem)", [_DONE]),
    (f"@pl.when(x_ref.shape[0] > 8)\ndef _():\n    {_MADE}.start()  # go", [f"{_DONE}  # go"]),
    (f"for _ in range(2):\n    {_MADE}.start()", [_DONE]),
    (f"copy = {_MADE}\ncopy.start()  # on its way", ["copy.wait()"]),
    (f"copy = {_MADE}\ncopy.wait()", ["copy.start()"]),
    (f"copy = {_MADE}", ["copy.start()", "copy.wait()"]),
    ("copy = pltpu.async_copy(\n    x_ref.at[0:8],\n    buffer,\n    sem,\n)", ["copy.wait()"]),
]
UNSAFE = [("dma-semaphore", body, copy(f"{body}\npltpu.sync_copy(buffer, o_ref)"), lines) for body, lines in LEFT]

NOT_FIXED = [
    f"copy = {_MADE}; copy.start()",
    f"copy = {_MADE}\nif True: copy.start()",
    f"{_MADE}.start(priority=1)",
    f"copies = [{_MADE}]\ncopies[0].start()",
]
"""What no line can be added to, or where an argument would be lost."""
