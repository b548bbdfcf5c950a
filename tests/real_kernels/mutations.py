"""Fresh mutants of real kernels: ``python -m real_kernels.mutations --seed 1 -n 500``, with the packages that are installed.

Prints what JAX lowers and the checker refuses, what it misses, and how much of what JAX refuses it finds.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")

from real_kernels.kept import Kept
from real_kernels.packages import copied, importable
from real_kernels.ran import executed
from real_kernels.trials import Trial, planned, trials

AGREED = ("silent", "caught", "own check")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--calls", type=int, default=3, help="the most calls that a mutant is tried in")
    parser.add_argument("--only", default="", help="calls whose name contains this")
    parser.add_argument("--kind", default="", help="changes whose kind contains this")
    parser.add_argument("--verdicts", type=Path, help="a file where JAX's answers are kept for the next time")
    parser.add_argument("--files", action="store_true", help="ask about the changed files too where JAX lowers the call")
    parser.add_argument("--all", action="store_true", help="show what is found too")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        calls = [call for call in copied(folder) if options.only in call.name]
        with importable(folder):
            kept = Kept(options.verdicts)
            ran = executed(calls, folder, kept)
            kernels = {kernel for one in ran.values() for kernel in one.kernels}
            print(f"{len(kernels)} kernels in {len(ran)} calls", flush=True)
            plan = planned(ran, options.seed, options.n * (20 if options.kind else 1), options.calls)
            plan = [one for one in plan if options.kind in one.mutant.kind][: options.n]
            return report(shown(trials(plan, folder, kept, options.files), folder, () if options.all else AGREED))


def shown(tried: Iterable[Trial], folder: Path, hidden: tuple[str, ...]) -> list[Trial]:
    """Print each trial as it comes, but for those whose outcome is ``hidden``."""
    every = []
    for trial in tried:
        every.append(trial)
        if trial.outcome not in hidden:
            mutant, refusal = trial.mutant, trial.refusal
            text = Path(mutant.path).read_text()
            print(f"{trial.outcome.upper()}: {trial.call.name}: {mutant.kind}: {Path(mutant.path).relative_to(folder)}:{mutant.line}")
            print(f"    {text[mutant.start : mutant.end]!r} -> {mutant.new!r}")
            if refusal is not None:
                where = f"{Path(refusal.path).relative_to(folder)}:{refusal.line}" if refusal.path else "?"
                print(f"    JAX ({refusal.stage}) {where}: {refusal.error[:300]!r}")
            for finding in trial.findings:
                print(f"    ours {Path(finding.path).relative_to(folder)}:{finding.lines[0]}: {finding.rule}: {finding.message}")
            sys.stdout.flush()
    return every


def report(every: list[Trial]) -> int:
    """Print the figures; 1 where the checker refuses what JAX lowers."""
    outcomes = Counter(trial.outcome for trial in every)
    for kind in sorted({trial.mutant.kind for trial in every}):
        print(f"{kind:22} {dict(Counter(trial.outcome for trial in every if trial.mutant.kind == kind))}")
    found, refused = outcomes["caught"] + outcomes["elsewhere"], outcomes["caught"] + outcomes["elsewhere"] + outcomes["missed"]
    print(f"{len({trial.mutant for trial in every})} mutants, {len(every)} trials: {dict(outcomes)}")
    if refused:
        print(f"of {refused} that JAX refuses {found} found ({found / refused:.1%}), {outcomes['caught']} at its place ({outcomes['caught'] / refused:.1%})")
    return 1 if outcomes["false alarm"] else 0


if __name__ == "__main__":
    sys.exit(main())
