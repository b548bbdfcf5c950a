"""Fresh random kernels, broken texts and erasures, on two processes: ``make fuzz SEED=7 N=5000``.

Prints what was found in figures, and for each kind of disagreement the smallest kernel that shows it. Exits 1 on a false alarm, on an
exception, when too few of JAX's refusals of a family are reported, or when a verdict contradicts JAX.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.pool
import re
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import TypeVar

import jax
from broken_text.edits import complaints, edits, sources
from erasure.erasing import new_findings
from random_kernels.compare import Comparison, compare
from random_kernels.families import ACCESSES, CALLS, MESHES, OPERATIONS, Family
from random_kernels.judging import Tally, judge
from random_kernels.modules import random_kernel
from random_kernels.reducing import reduced
from verdicts.forms import random_form
from verdicts.judging import Tally as Verdicts
from verdicts.judging import tally_of

PROCESSES = 2
CHUNK = 50
SHOWN = 25

T = TypeVar("T")
Failure = tuple[str, str]  # what it is, and what shows it


def kernels(seeds: range) -> Tally:
    return judge(f"fuzz {seed}" for seed in seeds)


def calls(seeds: range) -> Tally:
    return judge((f"fuzz {seed}" for seed in seeds), CALLS)


def operations(seeds: range) -> Tally:
    return judge((f"fuzz {seed}" for seed in seeds), OPERATIONS)


def meshes(seeds: range) -> Tally:
    return judge((f"fuzz {seed}" for seed in seeds), MESHES)


def verdicts(seeds: range) -> Verdicts:
    """Verdicts of fresh kernels, calls and single operations; those that contradict JAX are kept."""
    made = (family.make(f"verdict {seed}") for seed in seeds for family in (ACCESSES, CALLS, MESHES))
    return tally_of([*(kernel.text for kernel in made if kernel.stated), *map(random_form, seeds)])


def broken_texts(seeds: range) -> list[Failure]:
    """Edits of JAX's kernels that raise, or that lead to a finding while the text cannot be parsed."""
    failures: list[Failure] = []
    for seed in seeds:
        for edit in edits(sources(), seed, 1):
            try:
                failures += [("finding in a broken text", text) for text in complaints(edit)]
            except Exception:
                failures.append(("exception", f"{edit.file.name}, {edit.words}\n{traceback.format_exc(limit=-3)}"))
    return failures


def erasures(seeds: range) -> list[Failure]:
    """Findings that are there only because something is not known."""
    failures: list[Failure] = []
    for seed in seeds:
        kernel = random_kernel(f"erasure {seed}")
        if not kernel.sound:
            for erased, new in new_findings(kernel.text, count=15, seed=seed):
                failures.append(("new finding after an erasure", f"line {erased.line}: {erased.gone!r} erased: {new}\n{kernel.text}"))
    return failures


def kind(made: Comparison) -> tuple[object, ...]:
    """Disagreements of one kind have one cause, as far as one can tell."""
    ours = tuple(sorted({error.rule for error in made.errors})) if made.outcome != "missed" else ()
    return made.outcome, made.rules, ours, re.sub(r"[0-9(\[{].*", "", made.verdict.message)[:40]


def smallest(made: Comparison) -> str:
    """A smaller kernel on which the checker and JAX disagree in the same way."""

    def holds(text: str) -> bool:
        try:
            return kind(compare(text, made.stated, made.family)) == kind(made)
        except Exception:
            return False

    return reduced(made.text, holds)


def chunks(first: int, count: int) -> list[range]:
    return [range(start, min(start + CHUNK, first + count)) for start in range(first, first + count, CHUNK)]


def on_all(pool: multiprocessing.pool.Pool, function: Callable[[range], T], first: int, count: int, what: str) -> list[T]:
    """The answers of ``function`` for all seeds, chunk by chunk."""
    started = time.monotonic()
    answers = []
    for done, answer in enumerate(pool.imap_unordered(function, chunks(first, count)), 1):
        answers.append(answer)
        if sys.stderr.isatty():
            print(f"\r{what}: {min(done * CHUNK, count)} of {count}", end="", file=sys.stderr, flush=True)
    print(f"{what}: {count} in {time.monotonic() - started:.0f} s")
    return answers


