"""Groups of rows on their way to arrays: counted where the rows live, encoded by the embedded engine.

One SELECT groups the rows by the raw cells and puts canonical texts in the groups' place of them; its result
is all that leaves the database. Every column's distinct texts then become an enumerated type of the embedded
engine, and the groups numbers. A few groups are numbered here, which takes less than to plan that.

Cost: the GROUP BY, and for each group a text per column that crosses over. No more groups are kept than the
caller can take, and one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.errors import DiscreetError
from discreet.sql import frequency as sql
from discreet.sql.names import identifier

Group = tuple[Any, ...]
"""The texts of a group, and its rows."""

_FEW = 1000
_MANY = 10_000
"""Distinct texts of a key that are joined."""


@dataclass(frozen=True, eq=False)
class GroupCodes:
    """Groups as numbers.

    ``codes[i]`` are places in ``values[i]``, the distinct texts of key i in no promised order, or
    ``len(values[i])`` for NULL; ``rows`` the rows of each group, and ``subjects`` the number of its subject,
    -1 for NULL, where the last key is one.
    """

    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[np.int64], ...]
    rows: NDArray[np.int64]
    subjects: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class KeptGroups:
    """A table of the embedded engine with ``groups`` groups of ``rows`` rows, its ``keys`` as texts.

    ``few`` are its rows, each with the group's own at the end, where they are so few that they are here.
    """

    engine: Engine
    table: str
    keys: int
    groups: int
    rows: int
    few: Sequence[Group] | None = None

    def texts_about(self, keys: int) -> list[tuple[int, float]]:
        """Of each of the first keys its different texts, nearly, and their bytes on average; one scan."""
        query = sql.texts_about(self.table, [sql.key_name(i) for i in range(keys)])
        told = self.engine.fetch_rows(query)[0]
        return [(int(told[2 * i]), float(told[2 * i + 1])) for i in range(keys)]

    def codes(self, *, last_is_subject: bool = False) -> GroupCodes:
        """The groups as numbers; a subject gets no enumerated type, since there may be as many as rows."""
        if self.few is not None:
            return _numbered(self.few, self.keys, last_is_subject=last_is_subject)
        texts = [sql.key_name(i) for i in range(self.keys)]
        subject = texts.pop() if last_is_subject else None
        types = [f"{self.table}_{text}" for text in texts]
        subjects = f"{self.table}_subjects"
        many = self._of_many_values(len(texts))
        joined = {place: types[place] for place in many}
        typed = [types[place] for place in range(len(texts)) if place not in joined]
        try:
            values = self._values(texts, types, joined)
            codes = [
                sql.joined_code(place, len(values[place]))
                if place in joined
                else sql.value_code(text, types[place], len(values[place]))
                for place, text in enumerate(texts)
            ]
            query = sql.encoded_groups(self.table, codes, joined=joined)
            if subject is not None:
                self.engine.create_table(subjects, sql.number_values(self.table, subject))
                query = sql.encoded_groups(
                    self.table, codes, joined=joined, subjects=subjects, subject_text=subject
                )
            arrays = self.engine.fetch_arrays(query)
        finally:
            with suppress(DiscreetError):
                for name in (subjects, *joined.values()):
                    self.engine.drop_table(name)
                for name in typed:
                    self.engine.execute(f"DROP TYPE IF EXISTS {identifier(name)}")
        return GroupCodes(
            values=values,
            codes=tuple(arrays[f"c{i}"] for i in range(len(codes))),
            rows=arrays[sql.COUNT],
            subjects=arrays.get("subject"),
        )

    def _of_many_values(self, keys: int) -> list[int]:
        """The places of keys of so many values that a join is faster than an enumerated type."""
        if self.groups < _MANY:
            return []
        return [place for place, (values, _) in enumerate(self.texts_about(keys)) if values >= _MANY]

    def _values(
        self, texts: Sequence[str], types: Sequence[str], joined: Mapping[int, str]
    ) -> tuple[tuple[str, ...], ...]:
        """The distinct texts of each key, in an enumerated type or in a table of its name."""
        values: list[tuple[str, ...]] = [()] * len(texts)
        for place, (name, text) in enumerate(zip(types, texts, strict=True)):
            if place in joined:
                self.engine.create_table(name, sql.sorted_values(self.table, text))
                found = self.engine.fetch_arrays(sql.texts_in_order(name))["v"]
                values[place] = tuple(found.tolist())
            else:
                self.engine.execute(sql.value_type(name, self.table, text))
        few = [place for place in range(len(texts)) if place not in joined]
        if few:
            told = self.engine.fetch_rows(sql.values_of([types[place] for place in few]))[0]
            for place, occurring in zip(few, told, strict=True):
                values[place] = tuple(occurring or ())
        return tuple(values)


@contextmanager
def kept_groups(
    engine: Engine, relation: str, keys: Sequence[str], texts: Sequence[str], most: int
) -> Iterator[KeptGroups]:
    """The groups of a relation's rows by ``keys``, for as long as the context lasts; one scan.

    ``texts`` are the canonical texts of the keys, in terms of ``sql.frequency.key_name``. Where there are
    more than ``most`` groups, ``most + 1`` are kept, and ``rows`` means nothing.
    """
    name = f"groups_{uuid4().hex[:12]}"
    query = sql.groups_as_texts(sql.group_rows(relation, keys), texts, most + 1)
    embedded = engine.keep_result(name, query)
    try:
        few = embedded.fetch_rows(sql.first_groups(name, len(keys), _FEW + 1))
        if len(few) <= _FEW:
            rows = sum(int(group[-1]) for group in few)
            yield KeptGroups(embedded, name, len(keys), len(few), rows, few)
        else:
            groups, rows = embedded.fetch_rows(sql.size_of(name))[0]
            yield KeptGroups(embedded, name, len(keys), int(groups), int(rows))
    finally:
        with suppress(DiscreetError):
            embedded.drop_table(name)


def _numbered(groups: Sequence[Group], keys: int, *, last_is_subject: bool) -> GroupCodes:
    """Groups that are here as numbers."""
    columns = list(zip(*groups, strict=True)) if groups else [()] * (keys + 1)
    places: list[dict[str, int]] = []
    for texts in columns[:keys]:
        occurring = {text for text in texts if text is not None}
        places.append({text: place for place, text in enumerate(sorted(occurring))})
    nulls = [len(place) for place in places]
    if last_is_subject:
        nulls[-1] = -1
    codes = [
        np.array([place.get(text, null) for text in texts], dtype=np.int64)
        for texts, place, null in zip(columns[:keys], places, nulls, strict=True)
    ]
    subjects = codes.pop() if last_is_subject else None
    return GroupCodes(
        values=tuple(map(tuple, places[: len(codes)])),
        codes=tuple(codes),
        rows=np.array(columns[keys], dtype=np.int64),
        subjects=subjects,
    )
