"""``python -m tests.fuzz``: hostile tables through every model and format, each release counted again.

``--minutes 10`` draws seeds for so long; ``--seed N`` runs one case again, shows it, and shrinks it. The exit
status is 1 where a case failed.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections import Counter
from typing import Any

os.environ["DISCREET_COMPILE"] = "never"

from tests.fuzz.attempt import Outcome, judged
from tests.fuzz.cases import Case, drawn
from tests.fuzz.files import attribute_entries
from tests.fuzz.shrinking import shrunken

_SHOWN_SEEDS = 3
_ATTEMPTS = 10


def main() -> int:
    """Run the cases; 1 where one failed."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0, help="how long to draw cases (default 10)")
    options.add_argument("--seed", type=int, help="run this case alone, and shrink it where it fails")
    chosen = options.parse_args()
    return _one(chosen.seed) if chosen.seed is not None else _many(chosen.minutes)


def _one(seed: int) -> int:
    case = drawn(seed)
    # What the program itself draws, groups and orders of rows, no seed repeats.
    outcomes = (judged(case) for _ in range(_ATTEMPTS))
    outcome = next((found for found in outcomes if found.failed), None) or judged(case)
    print(f"seed {seed}: {outcome.what}: {outcome.why} {outcome.facts}")
    if outcome.failed:
        case = shrunken(case, outcome.why, judged)
        print(f"shrunken: {judged(case).facts}")
    print(_text(case))
    return int(outcome.failed)


def _many(minutes: float) -> int:
    end = time.monotonic() + 60 * minutes
    counts: Counter[tuple[str, str]] = Counter()
    failed: dict[str, list[tuple[int, Outcome]]] = {}
    while time.monotonic() < end:
        seed = secrets.randbits(40)
        outcome = judged(drawn(seed))
        counts[outcome.what, outcome.why] += 1
        if outcome.failed:
            failed.setdefault(outcome.why, []).append((seed, outcome))
            if len(failed[outcome.why]) == 1:
                print(f"{outcome.why}: {outcome.facts}\n  make fuzz SEED={seed}", flush=True)
    return _report(counts, failed)


def _report(counts: Counter[tuple[str, str]], failed: dict[str, list[tuple[int, Outcome]]]) -> int:
    total = Counter[str]()
    for (what, _), number in counts.items():
        total[what] += number
    print(f"{sum(total.values()):,} cases: " + ", ".join(f"{n:,} {what}" for what, n in total.most_common()))
    for (what, why), number in counts.most_common():
        if what != "failed":
            print(f"  {number:>6,} {what}: {why}")
    for why, cases in failed.items():
        seeds = ", ".join(f"make fuzz SEED={seed}" for seed, _ in cases[:_SHOWN_SEEDS])
        print(f"FAILED {len(cases):,} times: {why}\n  {seeds}")
    return int(bool(failed))


def _text(case: Case) -> str:
    """The case for a reader: the request, the attributes, the rows."""
    asked: dict[str, Any] = {
        name: getattr(case, name)
        for name in (
            "source",
            "release",
            "model",
            "k",
            "l",
            "limit",
            "drop_nulls",
            "star",
            "command",
            "options",
        )
    }
    lines = [repr(asked), *(f"{name!r}: {entry}" for name, entry in attribute_entries(case).items())]
    lines += [f"{c.name!r} ({c.role}, {c.kind}): {list(c.cells)!r}" for c in case.columns]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
