"""A table under a spec: what ``discreet.open`` returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, overload

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.printing.document import Column, Document, Grid, count, heading
from discreet.printing.printed import Printed
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.requests import Levels, cost_of, request_of
from discreet.verbs.addresses import ReleasePlace, target_of
from discreet.verbs.opened_table import OpenedTable

if TYPE_CHECKING:
    from discreet.differential.marginals import MarginalLike
    from discreet.measures.costs import AnyCost
    from discreet.model.release_address import ReleaseAddress
    from discreet.model.search_result import Solution
    from discreet.results.inspection import Inspection
    from discreet.results.publication import ReleaseResult
    from discreet.results.recodings import RecodingResult
    from discreet.verbs.addresses import Place
    from discreet.verbs.comparing import ReleaseComparison
    from discreet.verbs.local_answers import LocalNegotiationResult
    from discreet.verbs.models.base import Asked, Model
    from discreet.verbs.released_table import ReleasedTable
    from discreet.verbs.searching import SearchOutcome
    from discreet.verbs.tabulating import BudgetResult, Number, SampleResult, TabulationResult
    from discreet.verbs.workloads import Workload

    Publishable: TypeAlias = (
        AnswerResult | RecodingResult | SearchOutcome | Solution | Levels | Model | str | None
    )


class Table(OpenedTable, Printed):
    """A table with its spec, and what can be asked of it. The rows are counted once."""

    def inspect(self) -> Inspection:
        """Row types, uniqueness, the risk as it stands, hierarchies, warnings."""
        from discreet.results.inspection import inspection_of
        from discreet.verbs.class_warnings import inspection_warnings

        with self.engine("Reading the header") as engine:
            columns = engine.open_source(self.spec.source).columns
        return inspection_of(self.spec, self.frequency_set, columns, inspection_warnings(self))

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
        from discreet.verbs.comparing import compare

        return compare(
            self, release, workload=workload, target=target, seed=seed, k=k, reporter=self._reporter
        )

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
        cost: AnyCost | None = None,
    ) -> NegotiationResult:
        """The exact answer to a wish, or its relaxations; a partial lattice answers for one too large.

        What is not given comes from the spec's ``[request]``; ``result.basis`` tells of a partial lattice.
        With a ``cost``, or one that the spec names, each answer tells its ``cost``.
        ``InputError`` for values that are not allowed.
        """
        from discreet.verbs.class_warnings import with_warnings

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
        self.count_values()
        lattice = self.negotiable_lattice_for(request.requirement)
        return with_warnings(self, lattice.with_costs(lattice.answer(request), cost_of(self.spec, cost)))

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
        from discreet.verbs.models.base import Asked
        from discreet.verbs.models.registry import model_of

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
        from discreet.verbs.local_answers import negotiate_table_locally
        from discreet.verbs.models.local import Local

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
        cost: AnyCost | None = None,
        cube_budget: int = 0,
        time_budget: float | None = None,
        node_budget: int | None = None,
    ) -> SearchOutcome:
        """One named full-domain search, with its counts (``discreet.search.algorithms.ALGORITHMS``).

        ``cost`` is a name, one of ``discreet.costs`` with its options, or a function of a node's statistics
        (where not given, ``optimal`` and ``anytime`` take the one that the spec's ``[request]`` names);
        ``cube_budget`` is in bytes, ``time_budget`` in seconds. Where the table or the search's frequency
        sets exceed the memory limit, the search goes on in the database, as it does from the start with
        ``in_database``; ``LimitReached`` where it cannot.
        """
        from discreet.verbs.searching import MAKE_LEAST, SearchChoice, search_table

        request = request_of(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            criteria=criteria,
        )
        if algorithm in MAKE_LEAST:
            cost = cost_of(self.spec, cost)
        choice = SearchChoice(algorithm, marking, in_database, cost, cube_budget, time_budget, node_budget)
        return search_table(self, request, choice, self._reporter)

    @overload
    def publish(
        self,
        answer: Publishable,
        output: None = None,
        *,
        table: None = None,
        suppressed: str = "drop",
        order: str | None = None,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
        after: str | Path | Sequence[ReleasePlace] | None = None,
    ) -> ReleasedTable: ...

    @overload
    def publish(
        self,
        answer: Publishable,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed: str = "drop",
        order: str | None = None,
        overwrite: bool = False,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
        after: str | Path | Sequence[ReleasePlace] | None = None,
    ) -> ReleaseResult: ...

    def publish(
        self,
        answer: Publishable,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed: str = "drop",
        order: str | None = None,
        overwrite: bool = False,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
        after: str | Path | Sequence[ReleasePlace] | None = None,
    ) -> ReleaseResult:
        """Recode, write, audit, and hand over the release with its manifest.

        Where it goes: ``output`` is a file (``.csv``, ``.parquet``, with Spark also a folder); or ``table``
        is a new ``schema.name`` of the database that has this table, where all happens in one transaction;
        or neither is given, and the release stays in memory, with ``to_pandas()``, ``to_polars()``,
        ``to_arrow()`` and its ``manifest``. It is audited in each case before it is handed over.

        What is published: ``answer`` is one of a negotiation's (``wish.exact``, say), or a recoding, or
        levels by attribute (the spec's ``min_level``, else 0, where not named), or a model, by value or name,
        which is searched first (see ``recode``), or what ``search`` found: its best solution for its own
        request, or one of ``solutions`` for the request that is given here. ``discreet.models.Permutation``
        permutes a sensitive attribute within groups.

        How: k, l, ``criteria`` and ``max_suppressed`` go with levels and models, ``max_level`` and
        ``min_level`` with models, and the spec says them where they are not given. ``suppressed`` is ``drop``
        (failing rows are left out) or ``star`` (each of their cells is ``*``, and every column is text).
        ``order`` is ``sorted`` (rows by what they show) or ``random``, else as the spec says. ``overwrite``
        replaces a release that is there. ``after`` names earlier releases of the same rows: k and l must hold
        of the parts that they share with this one, too.

        ``NoSolution`` where there is no answer, or where the levels suppress more rows than allowed;
        ``InputError`` where the output may not be written; ``RequirementNotMet`` where the audit fails,
        or where the parts that earlier releases share with this one fail.
        Nothing is left behind then.
        """
        from discreet.verbs.addresses import Place
        from discreet.verbs.earlier_releases import named_releases
        from discreet.verbs.models.base import Asked
        from discreet.verbs.released_table import publish_in_memory

        asked = Asked(k, l, max_suppressed, max_level, min_level, tuple(criteria))
        earlier = named_releases(after)

        def publish_to(target: Path | ReleaseAddress) -> ReleaseResult:
            return self._publish(answer, asked, Place(target, suppressed, overwrite, order, earlier))

        if output is None and table is None:
            return publish_in_memory(self.settings, publish_to)
        return publish_to(target_of(output, table))

    def tabulate(
        self,
        marginals: Iterable[MarginalLike],
        output: str | Path,
        *,
        epsilon: Number,
        delta: Number = 0,
        mechanism: str = "laplace",
        rows_per_subject: int | None = None,
        non_negative: bool = False,
        consistent: bool = False,
        overwrite: bool = False,
    ) -> TabulationResult:
        """Release counts with noise, under differential privacy, into a ``.csv``, ``.parquet`` or ``.json``.

        A marginal is levels by attribute (``{"age": 2, "sex": 0}``), or names (``["age", "sex"]``, level 0).
        ``epsilon`` and ``delta`` are spent by all marginals together, and are taken from the spec's
        ``[privacy_budget]`` before noise is drawn. ``mechanism`` is ``laplace``, or ``gaussian`` with a
        ``delta``. An attribute without a public ``domain`` in the spec needs a ``delta``, and only cells
        above a threshold are shown. ``rows_per_subject`` is how many rows of a subject count, where the spec
        has one.
        ``consistent`` moves marginals to one total, and ``non_negative`` counts below 0 to 0.

        ``InputError`` for what is not allowed; ``LimitReached`` where the budget is too small.
        """
        from discreet.verbs.tabulating import tabulate_table

        return tabulate_table(
            self,
            marginals,
            output,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            rows_per_subject=rows_per_subject,
            non_negative=non_negative,
            consistent=consistent,
            overwrite=overwrite,
        )

    def safepub(
        self,
        levels: Levels,
        output: str | Path,
        *,
        epsilon: Number,
        delta: Number,
        search_epsilon: Number | None = None,
        overwrite: bool = False,
    ) -> SampleResult:
        """Release a sample of the rows at levels, under differential privacy, into a file.

        Rows are drawn at random, and classes of fewer drawn rows than SafePub's k left out; the release has
        the quasi-identifiers alone, at ``levels`` (else the spec's ``min_level``, else 0; or, with
        ``search_epsilon``, a part of ``epsilon``, what a private search chooses). ``epsilon`` and ``delta``
        are taken from ``[privacy_budget]`` first, and hold of levels given without a look at the rows.

        ``InputError`` for what is not allowed; ``LimitReached`` where the budget is too small.
        """
        from discreet.verbs.tabulating import sample_table

        return sample_table(
            self,
            levels,
            output,
            epsilon=epsilon,
            delta=delta,
            search_epsilon=search_epsilon,
            overwrite=overwrite,
        )

    def budget(self) -> BudgetResult:
        """What differentially private releases of this table have spent, and what is left."""
        from discreet.verbs.tabulating import budget_of

        return budget_of(self)

    def _publish(self, answer: Publishable, asked: Asked, place: Place) -> ReleaseResult:
        from discreet.results.recodings import RecodingResult
        from discreet.verbs.models.base import Model
        from discreet.verbs.models.registry import publish_model
        from discreet.verbs.publishing import publish_answer, publish_levels, publish_recoding

        if isinstance(answer, Model | str):
            return publish_model(self, self._reporter, answer, asked, place)
        if asked.max_level or asked.min_level:
            name = "max_level" if asked.max_level else "min_level"
            raise InputError(f"'{name}' goes with a model alone")
        if isinstance(answer, Mapping):
            return publish_levels(self, answer, asked.request(self.spec), place)
        if isinstance(answer, RecodingResult):
            return publish_recoding(self, answer, place)
        if answer is None or isinstance(answer, AnswerResult):
            return publish_answer(self, answer, place)
        return self._publish_found(answer, asked, place)

    def _publish_found(self, found: object, asked: Asked, place: Place) -> ReleaseResult:
        """Publish what a search found; ``InputError`` for anything else."""
        from discreet.model.search_result import Solution
        from discreet.verbs.publishing import publish_levels
        from discreet.verbs.searching import SearchOutcome, require_solution, solution_levels

        if isinstance(found, SearchOutcome):
            asked.refuse("goes with levels and models; what a search found has its own request")
            require_solution(found)
            return publish_levels(self, found.levels or {}, found.request, place)
        if isinstance(found, Solution):
            return publish_levels(self, solution_levels(self, found), asked.request(self.spec), place)
        raise InputError(
            f"a {type(found).__name__} where an answer to publish belongs",
            allowed="an answer of a negotiation (wish.exact), a search or one of its solutions, a recoding, "
            "levels by attribute, or a model",
        )

    def document(self) -> Document:
        """The source and each attribute's role."""
        rows = tuple(
            (a.name, str(a.role), a.hierarchy.origin if a.hierarchy is not None else "")
            for a in self.spec.attributes
        )
        columns = (Column("attribute"), Column("role"), Column("hierarchy", shrinks=True))
        return (heading(f"{self.spec.source.label}: {count(len(rows), 'attribute')}"), Grid(columns, rows))
