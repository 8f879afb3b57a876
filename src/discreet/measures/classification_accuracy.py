"""Accuracy of a classifier that is trained on a release and tested on held-out rows of the original.

A random share of the original's rows, drawn by seed, is held out. Their counterparts are removed from the
release before training. Rows of the two tables are not linked, so for each held-out row one row with the same
target is removed from a class that covers it. Whatever the recoding itself learned from held-out rows
remains.

A cell becomes a vector of shares: for each group of leaves, the share of the cell's leaves in that group.
Groups are single leaves if these are few; otherwise runs of neighbours for numbers, and for other attributes
the values of the lowest level with at most 48 values. So generalized and original rows have the same
features, and a row of the original has one 1 per attribute. A logistic regression is fitted to the groups of
rows, weighted by size.

The same is done with the original's other rows, and the share of the most frequent target is reported for
comparison: a release is as useful as its share of the gain from the latter to the former.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable, ReleasePair
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, order_leaves

HELD_OUT = 0.25
MAX_TARGETS = 50
_MAX_GROUPS = 48
_ROUNDS, _TOLERANCE = 100, 1e-3


@dataclass(frozen=True)
class ClassificationAccuracy:
    """Accuracies on the same ``held_out`` rows of the original: shares from 0 to 1.

    ``release`` and ``original`` are accuracies of classifiers trained on the respective table; ``majority``
    is that of always predicting the most frequent target of the original.
    """

    target: str
    held_out: int
    release: float
    original: float
    majority: float

    @property
    def recovered(self) -> float | None:
        """(release − majority) / (original − majority); None if the original's classifier gains nothing."""
        gained = self.original - self.majority
        return (self.release - self.majority) / gained if gained > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the JSON document."""
        return {
            "target": self.target,
            "held_out_rows": self.held_out,
            "accuracy": self.release,
            "accuracy_of_original": self.original,
            "accuracy_of_majority": self.majority,
            "recovered": self.recovered,
        }


def measure_accuracy(
    original: GeneralizedTable,
    release: GeneralizedTable,
    hierarchies: Sequence[GeneralizationHierarchy],
    *,
    seed: int = 0,
) -> ClassificationAccuracy:
    """Train on the release and test on held-out rows of the original.

    Parameters
    ----------
    original, release : GeneralizedTable
        The quasi-identifiers of ``hierarchies``, followed by the target, whose cells are single values. Rows
        with a NULL or starred target are ignored.
    hierarchies : sequence of GeneralizationHierarchy
        One per quasi-identifier.
    seed : int
        Seed of the random draw of held-out rows.

    Returns
    -------
    ClassificationAccuracy
        Accuracies on the held-out rows, shares from 0 to 1.

    Raises
    ------
    InputError
        If scikit-learn is missing, if the target has fewer than 2 values or more than 50, if the rows are too
        few to hold some out, or if no row of the release remains for training.

    Notes
    -----
    The classifier is scikit-learn's logistic regression over groups of rows, weighted by their size. Matching
    held-out rows with classes costs classes · row types · attributes / 64 machine words per target value.
    """
    classifier = _classifier()
    target = original.cells[-1]
    known, labels = _groups_with_target(original)
    published, release_labels = _groups_with_target(release)
    if not 2 <= len(np.unique(labels)) <= MAX_TARGETS:
        raise InputError(
            f"the target '{target.attribute}' has {len(np.unique(labels)):,} values",
            allowed=f"2 to {MAX_TARGETS}",
            advice="Name another column, or group its values first.",
        )
    random = np.random.default_rng(seed)
    held_out = random.multivariate_hypergeometric(
        known.rows, round(HELD_OUT * known.total), method="marginals"
    )
    if not held_out.sum() or held_out.sum() == known.total:
        raise InputError(f"{known.total:,} rows are too few to hold some out")
    left = _rows_without_held_out(known, labels, held_out, published, release_labels, hierarchies)
    if len(np.unique(release_labels[left > 0])) < 1:
        raise InputError("the release has no row with a target to train on")
    features = _Features.of(hierarchies)
    tests = features.of_table(known)
    scores = []
    for table, targets, rows in ((published, release_labels, left), (known, labels, known.rows - held_out)):
        predicted = _predict(classifier, features.of_table(table), targets, rows, tests)
        scores.append(float(held_out[predicted == labels].sum() / held_out.sum()))
    frequent = np.bincount(labels, known.rows - held_out).argmax()
    return ClassificationAccuracy(
        target=target.attribute,
        held_out=int(held_out.sum()),
        release=scores[0],
        original=scores[1],
        majority=float(held_out[labels == frequent].sum() / held_out.sum()),
    )


def _classifier() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise InputError(
            "classification needs scikit-learn, which is not installed",
            advice="Install it with: pip install 'discreet[classification]'",
        ) from None
    return LogisticRegression(max_iter=_ROUNDS, tol=_TOLERANCE)


def _groups_with_target(table: GeneralizedTable) -> tuple[GeneralizedTable, NDArray[np.int64]]:
    """Return the groups with a single target value, and its code in the domain of the original's target."""
    cells = table.cells[-1]
    codes = cells.first[cells.offsets[:-1]]
    single = (codes == cells.last[cells.offsets[1:] - 1]) & (codes < cells.leaves)
    retained = single[table.shown[:, -1]]
    return (
        GeneralizedTable(table.cells[:-1], table.shown[retained, :-1], table.rows[retained]),
        codes[table.shown[retained, -1]],
    )


