"""Mondrian, strict and relaxed: the rows are cut in two again and again (LeFevre and others 2006).

A table whose frequency set would exceed the memory limit is still published by strict Mondrian: it is cut in
the engine, where its rows are coded once, until what is left of it fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import LimitReached
from discreet.model.class_recoding import RecodingModel
from discreet.model.option import OptionKind, option
from discreet.model.recoding import SuppressionPolicy
from discreet.mondrian.options import Categorical, Cut, MondrianOptions, Summary, Tie
from discreet.verbs.addresses import Place
from discreet.verbs.models.base import Asked, Found, Model, Task
from discreet.verbs.opened_table import OpenedTable

if TYPE_CHECKING:
    from discreet.results.publication import ReleaseResult
    from discreet.verbs.reporting import Reporter
    from discreet.verbs.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class _AnyMondrian(Model):
    """What both kinds of Mondrian may be told."""

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
        help="which of equal range is cut",
        label="Among equal cuts",
    )
    summary: str = option(Summary.RANGES, choices=Summary, help="what a class shows", label="A class shows")

    def told(self) -> MondrianOptions:
        """The options as the partition takes them."""
        return MondrianOptions(
            relaxed=True,
            summary=Summary(self.summary),
            categorical=Categorical(self.categorical),
            tie=Tie(self.tie),
        )

    def search(self, task: Task) -> Found:
        """Classes by cuts."""
        from discreet.mondrian.partition import partition

        with task.reporter.stage("Partitioning") as advance:
            recoding = partition(
                task.frequency_set,
                task.requirement,
                task.settings,
                options=self.told(),
                notice=task.reporter.notice,
                progress=advance,
            )
        return Found(recoding, str(self.summary))


@dataclass(frozen=True, kw_only=True)
class RelaxedMondrian(_AnyMondrian):
    """Mondrian that divides equal rows over both sides of the median: classes of k to 2k − 1 rows."""

    name = str(RecodingModel.RELAXED_MULTI)
    aliases = ("relaxed-mondrian",)
    title = "Relaxed Mondrian"
    text = "As Mondrian, but equal rows may be divided over both sides: classes of k to 2k − 1 rows."


@dataclass(frozen=True, kw_only=True)
class Mondrian(_AnyMondrian):
    """Strict Mondrian: equal rows stay together, and classes are boxes that do not overlap.

    ``workload`` is a file of queries, or their description: the ends of their predicates are cut first.
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
        hint="the nearest allowable value, or the median alone",
    )
    workload: Workload | None = option(
        None, kind=OptionKind.FILE, metavar="FILE", help="cut for the queries of FILE (.sql, .toml)"
    )

    def told(self) -> MondrianOptions:
        """The options as the partition takes them; a workload is no part of them."""
        return MondrianOptions(
            cut=Cut(self.cut),
            summary=Summary(self.summary),
            categorical=Categorical(self.categorical),
            tie=Tie(self.tie),
        )

    def search(self, task: Task) -> Found:
        """Classes by cuts, for a workload by the ends of its predicates first (``workload.partition``)."""
        if self.workload is None:
            return super().search(task)
        from discreet.verbs.workloads import load_workload
        from discreet.workload.partition import partition_for

        queries, frequency_set = load_workload(self.workload, task.table), task.frequency_set
        with task.reporter.stage("Partitioning for the workload") as advance:
            recoding = partition_for(
                queries, frequency_set, task.requirement, task.settings, self.told(), progress=advance
            )
        return Found(recoding, str(self.summary), (("queries", f"{len(queries):,}"),))

    def publish(self, table: OpenedTable, asked: Asked, place: Place, reporter: Reporter) -> ReleaseResult:
        """Search, write and audit; in the engine where the frequency set exceeds the memory limit."""
        try:
            return super().publish(table, asked, place, reporter)
        except LimitReached as error:
            if table.is_counted_for(asked.request(table.spec).requirement):
                raise
            if self.workload is not None:
                raise LimitReached(
                    f"{error.message}; a table that is cut in the engine is not cut for a workload",
                    allowed=error.allowed,
                    advice="Raise --memory-limit, or leave --workload out.",
                ) from error
            reporter.notice(f"{error.message}: the table is cut in the engine.")
            return self._publish_stored(Task.of(table, asked, reporter), place)

    def _publish_stored(self, task: Task, place: Place) -> ReleaseResult:
        """Publish a partition whose row types stay in the engine."""
        from discreet.mondrian.external import partition_stored
        from discreet.recoding.stored_classes import StoredClasses
        from discreet.release.publish import publish
        from discreet.results.publication import ReleaseResult
        from discreet.results.recodings import RecodingFacts
        from discreet.search.star_schema import in_database
        from discreet.verbs.class_warnings import TOO_LARGE, publish_warnings

        table, summary = task.table, str(self.summary)
        with (
            table.engine("Partitioning in the engine") as engine,
            in_database(engine, table.spec, task.settings) as facts,
            partition_stored(
                facts, task.requirement, task.settings, self.told(), notice=task.reporter.notice
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
                shown=stored.tables.shown,
                suppression=SuppressionPolicy(place.suppressed),
                warnings=stored.warnings,
            )
            release = publish(
                engine,
                table.spec.with_order(place.order),
                stored,
                recoding,
                place.output,
                overwrite=place.overwrite,
                settings=task.settings,
                summary=summary,
                further=publish_warnings(table, None, task.requirement, TOO_LARGE),
            )
            told = RecodingFacts(
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
        return ReleaseResult(release, recoding=told)
