"""The classes of a coded table that fail a requirement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.recoding.matching import classes_reaching
from discreet.sql import recode

_PAIRS_AT_ONCE = 1_000_000


class FailingClasses:
    """Counts the classes of a coded table; ``subject`` is its column of subjects, where there is one."""

    def __init__(
        self, engine: Engine, tables: TemporaryTables, coded: str, keys: int, subject: str | None
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._coded = coded
        self._keys = keys
        self._subject = subject

    def table(self, k: int | None, thresholds: Sequence[tuple[str, int]]) -> str:
        """A new table of the classes below ``k`` or below the l of a sensitive text; its name.

        ``thresholds`` are pairs of the text's expression over the coded table and its l.
        """
        criteria = [] if k is None else [self._below_k(k)]
        criteria += [self._below_l(text, l) for text, l in thresholds]
        name = self._tables.new_name()
        self._engine.execute(recode.failing_table(name, self._coded, self._keys, criteria))
        return name

    def _below_k(self, k: int) -> str:
        if self._subject is None:
            return recode.small_classes(self._coded, self._keys, k)
        return recode.classes_of_few(self._coded, self._keys, self._subject, k)

    def _below_l(self, text: str, l: int) -> str:
        if self._subject is None:
            return recode.classes_of_few(self._coded, self._keys, text, l)
        return self._below_l_of_subjects(text, self._subject, l)

    def _below_l_of_subjects(self, text: str, subject: str, l: int) -> str:
        """The classes in which fewer than ``l`` values are carried by that many different subjects.

        SQL decides nearly all; of the classes in which few persons share several values it leaves at most
        l · (l − 1) pairs each, which are matched here.
        """
        run, keys = self._engine.execute, self._keys
        pairs, judged, unsettled = (self._tables.new_name() for _ in range(3))
        run(recode.carried_values(pairs, self._coded, keys, text, subject))
        run(recode.judged_classes(judged, pairs, keys, l))
        run(recode.open_pairs(unsettled, pairs, judged, keys, l))
        self._tables.drop(pairs)
        run(recode.reach_by_number(judged, unsettled, l))
        matched = self._tables.load({recode.CLASS_ID: self._matched(judged, unsettled, l)})
        self._tables.drop(unsettled)
        return recode.classes_not_reaching(self._coded, judged, matched, keys)

    def _matched(self, judged: str, pairs: str, l: int) -> NDArray[np.int64]:
        """The uncertain classes that reach ``l`` after all."""
        last = self._engine.fetch_rows(recode.uncertain_classes(judged))[0][0]
        found: list[int] = []
        step = max(1, _PAIRS_AT_ONCE // (l * l))
        for first in range(1, last + 1, step):
            query = recode.pairs_between(pairs, judged, first, first + step - 1)
            arrays = self._engine.fetch_arrays(query)
            found += classes_reaching(arrays["class"], arrays["value"], arrays["subject"], l)
        return np.array(found, dtype=np.int64)