def _rows_without_held_out(
    known: GeneralizedTable,
    labels: NDArray[np.int64],
    held_out: NDArray[np.int64],
    published: GeneralizedTable,
    release_labels: NDArray[np.int64],
    hierarchies: Sequence[GeneralizationHierarchy],
) -> NDArray[np.int64]:
    """Return the rows of the release's groups minus one counterpart of each held-out row that has one."""
    left = published.rows.copy()
    for label in np.unique(labels).tolist():
        groups = np.flatnonzero(release_labels == label)
        types = np.flatnonzero((labels == label) & (held_out > 0))
        if not len(groups) or not len(types):
            continue
        codes = np.stack([cells.first[known.shown[types, i]] for i, cells in enumerate(known.cells)], axis=1)
        table = FrequencySet(tuple(hierarchies), codes, held_out[types])
        part = GeneralizedTable(published.cells, published.shown[groups], published.rows[groups])
        required = held_out[types].copy()
        for classes, covered in ReleasePair(table, part, 0).covered():
            _remove_rows(left, groups[classes], required, covered)
    return left


def _remove_rows(
    left: NDArray[np.int64], groups: NDArray[np.int64], required: NDArray[np.int64], types: NDArray[np.int64]
) -> None:
    """Remove rows for the row types that still require some.

    If each row type has one class, subtract all at once; otherwise pair by pair.
    """
    once = len(np.unique(types)) == len(types)
    if once and (np.bincount(groups, required[types], minlength=len(left)) <= left).all():
        np.subtract.at(left, groups, required[types])
        required[types] = 0
        return
    for group, row_type in zip(groups.tolist(), types.tolist(), strict=True):
        taken = min(int(left[group]), int(required[row_type]))
        left[group] -= taken
        required[row_type] -= taken


def _predict(
    classifier: Any,
    features: NDArray[np.float64],
    targets: NDArray[np.int64],
    rows: NDArray[np.int64],
    tests: NDArray[np.float64],
) -> NDArray[np.int64]:
    used = rows > 0
    kinds = np.unique(targets[used])
    if len(kinds) == 1:
        return np.full(len(tests), kinds[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier.fit(features[used], targets[used], sample_weight=rows[used])
    result: NDArray[np.int64] = classifier.predict(tests)
    return result


@dataclass(frozen=True, eq=False)
class _Features:
    """Groups of leaves of each attribute: the group of each code; NULL is a separate group."""

    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, hierarchies: Sequence[GeneralizationHierarchy]) -> _Features:
        return cls(tuple(_groups(hierarchy) for hierarchy in hierarchies))

    def of_table(self, table: GeneralizedTable) -> NDArray[np.float64]:
        """Return one row per group of the table: the shares of its cells in each group of leaves."""
        parts = []
        for i, (cells, group) in enumerate(zip(table.cells, self.groups, strict=True)):
            shares = np.zeros((len(cells.labels), int(group.max()) + 1))
            for cell in range(len(cells.labels)):
                for j in range(int(cells.offsets[cell]), int(cells.offsets[cell + 1])):
                    is_null = cells.first[j] == cells.leaves
                    last = cells.last[j] if is_null else min(int(cells.last[j]), cells.leaves - 1)
                    np.add.at(shares[cell], group[cells.first[j] : last + 1], 1.0)
            shares /= shares.sum(axis=1, keepdims=True)
            parts.append(shares[table.shown[:, i]])
        return np.concatenate(parts, axis=1)


def _groups(hierarchy: GeneralizationHierarchy) -> NDArray[np.int64]:
    leaves = len(hierarchy.leaves)
    order = order_leaves(hierarchy)
    if order.numeric and leaves > _MAX_GROUPS:
        return np.append(order.rank[:-1] * _MAX_GROUPS // leaves, _MAX_GROUPS)
    level = next(level for level, values in enumerate(hierarchy.labels) if len(values) <= max(_MAX_GROUPS, 1))
    return np.append(hierarchy.ancestors[level], len(hierarchy.labels[level]))
