"""A recoding decided from arrays alone: what each class shows, and the class of each row type.

Where the row types are in memory, so is the decision: which classes there are, and which fail. Only rows are
left to the engine then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.class_facts import failing_classes
from discreet.frequency.population import people_of_classes
from discreet.model.cells import shows_leaves
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.recoding import FullDomainRecoding
from discreet.model.table_spec import TableSpec
from discreet.recoding.loading import labels_by_text
from discreet.recoding.stored_classes import CountedTable
from discreet.recoding.words import pack_words, packed


@dataclass(frozen=True, eq=False)
class ShownClasses:
    """Published classes, numbered from 0, and where the rows go.

    ``codes`` are the leaf codes of the combinations of quasi-identifiers, shape ``(combinations,
    quasi-identifiers)``; of an attribute whose place is not in ``telling`` they are 0, and a row's value does
    not matter. ``class_of`` is the class of each combination, ``SUPPRESSED`` for none. Class c shows
    ``labels[i][shown[c, i]]`` (None is NULL) for the attribute at place i. ``leaves`` says of which
    attributes each row shows its own value. ``class_rows`` are the rows of each class, shape ``(classes,)``,
    ``rows`` those of the table, ``suppressed`` those of no class.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    telling: tuple[int, ...]
    codes: NDArray[np.int64]
    class_of: NDArray[np.int64]
    shown: NDArray[np.int64]
    labels: tuple[tuple[str | None, ...], ...]
    leaves: tuple[bool, ...]
    class_rows: NDArray[np.int64]
    rows: int
    suppressed: int

    @property
    def kept(self) -> int:
        """The rows that are published with their values."""
        return self.rows - self.suppressed


def classes_of_node(frequency_set: FrequencySet, recoding: FullDomainRecoding) -> ShownClasses:
    """The classes of a full-domain recoding; those that fail its requirement are suppressed.

    For tables without subjects. ``frequency_set`` holds the sensitive attributes that the requirement names.
    """
    places = [frequency_set.attributes.index(name) for name in recoding.attributes]
    hierarchies = tuple(frequency_set.hierarchies[place] for place in places)
    levels = list(zip(hierarchies, recoding.node, strict=True))
    codes, place_of, fails = _judged(frequency_set, recoding, places)
    numbers = np.where(fails, SUPPRESSED, np.cumsum(~fails) - 1)
    shown, labels = _shown_labels(
        codes[~fails], [(*h.labels[level], *((None,) if level < h.height else ())) for h, level in levels]
    )
    telling = tuple(i for i, (hierarchy, level) in enumerate(levels) if level < hierarchy.height)
    told = np.zeros_like(frequency_set.codes)
    told[:, telling] = frequency_set.codes[:, [places[i] for i in telling]]
    first, _ = first_of_each(told)
    return ShownClasses(
        hierarchies=hierarchies,
        telling=telling,
        codes=told[first],
        class_of=numbers[place_of[first]],
        shown=shown,
        labels=labels,
        leaves=tuple(level == 0 and h.height > 0 for h, level in levels),
        class_rows=rows_of(place_of, frequency_set.counts, len(fails))[~fails],
        rows=frequency_set.rows,
        suppressed=int(frequency_set.counts[fails[place_of]].sum()),
    )


def failing_positions(frequency_set: FrequencySet, recoding: FullDomainRecoding) -> NDArray[np.int64]:
    """What each class that fails shows, as positions in its level, shape ``(classes, quasi-identifiers)``."""
    places = [frequency_set.attributes.index(name) for name in recoding.attributes]
    codes, _, fails = _judged(frequency_set, recoding, places)
    return codes[fails]


