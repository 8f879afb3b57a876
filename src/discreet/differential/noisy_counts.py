"""Release of noisy counts: plan, count, pay, draw, post-process, write.

1. derive axes and noise from the spec and the request only;
2. check the target and the remaining budget;
3. count the rows (``marginals``);
4. spend the loss on disk (``ledger``); from here on the budget is spent whatever happens;
5. draw the noise and forget the true counts;
6. make the counts consistent if requested, write them with their manifest, and rename.

Consistency is post-processing and costs no privacy: marginals move to the best linear unbiased estimate of
their total by least squares or, without negative counts, by projection onto the simplex (Duchi et al. 2008),
in exact fractions rounded by largest remainders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from discreet.differential.ledger import Balance, Ledger
from discreet.differential.marginals import (
    OTHER,
    Marginal,
    MarginalCells,
    TrueCounts,
    build_axes,
    count_cells,
    decode_labels,
)
from discreet.differential.noise import Mechanism, Noise, Sensitivity, calibrate_noise, name_opendp
from discreet.differential.private_release import OutputTable, check_reserved_columns, open_private_release
from discreet.engines.base import Engine
from discreet.errors import InputError, LimitReached
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.release_kind import NOISY_COUNTS
from discreet.model.table_spec import TableSpec
from discreet.settings import Settings


def equalize_totals(marginals: Sequence[Sequence[int]], *, non_negative: bool) -> list[list[int]]:
    """Return integer counts near the given ones that have the same total in all marginals."""
    weights = [Fraction(1, len(counts)) for counts in marginals]
    # Inverse-variance weights: a sum over n cells has n times the variance of one count.
    sums = [sum(counts) * weight for counts, weight in zip(marginals, weights, strict=True)]
    total = round(sum(sums, Fraction(0)) / sum(weights, Fraction(0)))
    if non_negative:
        total = max(total, 0)
        return [_round_to_total(project_onto_simplex(counts, total), total) for counts in marginals]
    steps = [Fraction(total - sum(counts), len(counts)) for counts in marginals]
    return [
        _round_to_total([count + step for count in counts], total)
        for counts, step in zip(marginals, steps, strict=True)
    ]


def project_onto_simplex(counts: Sequence[int], total: int) -> list[Fraction]:
    """Return the nearest point with this total and no negative count: subtract one amount, clip at 0.

    >>> [str(count) for count in project_onto_simplex([5, 2, -4], 6)]
    ['9/2', '3/2', '0']
    """
    fall, above = Fraction(0), 0
    for number, count in enumerate(sorted(counts, reverse=True), start=1):
        above += count
        step = Fraction(above - total, number)
        if count <= step and number > 1:
            break
        fall = step
    return [max(count - fall, Fraction(0)) for count in counts]


def _round_to_total(counts: Sequence[Fraction], total: int) -> list[int]:
    floors = [count.numerator // count.denominator for count in counts]
    order = sorted(range(len(counts)), key=lambda index: (floors[index] - counts[index], index))
    for index in order[: total - sum(floors)]:
        floors[index] += 1
    return floors


COUNT_FORMATS = {".csv": "csv", ".parquet": "parquet", ".json": "json"}
MARGINAL_COLUMN, COUNT_COLUMN = "marginal", "noisy_count"
_MECHANISM_NAMES = {Mechanism.LAPLACE: "discrete Laplace", Mechanism.GAUSSIAN: "discrete Gaussian"}


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """Noisy counts of a marginal: the ``labels`` of each cell, one per attribute, and its count.

    If ``public``, every cell is present; otherwise missing cells were below the threshold or have no row.
    """

    marginal: Marginal
    public: bool
    labels: tuple[tuple[str, ...], ...]
    counts: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the marginal's JSON in a file."""
        names = self.marginal.attributes
        return {
            "levels": dict(self.marginal.levels),
            "cells": [
                {"labels": dict(zip(names, labels, strict=True)), COUNT_COLUMN: count}
                for labels, count in zip(self.labels, self.counts, strict=True)
            ],
        }


def _file_content(file_format: str, marginals: Sequence[NoisyMarginal]) -> OutputTable | str:
    """Return one row per cell: number of its marginal, label of each attribute in it, and count."""
    if file_format == "json":
        document = {"marginals": [marginal.as_json() for marginal in marginals]}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    names = list(dict.fromkeys(name for found in marginals for name in found.marginal.attributes))
    numbers: list[int] = []
    labels: dict[str, list[str | None]] = {name: [] for name in names}
    counts: list[int] = []
    for number, found in enumerate(marginals, start=1):
        for cell, count in zip(found.labels, found.counts, strict=True):
            values = dict(zip(found.marginal.attributes, cell, strict=True))
            numbers.append(number)
            counts.append(count)
            for name in names:
                labels[name].append(values.get(name))
    return OutputTable({MARGINAL_COLUMN: numbers, **labels, COUNT_COLUMN: counts})


