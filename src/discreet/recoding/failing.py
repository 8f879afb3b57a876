"""The classes of a coded table that fail a requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.model.criteria.base import Bound
from discreet.recoding.matching import classes_reaching
from discreet.sql import recode
from discreet.sql import subject_classes as sql

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

    def table(self, bound: Sequence[Bound], texts: Mapping[int, str]) -> str:
        """A new table of the classes that fail one of the criteria; its name.

        ``texts`` are expressions over the coded table, by the place of a sensitive attribute. ``InputError``
        for a criterion that engines do not count.
        """
        failing = [self._failing(one, texts) for one in bound]
        return self._tables.create(recode.failing_table(self._coded, self._keys, failing))

    def _failing(self, one: Bound, texts: Mapping[int, str]) -> str:
        if one.place is None:
            if self._subject is None:
                return recode.classes_by_rows(self._coded, self._keys, one)
            return recode.classes_by_values(self._coded, self._keys, self._subject, one)
        text = texts[one.place]
        if self._subject is None:
            return recode.classes_by_values(self._coded, self._keys, text, one)
        return self._few_values_of_subjects(text, self._subject, one.criterion.threshold)

    def _few_values_of_subjects(self, text: str, subject: str, l: int) -> str:
        """The classes in which fewer than ``l`` values are carried by that many different subjects.

        SQL decides nearly all; of the classes in which few persons share several values it leaves at most
        l · (l − 1) pairs each, which are matched here.
        """
        create, keys = self._tables.create, self._keys
        pairs = create(sql.carried_values(self._coded, keys, text, subject))
        judged = create(sql.judged_classes(pairs, keys, l))
        uncertain = create(sql.uncertain_classes(judged, keys))
        open_pairs = create(sql.open_pairs(pairs, uncertain, keys, l))
        self._tables.drop(pairs)
        unsettled = create(sql.unsettled_classes(open_pairs, l))
        matched = self._tables.load({recode.CLASS_ID: self._matched(open_pairs, unsettled, l)})
        self._tables.drop(open_pairs)
        return sql.classes_not_reaching(self._coded, judged, uncertain, unsettled, matched, keys)

    def _matched(self, pairs: str, unsettled: str, l: int) -> NDArray[np.int64]:
        """The unsettled classes that reach ``l`` after all."""
        last = self._engine.fetch_rows(sql.last_class(unsettled))[0][0]
        found: list[int] = []
        step = max(1, _PAIRS_AT_ONCE // (l * l))
        for first in range(1, last + 1, step):
            arrays = self._engine.fetch_arrays(sql.pairs_between(pairs, unsettled, first, first + step - 1))
            found += classes_reaching(arrays["class"], arrays["value"], arrays["subject"], l)
        return np.array(found, dtype=np.int64)
