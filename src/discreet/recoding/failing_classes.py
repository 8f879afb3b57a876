"""Classes of a coded table that fail a requirement, counted in the engine.

With a subject the l of a class is the largest number of distinct values that can be assigned distinct
subjects (a system of distinct representatives, by maximum matching). SQL decides nearly all classes; at
most l · (l − 1) pairs of each of the others are fetched and matched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.model.criteria.base import BoundCriterion
from discreet.sql import recoded_rows
from discreet.sql import subject_matching as sql


def reaches_matching(carriers: Mapping[int, Sequence[int]], l: int) -> bool:
    """Check whether ``l`` values can be matched with ``l`` different subjects.

    ``carriers`` contains the subjects of each value. Augmenting paths, breadth first, one search per value,
    until ``l`` values are matched: O(values · pairs).
    """
    value_of: dict[int, int] = {}
    subject_of: dict[int, int] = {}

    def augment(start: int) -> bool:
        """Match one more value along a shortest alternating path, if there is one."""
        reached_from: dict[int, int] = {}
        queue = [start]
        for value in queue:  # grows while it is read: breadth first
            for subject in carriers[value]:
                if subject in reached_from:
                    continue
                reached_from[subject] = value
                if subject in value_of:
                    queue.append(value_of[subject])
                    continue
                last: int | None = subject
                while last is not None:  # match each value of the path with the subject that it reached
                    reached = reached_from[last]
                    before = subject_of.get(reached)
                    value_of[last], subject_of[reached] = reached, last
                    last = before
                return True
        return False

    matched = 0
    for tried, value in enumerate(carriers):
        if matched + len(carriers) - tried < l:
            return False
        matched += augment(value)
        if matched >= l:
            return True
    return False


def find_classes_reaching(
    classes: NDArray[np.int64], values: NDArray[np.int64], subjects: NDArray[np.int64], l: int
) -> list[int]:
    """Return the classes, among pairs sorted by class and value, in which ``l`` values can be matched."""
    if len(classes) == 0:
        return []
    found = []
    starts = np.flatnonzero(np.append(True, classes[1:] != classes[:-1])).tolist()
    for start, end in zip(starts, [*starts[1:], len(classes)], strict=True):
        carriers: dict[int, list[int]] = {}
        for value, subject in zip(values[start:end].tolist(), subjects[start:end].tolist(), strict=True):
            carriers.setdefault(value, []).append(subject)
        if reaches_matching(carriers, l):
            found.append(int(classes[start]))
    return found


_PAIRS_AT_ONCE = 1_000_000


class FailingClassFinder:
    """Finder of failing classes in a coded table; ``subject`` is its column of subjects, if any."""

    def __init__(
        self, engine: Engine, tables: TemporaryTables, coded: str, keys: int, subject: str | None
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._coded = coded
        self._keys = keys
        self._subject = subject

    def table(self, bound: Sequence[BoundCriterion], texts: Mapping[int, str]) -> str:
        """Create a table of the classes that fail one of the criteria, and return its name.

        ``texts`` are expressions over the coded table, by the position of a sensitive attribute. Raises
        ``InputError`` for a criterion that engines do not count.
        """
        failing = [self._failing(one, texts) for one in bound]
        return self._tables.create(recoded_rows.failing_table(self._coded, self._keys, failing))

    def _failing(self, one: BoundCriterion, texts: Mapping[int, str]) -> str:
        if one.index is None:
            if self._subject is None:
                return recoded_rows.classes_by_rows(self._coded, self._keys, one)
            return recoded_rows.classes_by_values(self._coded, self._keys, self._subject, one)
        text = texts[one.index]
        if self._subject is None:
            return recoded_rows.classes_by_values(self._coded, self._keys, text, one)
        return self._few_values_of_subjects(text, self._subject, one.criterion.threshold)

    def _few_values_of_subjects(self, text: str, subject: str, l: int) -> str:
        """Return the query of the classes in which fewer than ``l`` values match different subjects.

        SQL decides nearly all classes; of those in which few persons share several values it leaves at most l
        · (l − 1) pairs each, which are matched here.
        """
        create, keys = self._tables.create, self._keys
        pairs = create(sql.value_subject_pairs(self._coded, keys, text, subject))
        judged = create(sql.classes_with_certainty(pairs, keys, l))
        uncertain = create(sql.uncertain_classes(judged, keys))
        open_pairs = create(sql.open_pairs(pairs, uncertain, keys, l))
        self._tables.drop(pairs)
        unsettled = create(sql.unsettled_classes(open_pairs, l))
        matched = self._tables.load({recoded_rows.CLASS_ID: self._matched(open_pairs, unsettled, l)})
        self._tables.drop(open_pairs)
        return sql.classes_not_reaching(self._coded, judged, uncertain, unsettled, matched, keys)

    def _matched(self, pairs: str, unsettled: str, l: int) -> NDArray[np.int64]:
        """Return the unsettled classes that reach ``l`` by matching."""
        last = self._engine.fetch_rows(sql.last_class(unsettled))[0][0]
        found: list[int] = []
        step = max(1, _PAIRS_AT_ONCE // (l * l))
        for first in range(1, last + 1, step):
            arrays = self._engine.fetch_arrays(
                sql.numbered_open_pairs(pairs, unsettled, first, first + step - 1)
            )
            found += find_classes_reaching(arrays["class"], arrays["value"], arrays["subject"], l)
        return np.array(found, dtype=np.int64)
