"""Releases under differential privacy: noisy counts, a SafePub sample, the privacy budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from discreet.differential.ledger import Balance, Ledger
from discreet.differential.marginals import Marginal, MarginalLike
from discreet.differential.noise import Mechanism
from discreet.differential.noisy_counts import (
    COUNT_COLUMN,
    CountsRequest,
    NoisyCounts,
    NoisyMarginal,
    describe_noise,
    describe_post_processing,
    release_counts,
)
from discreet.differential.private_sample import PrivateSample, describe_sampling, release_sample
from discreet.errors import DiscreetError, InputError
from discreet.model.privacy_loss import PrivacyLoss, format_decimal, parse_delta, parse_epsilon
from discreet.places.address import parse_path
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    heading_line,
    make_columns,
)
from discreet.printing.rendering import Printable
from discreet.verbs.locations import PublishTarget
from discreet.verbs.output_checks import check_release_files
from discreet.verbs.table_context import TableContext

PrivacyNumber: TypeAlias = int | float | str | Decimal | Fraction

_MAX_CELLS = 20


@dataclass(frozen=True, repr=False)
class BudgetResult(Printable):
    """Privacy budget of a table: total, spent and left.

    ``path`` is the ledger.

    >>> table.budget().left  # doctest: +SKIP
    """

    path: Path
    balance: Balance

    @property
    def budget(self) -> PrivacyLoss:
        """Total budget of the spec."""
        return self.balance.budget

    @property
    def spent(self) -> PrivacyLoss:
        """Sum of the losses of all releases."""
        return self.balance.spent

    @property
    def left(self) -> PrivacyLoss:
        """Budget that is left."""
        return self.balance.left

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet dp budget --json``, with numbers as exact decimal texts."""
        return {
            "ledger": str(self.path),
            **budget_json(self.balance),
            "releases": [
                {"time": entry.time, "release": entry.release, **entry.loss.as_json()}
                for entry in self.balance.entries
            ],
        }

    def document(self) -> Document:
        """Return the sums, and a row per release."""
        lines: Document = (
            heading_line(f"Privacy budget: {self.budget}"),
            Line(f"Spent: {self.spent}. Left: {self.left}."),
            Line("Losses of releases of one table add up (sequential composition)."),
        )
        if not self.balance.entries:
            return lines
        columns = make_columns("time", "~release", ">ε", "δ")
        entries = [(entry, entry.loss.as_json()) for entry in self.balance.entries]
        rows = tuple((e.time, e.release, loss["epsilon"], loss["delta"]) for e, loss in entries)
        return (*lines, BLANK, Grid(columns, rows))


@dataclass(frozen=True, repr=False)
class TabulationResult(Printable):
    """Released noisy counts: ``marginals`` contain labels and counts, ``privacy`` describes their cost.

    >>> table.tabulate([["age", "sex"]], "counts.csv", epsilon=1)  # doctest: +SKIP
    """

    counts: NoisyCounts
    privacy: dict[str, Any]

    @property
    def marginals(self) -> tuple[NoisyMarginal, ...]:
        """Marginals in the order of the request."""
        return self.counts.marginals

    @property
    def path(self) -> Path:
        """Path of the released file."""
        return self.counts.path

    @property
    def left(self) -> PrivacyLoss:
        """Budget that is left."""
        return self.counts.balance.left

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet dp histogram --json``; the counts are only in the file."""
        counts = self.counts
        return {
            "output": str(counts.path),
            "manifest": str(counts.manifest_path),
            "marginals": [
                {"levels": dict(m.marginal.levels), "cells": len(m.counts), "public": m.public}
                for m in counts.marginals
            ],
            "privacy": self.privacy,
            "post_processing": list(describe_post_processing(counts.plan.request)),
            "budget": budget_json(counts.balance),
        }

    def document(self) -> Document:
        """Return a description of the release, the noise and the budget, and the cells of small marginals."""
        noise, counts = self.counts.plan.noise, self.counts
        cells = sum(len(marginal.counts) for marginal in counts.marginals)
        lines = [
            Line(
                f"Released {counts.path}: {format_quantity(cells, 'noisy count')}, {noise.loss}.", Tone.GOOD
            ),
            Line(
                f"The unit of protection is {self.privacy['neighbours']}. The noise is "
                f"{self.privacy['mechanism']}, of "
                f"scale {noise.scale:g}: 19 of 20 counts are within {noise.reach:,} of the true one."
            ),
        ]
        if noise.threshold is not None:
            lines.append(
                Line(
                    "Cells without a public domain are shown if their noisy count is at least "
                    f"{noise.threshold:,}."
                )
            )
        lines += [Line(f"Then {step}.") for step in describe_post_processing(counts.plan.request)]
        lines.append(Line(f"Budget left: {self.left}."))
        grids = [part for found in counts.marginals for part in _marginal_grid(found)]
        return (*lines, *grids)


def budget_json(balance: Balance) -> dict[str, Any]:
    """Return budget, spent and left as decimal texts."""
    return {
        "budget": balance.budget.as_json(),
        "spent": balance.spent.as_json(),
        "left": balance.left.as_json(),
    }


@dataclass(frozen=True, repr=False)
class SampleResult(Printable):
    """Released SafePub sample; ``privacy`` describes its cost.

    >>> table.safepub({"age": 2}, "sample.csv", epsilon=1, delta=1e-6)  # doctest: +SKIP
    """

    sample: PrivateSample
    privacy: dict[str, Any]

    @property
    def path(self) -> Path:
        """Path of the released file."""
        return self.sample.path

    @property
    def left(self) -> PrivacyLoss:
        """Budget that is left."""
        return self.sample.balance.left

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet dp sample --json``."""
        return {
            "output": str(self.sample.path),
            "manifest": str(self.sample.manifest_path),
            "rows": self.sample.rows,
            "classes": self.sample.classes,
            "levels": dict(self.sample.levels),
            "privacy": self.privacy,
            "budget": budget_json(self.sample.balance),
        }

    def document(self) -> Document:
        """Return a description of the release, the sampling, the guarantee and the budget."""
        sample, sampling = self.sample, self.sample.sampling
        rows = (
            f"{format_quantity(sample.rows, 'row')} in {format_quantity(sample.classes, 'class', 'classes')}"
        )
        return (
            Line(f"Released {sample.path}: {rows}, {sample.loss}.", Tone.GOOD),
            Line(
                f"Each row was drawn with probability {float(sampling.beta):.4f}; classes of fewer than "
                f"{sampling.k:,} drawn rows are suppressed. The unit of protection is "
                f"{self.privacy['neighbours']}."
            ),
            Line(_describe_guarantee(sample)),
            Line(f"Budget left: {self.left}."),
        )