def _judged(
    frequency_set: FrequencySet, recoding: FullDomainRecoding, places: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """What each class shows, the class of each row type, and which classes fail."""
    positions = [
        frequency_set.hierarchies[place].level_map(level)[frequency_set.codes[:, place]]
        for place, level in zip(places, recoding.node, strict=True)
    ]
    generalized = np.column_stack(positions)
    first, place_of = first_of_each(generalized)
    shown, order = generalized[first], np.argsort(places)
    population = people_of_classes(
        frequency_set, [recoding.node[place] for place in order.tolist()], shown[:, order]
    )
    return (
        shown,
        place_of,
        failing_classes(frequency_set, place_of, len(first), recoding.requirement, population, shown),
    )


def classes_of_recoding(frequency_set: FrequencySet, recoding: ClassRecoding) -> ShownClasses:
    """The classes of a recoding that keeps row types whole; classes that show the same texts are one.

    ``InternalError`` where a class fails the requirement, counted by what is shown.
    """
    texts, columns = [], []
    for i, cells in enumerate(recoding.cells):
        numbers, labels = labels_by_text(cells)
        texts.append(labels)
        columns.append(numbers[recoding.shown[:, i]])
    kept = recoding.classes != SUPPRESSED
    present, inverse = np.unique(recoding.classes[kept], return_inverse=True)
    every = np.column_stack(columns)[present]
    first, same = first_of_each(every)
    shown = every[first]
    class_of = np.full(frequency_set.row_types, SUPPRESSED, dtype=np.int64)
    class_of[recoding.row_types[kept]] = same[inverse]
    fails = failing_classes(frequency_set, class_of, len(shown), recoding.requirement, cells=shown)
    if fails.any():
        raise InternalError(
            f"{int(fails.sum()):,} classes of the {recoding.model} recoding fail {recoding.requirement}, "
            "counted by what they show",
            advice="Nothing was published. Please report this, with the spec if you may show it.",
        )
    positions, used = _shown_labels(shown, texts)
    return ShownClasses(
        hierarchies=frequency_set.hierarchies,
        telling=tuple(range(len(frequency_set.hierarchies))),
        codes=frequency_set.codes,
        class_of=class_of,
        shown=positions,
        labels=used,
        leaves=tuple(map(shows_leaves, recoding.cells, frequency_set.hierarchies)),
        class_rows=rows_of(same[inverse], recoding.rows[kept], len(shown)),
        rows=frequency_set.rows,
        suppressed=recoding.suppressed,
    )


def holds_values(counted: CountedTable, spec: TableSpec) -> TypeGuard[FrequencySet]:
    """Whether classes can be judged from arrays: the row types, with every sensitive attribute's values.

    A criterion of all of them would otherwise be asked of those alone that were counted.
    """
    names = tuple(attribute.name for attribute in spec.sensitive)
    return isinstance(counted, FrequencySet) and counted.sensitive_attributes == names


def splits(recoding: ClassRecoding) -> bool:
    """Whether rows of one row type go to several classes."""
    return bool((np.diff(recoding.row_types) == 0).any())


def first_of_each(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One row of each kind in a table of whole numbers from 0 on, and of each row the place of its kind."""
    words = pack_words([int(column.max(initial=0)) + 1 for column in table.T])
    place = np.zeros(len(table), dtype=np.int64)
    first = np.zeros(min(len(table), 1), dtype=np.int64)
    for word in words:
        _, values = np.unique(packed(table, word), return_inverse=True)
        _, first, place = np.unique(
            place * (int(values.max(initial=0)) + 1) + values, return_index=True, return_inverse=True
        )
    return first, place


def rows_of(numbers: NDArray[np.int64], rows: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """How many ``rows`` there are of each number below ``classes``."""
    found = np.zeros(classes, dtype=np.int64)
    np.add.at(found, numbers, rows)
    return found


def _shown_labels(
    shown: NDArray[np.int64], labels: Sequence[Sequence[str | None]]
) -> tuple[NDArray[np.int64], tuple[tuple[str | None, ...], ...]]:
    """What classes show, by positions in those labels alone that one of them shows."""
    positions = np.empty_like(shown)
    texts = []
    for i, of_attribute in enumerate(labels):
        used, positions[:, i] = np.unique(shown[:, i], return_inverse=True)
        texts.append(tuple(of_attribute[position] for position in used.tolist()))
    return positions, tuple(texts)
