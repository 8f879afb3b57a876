"""The models of the taxonomy that know no option: each is searched by its own module of ``taxonomy``.

LeFevre, DeWitt and Ramakrishnan (2005) name them.
"""

from __future__ import annotations

from discreet.model.class_recoding import RecodingModel
from discreet.verbs.models.base import Found, Model, Task


def search_taxonomy(model: RecodingModel, task: Task) -> Found:
    """A recoding by the taxonomy's search of a model."""
    from discreet.taxonomy.searches import search
    from discreet.verbs.models.least_loss import least_loss

    frequency_set = task.frequency_set
    with task.reporter.stage(f"Recoding ({model})"):
        return Found(
            search(
                model,
                frequency_set,
                task.requirement,
                task.settings,
                limit=task.limit,
                weights=task.weights,
                contenders=least_loss(task, task.frequency_set, within_levels=False),
            )
        )


class _Plain(Model):
    """A model of the taxonomy that knows no option."""

    def search(self, task: Task) -> Found:
        """By the taxonomy's search of that name."""
        return search_taxonomy(RecodingModel(self.name), task)


class AttributeSuppression(_Plain):
    """Each column is published as it is, or not at all."""

    name = str(RecodingModel.ATTRIBUTE_SUPPRESSION)
    title = "Attribute suppression"
    text = "Each column as it is, or not at all."


class FullSubtree(_Plain):
    """A value rises with its whole branch of the hierarchy, in every row (Iyengar 2002)."""

    name = str(RecodingModel.FULL_SUBTREE)
    title = "Full subtree"
    text = "Whole branches of a hierarchy rise together."


class UnrestrictedSingle(_Plain):
    """Each value rises by itself, the same in every row."""

    name = str(RecodingModel.UNRESTRICTED_SINGLE)
    title = "Unrestricted, one dimension"
    text = "Each value rises by itself, the same in every row."


class FullSubgraph(_Plain):
    """A combination of values rises with its whole subgraph."""

    name = str(RecodingModel.FULL_SUBGRAPH)
    title = "Full subgraph"
    text = "Combinations of values rise, whole subgraphs at a time."


class UnrestrictedMulti(_Plain):
    """Each combination of values rises by itself."""

    name = str(RecodingModel.UNRESTRICTED_MULTI)
    title = "Unrestricted, several dimensions"
    text = "Each combination of values rises by itself."


class CellSuppression(_Plain):
    """Single cells are starred (Aggarwal and others 2005)."""

    name = str(RecodingModel.CELL_SUPPRESSION)
    title = "Cell suppression"
    text = "Single cells are starred."
