"""A table under a spec: what ``discreet.open`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from discreet.engines.connect import connect
from discreet.frequency.count import count_frequency_set
from discreet.lattice.evaluate import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.recoding import FullDomainRecoding, SuppressionPolicy
from discreet.model.request import Request
from discreet.model.table_spec import TableSpec
from discreet.release.publish import publish
from discreet.settings import Settings
from discreet.workbench.answers import AnswerResult
from discreet.workbench.document import Column, Document, Grid, count, heading
from discreet.workbench.inspection import Inspection, inspection_of
from discreet.workbench.lattice import TableLattice
from discreet.workbench.printed import Printed
from discreet.workbench.publication import (
    ReleaseResult,
    accepted_answer,
    answer_at_levels,
    policy_of,
    relaxation_of,
    require_rows_left,
)
from discreet.workbench.reporting import SILENT, Reporter
from discreet.workbench.requests import Levels, request_of


class Table(Printed):
    """A table with its spec. The rows are counted once, when a verb first needs them."""

    def __init__(self, spec: TableSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec = spec
        self.settings = settings
        self._reporter = reporter
        self._lattices: dict[bool, TableLattice] = {}

    @cached_property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and the sensitive values of each."""
        self.spec.require_quasi_identifiers()
        with connect(self.settings) as engine, self._reporter.stage("Counting row types"):
            return count_frequency_set(engine, self.spec, self.settings)

    def inspect(self) -> Inspection:
        """Row types, uniqueness, the risk as it stands, hierarchies, warnings."""
        with connect(self.settings) as engine:
            columns = engine.open_source(self.spec.source).columns
        return inspection_of(self.spec, self.frequency_set, columns)

    def lattice(self, *, diversity: bool = True) -> TableLattice:
        """Every node's suppression; without ``diversity`` for k alone, which is faster.

        ``LimitReached`` where the lattice would not fit the memory limit.
        """
        diversity = diversity and bool(self.spec.sensitive)
        if True in self._lattices:
            return self._lattices[True]
        if diversity not in self._lattices:
            frequency_set = self.frequency_set
            with self._reporter.stage("Evaluating the lattice") as advance:
                evaluated = evaluate_lattice(
                    frequency_set,
                    self.settings,
                    diversity=diversity,
                    progress=advance,
                    notice=self._reporter.notice,
                )
            self._lattices[diversity] = TableLattice(evaluated, frequency_set, self.spec)
        return self._lattices[diversity]

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
        policy = policy_of(suppressed)
        if isinstance(answer, Mapping):
            request = request_of(self.spec, k=k, l=l, max_suppressed=max_suppressed)
            return self.publish_levels(answer, request, output, suppressed=suppressed, overwrite=overwrite)
        return self._write(require_rows_left(answer), Path(output), policy, overwrite)

    def publish_levels(
        self,
        levels: Levels,
        request: Request,
        output: str | Path,
        *,
        suppressed: str = "drop",
        overwrite: bool = False,
    ) -> ReleaseResult:
        """Publish at given levels what meets a request's requirement within its limit; see ``publish``."""
        policy = policy_of(suppressed)
        lattice = self.lattice(diversity=request.requirement.l is not None)
        answer = answer_at_levels(lattice, levels, request)
        return self._write(require_rows_left(answer), Path(output), policy, overwrite)

    def publish_request(
        self,
        request: Request,
        output: str | Path,
        *,
        accept: str | None = None,
        suppressed: str = "drop",
        overwrite: bool = False,
    ) -> ReleaseResult:
        """Publish a request's exact answer, or else the relaxation that ``accept`` names.

        ``NoSolution`` where there is neither; nothing is written then.
        """
        policy, relaxation = policy_of(suppressed), relaxation_of(accept)
        result = self.lattice(diversity=request.requirement.l is not None).answer(request)
        answer = require_rows_left(accepted_answer(result, relaxation))
        return self._write(answer, Path(output), policy, overwrite)

    def _write(
        self, answer: AnswerResult, output: Path, policy: SuppressionPolicy, overwrite: bool
    ) -> ReleaseResult:
        recoding = FullDomainRecoding(
            answer.lattice.attributes, answer.answer.node, answer.answer.requirement, policy
        )
        with connect(self.settings) as engine, self._reporter.stage("Writing and auditing"):
            release = publish(
                engine,
                self.spec,
                self.frequency_set,
                recoding,
                output,
                overwrite=overwrite,
                settings=self.settings,
                expected_suppressed=answer.suppressed,
            )
        return ReleaseResult(release, answer.lattice.heights)

    def document(self) -> Document:
        """The source and each attribute's role."""
        rows = tuple(
            (a.name, str(a.role), a.hierarchy.origin if a.hierarchy is not None else "")
            for a in self.spec.attributes
        )
        columns = (Column("attribute"), Column("role"), Column("hierarchy", shrinks=True))
        return (heading(f"{self.spec.source.label}: {count(len(rows), 'attribute')}"), Grid(columns, rows))