def report(tally: Tally, family: Family) -> None:
    print(f"  {tally.kernels} kernels and what is left of them: {dict(tally.outcomes)}")
    where = "" if family.anywhere else " on the right line"
    print(f"  of {tally.refused.total()} refusals over {family.name} {tally.recall:.1%} are reported by a fitting rule{where}")
    for rule, count in tally.refused.most_common():
        print(f"    {rule:32} {tally.caught[rule]:5} of {count}")
    for text, count in tally.other.most_common(12):
        print(f"    other families: {count:4} x {text}")


def told(parts: list[Verdicts]) -> list[Failure]:
    """Print how many verdicts there are, and give those that contradict JAX."""
    accepted, refused = (sum((getattr(part, name) for part in parts), Counter[str]()) for name in ("accepted", "refused"))
    share = 1 - (accepted["undecided"] + refused["undecided"]) / max(accepted.total() + refused.total(), 1)
    print(f"  {share:.1%} decided; of what JAX lowers {dict(accepted)}, of what it refuses {dict(refused)}")
    return [("a verdict that contradicts JAX", text) for part in parts for text in part.wrong]


def show(disagreements: list[tuple[str, Comparison]]) -> None:
    groups: dict[tuple[object, ...], list[tuple[str, Comparison]]] = defaultdict(list)
    for seed, made in disagreements:
        groups[kind(made)].append((seed, made))
    order = sorted(groups.items(), key=lambda item: (item[0][0] != "false alarm", -len(item[1])))
    for group, members in order[:SHOWN]:
        seed, made = min(members, key=lambda member: len(member[1].text))
        print(f"\n{'=' * 100}\n{len(members)} x {group}; seed {seed!r}")
        text = smallest(made)
        again = compare(text, made.stated, made.family)
        print(
            f"JAX, line {again.verdict.line}: {again.verdict.message[:200]}\nfound: {[(e.line, e.rule, e.message) for e in again.errors]}\n\n{text}"
        )
    if len(order) > SHOWN:
        print(f"\nand {len(order) - SHOWN} more kinds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first seed of a run; the same seed makes the same kernels")
    parser.add_argument("-n", type=int, default=5000, help="how many kernels, and how many edits")
    parser.add_argument("--only", choices=("kernels", "calls", "operations", "meshes", "verdicts", "texts", "erasures"), help="a part of it")
    options = parser.parse_args()
    first = options.seed * 1_000_000
    print(f"JAX {jax.__version__}, seed {options.seed}")
    parts = ((ACCESSES, kernels, "kernels"), (CALLS, calls, "calls"), (OPERATIONS, operations, "operations"), (MESHES, meshes, "meshes"))
    tallies, failures = {family: Tally() for family, *_ in parts}, list[Failure]()
    with multiprocessing.get_context("spawn").Pool(PROCESSES, maxtasksperchild=20) as pool:
        for family, function, what in parts:
            if options.only in (None, what):
                for part in on_all(pool, function, first, options.n, what):
                    tallies[family].merge(part)
                report(tallies[family], family)
        if options.only in (None, "verdicts"):
            failures += told(on_all(pool, verdicts, first, options.n // 5, "verdicts"))
        if options.only in (None, "texts"):
            failures += [failure for part in on_all(pool, broken_texts, first, options.n, "broken texts") for failure in part]
        if options.only in (None, "erasures"):
            failures += [failure for part in on_all(pool, erasures, first, options.n // 10, "erasures") for failure in part]
    for tally in tallies.values():
        show(tally.disagreements)
    for what, count in Counter(what for what, _ in failures).items():
        print(f"\n{'=' * 100}\n{count} x {what}, for example:\n" + "\n".join(text for kind_, text in failures if kind_ == what)[:3000])
    good = all(not tally.outcomes["false alarm"] and (tally.recall >= family.needed or not tally.refused) for family, tally in tallies.items())
    return 0 if good and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
