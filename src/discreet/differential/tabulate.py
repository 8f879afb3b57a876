"""Noisy counts of a table: planned, paid for, counted, drawn, written.

The order, each step a function below or of the module named; what fails leaves no release behind:

1. the axes and the noise follow from the spec and from what is asked alone (``axes``, ``noise``);
2. the target and the balance are looked at, so that what cannot end well counts nothing;
3. the rows are counted (``counting``);
4. the loss is spent, on the disk (``ledger``);
5. the noise is drawn, and the true counts are gone;
6. what was drawn is made consistent where that was asked, written under other names, and put in place.

From 4 on the budget is spent, whatever happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from discreet.differential.axes import axes_of
from discreet.differential.consistency import with_one_total, without_negatives
from discreet.differential.counting import Cells, TrueCounts, count_cells, labels_of
from discreet.differential.counts_file import NoisyMarginal, written_counts
from discreet.differential.ledger import Balance, Ledger
from discreet.differential.marginals import Marginal
from discreet.differential.noise import Mechanism, Noise, Sensitivity, noise_for
from discreet.engines.base import Engine
from discreet.errors import InputError, LimitReached
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.table_spec import TableSpec
from discreet.settings import Settings

MOST_CELLS = 1_000_000
"""Each gets noise, whether a row is there or not; OpenDP draws about 30,000 a second."""


@dataclass(frozen=True)
class CountsAsked:
    """What is asked of noisy counts, before any row is seen.

    ``rows_per_subject`` is how many rows of a subject count, where the spec names one. ``non_negative`` and
    ``consistent`` say what is made of the noisy counts (``consistency``).
    """

    marginals: tuple[Marginal, ...]
    loss: PrivacyLoss
    mechanism: Mechanism = Mechanism.LAPLACE
    rows_per_subject: int | None = None
    non_negative: bool = False
    consistent: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """What follows from spec and request: the cells of each marginal, and the noise."""

    asked: CountsAsked
    cells: tuple[Cells, ...]
    noise: Noise


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """A release of noisy counts: where it lies, what was drawn, by which plan, and what is left to spend."""

    path: Path
    manifest_path: Path
    marginals: tuple[NoisyMarginal, ...]
    plan: Plan
    balance: Balance


def plan_counts(spec: TableSpec, asked: CountsAsked) -> Plan:
    """The plan, which no row has a say in; ``InputError`` for what is not allowed."""
    if not asked.marginals:
        raise InputError("no marginal is asked", allowed="at least one, such as --marginal age=2,sex")
    cells = tuple(Cells(axes_of(spec, marginal.levels)) for marginal in asked.marginals)
    number = sum(found.number for found in cells if found.public)
    if number > MOST_CELLS:
        raise LimitReached(
            f"the marginals have {number:,} cells",
            allowed=f"at most {MOST_CELLS:,}: each gets noise, empty or not",
            advice="Raise levels, or ask for marginals of fewer attributes.",
        )
    public = sum(found.public for found in cells)
    if asked.consistent and public < len(cells):
        raise InputError(
            "one total of marginals of which some show only cells above a threshold",
            allowed="--consistent with public domains alone",
            advice="Give each attribute a domain in the spec, or leave out --consistent.",
        )
    sensitivity = Sensitivity(public, len(cells) - public, _bound(spec, asked.rows_per_subject))
    return Plan(asked, cells, noise_for(asked.mechanism, asked.loss, sensitivity))


def tabulate(
    engine: Engine, spec: TableSpec, asked: CountsAsked, output: Path, settings: Settings, *, overwrite: bool
) -> NoisyCounts:
    """Release noisy counts of a spec's table into a file (``.csv``, ``.parquet``, ``.json``).

    Raises ``InputError`` for what is not allowed, and where the rows cannot be counted; ``LimitReached``
    where the budget does not allow the loss, or the marginals have too many cells.
    """
    plan, ledger = plan_counts(spec, asked), Ledger.of(spec, settings, engine)
    with written_counts(spec, asked.marginals, plan.noise, output, settings, overwrite=overwrite) as write:
        ledger.check(asked.loss)
        counts = count_cells(engine, spec, plan.cells, asked.rows_per_subject)
        # Paid before the noise is drawn: a run that dies in between has spent, and shown nothing.
        balance = ledger.spend(asked.loss, f"noisy counts: {output.name}")
        marginals = _processed(plan, _drawn(plan, counts))
        manifest_path = write(marginals, post_processing(asked))
    return NoisyCounts(output, manifest_path, marginals, plan, balance)


def post_processing(asked: CountsAsked) -> tuple[str, ...]:
    """What is made of the noisy counts, in words."""
    told = []
    if asked.consistent:
        told.append("all marginals are moved to one total, by least squares, and rounded")
    if asked.non_negative:
        told.append("no count is below 0, which makes small counts larger on average")
    return tuple(told)


def _bound(spec: TableSpec, rows_per_subject: int | None) -> int:
    """How many rows of one person count; ``InputError`` where that is not said, or nobody has several."""
    if spec.source.subject is None:
        if rows_per_subject is not None:
            raise InputError(
                "a number of rows per subject, but the spec names no subject",
                advice="Leave out --rows-per-subject, or name the column: subject = … in [source].",
            )
        return 1
    if rows_per_subject is None:
        raise InputError(
            f"a subject ('{spec.source.subject}') may have any number of rows, and noise hides only so many",
            allowed="--rows-per-subject N: so many rows of each subject count, others are left out",
            advice="Choose N by what is known of such tables, not by looking at this one.",
        )
    if isinstance(rows_per_subject, bool) or not 1 <= rows_per_subject <= MOST_CELLS:
        raise InputError(f"{rows_per_subject} rows per subject", allowed=f"1 to {MOST_CELLS:,}")
    return rows_per_subject


def _drawn(plan: Plan, counts: TrueCounts) -> Iterator[NoisyMarginal]:
    """The marginals with noise, in order. All public cells are drawn as one vector: one person, one loss."""
    vector = [int(count) for counted in counts.public for count in counted]
    noisy = plan.noise.add_to_vector(vector) if vector else []
    mappings, start = iter(counts.others), 0
    for marginal, cells in zip(plan.asked.marginals, plan.cells, strict=True):
        if cells.public:
            labels = tuple(product(*(axis.labels for axis in cells.axes)))
            drawn = tuple(noisy[start : start + len(labels)])
            start += len(labels)
        else:
            shown = plan.noise.add_to_mapping(next(mappings))
            # In the order of their labels: that of a mapping is the rows'.
            keys = sorted(shown)
            labels, drawn = tuple(map(labels_of, keys)), tuple(shown[key] for key in keys)
        yield NoisyMarginal(marginal, cells.public, labels, drawn)


def _processed(plan: Plan, drawn: Iterator[NoisyMarginal]) -> tuple[NoisyMarginal, ...]:
    asked, marginals = plan.asked, tuple(drawn)
    counts: Sequence[Sequence[int]] = [marginal.counts for marginal in marginals]
    if asked.consistent:
        counts = with_one_total(counts, non_negative=asked.non_negative)
    elif asked.non_negative:
        counts = [without_negatives(found) for found in counts]
    return tuple(replace(m, counts=tuple(found)) for m, found in zip(marginals, counts, strict=True))
