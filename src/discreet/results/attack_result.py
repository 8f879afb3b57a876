"""The result of the attacks on a release, as a document and as JSON.

Prosecutor, journalist and marketer risk before and after, minimal uniques, outlier classes, disclosure,
linkage, and the findings of the attacks requested by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.attacks.attribute_disclosure import AttributeDisclosure
from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind
from discreet.attacks.linkage import MATCH_STEPS, Linkage, LinkageSide
from discreet.attacks.reidentification_risk import OutlierClass, PopulationRisk, ReidentificationRisk
from discreet.attacks.suda import MinimalUniques
from discreet.model.coded_warnings import SingleValues
from discreet.model.release_kind import CLASS_RELEASE, GROUP_RELEASE, ReleaseKind
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    format_rows,
    format_share,
    heading_line,
    make_columns,
    warning_block,
)
from discreet.printing.rendering import Printable, record_as_json

_MISSING = "–"


def describe_finding(finding: Finding) -> Document:
    """Return heading, method, figures, tables and notes of an attack, or the reason for skipping it."""
    begin = (BLANK, heading_line(finding.title))
    if finding.skipped is not None:
        return (*begin, Line(f"Not tried: {finding.skipped}."))
    figures = Grid(
        make_columns("", ">"),
        tuple((each.label, format_finding_value(each.value, each.kind)) for each in finding.figures),
    )
    return (
        *begin,
        Line(finding.lead),
        *((figures,) if finding.figures else ()),
        *(block for table in finding.tables for block in _describe_table(table)),
        *(Line(note, Tone.HINT) for note in finding.notes),
    )


def format_finding_value(value: Value, kind: ValueKind) -> str:
    """Format a value by its kind, or a dash if it is None."""
    if value is None:
        return _MISSING
    if isinstance(value, str) or kind is ValueKind.TEXT:
        return str(value)
    if kind is ValueKind.CHANCE:
        return format_share(value, 1)
    return f"{value:,}" if kind is ValueKind.COUNT else f"{value:,.4g}"


def _describe_table(table: FoundTable) -> Document:
    grid = Grid(
        tuple(
            Column(column.title, right=column.kind is not ValueKind.TEXT, shrinks=True)
            for column in table.columns
        ),
        tuple(
            tuple(
                format_finding_value(value, column.kind)
                for value, column in zip(row, table.columns, strict=True)
            )
            for row in table.rows
        ),
    )
    notes = (Line(table.note),) if table.note else ()
    return (BLANK, Line(table.title, Tone.HEADING), *((grid,) if table.rows else (Line("None."),)), *notes)


@dataclass(frozen=True)
class TableRisk:
    """Risk of a table: its classes by size, prosecutor risk and minimal uniques.

    ``class_sizes`` maps a size in rows to the number of classes of that size.
    """

    rows: int
    classes: int
    class_sizes: Mapping[int, int]
    prosecutor: ReidentificationRisk
    uniques: MinimalUniques

    def as_json(self) -> dict[str, Any]:
        """Return the table's part of the document."""
        sizes = {str(size): number for size, number in self.class_sizes.items()}
        return record_as_json(self) | {"class_sizes": sizes}


