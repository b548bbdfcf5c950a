"""An analysis that remembers earlier ones says what one says that starts from nothing, whatever was edited in between."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator

import pytest
from incremental.comparing import Edited, differences
from jax.experimental.pallas.ops.tpu import flash_attention, matmul
from jax.experimental.pallas.ops.tpu.megablox import gmm

INSERTED = [" ", "\n", "\n    ", "x", "(", "[", "]", ")", ".T", "  # c", "0", "[0]", "[None]", " + 1", "jnp.sum(", "pl.", "None"]


def edits(text: str, seed: int, count: int) -> Iterator[str]:
    """Texts, each an edit of the one before or, now and then, of the first."""
    draw, now = random.Random(seed), text
    for _ in range(count):
        now = text if draw.random() < 0.3 else now
        at, kind = draw.randrange(len(now)), draw.random()
        if kind < 0.3:
            now = now[:at] + now[at + 1 :]
        elif kind < 0.4:
            now = now[:at] + now[now.find("\n", at) :]
        elif kind < 0.5:
            lines = now.split("\n")
            row = draw.randrange(len(lines))
            now = "\n".join([*lines[:row], lines[row], *lines[row:]])
        else:
            now = now[:at] + draw.choice(INSERTED) + now[at:]
        yield now


@pytest.mark.parametrize(("module", "count"), [(flash_attention, 15), (gmm, 8), (matmul, 30)], ids=lambda m: getattr(m, "__name__", None))
def test_nothing_differs_after_random_edits(module: object, count: int) -> None:
    text = inspect.getsource(module)  # type: ignore[arg-type]
    document = Edited("/p/kernels.py", text)
    document.remembered()
    for edited in edits(text, seed=count, count=count):
        document.write(edited)
        assert not differences(document.remembered(), document.anew()), edited
