"""Records of the attacker's file, and the classes of a release that cover them.

Cells of the file become leaf codes of the release's hierarchies. A rule-based hierarchy is extended with the
file's values; any other unknown value is covered only by a cell that covers all leaves. Matching stores one
bit per class and value and combines one word per column with AND: R records, C classes and d columns cost R ·
C · d / 64 words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.connection import engine_for
from discreet.engines.source_tables import open_source_table
from discreet.errors import DiscreetError, InputError
from discreet.measures.generalized_table import GeneralizedTable
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource
from discreet.model.published_cells import Cells
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.workload.answerable_table import count_column_groups, release_source


@dataclass(frozen=True, eq=False)
class OutsideRecords:
    """Distinct records of an outside file.

    ``texts[i]`` are the values of matched column i, which corresponds to the release's column
    ``attributes[i]``. ``codes``, shape ``(records, columns)``, are indices into them, ``len(texts[i])`` for
    NULL. ``rows`` is the number of occurrences of each record. ``keys`` are the records' key texts where a
    key was named (None: NULL).
    """

    columns: tuple[str, ...]
    attributes: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    keys: tuple[str | None, ...] | None = None

    @property
    def total(self) -> int:
        """Number of records."""
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
    """Read an outside file or a database table in one scan.

    ``match`` maps its columns to quasi-identifiers of the release; without it columns of the same name match.
    Raise ``InputError`` for a file that cannot be read, for a column that it or the release lacks, and where
    nothing matches.
    """
    source = release_source(outside, null_values)
    with engine_for(engine, settings, source) as reader, open_source_table(reader, source) as table:
        pairs = _match_columns(table.columns, attributes, match, table.label)
        names = list(pairs) if key is None or key in pairs else [*pairs, key]
        counted = count_column_groups(reader, table, names, settings)
    keys = None
    if key is not None:
        index = names.index(key)
        texts = (*counted.texts[index], None)
        keys = tuple(texts[code] for code in counted.codes[:, index].tolist())
    return OutsideRecords(
        columns=tuple(pairs),
        attributes=tuple(pairs.values()),
        texts=counted.texts[: len(pairs)],
        codes=counted.codes[:, : len(pairs)],
        rows=counted.rows,
        keys=keys,
    )


def _match_columns(
    columns: Sequence[str], attributes: Sequence[str], match: Mapping[str, str] | None, label: str
) -> dict[str, str]:
    """Return the matched outside columns with their quasi-identifiers, in the release's order."""
    if match is None:
        result = {name: name for name in attributes if name in columns}
        if result:
            return result
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


def build_flat_hierarchy(attribute: str, values: Sequence[str]) -> GeneralizationHierarchy:
    """Build the hierarchy value → ``*`` for a column that is published unchanged."""
    leaves = tuple(sorted(set(values)))
    levels = (np.arange(len(leaves)), np.zeros(len(leaves), dtype=np.int64))
    return GeneralizationHierarchy(attribute, (leaves, ("*",)), levels, "the values themselves")


