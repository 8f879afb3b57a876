"""A table under a spec: what ``discreet.open`` returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

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
from discreet.workbench.addresses import ReleasePlace, target_of
from discreet.workbench.answers import AnswerResult, NegotiationResult
from discreet.workbench.document import Column, Document, Grid, count, heading
from discreet.workbench.interruption import interruptible
from discreet.workbench.lattice import TableLattice
from discreet.workbench.partial import TablePartialLattice
from discreet.workbench.printed import Printed
from discreet.workbench.reporting import SILENT, Reporter
from discreet.workbench.requests import Levels, request_of

if TYPE_CHECKING:
    from discreet.workbench.comparing import ReleaseComparison
    from discreet.workbench.inspection import Inspection
    from discreet.workbench.local_answers import LocalNegotiationResult
    from discreet.workbench.models.base import Model
    from discreet.workbench.publication import ReleaseResult
    from discreet.workbench.recodings import RecodingResult
    from discreet.workbench.searching import SearchOutcome
    from discreet.workbench.workloads import Workload


class Table(Printed):
    """A table with its spec. The rows are counted once, when a verb first needs them."""

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

    def inspect(self) -> Inspection:
        """Row types, uniqueness, the risk as it stands, hierarchies, warnings."""
        from discreet.workbench.inspection import inspection_of

        with self.engine("Reading the header") as engine:
            columns = engine.open_source(self.spec.source).columns
        return inspection_of(self.spec, self.frequency_set, columns)

    def compare(
        self,
        release: ReleasePlace,
        *,
        workload: Workload | None = None,
        target: str | None = None,
        seed: int = 0,
        k: int | None = None,
    ) -> ReleaseComparison:
        """A release, ours or foreign, a path or an address, beside this table: what it keeps.

        ``workload`` is a file of SQL, a ``.toml`` file that describes queries, or the description: its
        queries are asked of both. ``target`` is a column that is published as it is: a classifier of it is
        trained on the release and tested on rows of the original, which ``seed`` draws. ``k`` normalizes
        C_AVG; without it the manifest's k does, or the spec's. ``InputError`` where the file does not fit.
        """
        from discreet.workbench.comparing import compare

        return compare(
            self, release, workload=workload, target=target, seed=seed, k=k, reporter=self._reporter
        )

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

    def negotiate(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        scope: str | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> NegotiationResult:
        """The exact answer to a wish, or its relaxations; a partial lattice answers for one too large.

        What is not given comes from the spec's ``[request]``; ``result.basis`` tells of a partial lattice.
        ``InputError`` for values that are not allowed.
        """
        request = request_of(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            scope=scope,
            criteria=criteria,
        )
        return self.negotiable_lattice_for(request.requirement).answer(request)

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

    def recode(
        self,
        model: Model | str,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> RecodingResult:
        """A recoding under a model: ``discreet.models.Mondrian(summary="sets")``, say.

        A model's name (``"mondrian"``, ``"local"``, ``"full-subtree"``, …) is the model with its defaults.
        What is not given comes from the spec's ``[request]``. ``InputError`` for a name that no model has;
        ``NoSolution`` where nothing meets the requirement within the limit.
        """
        from discreet.workbench.models.base import Asked
        from discreet.workbench.models.registry import model_of

        asked = Asked(k, l, max_suppressed, max_level, min_level, tuple(criteria))
        return model_of(model).recode(self, asked, self._reporter)

    def negotiate_local(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
        effort: int | str = "fast",
        seed: int = 0,
        time_budget: float | None = None,
        shown: str = "lca",
        bound: bool = False,
    ) -> LocalNegotiationResult:
        """The exact answer to a wish by local recoding, or its relaxations.

        What is not given comes from the spec's ``[request]``; ``effort``, ``seed`` and
        ``time_budget`` are those of ``discreet.models.Local``, ``shown`` its ``summary``. ``bound`` proves
        how much better any local recoding could be. ``InputError`` for levels out of range or that cross.
        """
        from discreet.workbench.local_answers import negotiate_table_locally
        from discreet.workbench.models.local import Local

        request = request_of(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            criteria=criteria,
        )
        model = Local(effort=effort, seed=seed, time_budget=time_budget, summary=shown)
        return negotiate_table_locally(self, request, self._reporter, model, bound=bound)

    def search(
        self,
        algorithm: str,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
        marking: str = "direct",
        in_database: bool = False,
        cost: str | Callable[..., float] | None = None,
        cube_budget: int = 0,
        time_budget: float | None = None,
        node_budget: int | None = None,
    ) -> SearchOutcome:
        """One named full-domain search, with its counts (``discreet.search.algorithms.ALGORITHMS``).

        ``cost`` is a name or a function of a node's statistics; ``cube_budget`` is in bytes, ``time_budget``
        in seconds. Where the table or the search's frequency sets exceed the memory limit, the search goes on
        in the database, as it does from the start with ``in_database``; ``LimitReached`` where it cannot.
        """
        from discreet.workbench.searching import SearchChoice, search_table

        request = request_of(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            criteria=criteria,
        )
        choice = SearchChoice(algorithm, marking, in_database, cost, cube_budget, time_budget, node_budget)
        return search_table(self, request, choice, self._reporter)

    def publish(
        self,
        answer: AnswerResult | RecodingResult | Levels | Model | str | None,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed: str = "drop",
        overwrite: bool = False,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> ReleaseResult:
        """Recode, write, audit, and put the release and its manifest in place.

        ``output`` is a file (``.csv``, ``.parquet``, with Spark also a folder), or else ``table`` is a new
        ``schema.name`` of the database that has this table: there all happens in one transaction.
        ``answer`` is one of a negotiation's, a recoding, levels by attribute (the spec's ``min_level``, else
        0, where not named), or a model, by value or name, which is searched first (see ``recode``).
        ``discreet.models.Permutation`` permutes a sensitive attribute within groups.
        k, l, ``criteria`` and ``max_suppressed`` go with levels and models, limits of levels with models, and
        the spec says them where they are not given. ``suppressed`` is ``drop`` or ``star``. ``NoSolution``
        where there is no answer, or where the levels suppress more rows than allowed; ``InputError`` where
        the output may not be written.
        """
        from discreet.workbench.models.base import Asked, Model, Place
        from discreet.workbench.models.registry import publish_model
        from discreet.workbench.publishing import publish_answer, publish_levels, publish_recoding
        from discreet.workbench.recodings import RecodingResult

        place = Place(target_of(output, table), suppressed, overwrite)
        if isinstance(answer, Model | str):
            asked = Asked(k, l, max_suppressed, max_level, min_level, tuple(criteria))
            return publish_model(self, self._reporter, answer, asked, place)
        if max_level or min_level:
            name = "max_level" if max_level else "min_level"
            raise InputError(f"'{name}' goes with a model alone")
        if isinstance(answer, Mapping):
            request = request_of(self.spec, k=k, l=l, max_suppressed=max_suppressed, criteria=criteria)
            return publish_levels(self, answer, request, place.output, **place.how())
        if isinstance(answer, RecodingResult):
            return publish_recoding(self, answer, place.output, **place.how())
        return publish_answer(self, answer, place.output, **place.how())

    @contextmanager
    def engine(self, stage: str) -> Iterator[Engine]:
        """An engine for one stage of work, which the reporter is told of; it is closed at the end."""
        with (
            connect(self.settings, self.spec.source) as engine,
            interruptible(engine),
            self._reporter.stage(stage),
        ):
            yield engine

    def document(self) -> Document:
        """The source and each attribute's role."""
        rows = tuple(
            (a.name, str(a.role), a.hierarchy.origin if a.hierarchy is not None else "")
            for a in self.spec.attributes
        )
        columns = (Column("attribute"), Column("role"), Column("hierarchy", shrinks=True))
        return (heading(f"{self.spec.source.label}: {count(len(rows), 'attribute')}"), Grid(columns, rows))