def _describe_guarantee(sample: PrivateSample) -> str:
    if sample.search is None:
        return "The privacy loss assumes that levels and hierarchies were chosen without reading the rows."
    levels = ", ".join(f"{name} {level}" for name, level in sample.levels.items())
    return (
        f"A private search, which spent {format_decimal(sample.search)} of the ε, chose the levels: {levels}"
        ". The privacy loss assumes that hierarchies and limits of levels were chosen without reading the "
        "rows."
    )


def sample_table(
    table: TableContext,
    levels: Mapping[str, int],
    output: str | Path,
    *,
    epsilon: PrivacyNumber,
    delta: PrivacyNumber,
    search_epsilon: PrivacyNumber | None = None,
    overwrite: bool = False,
) -> SampleResult:
    """Release a sample (see ``Table.safepub``)."""
    loss = PrivacyLoss(parse_epsilon("epsilon", epsilon), parse_delta("delta", delta))
    target = parse_path(output, "the path of a release")
    check_release_files(table.spec, table.settings, PublishTarget(target))
    search = None if search_epsilon is None else parse_epsilon("search_epsilon", search_epsilon)
    how: dict[str, Any] = {"search": search, "overwrite": overwrite}
    with table.engine("Drawing a sample") as engine:
        sample = release_sample(engine, table.spec, levels, loss, target, table.settings, **how)
    return SampleResult(sample, describe_sampling(table.spec, loss, sample.sampling, search))


def tabulate_table(
    table: TableContext,
    marginals: Iterable[MarginalLike],
    output: str | Path,
    *,
    epsilon: PrivacyNumber,
    delta: PrivacyNumber = 0,
    mechanism: str = Mechanism.LAPLACE,
    rows_per_subject: int | None = None,
    non_negative: bool = False,
    consistent: bool = False,
    overwrite: bool = False,
) -> TabulationResult:
    """Release noisy counts (see ``Table.tabulate``)."""
    if isinstance(marginals, str):
        raise InputError(f"marginals = '{marginals}'", allowed="a list of marginals")
    request = CountsRequest(
        tuple(Marginal.of(marginal) for marginal in marginals),
        PrivacyLoss(parse_epsilon("epsilon", epsilon), parse_delta("delta", delta)),
        parse_mechanism(mechanism),
        rows_per_subject,
        non_negative=non_negative,
        consistent=consistent,
    )
    target = parse_path(output, "the path of a release")
    check_release_files(table.spec, table.settings, PublishTarget(target))
    with table.engine("Counting, with noise") as engine:
        counts = release_counts(engine, table.spec, request, target, table.settings, overwrite=overwrite)
    return TabulationResult(counts, describe_noise(table.spec, counts.plan.noise))


def read_privacy_budget(table: TableContext) -> BudgetResult:
    """Return a table's budget; raise ``InputError`` if the spec has none.

    A table that is identified by its content is also registered by its location.
    """
    with table.engine("Identifying the table") as engine:
        ledger = Ledger.of(table.spec, table.settings, engine)
    with suppress(DiscreetError):  # a read-only folder: nothing can be spent there either
        ledger.remember("seen")
    return BudgetResult(ledger.path, ledger.balance())


def parse_marginal(text: str, names: Sequence[str]) -> Marginal:
    """Parse a marginal such as ``age=2,sex`` of the attributes ``names``; raise ``InputError`` otherwise."""
    return Marginal.parse(text, names)


def parse_mechanism(name: str) -> Mechanism:
    """Return the mechanism of a name; raise ``InputError`` for an unknown one."""
    try:
        return Mechanism(name)
    except ValueError:
        raise InputError(f"mechanism '{name}'", allowed=", ".join(Mechanism)) from None


def _marginal_grid(found: NoisyMarginal) -> Sequence[Line | Grid]:
    if len(found.counts) > _MAX_CELLS:
        return ()
    columns = [Column(name, shrinks=True) for name in found.marginal.attributes]
    rows = tuple((*labels, f"{number:,}") for labels, number in zip(found.labels, found.counts, strict=True))
    return (BLANK, Grid((*columns, Column(COUNT_COLUMN.replace("_", " "), right=True)), rows))
