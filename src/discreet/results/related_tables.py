"""Several tables that were published or audited together, as results that print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.model.relations import MANIFEST_NAME, Together
from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone, count, warnings_of
from discreet.printing.printed import Printed
from discreet.results.audit_result import AuditResult
from discreet.results.publication import ReleaseResult


@dataclass(frozen=True)
class PublishedTable:
    """One of several tables: its release, and the rows that were left out before its classes were counted.

    ``orphans`` belong to nobody; ``with_person`` to a row above them that is not released.
    """

    name: str
    release: ReleaseResult
    orphans: int
    with_person: int


@dataclass(frozen=True, repr=False)
class RelatedReleases(Printed):
    """Tables that were published together, parents first, and what they tell together."""

    path: Path
    tables: tuple[PublishedTable, ...]
    together: Together
    required: int | None

    @property
    def manifest_path(self) -> Path:
        """The manifest of the whole."""
        return self.path / MANIFEST_NAME

    def table(self, name: str) -> ReleaseResult:
        """A table's own release, by its name."""
        return {each.name: each.release for each in self.tables}[name]

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet publish --json``."""
        return {
            "path": str(self.path),
            "manifest": str(self.manifest_path),
            "tables": [
                {
                    "name": each.name,
                    "orphans": each.orphans,
                    "left_out_with_their_person": each.with_person,
                    **each.release.as_json(),
                }
                for each in self.tables
            ],
            "together": self.together.as_json(self.required),
        }

    def document(self) -> Document:
        """The folder, a line for each table, and what all tell together."""
        names = ("table", "rows", "suppressed", "left out with their person", "orphans", "k", "levels")
        rows = tuple(
            (
                each.name,
                f"{each.release.release.rows - each.release.suppressed:,}",
                f"{each.release.suppressed:,}",
                f"{each.with_person:,}",
                f"{each.orphans:,}",
                f"{each.release.audit.k:,}",
                ", ".join(f"{name} {n}" for name, n in each.release.levels.items()) or each.release.model,
            )
            for each in self.tables
        )
        warnings = [
            f"{each.name}: {shown}"
            for each in self.tables
            for shown in dict.fromkeys(each.release.release.warnings)
        ]
        return (
            Line(
                f"Published {count(len(self.tables), 'table')} in {self.path}; the manifest of the whole is "
                f"{self.manifest_path}.",
                Tone.GOOD,
            ),
            BLANK,
            Grid(tuple(Column(n, right=1 <= i <= 5, shrinks=i == 6) for i, n in enumerate(names)), rows),
            BLANK,
            *together_lines(self.together, self.required),
            *warnings_of(warnings),
        )


@dataclass(frozen=True, repr=False)
class RelatedAudits(Printed):
    """The audit of several released tables: each table's own, and that of all together."""

    path: Path
    tables: Mapping[str, AuditResult]
    together: Together
    required: int | None

    @property
    def passed(self) -> bool:
        """Whether each table passes, all keys fit, and as many people look alike as had to."""
        enough = self.required is None or self.together.fewest >= self.required
        return enough and not self.together.problems and all(each.passed for each in self.tables.values())

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet audit --json``."""
        return {
            "passed": self.passed,
            "tables": {name: each.as_json() for name, each in self.tables.items()},
            "keys": list(self.together.problems),
            "together": self.together.as_json(self.required),
        }

    def document(self) -> Document:
        """The verdict, each table's verdict, the keys, and what all tell together."""
        verdict = "passed" if self.passed else "failed"
        lines = [
            Line(f"Audit {verdict}: {count(len(self.tables), 'table')} in {self.path}.", _tone(self.passed))
        ]
        for name, each in self.tables.items():
            failing = "" if each.passed else "; it fails"
            unit = "row" if each.report.class_rows is None else "subject"
            lines.append(
                Line(
                    f"{name}: {count(each.rows, 'row')} in {count(each.classes, 'class', 'classes')}, the "
                    f"smallest of {count(each.k, unit)}{failing}.",
                    Tone.PLAIN if each.passed else Tone.BAD,
                )
            )
        fit = [Line("Every foreign key finds its row, and every row its person.")]
        lines += [Line(f"{told}.", Tone.BAD) for told in self.together.problems] or fit
        warnings = [f"{name}: {told}" for name, each in self.tables.items() for told in each.report.warnings]
        return (*lines, *together_lines(self.together, self.required), *warnings_of(warnings))


def together_lines(found: Together, required: int | None) -> tuple[Line, ...]:
    """The same in words."""
    told = (
        f"All tables together: of {count(found.people, 'person', 'people')} the fewest who look alike in "
        f"every table are {found.fewest:,}"
    )
    asked = "" if required is None else f" ({required:,} were required)"
    lines = [
        Line(f"{told}{asked}.", _tone(required is None or found.fewest >= required, plain=required is None))
    ]
    if found.alone:
        lines.append(
            Line(
                f"{count(found.alone, 'person', 'people')} look like nobody else: who knows all that is "
                "released of such a person, in every table, finds the person. Each table by itself keeps its "
                "k; together = N in the relational spec asks it of all tables together.",
                Tone.WARNING,
            )
        )
    return tuple(lines)


def _tone(good: bool, *, plain: bool = False) -> Tone:
    return Tone.PLAIN if plain else Tone.GOOD if good else Tone.BAD
