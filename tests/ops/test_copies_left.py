"""Copies that a kernel does not finish: nothing refuses them, so that only the checker is asked."""

from __future__ import annotations

import pytest
from checker import findings
from ops.copy_cases import DMA, copy
from referee import lower

MADE = "pltpu.make_async_copy(x_ref.at[0:8], buffer, sem)"
LEFT = {
    "started only": f"{MADE}.start()",
    "made only": f"{MADE}",
    "waited for only": f"{MADE}.wait()",
    "started in a branch": f"@pl.when(x_ref.shape[0] > 8)\ndef _():\n    {MADE}.start()",
    "started at once": "pltpu.async_copy(x_ref.at[0:8], buffer, sem)",
}
FINISHED = {
    "one copy": f"copy = {MADE}\ncopy.start()\ncopy.wait()",
    "two descriptions": f"{MADE}.start()\n{MADE}.wait()",
    "a helper": f"def made():\n    return {MADE}\nmade().start()\nmade().wait()",
    "branches": f"@pl.when(pl.program_id(0) == 0)\ndef _():\n    {MADE}.start()\n@pl.when(pl.program_id(0) == 1)\ndef _():\n    {MADE}.wait()",
    "a loop": f"def body(i, _):\n    {MADE}.start()\n    {MADE}.wait()\njax.lax.fori_loop(0, 2, body, None)",
    "a list of copies": f"for one in [{MADE}]:\n    one.start()\n    one.wait()",
    "another name for the semaphore": "other = sem\npltpu.make_async_copy(x_ref.at[0:8], buffer, other).start()",
    "a function that is not known": f"{MADE}.start()\nunknown(sem)",
    "a context manager": "class Copying:\n    def __init__(self, copy):\n        self.copy = copy\n    def __enter__(self):\n        self.copy.start()\n"
    f"    def __exit__(self, *_):\n        self.copy.wait()\nwith Copying({MADE}):\n    pass",
    "a return under finally": f"copy = {MADE}\ncopy.start()\ndef last():\n    try:\n        return 1\n    finally:\n        copy.wait()\nlast()",
    "the last of many turns": f"copy = {MADE}\ncopy.start()\nfor turn in range(400):\n    if turn == 399:\n        copy.wait()",
    "a truth with effects": f"class Done:\n    def __init__(self, copy):\n        self.copy = copy\n    def __bool__(self):\n        self.copy.wait()\n"
    f"        return True\ncopy = {MADE}\ncopy.start()\nif Done(copy):\n    pass",
    "a text that is run": f"copy = {MADE}\ncopy.start()\neval('copy.wait()')",
    "a library that calls back": f"copy = {MADE}\ncopy.start()\njax.tree_util.tree_map_with_path(lambda _, one: one.wait(), [copy])",
    "a method as a branch": f"copy = {MADE}\ncopy.start()\npl.when(pl.program_id(0) == 0)(copy.wait)",
    "copies at once": "pltpu.sync_copy(x_ref.at[0:8], buffer)",
}


def said(body: str, **changes: str) -> list[str]:
    """The rules with a finding in a kernel of two programs."""
    return [finding.rule for finding in findings(copy(body, **changes).replace("scratch_shapes=", "grid=(2,), scratch_shapes="))]


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_a_copy_that_is_left_is_told(body: str) -> None:
    assert lower(copy(body)).ok
    assert "dma-semaphore" in said(body)


@pytest.mark.parametrize("body", FINISHED.values(), ids=FINISHED)
def test_a_copy_that_may_be_finished_is_not(body: str) -> None:
    assert "dma-semaphore" not in said(body)


def test_one_of_several_semaphores_stands_for_all() -> None:
    body = "pltpu.make_async_copy(x_ref.at[0:8], buffer, sem.at[0]).start()\npltpu.make_async_copy(x_ref.at[0:8], buffer, sem.at[1]).wait()"
    assert "dma-semaphore" not in said(body, semaphore=f"{DMA}((2,))")
