"""A campaign: trials in the order of the plan and hostile cases between them, with its counts."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from discreet.model.criteria.registry import CRITERIA
from discreet.verbs.models.model_registry import MODELS
from tests.fuzz.attempt import Outcome, attempt, outcome_of
from tests.fuzz.cases import Trial
from tests.fuzz.hostile_tables import drawn
from tests.fuzz.journeys import OWN_TABLES
from tests.fuzz.plan import CYCLE, TURNS, features_of, planned, seed_for, seeds, uncovered
from tests.fuzz.publishing import Notes
from tests.fuzz.trial_drawing import trial_of

TRIAL, CASE = "trial", "case"
_FOR = " for "
_SHOWN_SEEDS = 3
_EXTRA_TRIES = 60
_HOSTILE_EVERY = 4
"""Attempts per table of hostile cells."""


@dataclass
class Campaign:
    """The counts of a run.

    ``first`` ends it at the first failure; ``cases`` limits the attempts. With ``processor`` the minutes are
    processor time of this process, else time of the clock.
    """

    minutes: float
    base: int
    processor: bool = False
    first: bool = False
    cases: int = 10**9
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: dict[str, list[tuple[str, Outcome]]] = field(default_factory=lambda: defaultdict(list))
    notes: Notes = field(default_factory=Notes)
    hostile: int = 0
    trials: int = 0

    def run(self) -> bool:
        """Attempt until the time is over; return whether all attempts succeeded."""
        end = self._now() + 60 * self.minutes
        for kind, seed in self._turns():
            if self._now() > end or self.hostile + self.trials >= self.cases:
                break
            self._attempt(kind, seed)
            if self.first and self.failed:
                return False
        if self.trials >= CYCLE:
            self._cover_the_rest(end)
        return not self.failed

    def _now(self) -> float:
        return time.process_time() if self.processor else time.monotonic()

    def _turns(self) -> Iterator[tuple[str, int]]:
        for number, seed in enumerate(seeds(self.base)):
            yield TRIAL, seed
            if number % _HOSTILE_EVERY == _HOSTILE_EVERY - 1:
                yield CASE, self.base * TURNS + number

    def _attempt(self, kind: str, seed: int) -> None:
        if kind == TRIAL:
            self.trials += 1
            self._count_trial(planned(seed), f"{TRIAL}-{seed}")
        else:
            self.hostile += 1
            self._count(outcome_of(drawn(seed)), f"{CASE}-{seed}")

    def _count_trial(self, trial: Trial, name: str) -> None:
        own = Notes()
        outcome = attempt(trial, own)
        if outcome.result == "published":
            own.covered += features_of(trial)
            for condition in trial.conditions if trial.journey not in OWN_TABLES else ():
                own.table[condition.name, _model_of(trial), trial.release] += 1
        else:
            own.covered.clear()
        self.notes.add(own)
        self._count(outcome, name)

    def _count(self, outcome: Outcome, name: str) -> None:
        self.counts[outcome.result, outcome.why] += 1
        if outcome.failed:
            self.failed[outcome.why].append((name, outcome))
            if len(self.failed[outcome.why]) == 1:
                print(f"{outcome.why}: {outcome.facts}\n  make fuzz SEED='{name}'", flush=True)

    def _cover_the_rest(self, end: float) -> None:
        """Draw further trials for each uncovered feature; one that stays uncovered fails by name."""
        for feature in uncovered(self.notes.covered):
            for number in range(_EXTRA_TRIES):
                seed, wants = seed_for(feature, self.base * TURNS + number)
                if feature in self.notes.covered or self._now() > end:
                    break
                self._count_trial(trial_of(seed, wants), f"{TRIAL}-{seed}{_FOR}{feature}")
            if self._now() > end:
                return
        for feature in uncovered(self.notes.covered):
            outcome = Outcome("failed", f"never published: {feature}")
            self._count(outcome, f"{TRIAL}-{self.base * TURNS}{_FOR}{feature}")

    def report(self) -> None:
        """Print the counts, the table of criteria, models and formats, and the failures."""
        total = Counter[str]()
        for (result, _), number in self.counts.items():
            total[result] += number
        notes = self.notes
        print(f"{self.trials:,} trials and {self.hostile:,} hostile tables: " + _listed(total))
        print(
            f"{notes.releases:,} releases, {notes.audits:,} audits of them, "
            f"{notes.mutated:,} audits of changed releases, {notes.nodes:,} nodes enumerated"
        )
        print("\n".join(table_lines(notes.table)))
        refused = Counter({why: n for (result, why), n in self.counts.items() if result == "refused"})
        for why, number in refused.most_common():
            print(f"  {number:>6,} refused: {why}")
        for why, found in self.failed.items():
            names = ", ".join(f"make fuzz SEED='{name}'" for name, _ in found[:_SHOWN_SEEDS])
            print(f"FAILED {len(found):,} times: {why}\n  {names}")


def _listed(total: Counter[str]) -> str:
    return ", ".join(f"{number:,} {result}" for result, number in total.most_common())


def _model_of(trial: Trial) -> str:
    return trial.model if trial.journey == "publish" else trial.journey


def short_name(model: str) -> str:
    """Return a model's shorter name, or the initials of its words."""
    aliases = MODELS.named(model).aliases if model in MODELS else ()
    words = (aliases[0] if aliases else model).split("-")
    return "-".join(word[: 9 if len(words) == 1 else 3] for word in words)[:9]


def table_lines(table: Counter[tuple[str, str, str]]) -> list[str]:
    """Return the table of published trials: criteria down, models across, each as releases/formats."""
    models = sorted({model for _, model, _ in table})
    lines = [" " * 20 + " ".join(f"{short_name(model):>9}" for model in models)]
    for name in CRITERIA.names():
        cells = []
        for model in models:
            found = {
                kind: n for (criterion, of, kind), n in table.items() if (criterion, of) == (name, model)
            }
            cells.append(f"{sum(found.values())}/{len(found)}" if found else "-")
        lines.append(f"{name:<20}" + " ".join(f"{cell:>9}" for cell in cells))
    return lines


def trial_named(name: str) -> Trial:
    """Return the trial of a name: ``trial-17``, ``trial-17 for FEATURE``, or ``case-17``."""
    kind, _, number = name.partition("-")
    number, _, feature = number.partition(_FOR)
    if kind != TRIAL:
        return drawn(int(number))
    return trial_of(*seed_for(feature, int(number))) if feature else planned(int(number))
