"""Recoding models that generalize: full-domain, the taxonomy, ordered single-dimension, local, Mondrian.

Samarati (2001); LeFevre, DeWitt and Ramakrishnan (2005, 2006); Bayardo and Agrawal (2005). Searches are
imported when a model runs. Strict Mondrian partitions a table in its engine if its frequency set exceeds the
memory limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from discreet.errors import InputError, LimitReached
from discreet.lattice.evaluation import build_lattice
from discreet.local.local_recoding import FAST, CellSummary
from discreet.model.class_recoding import RecodingModel
from discreet.model.option import OptionKind, option
from discreet.model.request import node_bounds
from discreet.model.search_result import SuppressionPolicy
from discreet.mondrian.mondrian_options import Categorical, Cut, MondrianOptions, Summary, Tie
from discreet.taxonomy.class_counts import ClassCost, ClassCounts
from discreet.verbs.locations import PublishTarget
from discreet.verbs.models.recoding_model import Found, Model, RequestOptions, Task
from discreet.verbs.table_context import TableContext
from discreet.verbs.workloads import Workload

if TYPE_CHECKING:
    from discreet.model.frequency_set import FrequencySet
    from discreet.results.publish_result import ReleaseResult
    from discreet.search.candidate_nodes import CandidateLevels, CandidateRows
    from discreet.verbs.run_context import Reporter


@dataclass(frozen=True)
class FullDomain(Model):
    """Full-domain recoding: every value of a column goes to one level, at the node of least loss.

    >>> table.publish(models.FullDomain(), "release.csv", k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.FULL_DOMAIN)
    title = "Full-domain"
    text = "Every value of a column goes to one level: the node that loses least detail."
    main = True
    takes_levels = True

    def search(self, task: Task) -> Found:
        """Recode to the node of least loss within the request's level bounds."""
        from discreet.taxonomy.full_domain import search_full_domain

        frequency_set = task.frequency_set
        with task.reporter.stage("Recoding (full-domain)"):
            return Found(
                search_full_domain(
                    frequency_set,
                    ClassCounts(frequency_set, task.requirement),
                    task.limit,
                    task.settings,
                    task.weights,
                    node_bounds(build_lattice(frequency_set), task.request),
                    _find_least_loss_candidates(task, frequency_set, within_levels=True),
                )
            )

    def publish(
        self, table: TableContext, request_options: RequestOptions, target: PublishTarget, reporter: Reporter
    ) -> ReleaseResult:
        """Publish the levels, so that the manifest records them as for a negotiated release."""
        from discreet.verbs.release_publication import publish_levels

        task = Task.of(table, request_options, reporter)
        return publish_levels(table, self._levels(task, target), task.request, target)

    def _levels(self, task: Task, target: PublishTarget) -> dict[str, int]:
        """Return the levels of least loss; earlier releases restrict them to nodes that are safe jointly."""
        from discreet.taxonomy.full_domain import find_least_loss_node
        from discreet.verbs.earlier_releases import EarlierReleases

        requirement = task.requirement
        earlier = EarlierReleases.of(task.table, target.previous_releases, requirement)
        frequency_set = task.table.counted_for(requirement)
        lattice = build_lattice(frequency_set)
        with task.reporter.stage("Searching the node of least loss"):
            node = find_least_loss_node(
                frequency_set,
                ClassCounts(frequency_set, requirement),
                task.request.max_suppressed.of(frequency_set.rows),
                task.settings,
                task.weights,
                node_bounds(lattice, task.request),
                _find_least_loss_candidates(task, frequency_set, within_levels=True)
                if earlier is None
                else None,
                None if earlier is None else partial(earlier.is_safe, requirement=requirement),
            )
        return lattice.levels_of(node)


