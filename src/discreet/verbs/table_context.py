"""A table with its spec: frequency sets, findings and lattices, each computed once and cached.

Rows are counted when a verb first needs them, without sensitive values where the requirement reads none.
``LatticeCache`` reuses an evaluated lattice for every requirement whose scores it contains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.files.sources import pin_versions
from discreet.errors import InputError, LimitReached
from discreet.frequency.table_scan import count_frequency_set
from discreet.lattice.evaluation import evaluate_lattice, preload_kernels
from discreet.model.coded_warnings import CodedWarning
from discreet.model.criteria.base import Criterion, ScoreKey
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.request_defaults import LevelsByAttribute
from discreet.results.table_lattice import TableLattice
from discreet.settings import Settings
from discreet.verbs.run_context import SILENT, Reporter, interruptible_engine

if TYPE_CHECKING:
    from discreet.profile.table_warnings import TableFindings
    from discreet.results.node_summary import NodeHistogramResult
    from discreet.results.table_partial_lattice import TablePartialLattice


@dataclass(frozen=True)
class LatticeCache:
    """Evaluates lattices, whole and partial, and keeps them by the scores that they were counted for.

    ``counted_for`` counts the table for a requirement: with sensitive values where it speaks of them.
    """

    spec: TableSpec
    settings: Settings
    reporter: Reporter
    counted_for: Callable[[Requirement], FrequencySet]
    whole: list[TableLattice] = field(default_factory=list)
    partial: list[TablePartialLattice] = field(default_factory=list)

    def lattice(self, sensitive: Sequence[str] | None, criteria: Sequence[Criterion]) -> TableLattice:
        """The kept lattice of the fewest scores that can be asked for all this, or a new one.

        ``sensitive`` are the attributes whose l can be asked (None: all).
        """
        requested = self._asking(sensitive, criteria)
        found = self._fitting(requested)
        if found is None:
            found = self._evaluated(requested)
            self.whole.append(found)
        return found

    def known(self, requirement: Requirement) -> TableLattice | None:
        """The kept lattice of the fewest scores that tells of a requirement; None where none does."""
        return self._fitting(self._asking(self.sensitive_in(requirement), requirement.others))

    def affordable(self, requirement: Requirement) -> TableLattice | TablePartialLattice:
        """The lattice for a requirement, or a partial one where it would not fit the memory limit."""
        names, criteria = self.sensitive_in(requirement), requirement.others
        requested = self._asking(names, criteria)
        for known in self.partial:
            if self._scores(requested) <= {*known.scores}:
                return known
        # Counted first: a limit reached there is no reason for a partial lattice, which counts the same rows.
        preload_kernels()
        counted = self.counted_for(requirement)
        try:
            return self.lattice(names, criteria)
        except LimitReached as limit:
            self.reporter.notice(f"{limit.message}. A partial lattice answers instead.")
        from discreet.negotiation.partial_lattice import prepare_affordable
        from discreet.results.table_partial_lattice import TablePartialLattice

        with self.reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_affordable(
                self._narrowed(counted, requested), self.settings, criteria=criteria, progress=advance
            )
        found = TablePartialLattice(partial, counted, self.spec, self.settings, descends=True)
        self.partial.append(found)
        return found

    def most_important(
        self,
        counted: FrequencySet,
        percent: str,
        metric: str,
        sensitive: Sequence[str] | None,
        criteria: Sequence[Criterion],
        *,
        runtime: bool,
    ) -> TablePartialLattice:
        """A partial lattice of the most important ``percent`` of the nodes of each height; it is not kept."""
        from discreet.negotiation.partial_lattice import prepare_partial_lattice
        from discreet.results.table_partial_lattice import TablePartialLattice

        requested = self._asking(sensitive, criteria)
        with self.reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_partial_lattice(
                self._narrowed(counted, requested),
                percent,
                metric,
                criteria=criteria,
                settings=self.settings,
                progress=advance,
            )
        return TablePartialLattice(partial, counted, self.spec, self.settings, runtime=runtime)

    def sensitive_in(self, requirement: Requirement) -> tuple[str, ...]:
        """The sensitive attributes that a requirement speaks of."""
        bound = requirement.bound(self._names)
        if any(one.criterion.of_every_attribute for one in bound):
            return self._names
        places = {one.place for one in bound}
        return tuple(name for place, name in enumerate(self._names) if place in places)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.spec.sensitive)

    def _asking(self, sensitive: Sequence[str] | None, criteria: Sequence[Criterion]) -> Requirement:
        """What asks for every score that is wanted; ``InputError`` for an attribute that is not sensitive."""
        names = self._names
        unknown = [name for name in sensitive or () if name not in names]
        if unknown:
            raise InputError(
                f"'{unknown[0]}' is not a sensitive attribute",
                allowed=", ".join(names) or "none: no attribute is sensitive",
            )
        requested = [DistinctDiversity(1, name) for name in names if sensitive is None or name in sensitive]
        return Requirement(criteria=(KAnonymity(1), *requested, *criteria))

    def _fitting(self, requested: Requirement) -> TableLattice | None:
        needed = self._scores(requested)
        fitting = [known for known in self.whole if needed <= {*known.scores}]
        return min(fitting, key=lambda known: len(known.scores), default=None)

    def _scores(self, requested: Requirement) -> frozenset[ScoreKey]:
        return frozenset(each.criterion.counted for each in requested.bound(self._names))

    def _narrowed(self, counted: FrequencySet, requested: Requirement) -> FrequencySet:
        """A frequency set with the values of those sensitive attributes alone that are asked for."""
        names = self.sensitive_in(requested)
        kept = tuple(v for v in counted.sensitive if v.attribute in names)
        return replace(counted, sensitive=kept, whole=len(kept) == len(self._names))

    def _evaluated(self, requested: Requirement) -> TableLattice:
        preload_kernels()
        counted = self._narrowed(self.counted_for(requested), requested)
        with self.reporter.stage("Evaluating the lattice") as advance:
            evaluated = evaluate_lattice(
                counted,
                self.settings,
                diversity=requested.l is not None,
                criteria=requested.others,
                progress=advance,
                notice=self.reporter.notice,
            )
        return TableLattice(evaluated, counted, self.spec, self.settings)


class TableContext:
    """A table with its spec. The rows are counted once, when a verb first needs them.

    What works on a table takes this; ``workbench.table.Table`` is the same with the verbs, and imports them.
    """

    def __init__(self, spec: TableSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec = spec = pin_versions(spec)
        self.settings = settings
        self._reporter = reporter
        self._people: dict[str, FrequencySet] = {}
        self._lattices = LatticeCache(spec, settings, reporter, self.counted_for)

    @cached_property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and the sensitive values of each."""
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            return count_frequency_set(engine, self.spec, self.settings)

    @cached_property
    def _row_types(self) -> FrequencySet:
        """Row types with counts, without sensitive values: all that k needs, in fewer groups."""
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            return count_frequency_set(engine, self.spec, self.settings, ())

    @cached_property
    def findings(self) -> TableFindings:
        """What is found in the rows under the spec: warnings, and people who have several rows."""
        from discreet.profile.table_warnings import check_table

        with self.engine("Looking at the rows") as engine:
            return check_table(engine, self.spec)

    def people_of(self, column: str) -> FrequencySet:
        """Row types with the people of each, by the values of a column; counted once per column.

        ``InputError`` where a row has no value of it, ``LimitReached`` where the memory limit is too small.
        """
        if column not in self._people:
            spec = replace(self.spec, source=replace(self.spec.source, subject=column))
            with self.engine("Counting people") as engine:
                self._people[column] = count_frequency_set(engine, spec, self.settings, ())
        return self._people[column]

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """Warnings about the rows under the spec, which every verb repeats; found at first need."""
        return (*self.findings.warnings, *self._missing_values)

    @cached_property
    def _missing_values(self) -> tuple[CodedWarning, ...]:
        """Warnings about cells that show nothing: by what was counted, where all of it was."""
        from discreet.profile.missing_values import check_missing_values, warn_about_counted_missing_values

        if self.is_counted:
            return warn_about_counted_missing_values(self.spec, self.frequency_set)
        with self.engine("Looking at the rows") as engine:
            return check_missing_values(engine, self.spec)

    def histogram(self, levels: LevelsByAttribute) -> NodeHistogramResult:
        """Count the classes of one node by size and by distinct sensitive values.

        Levels that are not named are 0. The lattice is not evaluated: one node is counted. ``InputError`` for
        an attribute or level that there is not.
        """
        from discreet.lattice.evaluation import build_lattice
        from discreet.results.node_summary import make_node_histogram

        table = self.frequency_set
        lattice = build_lattice(table)
        return make_node_histogram(table, lattice.node_of(levels, lattice.bottom), lattice)

    def counted_for(self, requirement: Requirement) -> FrequencySet:
        """The frequency set with sensitive values where a requirement speaks of them, else perhaps without.

        The rows are counted again where all is needed after all.
        """
        if requirement.of_values or self.is_counted or not self.spec.sensitive:
            return self.frequency_set
        return self._row_types

    def count_values(self) -> None:
        """Look at the rows, and count them with their sensitive values where these fit the memory limit.

        An answer says in how many classes everybody has the same value, whether a criterion of values is
        required or not. One session of the engine does both.
        """
        from discreet.profile.table_warnings import check_table

        found = vars(self)
        if self.is_counted or "findings" in found:
            return
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            found["findings"] = check_table(engine, self.spec)
            with suppress(LimitReached):
                found["frequency_set"] = count_frequency_set(engine, self.spec, self.settings)

    @property
    def is_counted(self) -> bool:
        """Whether the frequency set is there already."""
        return "frequency_set" in vars(self)

    def is_counted_for(self, requirement: Requirement) -> bool:
        """Whether what ``counted_for`` gives is there already."""
        return self.is_counted or (not requirement.of_values and "_row_types" in vars(self))

    def lattice(
        self, *, sensitive: Sequence[str] | None = None, criteria: Sequence[Criterion] = ()
    ) -> TableLattice:
        """Every node's suppression, for k and for l of the ``sensitive`` attributes (None: all, empty: none).

        ``criteria`` can be asked too, whatever the values of their parameters. Fewer of both are faster.
        ``InputError`` for an attribute that is not sensitive; ``LimitReached`` where the lattice would not
        fit the memory limit.
        """
        return self._lattices.lattice(sensitive, criteria)

    def lattice_for(self, requirement: Requirement) -> TableLattice:
        """The lattice with what a requirement asks for, and no more."""
        return self._lattices.lattice(self._lattices.sensitive_in(requirement), requirement.others)

    def known_lattice_for(self, requirement: Requirement) -> TableLattice | None:
        """A lattice that was evaluated before and tells of a requirement; None where there is none."""
        return self._lattices.known(requirement)

    def negotiable_lattice_for(self, requirement: Requirement) -> TableLattice | TablePartialLattice:
        """The same, or a partial lattice where the whole one would not fit the memory limit.

        A notice says so. Its nodes are as many as some seconds allow; answers are walked down to minimal
        nodes.
        """
        return self._lattices.affordable(requirement)

    def partial_lattice(
        self,
        percent: str = "5%",
        *,
        metric: str = "lambda",
        runtime: bool = True,
        sensitive: Sequence[str] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> TablePartialLattice:
        """The most important ``percent`` of the nodes of each height, and others when a request needs them.

        ``metric`` ranks nodes: ``lambda``, ``gamma``, ``mu``, ``gamma-mu``, and each with ``-product``. With
        ``runtime`` a request's own node is counted too. ``sensitive`` and ``criteria`` as in ``lattice``.
        ``InputError`` for values that are not allowed; ``LimitReached`` where the histograms would not fit
        the memory limit.
        """
        return self._lattices.most_important(
            self.frequency_set, percent, metric, sensitive, criteria, runtime=runtime
        )

    def partial_lattice_for(
        self, requirement: Requirement, percent: str, *, metric: str = "lambda", runtime: bool = True
    ) -> TablePartialLattice:
        """The same with what a requirement asks for, and no more."""
        return self.partial_lattice(
            percent,
            metric=metric,
            runtime=runtime,
            sensitive=self._lattices.sensitive_in(requirement),
            criteria=requirement.others,
        )

    @contextmanager
    def engine(self, stage: str) -> Iterator[Engine]:
        """An engine for one stage of work, which the reporter is told of; it is closed at the end."""
        with (
            connect(self.settings, self.spec.source) as engine,
            interruptible_engine(engine),
            self._reporter.stage(stage),
        ):
            yield engine
