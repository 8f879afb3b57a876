"""A recoding by classes, as a result that prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.workbench.document import Column, Document, Grid, count, heading, rows_and_share, warnings_of
from discreet.workbench.printed import Printed


@dataclass(frozen=True)
class RecodingFacts:
    """What is told of a recoding by classes.

    ``summary`` says how classes are shown, where that was chosen; ``granularity`` is None where it was not
    measured; ``work`` are facts of the search, each a name and a text.
    """

    model: RecodingModel
    requirement: Requirement
    rows: int
    classes: int
    smallest: int
    suppressed: int
    granularity: float | None = None
    summary: str | None = None
    work: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The part of ``discreet publish --json`` that speaks of the recoding."""
        return {
            "model": str(self.model),
            "summary": self.summary,
            "rows": self.rows,
            "classes": self.classes,
            "smallest": self.smallest,
            "suppressed": self.suppressed,
            "granularity": self.granularity,
        }

    def grid(self) -> Grid:
        """The facts, one per line."""
        summary = () if self.summary is None else (("classes show", self.summary),)
        kept = () if self.granularity is None else (("granularity kept", f"{self.granularity:.4f}"),)
        facts = (
            ("model", str(self.model)),
            *summary,
            ("classes", f"{self.classes:,}"),
            ("smallest class", count(self.smallest, "row")),
            ("suppressed", rows_and_share(self.suppressed, self.rows)),
            *kept,
            *self.work,
        )
        return Grid((Column(""), Column("")), facts)


@dataclass(frozen=True, repr=False)
class RecodingResult(Printed):
    """Which class each row goes to and what the classes show; nothing is published yet."""

    recoding: ClassRecoding
    facts: RecodingFacts

    @classmethod
    def of(
        cls,
        frequency_set: FrequencySet,
        recoding: ClassRecoding,
        summary: str | None = None,
        work: tuple[tuple[str, str], ...] = (),
    ) -> RecodingResult:
        """The result with its measure."""
        from discreet.measures.granularity import granularity

        sizes = recoding.class_rows()
        facts = RecodingFacts(
            model=recoding.model,
            requirement=recoding.requirement,
            rows=frequency_set.rows,
            classes=recoding.class_count,
            smallest=int(sizes.min()) if len(sizes) else 0,
            suppressed=recoding.suppressed,
            granularity=granularity(frequency_set, recoding),
            summary=summary,
            work=work,
        )
        return cls(recoding, facts)

    @property
    def model(self) -> str:
        """The recoding model, by the taxonomy's name."""
        return str(self.facts.model)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.facts.classes

    @property
    def smallest(self) -> int:
        """The rows of the smallest class; 0 where there is none."""
        return self.facts.smallest

    @property
    def suppressed(self) -> int:
        """Rows that belong to no class."""
        return self.facts.suppressed

    @property
    def granularity(self) -> float | None:
        """How much of the values' detail is kept, from 0 to 1."""
        return self.facts.granularity

    def as_json(self) -> dict[str, Any]:
        """The facts."""
        return self.facts.as_json()

    def document(self) -> Document:
        """The model, its classes, and what it keeps of the values."""
        title = f"Recoding of the {self.model} model for {self.facts.requirement}"
        return (heading(title), self.facts.grid(), *warnings_of(self.recoding.warnings))