def _manifest_facts(
    spec: TableSpec, noise: Noise, marginals: Sequence[NoisyMarginal], post_processing: Sequence[str]
) -> dict[str, Any]:
    """Return the manifest's facts, which follow from the spec, the request or the released counts."""
    return {
        "release": NOISY_COUNTS,
        "privacy": describe_noise(spec, noise),
        "marginals": [
            {
                "levels": dict(found.marginal.levels),
                "cells": len(found.counts),
                "domain": "public: every cell is included" if found.public else "cells above the threshold",
            }
            for found in marginals
        ],
        "null_policy": str(spec.source.null_policy),
        "other": f"'{OTHER}' counts NULL, and values that have no other label",
        "post_processing": list(post_processing),
        "audit": None,
        "statement": (
            "Each count is a number of rows with noise. The privacy loss is what one person's presence can "
            "change at most, if marginals, levels, domains and budget were chosen without looking at the "
            "rows. Losses of several releases of the same people add up. It is evidence of how the counts "
            "were made, and does not protect against other knowledge about a person."
        ),
    }


def describe_noise(spec: TableSpec, noise: Noise) -> dict[str, Any]:
    """Return the privacy section of the manifest: loss, neighbours and mechanism."""
    bound, subject = noise.sensitivity.bound, spec.source.subject
    changed = (
        "one row more or less"
        if subject is None
        else f"all rows of one subject more or less, of which at most {bound} count, chosen by a digest of "
        "the subject's own rows"
    )
    thresholds = {} if noise.threshold is None else {"threshold": noise.threshold}
    rho = {} if noise.rho is None else {"rho": noise.rho}
    return {
        **noise.loss.as_json(),
        "definition": "(ε,δ)-differential privacy",
        "neighbours": changed,
        "mechanism": _MECHANISM_NAMES[noise.mechanism],
        "scale": noise.scale,
        **rho,
        **thresholds,
        "standard_deviation": noise.standard_deviation,
        "sensitivity": {"marginals": noise.sensitivity.marginals, "per_marginal": bound},
        "library": name_opendp(),
        "seed": "none: the operating system's generator",
    }


MAX_PUBLIC_CELLS = 1_000_000
"""Limit of public cells: each gets noise even without rows, and OpenDP draws about 30,000 per second."""


@dataclass(frozen=True)
class CountsRequest:
    """Request for noisy counts, made before any row is read.

    ``rows_per_subject`` is the number of rows of a subject that count, where the spec names one.
    ``non_negative`` and ``consistent`` select the post-processing of the noisy counts.
    """

    marginals: tuple[Marginal, ...]
    loss: PrivacyLoss
    mechanism: Mechanism = Mechanism.LAPLACE
    rows_per_subject: int | None = None
    non_negative: bool = False
    consistent: bool = False


