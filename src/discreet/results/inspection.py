"""Inspection of a table before recoding: row types, uniqueness, prosecutor risk, hierarchies, warnings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.rollup import AttributeUniqueness, measure_uniqueness
from discreet.measures.generalized_table import ReleasePair
from discreet.measures.metrics import MetricValue, table_metric_values
from discreet.measures.recoding_metrics import ProsecutorRisk, prosecutor_risk
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import AttributeGlob, AttributeRole, TableSpec, UnlistedPolicy
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    format_quantity,
    format_rows,
    format_share,
    heading_line,
    join_names,
    make_columns,
    warning_block,
)
from discreet.printing.metric_grid import metric_grid
from discreet.printing.rendering import Printable
from discreet.spec.validation import format_key

_ARROW = " → "


@dataclass(frozen=True)
class AttributeInspection:
    """One quasi-identifier: its uniqueness, its hierarchy, and one value at every level."""

    unique: AttributeUniqueness
    height: int
    leaves: int
    origin: str
    from_data: bool
    example: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self.unique.attribute

    def as_json(self) -> dict[str, Any]:
        """Return the attribute's part of ``discreet inspect --json``."""
        return {
            "name": self.name,
            "role": str(AttributeRole.QUASI_IDENTIFIER),
            "values": self.unique.values,
            "null_rows": self.unique.null_rows,
            "unique_by_value": self.unique.unique_by_value,
            "unique_at_top": self.unique.unique_at_top,
            "height": self.height,
            "leaves": self.leaves,
            "origin": self.origin,
            "from_data": self.from_data,
        }


@dataclass(frozen=True, repr=False)
class Inspection(Printable):
    """Inspection of a table before recoding.

    ``risk`` is prosecutor risk with row types as classes, in rows, or in subjects if the spec has one
    (``unit``). ``unlisted`` columns are in the source but not in the spec; ``patterns`` are attribute
    sections for several columns, ``ways`` the replacements of identifiers, ``shifted`` the columns with
    shifted dates. In the table of attributes, "unique by value" counts rows whose value no other row has, and
    "unique at top" the rows that stay unique if the attribute is generalized to its top.

    >>> table.inspect().unique_rows  # doctest: +SKIP
    """

    label: str
    rows: int
    dropped: int
    set_apart: int
    row_types: int
    unique_rows: int
    smallest_class: int
    unit: str
    risk: ProsecutorRisk
    attributes: tuple[AttributeInspection, ...]
    sensitive: tuple[tuple[str, int], ...]
    other_roles: tuple[tuple[str, str], ...]
    unlisted: tuple[str, ...]
    nodes: int
    metrics: tuple[MetricValue, ...]
    warnings: tuple[str, ...]
    patterns: tuple[AttributeGlob, ...] = ()
    ways: tuple[tuple[str, str], ...] = ()
    shifted: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet inspect --json``."""
        return {
            "source": self.label,
            "rows": self.rows,
            "dropped": self.dropped,
            "set_apart": self.set_apart,
            "row_types": self.row_types,
            "unique_rows": self.unique_rows,
            "smallest_class": self.smallest_class,
            "risk": {
                "highest": self.risk.highest,
                "mean": self.risk.mean,
                "unique_share": self.risk.unique_share,
            },
            "nodes": self.nodes,
            "attributes": [
                *(a.as_json() for a in self.attributes),
                *(
                    {"name": name, "role": str(AttributeRole.SENSITIVE), "values": values}
                    for name, values in self.sensitive
                ),
                *({"name": name, "role": role} for name, role in self.other_roles),
            ],
            "patterns": {stanza.pattern: list(stanza.columns) for stanza in self.patterns},
            "unlisted": list(self.unlisted),
            "metrics": {m.metric.name: m.json_value for m in self.metrics},
            "warnings": list(self.warnings),
        }

    def document(self) -> Document:
        """Return the counts, the risk, a row per attribute, metrics, the other columns and the warnings."""
        return (
            heading_line(
                f"{self.label}: {format_quantity(self.rows, 'row')}, "
                f"{format_quantity(self.row_types, 'row type')}"
            ),
            Line(f"Unique by their quasi-identifiers: {format_rows(self.unique_rows, self.rows)} rows."),
            Line(f"Smallest class: {format_quantity(self.smallest_class, self.unit)}."),
            Line(
                "Chance that an attacker who knows them identifies the right row: "
                f"{format_share(self.risk.mean, 1)} on average, {format_share(self.risk.highest, 1)} at most."
            ),
            Line(f"Lattice: {format_quantity(self.nodes, 'node')}."),
            BLANK,
            self._attribute_grid(),
            BLANK,
            *self._examples(),
            metric_grid(self.metrics),
            BLANK,
            *self._other_columns(),
            *warning_block(self.warnings),
        )

    def _attribute_grid(self) -> Grid:
        rows = tuple(
            (
                a.name,
                f"{a.unique.values:,}",
                f"{a.unique.null_rows:,}",
                f"{a.unique.unique_by_value:,}",
                f"{a.unique.unique_at_top:,}",
                f"{a.height}",
                f"{a.leaves:,}",
                a.origin,
            )
            for a in self.attributes
        )
        columns = make_columns(
            "quasi-identifier",
            ">values",
            ">NULL rows",
            ">unique by value",
            ">unique at top",
            ">height",
            ">leaves",
            "~hierarchy",
        )
        return Grid(columns, rows)

    def _examples(self) -> Document:
        rows = tuple((a.name, _ARROW.join(a.example)) for a in self.attributes if a.example)
        columns = make_columns("quasi-identifier", "~a value at each level")
        return (Grid(columns, rows), BLANK) if rows else ()

    def _other_columns(self) -> Document:
        lines = []
        if self.sensitive:
            names = ", ".join(
                f"{name} ({format_quantity(values, 'value')})" for name, values in self.sensitive
            )
            lines.append(Line(f"Sensitive: {names}."))
        for role, title in (
            (AttributeRole.IDENTIFIER, "Identifiers, dropped"),
            (AttributeRole.INSENSITIVE, "Insensitive"),
        ):
            found = [
                name for name, other in self.other_roles if other == role and name not in dict(self.ways)
            ]
            if found:
                lines.append(Line(f"{title}: {join_names(found)}."))
        lines += [Line(f"Identifier {name} is replaced: {title}.") for name, title in self.ways]
        if self.shifted:
            lines.append(
                Line(f"Dates moved by a secret number of days per subject: {join_names(self.shifted)}.")
            )
        lines += [
            Line(
                f"{format_key(('attributes', s.pattern))} matches "
                f"{format_quantity(len(s.columns), 'column')}: "
                f"{join_names(s.columns)}."
            )
            for s in self.patterns
            if s.columns
        ]
        return tuple(lines)


def inspect_frequency_set(
    spec: TableSpec, frequency_set: FrequencySet, columns: Sequence[str], warnings: Sequence[str] = ()
) -> Inspection:
    """Inspect a counted table; ``columns`` are the source's, ``warnings`` are about its rows."""
    classes = _class_sizes(frequency_set)
    unique = measure_uniqueness(frequency_set)
    listed = {a.name for a in spec.attributes}
    unlisted = tuple(c for c in columns if c not in listed)
    attributes = tuple(
        _inspect_attribute(unique.attributes[i], h, frequency_set.codes[:, i])
        for i, h in enumerate(frequency_set.hierarchies)
    )
    others = tuple(
        (a.name, str(a.role))
        for a in spec.attributes
        if a.role in (AttributeRole.IDENTIFIER, AttributeRole.INSENSITIVE)
    )
    return Inspection(
        label=_source_label(spec),
        rows=frequency_set.rows,
        dropped=frequency_set.dropped,
        set_apart=frequency_set.set_apart,
        row_types=frequency_set.row_types,
        unique_rows=unique.unique_rows,
        smallest_class=int(classes.min()) if len(classes) else 0,
        unit="row" if frequency_set.subjects is None else "subject",
        risk=prosecutor_risk(classes),
        attributes=attributes,
        sensitive=tuple((s.attribute, s.size) for s in frequency_set.sensitive),
        other_roles=others,
        ways=tuple((name, way.title) for name, way in spec.source.pseudonymizations.items()),
        shifted=tuple(spec.source.date_shifts),
        unlisted=unlisted,
        nodes=prod(h.height + 1 for h in frequency_set.hierarchies),
        metrics=table_metric_values(ReleasePair.ungeneralized(frequency_set, spec.request.k, spec.numeric)),
        warnings=(*warnings, *unique.warnings, *_spec_warnings(spec, frequency_set, unlisted)),
        patterns=spec.patterns,
    )