def extend_hierarchy(
    hierarchy: GeneralizationHierarchy, source: HierarchySource | None, values: Sequence[str]
) -> GeneralizationHierarchy:
    """Return the hierarchy with leaves for other values too, where its rule can place them.

    A hierarchy is returned unchanged if it depends on the data, refuses a value, or would change the path of
    an existing leaf.
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


def encode_records(
    records: OutsideRecords, hierarchies: Sequence[GeneralizationHierarchy]
) -> NDArray[np.int64]:
    """Return the leaf codes of the records, shape ``(records, columns)``.

    NULL has the code after the last leaf, a value without a leaf the code after that.
    """
    codes = np.empty_like(records.codes)
    for i, hierarchy in enumerate(hierarchies):
        leaf_of = hierarchy.code_of_leaf
        strange = hierarchy.null_code + 1
        map_to = np.array([*(leaf_of.get(t, strange) for t in records.texts[i]), hierarchy.null_code])
        codes[:, i] = map_to[records.codes[:, i]]
    return codes


_BLOCK_BYTES = 1 << 25
_PAIR_BYTES = 1 << 20
"""Bytes of bits unpacked at once: where every class matches, each bit gives a pair of 16 bytes."""


def find_candidate_classes(
    table: GeneralizedTable, codes: NDArray[np.int64], *, unknown_matches: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of indices: records and the groups of ``table`` that cover them, in blocks.

    ``codes``, shape ``(records, attributes)``, contains leaf codes of the table's cells. The code after the
    last leaf is NULL: it matches every cell if ``unknown_matches``, otherwise the cells that cover NULL. The
    next code is a value without a leaf, which only a cell with every leaf covers.
    """
    occurring, places = [], []
    for i in range(len(table.cells)):
        found, inverse = np.unique(codes[:, i], return_inverse=True)
        occurring.append(found)
        places.append(inverse.reshape(-1))
    widest = max((len(found) for found in occurring), default=1)
    # Whole words of 64 groups per block, so that block offsets are multiples of 64.
    step = max(64, _BLOCK_BYTES // max(widest, 1) // 64 * 64)
    for start in range(0, table.groups, step):
        bits = [
            _coverage_bits(
                cells, table.shown[start : start + step, i], occurring[i], unknown_matches=unknown_matches
            )
            for i, cells in enumerate(table.cells)
        ]
        for record, group in _matches(bits, places, len(codes)):
            yield record, start + group


def _matches(
    bits: Sequence[NDArray[np.uint64]], places: Sequence[NDArray[np.int64]], records: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the pairs of one block of groups."""
    width = bits[0].shape[1]
    step = max(1, _PAIR_BYTES // max(8 * width, 1))
    for start in range(0, records, step):
        both = bits[0][places[0][start : start + step]]
        for matrix, inverse in zip(bits[1:], places[1:], strict=True):
            both &= matrix[inverse[start : start + step]]
        at, word = np.nonzero(both)
        unpacked = np.unpackbits(both[at, word][:, None].view(np.uint8), axis=1, bitorder="little")
        pair, bit = np.nonzero(unpacked)
        yield start + at[pair], word[pair] * 64 + bit


def _coverage_bits(
    cells: Cells, cell_codes: NDArray[np.int64], codes: NDArray[np.int64], *, unknown_matches: bool
) -> NDArray[np.uint64]:
    """Return one bit per group that covers each code, shape ``(codes, words)``."""
    used, cell_of_group = np.unique(cell_codes, return_inverse=True)
    covered = _cell_coverage(cells, used, codes)
    strange = codes > cells.leaves
    covered[:, strange] = (cells.sizes()[used] == cells.leaves)[:, None]
    if unknown_matches:
        covered[:, codes == cells.leaves] = True
    of_groups = covered[cell_of_group.reshape(-1)]
    packed = np.packbits(of_groups.T, axis=1, bitorder="little")
    words = -(-packed.shape[1] // 8)
    found = np.zeros((len(codes), words * 8), dtype=np.uint8)
    found[:, : packed.shape[1]] = packed
    return found.view(np.uint64)


def _cell_coverage(cells: Cells, used: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return true where a used cell covers one of the ascending codes, shape ``(cells, codes)``."""
    starts, ends = cells.offsets[used], cells.offsets[used + 1]
    numbers = ends - starts
    cell = np.repeat(np.arange(len(used)), numbers)
    interval = (
        np.repeat(starts, numbers) + np.arange(len(cell)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    )
    # Difference array: +1 at the first and −1 after the last code of each interval; the sum counts coverage.
    steps = np.zeros((len(used), len(codes) + 1), dtype=np.int32)
    np.add.at(steps, (cell, np.searchsorted(codes, cells.first[interval])), 1)
    np.add.at(steps, (cell, np.searchsorted(codes, cells.last[interval], side="right")), -1)
    result: NDArray[np.bool_] = np.cumsum(steps[:, :-1], axis=1) > 0
    return result
