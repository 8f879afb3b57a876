"""A recoding by classes before publication, with its measures: classes, granularity, usefulness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.printing.document import (
    Document,
    Grid,
    format_quantity,
    format_rows,
    heading_line,
    make_columns,
    warning_block,
)
from discreet.printing.metric_grid import format_measure
from discreet.printing.rendering import Printable


@dataclass(frozen=True)
class RecodingFacts:
    """Measures of a recoding by classes.

    Classes with the same labels are one, as in the release; ``smallest``, ``mean`` and ``largest`` are class
    sizes in rows. ``summary`` is the summary of classes, if the model has a choice; ``granularity`` and
    ``usefulness`` are None if they were not measured; ``work`` are facts of the search, each a name and a
    text; ``json_parts`` are further parts of the JSON by key, such as the ``evidence`` of a proof.
    """

    model: str
    requirement: Requirement
    rows: int
    classes: int
    smallest: int
    suppressed: int
    granularity: float | None = None
    summary: str | None = None
    work: tuple[tuple[str, str], ...] = ()
    mean: float | None = None
    largest: int | None = None
    usefulness: float | None = None
    json_parts: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the recoding's part of ``discreet publish --json``."""
        found = {
            "model": str(self.model),
            "summary": self.summary,
            "rows": self.rows,
            "classes": self.classes,
            "smallest": self.smallest,
            "mean": self.mean,
            "largest": self.largest,
            "suppressed": self.suppressed,
            "granularity": self.granularity,
            "usefulness": self.usefulness,
        }
        return found | dict(self.json_parts)

    def grid(self) -> Grid:
        """Return the facts, one per line."""
        summary = () if self.summary is None else (("classes show", self.summary),)
        granularity_rows = (
            () if self.granularity is None else (("granularity kept", format_measure(self.granularity)),)
        )
        useful = () if self.usefulness is None else (("usefulness", format_measure(self.usefulness)),)
        facts = (
            ("model", str(self.model)),
            *summary,
            ("classes", f"{self.classes:,}"),
            ("smallest class", format_quantity(self.smallest, "row")),
            ("suppressed", format_rows(self.suppressed, self.rows)),
            *granularity_rows,
            *useful,
            *self.work,
        )
        return Grid(make_columns("", ""), facts)


@dataclass(frozen=True, repr=False)
class RecodingResult(Printable):
    """Recoding before publication: the class of each row and the labels of the classes.

    >>> table.publish(table.recode("mondrian", k=5), "release.csv")  # doctest: +SKIP
    """

    recoding: ClassRecoding
    facts: RecodingFacts

    @classmethod
    def of(
        cls,
        frequency_set: FrequencySet,
        recoding: ClassRecoding,
        summary: str | None = None,
        work: tuple[tuple[str, str], ...] = (),
        numeric: Mapping[str, bool] | None = None,
        json_parts: Mapping[str, Any] | None = None,
    ) -> RecodingResult:
        """Build the result with its measures; ``numeric`` is the spec's declaration of numeric attributes."""
        from discreet.measures.recoding_metrics import (
            OriginalMembers,
            compute_usefulness,
            numeric_values,
            recoding_granularity,
        )

        members = OriginalMembers.of_recoding(recoding)
        sizes = members.sizes(recoding.rows)[: members.number - bool(recoding.suppressed)]
        facts = RecodingFacts(
            model=recoding.model,
            requirement=recoding.requirement,
            rows=frequency_set.rows,
            classes=len(sizes),
            smallest=int(sizes.min()) if len(sizes) else 0,
            suppressed=recoding.suppressed,
            granularity=recoding_granularity(frequency_set, recoding),
            summary=summary,
            work=work,
            mean=float(sizes.mean()) if len(sizes) else None,
            largest=int(sizes.max()) if len(sizes) else None,
            usefulness=compute_usefulness(
                frequency_set, members, numeric_values(frequency_set.hierarchies, numeric)
            ),
            json_parts=dict(json_parts or {}),
        )
        return cls(recoding, facts)

    @property
    def model(self) -> str:
        """Recoding model, by the taxonomy's name."""
        return str(self.facts.model)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.facts.classes

    @property
    def smallest(self) -> int:
        """Rows of the smallest class; 0 without classes."""
        return self.facts.smallest

    @property
    def suppressed(self) -> int:
        """Rows that belong to no class."""
        return self.facts.suppressed

    @property
    def granularity(self) -> float | None:
        """Share of the values' detail that is kept, from 0 to 1."""
        return self.facts.granularity

    def as_json(self) -> dict[str, Any]:
        """Return the facts."""
        return self.facts.as_json()

    def document(self) -> Document:
        """Return the model, its classes, and its measures."""
        title = f"Recoding of the {self.model} model for {self.facts.requirement}"
        return (heading_line(title), self.facts.grid(), *warning_block(self.recoding.warnings))