def _find_least_loss_candidates(
    task: Task, frequency_set: FrequencySet, *, within_levels: bool
) -> Callable[[], tuple[CandidateLevels, CandidateRows] | None]:
    """Return a function that finds the candidate nodes: from a cached lattice, else by a staged search.

    ``frequency_set`` is the task's, possibly without sensitive values that the requirement does not read.
    ``within_levels``: the request's level bounds apply to the model.
    """
    from discreet.measures.standard_costs import detail_cost
    from discreet.search.candidate_nodes import find_candidate_nodes
    from discreet.search.search_problem import SearchProblem

    request = task.request if within_levels else replace(task.request, min_level=(), max_level=())

    def find() -> tuple[CandidateLevels, CandidateRows] | None:
        known = task.table.known_lattice_for(task.requirement)
        search = SearchProblem.of(
            frequency_set,
            request,
            task.settings,
            known=None if known is None else known.evaluated,
        )
        return find_candidate_nodes(search, detail_cost(frequency_set, task.weights))

    return find


def search_taxonomy(model: RecodingModel, task: Task) -> Found:
    """Recode by the taxonomy's search of a model."""
    from discreet.taxonomy.model_search import search_model

    frequency_set = task.frequency_set
    with task.reporter.stage(f"Recoding ({model})"):
        return Found(
            search_model(
                model,
                frequency_set,
                task.requirement,
                task.settings,
                limit=task.limit,
                weights=task.weights,
                candidates=_find_least_loss_candidates(task, task.frequency_set, within_levels=False),
            )
        )


class _TaxonomyModel(Model):
    """Model of the taxonomy without options."""

    def search(self, task: Task) -> Found:
        """Recode by the taxonomy's search of that name."""
        return search_taxonomy(RecodingModel(self.name), task)