def _source_label(spec: TableSpec) -> str:
    """Return the source's name, with a normalized path."""
    path = spec.source.path
    return spec.source.label if path is None else os.path.normpath(path)


def _class_sizes(frequency_set: FrequencySet) -> NDArray[np.int64]:
    """Return the rows, or subjects, of each row type."""
    subjects = frequency_set.subjects
    return frequency_set.counts if subjects is None else np.diff(subjects.offsets)


def _inspect_attribute(
    unique: AttributeUniqueness, hierarchy: GeneralizationHierarchy, codes: NDArray[np.int64]
) -> AttributeInspection:
    occurring = np.bincount(codes, minlength=1)[: hierarchy.null_code]
    frequent = int(occurring.argmax()) if occurring.any() else None
    return AttributeInspection(
        unique=unique,
        height=hierarchy.height,
        leaves=len(hierarchy.leaves),
        origin=hierarchy.origin,
        from_data=hierarchy.from_data,
        example=() if frequent is None else hierarchy.path(frequent),
    )


def _spec_warnings(spec: TableSpec, frequency_set: FrequencySet, unlisted: tuple[str, ...]) -> list[str]:
    result = list(spec.notes)
    if unlisted:
        names = ", ".join(unlisted)
        published = spec.source.unlisted_columns is UnlistedPolicy.INSENSITIVE
        fate = "published unchanged" if published else "never published"
        result.append(f"Columns that the spec does not list are {fate}: {names}.")
    bare = [a.name for a in spec.quasi_identifiers if a.hierarchy is None]
    if bare:
        result.append(f"No hierarchy is given for {', '.join(bare)}: from value to * in one step.")
    derived = [h.attribute for h in frequency_set.hierarchies if h.from_data]
    if derived:
        result.append(
            "Derived from the data, so that a release discloses facts about the data: the hierarchies of "
            f"{', '.join(derived)}."
        )
    result += [note for h in frequency_set.hierarchies for note in h.notes]
    for s in frequency_set.sensitive:
        if s.size < 2:
            result.append(
                f"Sensitive '{s.attribute}' has {format_quantity(s.size, 'value')}: "
                "no l of 2 or more can hold."
            )
    return result
