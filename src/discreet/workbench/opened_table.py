"""A table with its spec, as far as its verbs need it: counted once, its lattices evaluated once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.errors import InputError, LimitReached
from discreet.frequency.count import count_frequency_set
from discreet.lattice.evaluate import evaluate_lattice
from discreet.lattice.preload import preload_kernels
from discreet.model.criteria.base import Criterion, Score, bind
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.partial import prepare_affordable, prepare_partial_lattice
from discreet.settings import Settings
from discreet.workbench.interruption import interruptible
from discreet.workbench.lattice import TableLattice
from discreet.workbench.partial import TablePartialLattice
from discreet.workbench.reporting import SILENT, Reporter


class OpenedTable:
    """A table with its spec. The rows are counted once, when a verb first needs them.

    What works on a table takes this; ``workbench.table.Table`` is the same with the verbs, and imports them.
    """

    def __init__(self, spec: TableSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec = spec
        self.settings = settings
        self._reporter = reporter
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
        """Row types with counts, without sensitive values: all that k needs, in fewer groups."""
        self.spec.require_quasi_identifiers()
        with self.engine("Counting row types") as engine:
            return count_frequency_set(engine, self.spec, self.settings, ())

    def counted_for(self, requirement: Requirement) -> FrequencySet:
        """The frequency set with sensitive values where a requirement speaks of them, else perhaps without.

        The rows are counted again where all is needed after all.
        """
        if requirement.of_values or self.is_counted or not self.spec.sensitive:
            return self.frequency_set
        return self._row_types

    @property
    def is_counted(self) -> bool:
        """Whether the frequency set is there already."""
        return "frequency_set" in vars(self)

    def lattice(
        self, *, sensitive: Sequence[str] | None = None, criteria: Sequence[Criterion] = ()
    ) -> TableLattice:
        """Every node's suppression, for k and for l of the ``sensitive`` attributes (None: all, empty: none).

        ``criteria`` can be asked too, whatever the values of their parameters. Fewer of both are faster.
        ``InputError`` for an attribute that is not sensitive; ``LimitReached`` where the lattice would not
        fit the memory limit.
        """
        names = self._sensitive(sensitive)
        needed = self._scores(names, criteria)
        fitting = [lattice for lattice in self._lattices if needed <= {*lattice.evaluated.scores}]
        if not fitting:
            fitting = [self._evaluated(names, criteria)]
            self._lattices += fitting
        return min(fitting, key=lambda lattice: len(lattice.evaluated.scores))

    def lattice_for(self, requirement: Requirement) -> TableLattice:
        """The lattice with what a requirement asks for, and no more."""
        return self.lattice(sensitive=self._sensitive_in(requirement), criteria=requirement.others)

    def negotiable_lattice_for(self, requirement: Requirement) -> TableLattice | TablePartialLattice:
        """The same, or a partial lattice where the whole one would not fit the memory limit.

        A notice says so. Its nodes are as many as some seconds allow; answers are walked down to minimal
        nodes.
        """
        names, criteria = self._sensitive_in(requirement), requirement.others
        counted, needed = self.counted_for(requirement), self._scores(names, criteria)
        for known in self._partial_lattices:
            if needed <= {*known.partial.scores}:
                return known
        try:
            return self.lattice_for(requirement)
        except LimitReached as limit:
            self._reporter.notice(f"{limit.message}. A partial lattice answers instead.")
        with self._reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_affordable(
                self._with(counted, names, criteria), self.settings, criteria=criteria, progress=advance
            )
        found = TablePartialLattice(partial, counted, self.spec, descends=True)
        self._partial_lattices.append(found)
        return found

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
        names, counted = self._sensitive(sensitive), self.frequency_set
        with self._reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_partial_lattice(
                self._with(counted, names, criteria),
                percent,
                metric,
                criteria=criteria,
                settings=self.settings,
                progress=advance,
            )
        return TablePartialLattice(partial, counted, self.spec, runtime=runtime)

    def partial_lattice_for(
        self, requirement: Requirement, percent: str, *, metric: str = "lambda", runtime: bool = True
    ) -> TablePartialLattice:
        """The same with what a requirement asks for, and no more."""
        return self.partial_lattice(
            percent,
            metric=metric,
            runtime=runtime,
            sensitive=self._sensitive_in(requirement),
            criteria=requirement.others,
        )

    def _sensitive(self, sensitive: Sequence[str] | None) -> tuple[str, ...]:
        """The sensitive attributes asked, in the spec's order; ``InputError`` for one that is not."""
        names = tuple(a.name for a in self.spec.sensitive)
        asked = names if sensitive is None else tuple(name for name in names if name in sensitive)
        unknown = [name for name in sensitive or () if name not in names]
        if unknown:
            raise InputError(
                f"'{unknown[0]}' is not a sensitive attribute",
                allowed=", ".join(names) or "none: no attribute is sensitive",
            )
        return asked

    def _sensitive_in(self, requirement: Requirement) -> tuple[str, ...]:
        """The sensitive attributes that a requirement speaks of."""
        names = tuple(a.name for a in self.spec.sensitive)
        places = {one.place for one in requirement.bound(names)}
        return tuple(name for place, name in enumerate(names) if place in places)

    def _scores(self, sensitive: tuple[str, ...], criteria: Sequence[Criterion]) -> set[Score]:
        """The scores that k, l of some sensitive attributes, and further criteria ask for."""
        names = tuple(a.name for a in self.spec.sensitive)
        bound = bind((KAnonymity(1), *(DistinctDiversity(1, name) for name in sensitive), *criteria), names)
        return {each.criterion.score for each in bound}

    def _with(
        self, counted: FrequencySet, sensitive: tuple[str, ...], criteria: Sequence[Criterion]
    ) -> FrequencySet:
        """A frequency set with the values of some sensitive attributes only, and of those of criteria."""
        asked = {*sensitive, *(score.attribute for score in self._scores((), criteria))}
        chosen = tuple(values for values in counted.sensitive if values.attribute in asked)
        return replace(counted, sensitive=chosen)

    def _evaluated(self, sensitive: tuple[str, ...], criteria: Sequence[Criterion]) -> TableLattice:
        preload_kernels()
        counted = self.frequency_set if sensitive else self.counted_for(Requirement(criteria=criteria))
        frequency_set = self._with(counted, sensitive, criteria)
        with self._reporter.stage("Evaluating the lattice") as advance:
            evaluated = evaluate_lattice(
                frequency_set,
                self.settings,
                diversity=bool(sensitive),
                criteria=criteria,
                progress=advance,
                notice=self._reporter.notice,
            )
        return TableLattice(evaluated, frequency_set, self.spec)

    @contextmanager
    def engine(self, stage: str) -> Iterator[Engine]:
        """An engine for one stage of work, which the reporter is told of; it is closed at the end."""
        with (
            connect(self.settings, self.spec.source) as engine,
            interruptible(engine),
            self._reporter.stage(stage),
        ):
            yield engine
