"""Re-identification risk: prosecutor, journalist and marketer, outlier classes, and rows found by one value.

Terms of El Emam and Dankar (2008) and, for the marketer, Dankar and El Emam (2010). The prosecutor's chance
is 1/f for a class of f rows and the journalist's 1/F for F people of the population who match the class (at
least f). The marketer's expected share is the mean over all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.published_table import PublishedColumns, ReleaseClasses
from discreet.engines.base import Engine
from discreet.engines.column_scans import count_single_values
from discreet.engines.connection import engine_for
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.measures.recoding_metrics import prosecutor_risk
from discreet.model.coded_warnings import SingleValues
from discreet.model.table_spec import SourceSpec
from discreet.release.manifest import Manifest
from discreet.settings import Settings


@dataclass(frozen=True)
class ReidentificationRisk:
    """Chances over the rows of a table, each from 0 to 1; all are 0 for a table without rows.

    ``over`` rows have a chance above the requested threshold.
    """

    highest: float
    mean: float
    over: int
    rows: int

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part."""
        return {
            "highest": self.highest,
            "mean": self.mean,
            "rows_over_threshold": self.over,
            "share_over_threshold": self.over / self.rows if self.rows else 0.0,
        }


@dataclass(frozen=True)
class PopulationRisk:
    """Journalist's risk, with the size and quality of the population file.

    ``people`` were counted; ``incomplete`` people lack a matched value and are counted in no class. In
    ``thin`` classes the file has fewer people than the release has rows.
    """

    risk: ReidentificationRisk
    people: int
    incomplete: int
    thin: int

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part."""
        return {
            **self.risk.as_json(),
            "people": self.people,
            "incomplete_people": self.incomplete,
            "classes_with_fewer_people_than_rows": self.thin,
        }


def parse_threshold(text: str, name: str = "threshold") -> Fraction:
    """Parse a chance such as ``0.05`` or ``5%`` as an exact fraction.

    Raise ``InputError`` unless it is above 0 and at most 1.
    """
    stripped = text.strip()
    try:
        number = Fraction(stripped[:-1]) / 100 if stripped.endswith("%") else Fraction(stripped)
    except (ValueError, ZeroDivisionError):
        number = Fraction(0)
    if not 0 < number <= 1:
        raise InputError(f"{name} '{text}'", allowed="a share above 0 and at most 1, such as 0.05 or 5%")
    return number


def compute_risk(
    rows: NDArray[np.int64], hidden_among: NDArray[np.int64], threshold: Fraction
) -> ReidentificationRisk:
    """Compute the risk of classes of ``rows`` rows, whose people are hidden among ``hidden_among`` (≥ 1)."""
    total = int(rows.sum())
    if not total:
        return ReidentificationRisk(0.0, 0.0, 0, 0)
    over = int(rows[hidden_among < _least_class_size(threshold)].sum())
    return ReidentificationRisk(
        highest=1.0 / int(hidden_among.min()),
        mean=float((rows / hidden_among).sum()) / total,
        over=over,
        rows=total,
    )


def _least_class_size(threshold: Fraction) -> int:
    """Return the least number n of people with a chance 1/n of no more than the threshold."""
    return -(-threshold.denominator // threshold.numerator)


def compute_prosecutor_risk(rows: NDArray[np.int64], threshold: Fraction) -> ReidentificationRisk:
    """Compute the prosecutor's risk of classes of ``rows`` rows, at least 1 each."""
    risk = prosecutor_risk(rows)
    over = int(rows[rows < _least_class_size(threshold)].sum())
    return ReidentificationRisk(risk.highest, risk.mean, over, int(rows.sum()))


def compute_journalist_risk(
    rows: NDArray[np.int64],
    people: NDArray[np.int64],
    threshold: Fraction,
    *,
    counted: int,
    incomplete: int,
) -> PopulationRisk:
    """Compute the journalist's risk; ``people[c]`` people of the population match class c."""
    risk = compute_risk(rows, np.maximum(people, rows), threshold)
    return PopulationRisk(risk, counted, incomplete, int((people < rows).sum()))


LISTED_OUTLIERS = 10


@dataclass(frozen=True)
class OutlierClass:
    """One class by its published cells, with the least distance from another class (None: no other class)."""

    values: Mapping[str, str | None]
    rows: int
    distance: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part; its values are those that the release shows."""
        return {"values": dict(self.values), "rows": self.rows, "distance": self.distance}


def find_outlier_classes(
    published: ReleaseClasses, listed: int = LISTED_OUTLIERS
) -> tuple[OutlierClass, ...]:
    """Return the smallest classes; among equal sizes, those farthest from other classes come first.

    Distance is the number of attributes in which two classes differ.
    """
    if not published.classes:
        return ()
    cell_codes, rows = published.shown, published.rows
    bound = np.sort(rows)[: 4 * listed][-1]
    candidates = np.flatnonzero(rows <= bound)[: 16 * listed]
    found = []
    for class_index in candidates.tolist():
        apart = (cell_codes != cell_codes[class_index]).sum(axis=1)
        apart[class_index] = len(published.attributes) + 1
        distance = int(apart.min()) if published.classes > 1 else None
        found.append((int(rows[class_index]), -(distance or 0), class_index, distance))
    return tuple(
        OutlierClass(
            values={
                name: published.labels[i][cell_codes[class_index, i]]
                for i, name in enumerate(published.attributes)
            },
            rows=size,
            distance=distance,
        )
        for size, _, class_index, distance in sorted(found)[:listed]
    )


_MOST_COLUMNS = 1_000


def count_singled_out_rows(
    engine: Engine,
    release: SourceSpec,
    columns: PublishedColumns,
    published: ReleaseClasses,
    manifest: Manifest | None,
    settings: Settings,
) -> tuple[SingleValues, ...]:
    """Count the rows that a single value singles out, per column that is no quasi-identifier.

    Pseudonyms and groups are omitted, as are permuted values, which no longer belong to their rows.
    """
    source = release if columns.table is None else replace(release, table=columns.table)
    instead = (
        () if manifest is None else [a.name for a in manifest.attributes if a.pseudonymization is not None]
    )
    apart = {*columns.quasi_identifiers, columns.group, *instead}
    apart |= published.kind.columns_apart
    with engine_for(engine, settings, source) as reader, open_source_table(reader, source) as table:
        names = [name for name in table.columns if name not in apart]
        first = sorted(names, key=lambda name: name not in columns.sensitive)[:_MOST_COLUMNS]
        if not first or not published.total:
            return ()
        return count_single_values(
            reader,
            table,
            first,
            columns.quasi_identifiers,
            published.total,
            starred_apart=published.starred > 0,
            every=True,
        )
