"""The classes of a coded table that fail a requirement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.recoding.matching import classes_reaching
from discreet.recoding.tables import TemporaryTables
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

        SQL decides all but the classes in which persons share several values; of those it leaves at most
        l · (l − 1) pairs each, which are matched here.
        """
        pairs, judged = self._tables.new_name(), self._tables.new_name()
        self._engine.execute(recode.carried_pairs(pairs, self._coded, self._keys, text, subject, l))
        self._engine.execute(recode.judged_classes(judged, pairs, self._keys, l))
        matched = self._tables.load({recode.CLASS_ID: self._matched(judged, pairs, l)})
        return recode.classes_not_reaching(self._coded, judged, matched, self._keys)

    def _matched(self, judged: str, pairs: str, l: int) -> NDArray[np.int64]:
        uncertain = self._engine.fetch_rows(recode.uncertain_classes(judged))[0][0]
        found: list[int] = []
        step = max(1, _PAIRS_AT_ONCE // (l * l))
        for first in range(1, uncertain + 1, step):
            query = recode.open_pairs(judged, pairs, self._keys, first, first + step - 1)
            arrays = self._engine.fetch_arrays(query)
            found += classes_reaching(arrays["class"], arrays["value"], arrays["subject"], l)
        return np.array(found, dtype=np.int64)
