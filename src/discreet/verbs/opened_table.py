"""A table with its spec, as far as its verbs need it: counted once, its lattices evaluated once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.engines.files.logged_table import at_one_version
from discreet.errors import LimitReached
from discreet.frequency.count import count_frequency_set
from discreet.model.coded_warning import CodedWarning
from discreet.model.criteria.base import Criterion
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.lattice import TableLattice
from discreet.results.requests import Levels
from discreet.settings import Settings
from discreet.verbs.interruption import interruptible
from discreet.verbs.kept_lattices import KeptLattices
from discreet.verbs.reporting import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.profile.table_warnings import TableFindings
    from discreet.results.node_histogram import NodeHistogram
    from discreet.results.partial import TablePartialLattice


class OpenedTable:
    """A table with its spec. The rows are counted once, when a verb first needs them.

    What works on a table takes this; ``workbench.table.Table`` is the same with the verbs, and imports them.
    """

    def __init__(self, spec: TableSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec = spec = at_one_version(spec)
        self.settings = settings
        self._reporter = reporter
        self._people: dict[str, FrequencySet] = {}
        self._lattices = KeptLattices(spec, settings, reporter, self.counted_for)

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
        from discreet.profile.table_warnings import table_findings

        with self.engine("Looking at the rows") as engine:
            return table_findings(engine, self.spec)

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
        from discreet.profile.missing_values import check_missing_values, counted_missing_values

        if self.is_counted:
            return counted_missing_values(self.spec, self.frequency_set)
        with self.engine("Looking at the rows") as engine:
            return check_missing_values(engine, self.spec)

    def histogram(self, levels: Levels) -> NodeHistogram:
        """Count the classes of one node by size and by distinct sensitive values.

        Levels that are not named are 0. The lattice is not evaluated: one node is counted. ``InputError`` for
        an attribute or level that there is not.
        """
        from discreet.lattice.evaluate import lattice_of
        from discreet.results.node_histogram import histogram_of

        table = self.frequency_set
        lattice = lattice_of(table)
        return histogram_of(table, lattice.node_of(levels, lattice.bottom), lattice)

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
        from discreet.profile.table_warnings import table_findings

        found = vars(self)
        if self.is_counted or "findings" in found:
            return
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            found["findings"] = table_findings(engine, self.spec)
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
            interruptible(engine),
            self._reporter.stage(stage),
        ):
            yield engine
