"""A file that an attacker has besides the release: its records as codes of the release's hierarchies.

A cell of the file is a value of the hierarchy, or NULL, which the attacker does not know, or a value that no
leaf has. Where a hierarchy's rule tells where such a value belongs (intervals, masks, dates), a leaf is added
for it; otherwise only a cell that shows everything covers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.connect import engine_for
from discreet.engines.scratch import opened
from discreet.errors import DiscreetError, InputError
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.workload.answerable import source_of
from discreet.workload.counting import count_columns


@dataclass(frozen=True, eq=False)
class OutsideRecords:
    """Distinct records of an outside file.

    ``texts[i]`` are the values of matched column i, which release column ``attributes[i]`` has the name of;
    ``codes``, shape ``(records, columns)``, are places in them, ``len(texts[i])`` for NULL. ``rows`` says how
    often each occurs. ``keys`` are the records' key texts, where a key was named (None: NULL).
    """

    columns: tuple[str, ...]
    attributes: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    keys: tuple[str | None, ...] | None = None

    @property
    def total(self) -> int:
        """All records."""
        return int(self.rows.sum())


def read_outside(
    engine: Engine,
    outside: Path | SourceSpec,
    attributes: Sequence[str],
    match: Mapping[str, str] | None,
    settings: Settings,
    *,
    key: str | None = None,
    null_values: Sequence[str] = (),
) -> OutsideRecords:
    """Read an outside file, or a table of a database; one scan.

    ``match`` maps its columns to quasi-identifiers of the release; without it columns of the same name match.
    ``InputError`` for a file that cannot be read or a column that it or the release lacks, and where nothing
    matches.
    """
    source = source_of(outside, null_values)
    with engine_for(engine, settings, source) as reader, opened(reader, source) as table:
        pairs = _matched(table.columns, attributes, match, table.label)
        names = list(pairs) if key is None or key in pairs else [*pairs, key]
        counted = count_columns(reader, table, names, settings)
    keys = None
    if key is not None:
        place = names.index(key)
        texts = (*counted.texts[place], None)
        keys = tuple(texts[code] for code in counted.codes[:, place].tolist())
    return OutsideRecords(
        columns=tuple(pairs),
        attributes=tuple(pairs.values()),
        texts=counted.texts[: len(pairs)],
        codes=counted.codes[:, : len(pairs)],
        rows=counted.rows,
        keys=keys,
    )


def _matched(
    columns: Sequence[str], attributes: Sequence[str], match: Mapping[str, str] | None, label: str
) -> dict[str, str]:
    """The outside columns that are matched, each with its quasi-identifier, in the release's order."""
    if match is None:
        found = {name: name for name in attributes if name in columns}
        if found:
            return found
        raise InputError(
            f"{label} shares no column name with the release's quasi-identifiers",
            allowed=", ".join(attributes),
            advice="Say which columns match: --match COLUMN=COLUMN, the file's and the release's.",
        )
    if not match:
        raise InputError("no column is matched", allowed="at least one")
    for outside, attribute in match.items():
        if outside not in columns:
            raise InputError(f"{label} has no column '{outside}'", allowed=", ".join(columns))
        if attribute not in attributes:
            raise InputError(
                f"the release has no quasi-identifier '{attribute}'", allowed=", ".join(attributes)
            )
    if len(set(match.values())) < len(match):
        raise InputError("two columns match the same quasi-identifier", allowed="each at most once")
    return dict(sorted(match.items(), key=lambda pair: list(attributes).index(pair[1])))


def flat_hierarchy(attribute: str, values: Sequence[str]) -> GeneralizationHierarchy:
    """Value → ``*``, for a column that shows its values as they are."""
    leaves = tuple(sorted(set(values)))
    levels = (np.arange(len(leaves)), np.zeros(len(leaves), dtype=np.int64))
    return GeneralizationHierarchy(attribute, (leaves, ("*",)), levels, "the values themselves")


def extended(
    hierarchy: GeneralizationHierarchy, source: HierarchySource | None, values: Sequence[str]
) -> GeneralizationHierarchy:
    """The hierarchy with leaves for other values too, where its rule tells where they belong.

    A hierarchy that depends on the data, that refuses a value, or whose other leaves would move, stays.
    """
    new = sorted(set(values) - set(hierarchy.leaves))
    if not new or source is None or hierarchy.from_data:
        return hierarchy
    try:
        found = source.build(hierarchy.attribute, sorted({*hierarchy.leaves, *new}))
    except DiscreetError:
        return hierarchy
    codes = found.code_of_leaf
    same = found.height == hierarchy.height and all(
        leaf in codes and found.path(codes[leaf]) == hierarchy.path(code)
        for code, leaf in enumerate(hierarchy.leaves)
    )
    return found if same else hierarchy


def leaf_codes(records: OutsideRecords, hierarchies: Sequence[GeneralizationHierarchy]) -> NDArray[np.int64]:
    """The leaf codes of the records, shape ``(records, columns)``.

    NULL has the code after the last leaf, and a value without a leaf the one behind that.
    """
    codes = np.empty_like(records.codes)
    for i, hierarchy in enumerate(hierarchies):
        leaf_of = hierarchy.code_of_leaf
        strange = hierarchy.null_code + 1
        map_to = np.array([*(leaf_of.get(t, strange) for t in records.texts[i]), hierarchy.null_code])
        codes[:, i] = map_to[records.codes[:, i]]
    return codes