class AttributeSuppression(_TaxonomyModel):
    """Attribute suppression: each column is published unchanged or not at all.

    >>> table.recode(models.AttributeSuppression(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.ATTRIBUTE_SUPPRESSION)
    title = "Attribute suppression"
    text = "Each column as it is, or not at all."


class FullSubtree(_TaxonomyModel):
    """Full-subtree recoding: whole branches of a hierarchy rise together, in every row (Iyengar 2002).

    >>> table.recode(models.FullSubtree(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.FULL_SUBTREE)
    title = "Full subtree"
    text = "Whole branches of a hierarchy rise together."


class UnrestrictedSingle(_TaxonomyModel):
    """Unrestricted single-dimension recoding: each value rises separately, the same in every row.

    >>> table.recode(models.UnrestrictedSingle(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.UNRESTRICTED_SINGLE)
    title = "Unrestricted, one dimension"
    text = "Each value rises separately, to the same level in every row."


class FullSubgraph(_TaxonomyModel):
    """Full-subgraph recoding: a combination of values rises with its whole subgraph.

    >>> table.recode(models.FullSubgraph(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.FULL_SUBGRAPH)
    title = "Full subgraph"
    text = "Combinations of values rise, whole subgraphs at a time."


class UnrestrictedMulti(_TaxonomyModel):
    """Unrestricted multidimensional recoding: each combination of values rises separately.

    >>> table.recode(models.UnrestrictedMulti(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.UNRESTRICTED_MULTI)
    title = "Unrestricted, several dimensions"
    text = "Each combination of values rises separately."


class CellSuppression(_TaxonomyModel):
    """Cell suppression: single cells become ``*`` (Aggarwal and others 2005).

    >>> table.recode(models.CellSuppression(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.CELL_SUPPRESSION)
    title = "Cell suppression"
    text = "Single cells are starred."


GREEDY_METHOD, OPTIMAL_METHOD = "greedy", "optimal"
_COST_NAMES = {ClassCost.C_DM: "C_DM", ClassCost.C_AVG: "C_AVG"}


@dataclass(frozen=True, kw_only=True)
class OrderedSingle(Model):
    """Ordered single-dimension recoding: each column is cut into intervals, the same in every row.

    Bayardo and Agrawal (2005). ``method`` is ``greedy`` for least loss, or ``optimal`` for the least C_DM or
    C_AVG, with a proof or a proven gap.

    >>> table.recode(models.OrderedSingle(method="optimal", cost="c-avg"), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.ORDERED_SINGLE)
    title = "Ordered, one dimension"
    text = "Each column is cut into intervals, the same in every row."

    method: str = option(
        GREEDY_METHOD,
        choices=(GREEDY_METHOD, OPTIMAL_METHOD),
        help="how cuts are found: of least loss, or of least cost with a proof",
        label="Cuts are found by",
        hint="least loss, or least cost proven",
    )
    cost: str | None = option(
        None,
        choices=ClassCost,
        shown=str(ClassCost.C_DM),
        help="cost that the method optimal minimizes",
        label="Optimal cuts have the least",
        hint="empty: c-dm, the squares of the class sizes",
    )
    time_limit: float | None = option(
        None,
        kind=OptionKind.DECIMAL,
        unit="seconds",
        metavar="SECONDS",
        shown="60",
        help="time limit of the method optimal, which then reports a proven gap",
        label="Seconds of the optimal cuts at most",
        hint="60 where empty",
    )

    def search(self, task: Task) -> Found:
        """Cut greedily for least loss, or optimally for the least C_DM or C_AVG."""
        if self.method == GREEDY_METHOD:
            set_option = next(
                (
                    name
                    for name in ("cost", "time-limit")
                    if getattr(self, name.replace("-", "_")) is not None
                ),
                None,
            )
            if set_option is not None:
                raise InputError(
                    f"'{set_option}' does not apply to the method 'greedy', which minimizes the loss",
                    advice="Use the method 'optimal'.",
                )
            return search_taxonomy(RecodingModel.ORDERED_SINGLE, task)
        return self._optimal(task)

    def _optimal(self, task: Task) -> Found:
        from discreet.taxonomy.optimal_single import DEFAULT_BUDGET_SECONDS, SearchBudget, find_optimal_single

        with task.reporter.stage("Dividing at least cost") as advance:
            found = find_optimal_single(
                task.frequency_set,
                task.requirement,
                limit=task.limit,
                cost=ClassCost(self.cost or ClassCost.C_DM),
                budget=SearchBudget(
                    seconds=DEFAULT_BUDGET_SECONDS if self.time_limit is None else self.time_limit
                ),
                progress=advance,
                notice=task.reporter.notice,
            )
        work = (
            ("method", OPTIMAL_METHOD),
            ("status", found.status),
            (_COST_NAMES[found.cost], f"{found.value:,.10g}"),
            ("no recoding of the model has less than", f"{found.bound:,.10g}"),
            ("nodes visited", f"{found.nodes:,}"),
        )
        return Found(found.recoding, work=work, json_parts={"evidence": found.as_json()})


@dataclass(frozen=True, kw_only=True)
class Local(Model):
    """Cell generalization: each cell shows any ancestor of its value; the search maximizes granularity.

    ``effort`` is ``"fast"`` or a number of rounds of improvement; ``time_budget`` (seconds) ends them early.

    >>> table.recode(models.Local(effort=5), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.CELL_GENERALIZATION)
    aliases = ("local",)
    title = "Local recoding"
    text = "Rows that agree may be generalized differently, cell by cell. Keeps the most detail."
    main = True
    takes_levels = True

    effort: int | str = option(
        FAST,
        kind=OptionKind.WHOLE,
        choices=(FAST,),
        metavar="fast|N",
        help="N rounds of improvement after the first",
        label="Rounds of improvement",
        hint="fast, or a whole number of rounds",
    )
    seed: int = option(
        0,
        kind=OptionKind.WHOLE,
        metavar="N",
        help="the same seed gives the same classes",
        label="Seed",
        hint="the same seed gives the same classes",
    )
    time_budget: float | None = option(
        None,
        kind=OptionKind.DECIMAL,
        unit="seconds",
        metavar="SECONDS",
        help="time limit of the rounds, in seconds",
        label="Seconds at most",
        hint="ends the rounds early",
    )
    summary: str = option(
        CellSummary.LCA, choices=CellSummary, help="values shown for a class", label="A class shows"
    )

    def search(self, task: Task) -> Found:
        """Recode greedily, then improve for ``effort`` rounds."""
        from discreet.lattice.evaluation import build_lattice
        from discreet.local.cell_generalization import generalize_cells

        lattice = build_lattice(task.frequency_set)
        with task.reporter.stage("Recoding locally") as advance:
            found = generalize_cells(
                task.frequency_set,
                task.requirement,
                task.settings,
                effort=self.effort,
                seed=self.seed,
                time_budget=self.time_budget,
                min_node=lattice.node_of(task.request.min_level, lattice.bottom),
                max_node=lattice.node_of(task.request.max_level, lattice.top),
                limit=task.limit,
                summary=self.summary,
                weights=task.weights,
                progress=advance,
                notice=task.reporter.notice,
            )
        work = (("rounds of improvement", f"{found.rounds:,}"),)
        return Found(found.recoding, str(self.summary), work)


@dataclass(frozen=True, kw_only=True)
class _BaseMondrian(Model):
    """Options and search that strict and relaxed Mondrian share."""

    main = True
    takes_suppression = False
    tells_ranges = True

    categorical: str = option(
        Categorical.ORDER,
        choices=Categorical,
        help="cut categories anywhere in the order of the leaves, or between children only",
        label="Categories are cut",
        hint="anywhere in the order of the leaves, or between children only",
    )
    tie: str = option(
        Tie.FEWEST_VALUES,
        choices=Tie,
        help="order of attributes of equal range",
        label="Among equal cuts",
    )
    summary: str = option(
        Summary.RANGES, choices=Summary, help="values shown for a class", label="A class shows"
    )

    def mondrian_options(self) -> MondrianOptions:
        """Return the options of a strict partition at the best cuts."""
        return MondrianOptions(
            summary=Summary(self.summary),
            categorical=Categorical(self.categorical),
            tie=Tie(self.tie),
        )

    def search(self, task: Task) -> Found:
        """Partition the table by cuts."""
        from discreet.mondrian.partition import partition_table

        with task.reporter.stage("Partitioning") as advance:
            recoding = partition_table(
                task.frequency_set,
                task.requirement,
                task.settings,
                options=self.mondrian_options(),
                notice=task.reporter.notice,
                progress=advance,
            )
        return Found(recoding, str(self.summary))


@dataclass(frozen=True, kw_only=True)
class RelaxedMondrian(_BaseMondrian):
    """Relaxed Mondrian: rows equal to the median may go to both sides, for classes of k to 2k − 1 rows.

    >>> table.recode(models.RelaxedMondrian(), k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.RELAXED_MULTI)
    aliases = ("relaxed-mondrian",)
    title = "Relaxed Mondrian"
    text = "As Mondrian, but equal rows may be divided over both sides: classes of k to 2k − 1 rows."

    def mondrian_options(self) -> MondrianOptions:
        """Return the options of a relaxed partition."""
        return replace(super().mondrian_options(), relaxed=True)


@dataclass(frozen=True, kw_only=True)
class Mondrian(_BaseMondrian):
    """Strict Mondrian: equal rows stay together, and classes are boxes that do not overlap.

    LeFevre, DeWitt and Ramakrishnan (2006). ``workload`` is a file of queries, or their description: the ends
    of their predicates are cut first.

    >>> table.publish(models.Mondrian(summary="sets"), "release.csv", k=10)  # doctest: +SKIP
    """

    name = str(RecodingModel.ORDERED_MULTI)
    aliases = ("mondrian",)
    title = "Mondrian"
    text = (
        "The rows are cut in two again and again, each time where it costs least. Finer than one level per "
        "column."
    )

    cut: str = option(
        Cut.BEST,
        choices=Cut,
        help="where a class is cut",
        label="A class is cut at",
        hint="the nearest allowable value, or only the median",
    )
    workload: Workload | None = option(
        None, kind=OptionKind.FILE, metavar="FILE", help="cut for the queries of FILE (.sql, .toml)"
    )

    def mondrian_options(self) -> MondrianOptions:
        """Return the options of the partition; a workload is not one of them."""
        return replace(super().mondrian_options(), cut=Cut(self.cut))

    def search(self, task: Task) -> Found:
        """Partition by cuts, first at a workload's predicates if it has one (``workload_partition``)."""
        if self.workload is None:
            return super().search(task)
        from discreet.verbs.workloads import load_workload
        from discreet.workload.workload_partition import partition_for_workload

        queries, frequency_set = load_workload(self.workload, task.table), task.frequency_set
        with task.reporter.stage("Partitioning for the workload") as advance:
            recoding = partition_for_workload(
                queries,
                frequency_set,
                task.requirement,
                task.settings,
                self.mondrian_options(),
                progress=advance,
            )
        return Found(recoding, str(self.summary), (("queries", f"{len(queries):,}"),))

    def publish(
        self, table: TableContext, request_options: RequestOptions, target: PublishTarget, reporter: Reporter
    ) -> ReleaseResult:
        """Search, write and audit; in the engine if the frequency set exceeds the memory limit."""
        try:
            return super().publish(table, request_options, target, reporter)
        except LimitReached as error:
            # The rows fit the limit, so something else exceeded it, and the engine would not help.
            if table.is_counted_for(request_options.request(table.spec).requirement):
                raise
            if self.workload is not None:
                raise LimitReached(
                    f"{error.message}; a workload does not apply to a table that is cut in the engine",
                    allowed=error.allowed,
                    advice="Raise --memory-limit, or leave --workload out.",
                ) from error
            reporter.notice(f"{error.message}: the table is cut in the engine.")
            return self._publish_stored(Task.of(table, request_options, reporter), target)

    def _publish_stored(self, task: Task, target: PublishTarget) -> ReleaseResult:
        """Publish a partition whose row types stay in the engine."""
        from discreet.mondrian.external import partition_in_engine
        from discreet.recoding.stored_classes import StoredClasses
        from discreet.release.publication import publish_release
        from discreet.results.publish_result import ReleaseResult
        from discreet.results.recoding_result import RecodingFacts
        from discreet.search.star_schema_loader import star_schema
        from discreet.verbs.class_warnings import EXCEEDS_MEMORY, publish_warnings

        table, summary = task.table, str(self.summary)
        with (
            table.engine("Partitioning in the engine") as engine,
            star_schema(engine, table.spec, task.settings) as facts,
            partition_in_engine(
                facts, task.requirement, task.settings, self.mondrian_options(), notice=task.reporter.notice
            ) as stored,
        ):
            recoding = StoredClasses(
                model=stored.model,
                attributes=tuple(hierarchy.attribute for hierarchy in stored.hierarchies),
                requirement=stored.requirement,
                labels=stored.tables.labels,
                leaves=stored.tables.leaves,
                derived=stored.tables.derived,
                row_types=stored.tables.row_types,
                class_cells=stored.tables.class_cells,
                suppression=SuppressionPolicy(target.suppressed_rows),
                warnings=stored.warnings,
            )
            release = publish_release(
                engine,
                table.spec.with_order(target.row_order),
                stored,
                recoding,
                target.output,
                overwrite=target.overwrite,
                settings=task.settings,
                summary=summary,
                further=publish_warnings(table, None, task.requirement, EXCEEDS_MEMORY),
            )
            recoding_facts = RecodingFacts(
                model=stored.model,
                requirement=stored.requirement,
                rows=stored.rows,
                classes=release.audit.classes,
                smallest=release.audit.k,
                suppressed=0,
                mean=release.audit.rows / release.audit.classes,
                largest=max(release.audit.class_rows or release.audit.class_sizes),
                summary=summary,
                work=(("fragments cut in the engine", f"{stored.fragments:,}"),),
            )
        return ReleaseResult(release, recoding=recoding_facts)
