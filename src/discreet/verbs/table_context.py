"""A table with its spec: frequency sets, findings and lattices, each computed once and cached.

Rows are counted when a verb first needs them, without sensitive values if the requirement reads none. An
evaluated lattice is reused for every requirement whose scores it contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
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


class TableContext:
    """Table with its spec. The rows are counted once, when a verb first needs them.

    Functions that work on a table take this class; ``verbs.table.Table`` adds the verbs and imports them.
    """

    def __init__(self, spec: TableSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec = spec = pin_versions(spec)
        self.settings = settings
        self._reporter = reporter
        self._people: dict[str, FrequencySet] = {}
        self._lattices: list[TableLattice] = []
        self._partial_lattices: list[TablePartialLattice] = []

    @cached_property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and the sensitive values of each."""
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            return count_frequency_set(engine, self.spec, self.settings)

    @cached_property
    def _row_types(self) -> FrequencySet:
        """Row types with counts, without sensitive values: enough for k, and fewer groups."""
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            return count_frequency_set(engine, self.spec, self.settings, ())

    @cached_property
    def findings(self) -> TableFindings:
        """Findings about the rows: warnings, and people with several rows."""
        from discreet.profile.table_warnings import check_table

        with self.engine("Reading the rows") as engine:
            return check_table(engine, self.spec)

    def people_of(self, column: str) -> FrequencySet:
        """Return row types with the people of each, identified by a column; counted once per column.

        Raises ``InputError`` if a row has no value of it, ``LimitReached`` if the memory limit is too small.
        """
        if column not in self._people:
            spec = replace(self.spec, source=replace(self.spec.source, subject=column))
            with self.engine("Counting people") as engine:
                self._people[column] = count_frequency_set(engine, spec, self.settings, ())
        return self._people[column]

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """Warnings about the rows, which every verb repeats; computed at first use."""
        return (*self.findings.warnings, *self._missing_values)

    @cached_property
    def _missing_values(self) -> tuple[CodedWarning, ...]:
        """Warnings about empty cells, from the frequency set if it contains all values."""
        from discreet.profile.missing_values import check_missing_values, warn_about_counted_missing_values

        if self.is_counted:
            return warn_about_counted_missing_values(self.spec, self.frequency_set)
        with self.engine("Reading the rows") as engine:
            return check_missing_values(engine, self.spec)

    def histogram(self, levels: LevelsByAttribute) -> NodeHistogramResult:
        """Count the classes of one node by size and by distinct sensitive values.

        Levels that are not given are 0. Only one node is counted, without the lattice. Raises ``InputError``
        for an unknown attribute or level.

        >>> table.histogram({"age": 2})  # doctest: +SKIP
        """
        from discreet.lattice.evaluation import build_lattice
        from discreet.results.node_summary import make_node_histogram

        table = self.frequency_set
        lattice = build_lattice(table)
        return make_node_histogram(table, lattice.node_of(levels, lattice.bottom), lattice)

    def counted_for(self, requirement: Requirement) -> FrequencySet:
        """Return the frequency set, with sensitive values if a requirement reads them, else possibly without.

        The rows are counted again if a later requirement needs all values.
        """
        if requirement.of_values or self.is_counted or not self.spec.sensitive:
            return self.frequency_set
        return self._row_types

    def count_values(self) -> None:
        """Check the rows, and count them with their sensitive values if these fit the memory limit.

        Every answer reports its homogeneous classes, even if no criterion reads sensitive values. One session
        of the engine does both.
        """
        from discreet.profile.table_warnings import check_table

        # ``cached_property`` reads the instance dictionary, so these entries become the cached values.
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
        """True if the frequency set is already counted."""
        return "frequency_set" in vars(self)

    def is_counted_for(self, requirement: Requirement) -> bool:
        """Return True if the result of ``counted_for`` is already counted."""
        return self.is_counted or (not requirement.of_values and "_row_types" in vars(self))

    def lattice(
        self, *, sensitive: Sequence[str] | None = None, criteria: Sequence[Criterion] = ()
    ) -> TableLattice:
        """Evaluate every node's suppression, for k and for the l of ``sensitive`` (None: all, empty: none).

        ``criteria`` become available too, with any values of their parameters. Fewer attributes and criteria
        are faster. Raises ``InputError`` for an attribute that is not sensitive; ``LimitReached`` if the
        lattice would exceed the memory limit.

        >>> table.lattice(sensitive=[]).frontier(k=10)  # doctest: +SKIP
        """
        requested = self._asking(sensitive, criteria)
        result = self._find_lattice(requested)
        if result is None:
            preload_kernels()
            counted = self._narrowed(self.counted_for(requested), requested)
            with self._reporter.stage("Evaluating the lattice") as advance:
                evaluated = evaluate_lattice(
                    counted,
                    self.settings,
                    diversity=requested.l is not None,
                    criteria=requested.others,
                    progress=advance,
                    notice=self._reporter.notice,
                )
            result = TableLattice(evaluated, counted, self.spec, self.settings)
            self._lattices.append(result)
        return result

    def lattice_for(self, requirement: Requirement) -> TableLattice:
        """Return the lattice with exactly the scores of a requirement."""
        return self.lattice(sensitive=self._sensitive_in(requirement), criteria=requirement.others)

    def known_lattice_for(self, requirement: Requirement) -> TableLattice | None:
        """Return an evaluated lattice that suffices for a requirement; None without one."""
        return self._find_lattice(self._asking(self._sensitive_in(requirement), requirement.others))

    def _find_lattice(self, requested: Requirement) -> TableLattice | None:
        """Return the evaluated lattice with the fewest scores that suffice; None without one."""
        needed = self._scores(requested)
        fitting = [known for known in self._lattices if needed <= {*known.scores}]
        return min(fitting, key=lambda known: len(known.scores), default=None)

    def negotiable_lattice_for(self, requirement: Requirement) -> TableLattice | TablePartialLattice:
        """Return the lattice for a requirement, or a partial one if it would exceed the memory limit.

        A notice reports a partial lattice. Its size is limited by a few seconds of work; answers descend to
        minimal nodes.
        """
        names, criteria = self._sensitive_in(requirement), requirement.others
        requested = self._asking(names, criteria)
        for known in self._partial_lattices:
            if self._scores(requested) <= {*known.scores}:
                return known
        # The rows are counted first: if they exceed the limit, a partial lattice does not help, since it
        # counts the same rows.
        preload_kernels()
        counted = self.counted_for(requirement)
        try:
            return self.lattice(sensitive=names, criteria=criteria)
        except LimitReached as limit:
            self._reporter.notice(f"{limit.message}. A partial lattice answers instead.")
        from discreet.negotiation.partial_lattice import prepare_affordable
        from discreet.results.table_partial_lattice import TablePartialLattice

        with self._reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_affordable(
                self._narrowed(counted, requested), self.settings, criteria=criteria, progress=advance
            )
        result = TablePartialLattice(partial, counted, self.spec, self.settings, descends=True)
        self._partial_lattices.append(result)
        return result

    def partial_lattice(
        self,
        percent: str = "5%",
        *,
        metric: str = "lambda",
        runtime: bool = True,
        sensitive: Sequence[str] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> TablePartialLattice:
        """Evaluate each height's most important ``percent`` of nodes, and others when a request needs them.

        ``metric`` ranks nodes: ``lambda``, ``gamma``, ``mu``, ``gamma-mu``, and each with ``-product``. With
        ``runtime`` a request's own node is counted too. ``sensitive`` and ``criteria`` as in ``lattice``.
        Raises ``InputError`` for values that are not allowed; ``LimitReached`` if the histograms would exceed
        the memory limit.

        >>> table.partial_lattice("5%").negotiate(k=10)  # doctest: +SKIP
        """
        from discreet.negotiation.partial_lattice import prepare_partial_lattice
        from discreet.results.table_partial_lattice import TablePartialLattice

        counted, requested = self.frequency_set, self._asking(sensitive, criteria)
        with self._reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_partial_lattice(
                self._narrowed(counted, requested),
                percent,
                metric,
                criteria=criteria,
                settings=self.settings,
                progress=advance,
            )
        return TablePartialLattice(partial, counted, self.spec, self.settings, runtime=runtime)

    def partial_lattice_for(
        self, requirement: Requirement, percent: str, *, metric: str = "lambda", runtime: bool = True
    ) -> TablePartialLattice:
        """Build a partial lattice with exactly the scores of a requirement."""
        return self.partial_lattice(
            percent,
            metric=metric,
            runtime=runtime,
            sensitive=self._sensitive_in(requirement),
            criteria=requirement.others,
        )

    def _sensitive_in(self, requirement: Requirement) -> tuple[str, ...]:
        """Return the sensitive attributes that a requirement refers to."""
        bound = requirement.bound(self._sensitive_names)
        if any(one.criterion.of_every_attribute for one in bound):
            return self._sensitive_names
        places = {one.index for one in bound}
        return tuple(name for index, name in enumerate(self._sensitive_names) if index in places)

    @property
    def _sensitive_names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.spec.sensitive)

    def _asking(self, sensitive: Sequence[str] | None, criteria: Sequence[Criterion]) -> Requirement:
        """Return a requirement with every needed score; raise ``InputError`` for other attributes."""
        names = self._sensitive_names
        unknown = [name for name in sensitive or () if name not in names]
        if unknown:
            raise InputError(
                f"'{unknown[0]}' is not a sensitive attribute",
                allowed=", ".join(names) or "none: no attribute is sensitive",
            )
        requested = [DistinctDiversity(1, name) for name in names if sensitive is None or name in sensitive]
        return Requirement(criteria=(KAnonymity(1), *requested, *criteria))

    def _scores(self, requested: Requirement) -> frozenset[ScoreKey]:
        return frozenset(each.criterion.counted for each in requested.bound(self._sensitive_names))

    def _narrowed(self, counted: FrequencySet, requested: Requirement) -> FrequencySet:
        """Return a frequency set with the values of only the requirement's sensitive attributes."""
        names = self._sensitive_in(requested)
        remaining = tuple(v for v in counted.sensitive if v.attribute in names)
        complete = len(remaining) == len(self._sensitive_names)
        return replace(counted, sensitive=remaining, has_all_sensitive=complete)

    @contextmanager
    def engine(self, stage: str) -> Iterator[Engine]:
        """Connect to an engine for one stage of work, which is reported; the engine is closed at the end."""
        with (
            connect(self.settings, self.spec.source) as engine,
            interruptible_engine(engine),
            self._reporter.stage(stage),
        ):
            yield engine