@dataclass(frozen=True, eq=False)
class CountsPlan:
    """Plan that follows from spec and request: the cells of each marginal, and the noise."""

    request: CountsRequest
    cells: tuple[MarginalCells, ...]
    noise: Noise


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Released noisy counts: paths, drawn marginals, plan, and remaining budget."""

    path: Path
    manifest_path: Path
    marginals: tuple[NoisyMarginal, ...]
    plan: CountsPlan
    balance: Balance


def plan_counts(spec: TableSpec, request: CountsRequest) -> CountsPlan:
    """Plan a release without reading a row; raise ``InputError`` for a request that is not allowed."""
    if not request.marginals:
        raise InputError("no marginal is given", allowed="at least one, such as --marginal age=2,sex")
    cells = tuple(MarginalCells(build_axes(spec, marginal.levels)) for marginal in request.marginals)
    number = sum(found.number for found in cells if found.public)
    if number > MAX_PUBLIC_CELLS:
        raise LimitReached(
            f"the marginals have {number:,} cells",
            allowed=f"at most {MAX_PUBLIC_CELLS:,}: each gets noise, empty or not",
            advice="Raise levels, or request marginals of fewer attributes.",
        )
    public = sum(found.public for found in cells)
    if request.consistent and public < len(cells):
        raise InputError(
            "a common total of marginals, some of which show only cells above a threshold",
            allowed="--consistent only with public domains",
            advice="Give each attribute a domain in the spec, or leave out --consistent.",
        )
    sensitivity = Sensitivity(public, len(cells) - public, _rows_per_person(spec, request.rows_per_subject))
    return CountsPlan(request, cells, calibrate_noise(request.mechanism, request.loss, sensitivity))


def release_counts(
    engine: Engine,
    spec: TableSpec,
    request: CountsRequest,
    output: Path,
    settings: Settings,
    *,
    overwrite: bool,
) -> NoisyCounts:
    """Release noisy counts of a spec's table into a file.

    Parameters
    ----------
    output
        A file with the suffix ``.csv``, ``.parquet`` or ``.json``.

    Raises
    ------
    InputError
        For a request that is not allowed, and where the rows cannot be counted.
    LimitReached
        Where the remaining budget does not allow the loss, or the marginals have too many cells.

    References
    ----------
    A. Ghosh et al. (2009) for discrete Laplace noise; C. L. Canonne et al. (2020) for discrete Gaussian
    noise; R. Rogers (2023) for cells that come from the rows.
    """
    plan, ledger = plan_counts(spec, request), Ledger.of(spec, settings, engine)
    names = [name for marginal in request.marginals for name in marginal.attributes]
    check_reserved_columns(names, (MARGINAL_COLUMN, COUNT_COLUMN))
    with open_private_release(spec, output, settings, COUNT_FORMATS, overwrite=overwrite) as file:
        ledger.check(request.loss)
        counts = count_cells(engine, spec, plan.cells, request.rows_per_subject)
        # Spend before drawing: a process that dies in between has spent its budget and published nothing.
        balance = ledger.spend(request.loss, f"noisy counts: {output.name}")
        marginals = _post_process(plan, _draw_marginals(plan, counts))
        facts = _manifest_facts(spec, plan.noise, marginals, describe_post_processing(request))
        manifest_path = file.publish(_file_content(file.target.file_format, marginals), facts)
    return NoisyCounts(output, manifest_path, marginals, plan, balance)


def describe_post_processing(request: CountsRequest) -> tuple[str, ...]:
    """Describe the post-processing of the noisy counts."""
    steps = []
    if request.consistent:
        steps.append("all marginals are moved to one total, by least squares, and rounded")
    if request.non_negative:
        steps.append("no count is below 0, which makes small counts larger on average")
    return tuple(steps)


def _rows_per_person(spec: TableSpec, rows_per_subject: int | None) -> int:
    """Return the number of rows of one person that count; raise ``InputError`` if missing or superfluous."""
    if spec.source.subject is None:
        if rows_per_subject is not None:
            raise InputError(
                "a number of rows per subject, but the spec names no subject",
                advice="Leave out --rows-per-subject, or name the column: subject = … in [source].",
            )
        return 1
    if rows_per_subject is None:
        raise InputError(
            f"a subject ('{spec.source.subject}') may have any number of rows, and noise hides a limited "
            "number",
            allowed="--rows-per-subject N: at most N rows per subject are counted",
            advice="Choose N without looking at this table.",
        )
    if isinstance(rows_per_subject, bool) or not 1 <= rows_per_subject <= MAX_PUBLIC_CELLS:
        raise InputError(f"{rows_per_subject} rows per subject", allowed=f"1 to {MAX_PUBLIC_CELLS:,}")
    return rows_per_subject


def _draw_marginals(plan: CountsPlan, counts: TrueCounts) -> Iterator[NoisyMarginal]:
    """Yield the marginals with noise, in order.

    All public cells are drawn as one vector, with one loss for one person.
    """
    vector = [int(count) for counted in counts.public for count in counted]
    noisy = plan.noise.add_to_vector(vector) if vector else []
    mappings, start = iter(counts.others), 0
    for marginal, cells in zip(plan.request.marginals, plan.cells, strict=True):
        if cells.public:
            labels = tuple(product(*(axis.labels for axis in cells.axes)))
            drawn = tuple(noisy[start : start + len(labels)])
            start += len(labels)
        else:
            noisy_counts = plan.noise.add_to_mapping(next(mappings))
            # Sort by label: the mapping's order depends on the rows.
            keys = sorted(noisy_counts)
            labels, drawn = tuple(map(decode_labels, keys)), tuple(noisy_counts[key] for key in keys)
        yield NoisyMarginal(marginal, cells.public, labels, drawn)


def _post_process(plan: CountsPlan, drawn: Iterator[NoisyMarginal]) -> tuple[NoisyMarginal, ...]:
    request, marginals = plan.request, tuple(drawn)
    counts: Sequence[Sequence[int]] = [marginal.counts for marginal in marginals]
    if request.consistent:
        counts = equalize_totals(counts, non_negative=request.non_negative)
    elif request.non_negative:
        counts = [[max(count, 0) for count in found] for found in counts]
    return tuple(replace(m, counts=tuple(found)) for m, found in zip(marginals, counts, strict=True))
