"""What is said of the calls of released kernels, and why no more: ``python -m real_kernels.reasons [PART OF A NAME]``, in ``tests``.

Prints a line a call, its verdicts and how many refs are known, what contradicts JAX, and all that left a call undecided, by how many calls
it did so to.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from real_kernels.comparing import compare
from real_kernels.packages import copied, importable


def main(part: str = "") -> None:
    doubts, verdicts = Counter[str](), Counter[str]()
    known = refs = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        calls = copied(folder)
        with importable(folder):
            for call in calls:
                if part not in call.name:
                    continue
                found = compare(call, folder)
                if found.failure:
                    print(f"{call.name}: JAX refuses it, {found.failure}")
                    continue
                known, refs = known + found.known, refs + found.refs
                verdicts.update(found.verdicts)
                doubts.update(set(found.doubts))
                print(f"{call.name}: {dict(Counter(found.verdicts))}, {found.known} of {found.refs} refs")
                for line in (
                    *(f"contradicts JAX: {line}" for line in found.contradictions),
                    *(f"not known: {line}" for line in found.unknown),
                ):
                    print(f"    {line}")
    print(f"\n{known} of {refs} refs are known; verdicts: {dict(verdicts)}")
    for doubt, count in doubts.most_common():
        print(f"{count:4} {doubt}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
