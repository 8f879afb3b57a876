"""``python -m tests.fuzz``: tables through every criterion, model and format, each release recounted.

``--minutes 10`` draws for ten minutes; ``--seed trial-17`` repeats one attempt, prints it, and shrinks it.
The exit status is 1 if an attempt failed.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from dataclasses import fields

# The hostile cases run the numpy twin; each trial chooses its own evaluator.
os.environ["DISCREET_COMPILE"] = "never"

from tests.fuzz.attempt import outcome_of
from tests.fuzz.campaign import Campaign, trial_named
from tests.fuzz.cases import Trial
from tests.fuzz.files import attribute_entries
from tests.fuzz.plan import undrawable
from tests.fuzz.shrinking import shrunken

_ATTEMPTS = 10


def main() -> int:
    """Run the attempts; return 1 if one failed."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0, help="how long to draw (default 10)")
    options.add_argument(
        "--seed", help="run this attempt alone, trial-N or case-N, and shrink it where it fails"
    )
    options.add_argument("--base", type=int, help="begin with these seeds, to draw the same again")
    options.add_argument("--first", action="store_true", help="end at the first failure")
    options.add_argument("--processor", action="store_true", help="minutes of this process, not of the clock")
    options.add_argument("--cases", type=int, default=10**9, help="at most so many attempts")
    chosen = options.parse_args()
    if chosen.seed is not None:
        return _one(chosen.seed)
    lacking = undrawable()
    if lacking:
        print("The fuzz has no value, definition or format for: " + ", ".join(lacking))
        return 1
    base = secrets.randbits(24) if chosen.base is None else chosen.base
    campaign = Campaign(chosen.minutes, base, chosen.processor, chosen.first, chosen.cases)
    right = campaign.run()
    campaign.report()
    return int(not right)


def _one(name: str) -> int:
    trial = trial_named(name)
    # A seed does not repeat the program's own draws of groups and row orders.
    outcomes = (outcome_of(trial) for _ in range(_ATTEMPTS))
    outcome = next((found for found in outcomes if found.failed), None) or outcome_of(trial)
    print(f"{name}: {outcome.result}: {outcome.why} {outcome.facts}")
    if outcome.failed:
        trial = shrunken(trial, outcome.why, outcome_of)
        print(f"shrunken: {outcome_of(trial).facts}")
    print(_text(trial))
    return int(outcome.failed)


def _text(trial: Trial) -> str:
    """Format the trial for a reader: the request, the attributes, the rows."""
    request = {field.name: getattr(trial, field.name) for field in fields(trial) if field.name != "columns"}
    request["conditions"] = [str(condition) for condition in trial.conditions]
    lines = [repr(request), *(f"{name!r}: {entry}" for name, entry in attribute_entries(trial).items())]
    lines += [f"{c.name!r} ({c.role}, {c.kind}): {list(c.cells)!r}" for c in trial.columns]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
