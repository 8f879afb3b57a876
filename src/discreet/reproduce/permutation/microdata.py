"""The tables of the experiments, row by row: leaf codes of quasi-identifiers, and the sensitive column."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluate import evaluate_lattice
from discreet.lattice.evaluated import EvaluatedLattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.permutation import SensitiveColumn
from discreet.reproduce.context import Context
from discreet.sample.losses import losses_table
from discreet.sample.synthetic import SyntheticTable
from discreet.settings import Settings

QUASI_IDENTIFIERS = (
    *("age", "sex", "race", "marital_status"),
    *("education", "native_country", "work_class", "occupation"),
)
SENSITIVE = "capital_loss"


@dataclass(frozen=True, eq=False)
class Microdata:
    """``codes`` (rows, quasi-identifiers) are leaf codes, ``numbers`` (rows,) the losses."""

    frequency_set: FrequencySet
    codes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    settings: Settings

    @property
    def rows(self) -> int:
        """Rows."""
        return len(self.numbers)

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Those of the quasi-identifiers."""
        return self.frequency_set.hierarchies

    @cached_property
    def column(self) -> SensitiveColumn:
        """The losses as a sensitive column."""
        values, codes = np.unique(self.numbers, return_inverse=True)
        return SensitiveColumn(SENSITIVE, codes.astype(np.int64), len(values), values)

    @cached_property
    def lattice(self) -> EvaluatedLattice:
        """Every full-domain generalization, with l-diversity."""
        return evaluate_lattice(self.frequency_set, self.settings)

    def without(self, dropped: NDArray[np.bool_]) -> Microdata:
        """The same hierarchies with fewer rows; the lattice is that of all rows."""
        return Microdata(self.frequency_set, self.codes[~dropped], self.numbers[~dropped], self.settings)


def adult(context: Context, names: Sequence[str] = QUASI_IDENTIFIERS) -> Microdata:
    """The rows of Adult (30,162 without unknown values) whose capital loss is not 0."""
    source, folder = context.file("adult", "adult_30162.csv"), context.file("adult", "hierarchies_incognito")
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": str((folder / f"{name}.csv").absolute())}
        for name in names
    }
    with source.open(encoding="utf-8", newline="") as text:
        rows = [row for row in csv.DictReader(text) if row[SENSITIVE] != "0"]
    path = context.scratch / f"losses-{len(names)}.csv"
    with path.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow((*names, SENSITIVE))
        writer.writerows([row[name] for name in (*names, SENSITIVE)] for row in rows)
    return _opened(context, path, attributes, rows)


def synthetic(context: Context, rows: int, deviation: float) -> Microdata:
    """People whose loss follows their age with some deviation; age is the one quasi-identifier."""
    return of_ages(context, losses_table(rows, deviation), f"synthetic-{deviation:g}")


def of_ages(context: Context, table: SyntheticTable, name: str) -> Microdata:
    """A table with columns ``age``, the one quasi-identifier, and the loss; written to the scratch folder."""
    path = context.scratch / f"{name}.csv"
    table.write_csv(path)
    arrays = table.arrays()
    cells = [
        {"age": age, SENSITIVE: loss}
        for age, loss in zip(arrays["age"].tolist(), arrays[SENSITIVE].tolist(), strict=True)
    ]
    return _opened(context, path, {"age": table.attributes()["age"]}, cells)


def _opened(
    context: Context, path: Path, attributes: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> Microdata:
    opened = context.table(path, {**attributes, SENSITIVE: {"role": "sensitive"}})
    table = opened.frequency_set
    codes = [
        np.array([hierarchy.code_of_leaf[row[hierarchy.attribute]] for row in rows], dtype=np.int64)
        for hierarchy in table.hierarchies
    ]
    numbers = np.array([int(row[SENSITIVE]) for row in rows], dtype=np.int64)
    return Microdata(table, np.stack(codes, axis=1), numbers, context.settings)