@dataclass(frozen=True, repr=False)
class AttackResult(Printable):
    """Result of the attacks on a release.

    ``before`` is the original, if it is known. ``by_group``: values are permuted within groups, so
    quasi-identifiers are unchanged, and ``disclosure`` describes groups. ``threshold`` is the probability
    above which a row is at risk, ``dominance`` the share above which one value dominates a class.
    ``findings`` are those of the named attacks (``by``). ``single_values`` counts, for each published column
    that is not a quasi-identifier, the rows that its values single out.

    >>> result = discreet.attack("release.csv")  # doctest: +SKIP
    >>> result.after.prosecutor.highest, result.marketer  # doctest: +SKIP
    """

    path: Path
    model: str | None
    by_group: bool
    threshold: float
    dominance: float
    starred: int
    before: TableRisk | None
    after: TableRisk
    journalist: PopulationRisk | None
    outlier_classes: tuple[OutlierClass, ...]
    disclosure: tuple[AttributeDisclosure, ...]
    linkage: Linkage | None
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    single_values: tuple[SingleValues, ...] = ()

    @property
    def kind(self) -> ReleaseKind:
        """Kind of the release, which determines the counted units and the cautions."""
        return GROUP_RELEASE if self.by_group else CLASS_RELEASE

    def finding(self, attack: str) -> Finding:
        """Return the finding of an attack by name; raise ``KeyError`` if it was not tried."""
        return {each.attack: each for each in self.findings}[attack]

    @property
    def marketer(self) -> float:
        """Marketer risk: the expected share of rows that an attacker identifies if all rows are tried."""
        return self.after.prosecutor.mean if self.journalist is None else self.journalist.risk.mean

    @property
    def marketer_before(self) -> float | None:
        """Marketer risk of the original; None if it is unknown, or if the basis is a population file.

        A population file is compared only with the release.
        """
        if self.before is None or self.journalist is not None:
            return None
        return self.before.prosecutor.mean

    @property
    def marketer_basis(self) -> str:
        """Basis of the marketer risk."""
        return "the prosecutor's mean" if self.journalist is None else "the population file"

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet attack --json``."""
        return {
            "release": str(self.path),
            "model": self.model,
            "threshold": self.threshold,
            "dominance": self.dominance,
            "starred": self.starred,
            "before": None if self.before is None else self.before.as_json(),
            "after": self.after.as_json(),
            "journalist": None if self.journalist is None else self.journalist.as_json(),
            "marketer": {
                "share": self.marketer,
                "before": self.marketer_before,
                "basis": self.marketer_basis,
            },
            "outlier_classes": [found.as_json() for found in self.outlier_classes],
            "disclosure": {
                "units": self.kind.units,
                "attributes": [found.as_json() for found in self.disclosure],
            },
            "single_values": [found.as_json() for found in self.single_values],
            "linkage": None if self.linkage is None else self.linkage.as_json(),
            "findings": [found.as_json() for found in self.findings],
            "warnings": list(self.warnings),
        }

    def document(self) -> Document:
        """Return the risks before and after, uniques, outlier classes, disclosure, linkage and warnings."""
        after = self.after
        starred = f", {format_quantity(self.starred, 'starred row')} apart" if self.starred else ""
        classes = format_quantity(after.classes, "class", "classes")
        return (
            heading_line(f"{self.path}: {format_quantity(after.rows, 'row')} in {classes}{starred}"),
            self._risk_grid(),
            Line(f"Marketer risk rests on {self.marketer_basis}."),
            *self._uniques(),
            *self._standing_out(),
            *self._disclosure(),
            *self._single_values(),
            *self._linkage(),
            *(block for found in self.findings for block in describe_finding(found)),
            *warning_block(self.warnings),
        )

    def _risk_grid(self) -> Grid:
        tables = [table for table in (self.before, self.after) if table is not None]
        titles = ["before", "after"] if self.before is not None else ["release"]
        over = f"rows with a chance above {self.threshold:g}"
        rows = [
            ("rows", *(f"{t.rows:,}" for t in tables)),
            ("classes", *(f"{t.classes:,}" for t in tables)),
            ("prosecutor risk, highest", *(format_share(t.prosecutor.highest, 1) for t in tables)),
            ("prosecutor risk, mean", *(format_share(t.prosecutor.mean, 1) for t in tables)),
            (over, *(format_rows(t.prosecutor.over, t.rows) for t in tables)),
            ("sample uniques", *(format_rows(t.uniques.rows, t.rows) for t in tables)),
        ]
        unknown = [] if self.before is None else [_MISSING]
        if self.journalist is not None:
            risk = self.journalist.risk
            rows += [
                ("journalist risk, highest", *unknown, format_share(risk.highest, 1)),
                ("journalist risk, mean", *unknown, format_share(risk.mean, 1)),
            ]
        before = self.marketer_before
        known = unknown if before is None else [format_share(before, 1)]
        rows.append(("marketer risk", *known, format_share(self.marketer, 1)))
        return Grid((Column(""), *(Column(title, right=True) for title in titles)), tuple(rows))

    def _uniques(self) -> Document:
        tables = [t for t in (self.before, self.after) if t is not None]
        titles = ["before", "after"] if self.before is not None else ["release"]
        if not any(t.uniques.rows for t in tables):
            return ()
        sizes = range(1, max(t.uniques.largest for t in tables) + 1)
        rows = tuple(
            (f"{size}", *(_number_at(t.uniques.rows_by_size, size - 1) for t in tables)) for size in sizes
        )
        columns = (Column("columns", right=True), *(Column(title, right=True) for title in titles))
        title = "Unique rows by the fewest columns needed"
        return (BLANK, heading_line(title), Grid(columns, rows))

    def _single_values(self) -> Document:
        """Return the rows that values of columns other than quasi-identifiers single out."""
        found = [each for each in self.single_values if each.unique_rows or each.in_class]
        if not found:
            return ()
        columns = make_columns("~known value of", ">unique rows", ">unique in their group")
        rows = tuple(
            (each.column, format_rows(each.unique_rows, each.rows), format_rows(each.in_class, each.rows))
            for each in found
        )
        return (BLANK, heading_line("Rows that one published value singles out"), Grid(columns, rows))

    def _standing_out(self) -> Document:
        if not self.outlier_classes:
            return ()
        names = list(self.outlier_classes[0].values)
        columns = make_columns(">rows", ">distance", *(f"~{name}" for name in names))
        rows = tuple(
            (
                f"{found.rows:,}",
                _MISSING if found.distance is None else f"{found.distance}",
                *("NULL" if found.values[name] is None else str(found.values[name]) for name in names),
            )
            for found in self.outlier_classes
        )
        return (
            BLANK,
            heading_line("Outlier classes"),
            Line("Distance: the number of quasi-identifiers in which a class differs from every other."),
            Grid(columns, rows),
        )

    def _disclosure(self) -> Document:
        if not self.disclosure:
            return ()
        unit = self.kind.unit
        columns = make_columns(
            "sensitive attribute",
            ">l",
            ">entropy l",
            f">~rows whose {unit} has one value",
            f">~rows with a value in over {format_share(self.dominance, 1)} of it",
            ">~guessed right",
            ">~without the release",
        )
        rows = tuple(
            (
                d.attribute,
                f"{d.fewest_values:,}",
                f"{d.entropy_l:.2f}",
                format_rows(d.homogeneous_rows, d.rows),
                format_rows(d.dominated_rows, d.rows),
                format_share(d.guessed, 1),
                format_share(d.baseline, 1),
            )
            for d in self.disclosure
        )
        return (BLANK, heading_line(f"Disclosure by {unit}"), Grid(columns, rows))

    def _linkage(self) -> Document:
        found = self.linkage
        if found is None:
            return ()
        sides = [side for side in (found.before, found.after) if side is not None]
        titles = ["before", "after"] if found.before is not None else ["release"]
        pairs = ", ".join(a if a == b else f"{a} = {b}" for a, b in found.columns)
        columns = (Column(""), *(Column(title, right=True) for title in titles))
        return (
            BLANK,
            heading_line(f"Linkage of {format_quantity(found.after.records, 'outside record')} by {pairs}"),
            Grid(columns, tuple(_linkage_cells(sides))),
            *(
                (Line(f"{format_quantity(found.incomplete, 'record')} lack a value."),)
                if found.incomplete
                else ()
            ),
        )


def _linkage_cells(sides: list[LinkageSide]) -> list[tuple[str, ...]]:
    rows = [
        ("records that match a row", *(format_rows(s.matched, s.records) for s in sides)),
        ("records that match one row", *(format_rows(s.unique, s.records) for s in sides)),
        ("matching rows, median", *(_MISSING if s.median is None else f"{s.median:,.0f}" for s in sides)),
        ("right links, if all were in the table", *(f"{s.expected_if_present:,.1f}" for s in sides)),
    ]
    # Only with the original is the person of an outside record known.
    if sides[-1].correct is not None:
        rows += [
            ("records of people in the original", *(f"{s.known or 0:,}" for s in sides)),
            ("right links expected", *(f"{s.correct or 0:,.1f}" for s in sides)),
        ]
    for i, name in enumerate(match_range_names()):
        rows.append((f"match {name}", *(f"{s.histogram[i]:,}" for s in sides)))
    return rows


def match_range_names() -> tuple[str, ...]:
    """Return the ranges of matching rows in a linkage histogram, in words."""
    names = []
    for i, least in enumerate(MATCH_STEPS):
        most = MATCH_STEPS[i + 1] - 1 if i + 1 < len(MATCH_STEPS) else None
        if most is None:
            names.append(f"{least} rows or more")
        elif most == least:
            names.append("no row" if least == 0 else "1 row")
        else:
            names.append(f"{least} to {most} rows")
    return tuple(names)


def _number_at(numbers: tuple[int, ...], index: int) -> str:
    return f"{numbers[index]:,}" if index < len(numbers) else _MISSING
