"""A table under a spec: what ``discreet.open`` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.errors import InputError
from discreet.frequency.count import count_frequency_set
from discreet.lattice.evaluate import evaluate_lattice
from discreet.lattice.preload import preload_kernels
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.settings import Settings
from discreet.workbench.answers import AnswerResult
from discreet.workbench.document import Column, Document, Grid, count, heading
from discreet.workbench.lattice import TableLattice
from discreet.workbench.printed import Printed
from discreet.workbench.reporting import SILENT, Reporter
from discreet.workbench.requests import Levels, request_of

if TYPE_CHECKING:
    from discreet.workbench.inspection import Inspection
    from discreet.workbench.publication import ReleaseResult


class Table(Printed):
    """A table with its spec. The rows are counted once, when a verb first needs them."""

    def __init__(self, spec: TableSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec = spec
        self.settings = settings
        self._reporter = reporter
        self._lattices: dict[tuple[str, ...], TableLattice] = {}

    @cached_property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and the sensitive values of each."""
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            return count_frequency_set(engine, self.spec, self.settings)

    def inspect(self) -> Inspection:
        """Row types, uniqueness, the risk as it stands, hierarchies, warnings."""
        from discreet.workbench.inspection import inspection_of

        with self.engine("Reading the header") as engine:
            columns = engine.open_source(self.spec.source).columns
        return inspection_of(self.spec, self.frequency_set, columns)

    def lattice(self, *, sensitive: Sequence[str] | None = None) -> TableLattice:
        """Every node's suppression, for k and for l of the ``sensitive`` attributes (None: all, empty: none).

        Fewer attributes are faster. ``InputError`` for one that is not sensitive; ``LimitReached`` where the
        lattice would not fit the memory limit, before any work.
        """
        names = tuple(a.name for a in self.spec.sensitive)
        asked = names if sensitive is None else tuple(name for name in names if name in sensitive)
        unknown = [name for name in sensitive or () if name not in names]
        if unknown:
            raise InputError(
                f"'{unknown[0]}' is not a sensitive attribute",
                allowed=", ".join(names) or "none: no attribute is sensitive",
            )
        if asked not in self._lattices:
            self._lattices[asked] = self._lattices.get(names) or self._evaluated(asked)
        return self._lattices[asked]

    def lattice_for(self, requirement: Requirement) -> TableLattice:
        """The lattice with the diversity that a requirement asks for, and no more."""
        names = tuple(a.name for a in self.spec.sensitive)
        thresholds = zip(names, requirement.l_of(names), strict=True)
        return self.lattice(sensitive=[name for name, threshold in thresholds if threshold is not None])

    def _evaluated(self, sensitive: tuple[str, ...]) -> TableLattice:
        preload_kernels()
        counted = self.frequency_set
        chosen = tuple(values for values in counted.sensitive if values.attribute in sensitive)
        frequency_set = replace(counted, sensitive=chosen)
        with self._reporter.stage("Evaluating the lattice") as advance:
            evaluated = evaluate_lattice(
                frequency_set,
                self.settings,
                diversity=bool(chosen),
                progress=advance,
                notice=self._reporter.notice,
            )
        return TableLattice(evaluated, frequency_set, self.spec)

    def publish(
        self,
        answer: AnswerResult | Levels | None,
        output: str | Path,
        *,
        suppressed: str = "drop",
        overwrite: bool = False,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
    ) -> ReleaseResult:
        """Recode, write, audit, and put the release and its manifest in place.

        ``answer`` is one of a negotiation's, or levels by attribute (the spec's ``min_level``, else 0, where
        not named); k, l and ``max_suppressed`` go with levels, and the spec says them where they are not
        given. ``suppressed`` is ``drop`` or ``star``. ``NoSolution`` where there is no answer, or where the
        levels suppress more rows than allowed; ``InputError`` where the output may not be written.
        """
        from discreet.workbench.publishing import publish_answer, publish_levels

        how: dict[str, Any] = {"suppressed": suppressed, "overwrite": overwrite}
        if isinstance(answer, Mapping):
            request = request_of(self.spec, k=k, l=l, max_suppressed=max_suppressed)
            return publish_levels(self, answer, request, Path(output), **how)
        return publish_answer(self, answer, Path(output), **how)

    @contextmanager
    def engine(self, stage: str) -> Iterator[Engine]:
        """An engine for one stage of work, which the reporter is told of; it is closed at the end."""
        with connect(self.settings) as engine, self._reporter.stage(stage):
            yield engine

    def document(self) -> Document:
        """The source and each attribute's role."""
        rows = tuple(
            (a.name, str(a.role), a.hierarchy.origin if a.hierarchy is not None else "")
            for a in self.spec.attributes
        )
        columns = (Column("attribute"), Column("role"), Column("hierarchy", shrinks=True))
        return (heading(f"{self.spec.source.label}: {count(len(rows), 'attribute')}"), Grid(columns, rows))
