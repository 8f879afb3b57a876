"""Noisy counts as a file, and the manifest that says what they are worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from discreet.differential.axes import OTHER
from discreet.differential.library import opendp
from discreet.differential.marginals import Marginal
from discreet.differential.noise import Mechanism, Noise
from discreet.differential.private_file import PrivateFile, WrittenTable, check_names, private_file
from discreet.model.release_kind import NOISY_COUNTS
from discreet.model.table_spec import TableSpec
from discreet.settings import Settings

FORMATS = {".csv": "csv", ".parquet": "parquet", ".json": "json"}
MARGINAL, COUNT = "marginal", "noisy_count"
_NAMES = {Mechanism.LAPLACE: "discrete Laplace", Mechanism.GAUSSIAN: "discrete Gaussian"}

Write: TypeAlias = "Callable[[Sequence[NoisyMarginal], Sequence[str]], Path]"


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """A marginal's noisy counts: ``labels`` of each cell, one per attribute, and its count.

    ``public`` says that every cell is there; else those that are not were below the threshold, or of no row.
    """

    marginal: Marginal
    public: bool
    labels: tuple[tuple[str, ...], ...]
    counts: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        """The marginal in a file of JSON."""
        names = self.marginal.attributes
        return {
            "levels": dict(self.marginal.levels),
            "cells": [
                {"labels": dict(zip(names, labels, strict=True)), COUNT: count}
                for labels, count in zip(self.labels, self.counts, strict=True)
            ],
        }


@contextmanager
def written_counts(
    spec: TableSpec,
    marginals: Sequence[Marginal],
    noise: Noise,
    output: Path,
    settings: Settings,
    *,
    overwrite: bool,
) -> Iterator[Write]:
    """What writes marginals that were drawn, and what was made of them, to a file, and yields its manifest.

    The target is checked as the context is entered.
    """
    check_names([name for marginal in marginals for name in marginal.attributes], (MARGINAL, COUNT))
    with private_file(spec, output, settings, FORMATS, overwrite=overwrite) as file:

        def write(drawn: Sequence[NoisyMarginal], post_processing: Sequence[str]) -> Path:
            return file.place(_content(file, drawn), _facts(spec, noise, drawn, post_processing))

        yield write


def _content(file: PrivateFile, marginals: Sequence[NoisyMarginal]) -> WrittenTable | str:
    """One row per cell: the number of its marginal, the label of each attribute in it, and the count."""
    if file.target.file_format == "json":
        document = {"marginals": [marginal.as_json() for marginal in marginals]}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    names = list(dict.fromkeys(name for found in marginals for name in found.marginal.attributes))
    numbers: list[int] = []
    labels: dict[str, list[str | None]] = {name: [] for name in names}
    counts: list[int] = []
    for number, found in enumerate(marginals, start=1):
        for cell, count in zip(found.labels, found.counts, strict=True):
            told = dict(zip(found.marginal.attributes, cell, strict=True))
            numbers.append(number)
            counts.append(count)
            for name in names:
                labels[name].append(told.get(name))
    return WrittenTable({MARGINAL: numbers, **labels, COUNT: counts})


def _facts(
    spec: TableSpec, noise: Noise, marginals: Sequence[NoisyMarginal], post_processing: Sequence[str]
) -> dict[str, Any]:
    """The manifest's facts: each follows from the spec and the request, or from the release itself."""
    return {
        "release": NOISY_COUNTS,
        "privacy": privacy_facts(spec, noise),
        "marginals": [
            {
                "levels": dict(found.marginal.levels),
                "cells": len(found.counts),
                "domain": "public: every cell is there" if found.public else "cells above the threshold",
            }
            for found in marginals
        ],
        "nulls": str(spec.source.nulls),
        "other": f"'{OTHER}' counts NULL, and values that have no other label",
        "post_processing": list(post_processing),
        "audit": None,
        "statement": (
            "Each count is a number of rows with noise. The privacy loss is what one person's presence can "
            "change at most, if marginals, levels, domains and budget were chosen without a look at the "
            "rows. Losses of several releases of the same people add up. It is evidence of how the counts "
            "were made, and no promise about what else is known of anybody."
        ),
    }


def privacy_facts(spec: TableSpec, noise: Noise) -> dict[str, Any]:
    """What was spent, on what, by which mechanism."""
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
        "mechanism": _NAMES[noise.mechanism],
        "scale": noise.scale,
        **rho,
        **thresholds,
        "standard_deviation": noise.standard_deviation,
        "sensitivity": {"marginals": noise.sensitivity.marginals, "per_marginal": bound},
        "library": f"opendp {opendp().version}",
        "seed": "none: the operating system's generator",
    }
