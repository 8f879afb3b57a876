"""Full-domain recoding of least loss: every value of a column goes to one level (Samarati 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from discreet.lattice.evaluate import lattice_of
from discreet.model.class_recoding import RecodingModel
from discreet.model.request import bounds_of
from discreet.taxonomy.class_counts import ClassCounts
from discreet.verbs.addresses import Place
from discreet.verbs.models.base import Asked, Found, Model, Task
from discreet.verbs.opened_table import OpenedTable

if TYPE_CHECKING:
    from discreet.results.publication import ReleaseResult
    from discreet.verbs.reporting import Reporter


@dataclass(frozen=True)
class FullDomain(Model):
    """Every value of a column goes to one level: the node of the lattice that loses least detail."""

    name = str(RecodingModel.FULL_DOMAIN)
    title = "Full-domain"
    text = "Every value of a column goes to one level: the node that loses least detail."
    main = True
    takes_levels = True

    def search(self, task: Task) -> Found:
        """The recoding to the node of least loss within the limits of levels."""
        from discreet.taxonomy.full_domain import full_domain
        from discreet.verbs.models.least_loss import least_loss

        frequency_set = task.frequency_set
        with task.reporter.stage("Recoding (full-domain)"):
            return Found(
                full_domain(
                    frequency_set,
                    ClassCounts(frequency_set, task.requirement),
                    task.limit,
                    task.settings,
                    task.weights,
                    bounds_of(lattice_of(frequency_set), task.request),
                    least_loss(task, frequency_set, within_levels=True),
                )
            )

    def publish(self, table: OpenedTable, asked: Asked, place: Place, reporter: Reporter) -> ReleaseResult:
        """Publish the levels, so that the manifest names them as it does those of a negotiated release."""
        from discreet.verbs.publishing import publish_levels

        task = Task.of(table, asked, reporter)
        return publish_levels(table, self._levels(task, place), task.request, place)

    def _levels(self, task: Task, place: Place) -> dict[str, int]:
        """The levels of least loss; where there are earlier releases, of those that are safe beside them."""
        from discreet.taxonomy.full_domain import least_loss_node
        from discreet.verbs.earlier_releases import EarlierReleases
        from discreet.verbs.models.least_loss import least_loss

        requirement = task.requirement
        earlier = EarlierReleases.of(task.table, place.after, requirement)
        frequency_set = task.table.counted_for(requirement)
        lattice = lattice_of(frequency_set)
        with task.reporter.stage("Looking for the node of least loss"):
            node = least_loss_node(
                frequency_set,
                ClassCounts(frequency_set, requirement),
                task.request.max_suppressed.of(frequency_set.rows),
                task.settings,
                task.weights,
                bounds_of(lattice, task.request),
                least_loss(task, frequency_set, within_levels=True) if earlier is None else None,
                None if earlier is None else partial(earlier.is_safe, requirement=requirement),
            )
        return lattice.levels_of(node)
