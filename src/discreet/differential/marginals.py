"""Marginals of a table: requested attributes and levels, histogram axes, and the true counts.

An axis is an attribute at a level. If its domain is public, a marginal has one cell per label combination
even without rows; otherwise a label depends on one value only, so that no other row influences it. NULL and
values without a label are counted as ``OTHER``. The true counts are passed only to the noise; errors while
counting hide their reason, which could reveal a row. The engine scans and groups the rows once; per subject
at most ``rows_per_subject`` rows count over all marginals together.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_query import check_format_support
from discreet.engines.source_tables import TemporaryTables, confirm_all_rows, open_source_table
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.hierarchy.level_table import FlatHierarchy
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource, PublicPart
from discreet.model.registry import suggest_name
from discreet.model.table_spec import Attribute, AttributeRole, NullPolicy, TableSpec
from discreet.sql import group_counts as sql
from discreet.sql.cell_expressions import any_null, is_binary

MarginalLike: TypeAlias = "Marginal | Mapping[str, int] | Iterable[str] | str"
"""Levels by attribute, names of attributes at level 0, or one name."""


@dataclass(frozen=True)
class Marginal:
    """Table of counts over some attributes: ``levels`` are pairs of an attribute and its level.

    With one attribute it is a histogram, with several a contingency table.
    """

    levels: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        names = self.attributes
        if not names:
            raise InputError("a marginal of no attribute", allowed="at least one attribute")
        twice = [name for index, name in enumerate(names) if name in names[:index]]
        if twice:
            raise InputError(
                f"a marginal has the attribute '{twice[0]}' twice", allowed="each attribute once"
            )

    @classmethod
    def of(cls, value: MarginalLike) -> Marginal:
        """Build a marginal from a Python value; raise ``InputError`` for a level that is no whole number."""
        if isinstance(value, Marginal):
            return value
        if isinstance(value, str):
            return cls(((value, 0),))
        if not isinstance(value, Mapping):
            return cls(tuple((str(name), 0) for name in value))
        for name, level in value.items():
            if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                raise InputError(f"level {level} of '{name}'", allowed="a whole number of at least 0")
        return cls(tuple((str(name), int(level)) for name, level in value.items()))

    @classmethod
    def parse(cls, text: str, names: Iterable[str]) -> Marginal:
        """Parse ``age=2,sex``, where ``names`` are the known attributes; raise ``InputError`` otherwise.

        A name that contains a comma or an equals sign is accepted as a single attribute.
        """
        known = set(names)
        levels = []
        for part in [text] if text in known else text.split(","):
            name, equals, level = part.rpartition("=")
            if part in known or not equals:
                levels.append((part, 0))
            elif level.isascii() and level.isdigit():
                levels.append((name, int(level)))
            else:
                raise InputError(f"--marginal {text}", allowed="ATTR=LEVEL,ATTR=LEVEL, such as age=2,sex")
        return cls(tuple(levels))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes, in order."""
        return tuple(name for name, _ in self.levels)

    def __str__(self) -> str:
        return " × ".join(f"{name} at level {level}" if level else name for name, level in self.levels)


OTHER = "(other)"
"""Label of NULL, and of values without another label."""


@dataclass(frozen=True, eq=False)
class Axis:
    """Attribute at a level.

    ``hierarchy`` is the hierarchy of the public values, None where the values come from the rows; then
    ``source`` computes labels of single values.
    """

    attribute: str
    level: int
    source: HierarchySource
    hierarchy: GeneralizationHierarchy | None
    values: tuple[str, ...] = ()

    @property
    def public(self) -> bool:
        """True if the labels are known without reading a row."""
        return self.hierarchy is not None

    @cached_property
    def places(self) -> dict[str, int]:
        """Index into ``labels`` of each public value; ``OTHER`` has the last index."""
        place_of = {ancestor: index for index, ancestor in enumerate(sorted(set(self._ancestors)))}
        return {v: place_of[ancestor] for v, ancestor in zip(self.values, self._ancestors, strict=True)}

    @cached_property
    def _ancestors(self) -> list[int]:
        """Ancestor of each public value at the level."""
        assert self.hierarchy is not None
        codes = [self.hierarchy.code_of_leaf[value] for value in self.values]
        ancestors: list[int] = self.hierarchy.ancestors[self.level][codes].tolist()
        return ancestors

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Public labels in the hierarchy's order, ``OTHER`` last; ``InputError`` for a label ``OTHER``."""
        assert self.hierarchy is not None
        labels = [self.hierarchy.labels[self.level][ancestor] for ancestor in sorted(set(self._ancestors))]
        if OTHER in labels:
            raise InputError(
                f"attribute '{self.attribute}' has the label '{OTHER}' at level {self.level}",
                allowed=f"other labels: '{OTHER}' counts NULL, and what is not in the domain",
            )
        return (*labels, OTHER)

    def label(self, value: str | None) -> str:
        """Return the label of one value on an axis that is not public, as a function of only this value."""
        if value is None or self.level == 0:
            return OTHER if value is None else value
        try:
            known = () if self.source.public_part is PublicPart.HIERARCHY else (value,)
            hierarchy = self._whole if not known else self.source.build(self.attribute, known)
        except InputError:
            return OTHER
        code = hierarchy.code_of_leaf.get(value)
        if code is None or self.level > hierarchy.height:
            return OTHER
        return hierarchy.labels[self.level][int(hierarchy.ancestors[self.level][code])]

    @cached_property
    def _whole(self) -> GeneralizationHierarchy:
        """Hierarchy of a source that lists its leaves."""
        return self.source.build(self.attribute, ())


def build_axes(spec: TableSpec, levels: Sequence[tuple[str, int]]) -> tuple[Axis, ...]:
    """Build the axes of attributes at levels, in order; raise ``InputError`` for a level not allowed."""
    return tuple(_build_axis(spec, name, level) for name, level in levels)


def find_highest_level(attribute: Attribute) -> int:
    """Return the highest level of a quasi-identifier with an axis; ``InputError`` for a broken hierarchy."""
    source = attribute.hierarchy or FlatHierarchy()
    if attribute.domain is not None:
        return source.build(attribute.name, attribute.domain.values or ()).height
    return source.build(attribute.name, ()).height if _labels_each_value_alone(source) else 0


def _labels_each_value_alone(source: HierarchySource) -> bool:
    """Return true if the label of a value depends only on this value, at every level."""
    return (
        not source.from_data and getattr(source, "public_part", PublicPart.NOTHING) is not PublicPart.NOTHING
    )


def _build_axis(spec: TableSpec, name: str, level: int) -> Axis:
    attribute = next((each for each in spec.attributes if each.name == name), None)
    countable = [each.name for each in spec.attributes if each.role is not AttributeRole.IDENTIFIER]
    if attribute is None or name not in countable:
        raise InputError(
            f"'{name}' is {'an identifier' if attribute else 'no attribute of ' + spec.label}",
            allowed=", ".join(countable),
            advice=suggest_name(name, countable),
        )
    source = attribute.hierarchy or FlatHierarchy()
    if level and attribute.hierarchy is None and attribute.role is not AttributeRole.QUASI_IDENTIFIER:
        raise InputError(f"level {level} of '{name}'", allowed="level 0: the attribute has no hierarchy")
    if attribute.domain is None:
        return _build_row_axis(attribute, level, source)
    values = attribute.domain.values
    hierarchy = source.build(name, () if values is None else values)
    _check_level(name, level, hierarchy.height)
    return Axis(name, level, source, hierarchy, hierarchy.leaves if values is None else values)


def _build_row_axis(attribute: Attribute, level: int, source: HierarchySource) -> Axis:
    """Build an axis without a public domain; above level 0 each label must depend on one value only."""
    if level and not _labels_each_value_alone(source):
        raise InputError(
            f"level {level} of '{attribute.name}': its hierarchy ({source.origin}) depends on all values, "
            "so each row influences the labels of the others",
            allowed="level 0, a hierarchy that was made before the data, or a public domain",
            advice=f'Give [attributes.{attribute.name}] a domain, such as domain = ["…", "…"].',
        )
    if level:
        # The number of levels is part of the spec, so a hierarchy without values has the right height.
        _check_level(attribute.name, level, source.build(attribute.name, ()).height)
    return Axis(attribute.name, level, source, None)


def _check_level(name: str, level: int, height: int) -> None:
    if level > height:
        raise InputError(f"level {level} of '{name}'", allowed=f"0 to {height}")


@dataclass(frozen=True, eq=False)
class MarginalCells:
    """Axes of one marginal, and the number of cells where all axes are public.

    A ``sparse`` marginal has only the cells that occur, public or not.
    """

    axes: tuple[Axis, ...]
    sparse: bool = False

    @property
    def public(self) -> bool:
        """True if every cell exists and is known without reading a row."""
        return not self.sparse and all(axis.public for axis in self.axes)

    @property
    def number(self) -> int:
        """Number of cells of the cross product of public labels."""
        return prod(len(axis.labels) for axis in self.axes)


@dataclass(frozen=True, eq=False)
class TrueCounts:
    """Counts of marginals, in order: vectors in cell order for public ones, else by encoded labels."""

    public: tuple[NDArray[np.int64], ...]
    others: tuple[dict[str, int], ...]


def encode_labels(labels: Sequence[str]) -> str:
    """Encode several labels as one text, which ``decode_labels`` decodes."""
    return json.dumps(labels, ensure_ascii=False)


def decode_labels(key: str) -> tuple[str, ...]:
    """Decode the labels from their text."""
    return tuple(json.loads(key))


def count_cells(
    engine: Engine, spec: TableSpec, marginals: Sequence[MarginalCells], rows_per_subject: int | None
) -> TrueCounts:
    """Count the marginals of a spec's table; ``rows_per_subject`` limits the rows counted per subject.

    Raise ``InputError`` or ``LimitReached`` with the same message for any error in a file or a row, because a
    reason could reveal a row. A missing column is named.
    """
    if spec.source.path is not None and not spec.source.path.exists():
        raise InputError(f"{spec.source.label} does not exist")
    with ExitStack() as stack:
        with _hide_reasons():
            table = stack.enter_context(open_source_table(engine, spec.source))
        check_format_support(engine, table, spec.source)
        _check_columns(table, spec, marginals)
        with _hide_reasons():
            return _count_groups(engine, table, spec, marginals, rows_per_subject)


def _check_columns(table: SourceTable, spec: TableSpec, marginals: Sequence[MarginalCells]) -> None:
    """Raise ``InputError`` for a column that is missing, or whose type cannot be counted as text."""
    names = {axis.attribute for cells in marginals for axis in cells.axes}
    names.update(_columns_without_null(spec))
    if spec.source.subject is not None:
        names.add(spec.source.subject)
    table.check_flat(sorted(names))
    for name in sorted(names):
        if is_binary(table.types[name]):
            raise InputError(
                f"{table.label}: column '{name}' contains bytes without a declared text encoding",
                allowed="text, numbers, dates or booleans",
            )


def _count_groups(
    engine: Engine,
    table: SourceTable,
    spec: TableSpec,
    marginals: Sequence[MarginalCells],
    rows_per_subject: int | None,
) -> TrueCounts:
    axes = list(dict.fromkeys(axis for cells in marginals for axis in cells.axes))
    with TemporaryTables(engine) as tables:
        counted = tables.create(_grouping_query(table, spec, axes, tables, rows_per_subject))
        rows = engine.fetch_rows(sql.source_row_count(table.relation))[0][0]
        confirm_all_rows(engine, table, int(rows))
        found = []
        for cells in marginals:
            places = [axes.index(axis) for axis in cells.axes]
            found.append(engine.fetch_rows(sql.marginal_counts(counted, places, table.dialect)))
    counts = list(zip(marginals, found, strict=True))
    return TrueCounts(
        tuple(_count_vector(cells, rows) for cells, rows in counts if cells.public),
        tuple(_count_mapping(cells, rows) for cells, rows in counts if not cells.public),
    )


def _grouping_query(
    table: SourceTable,
    spec: TableSpec,
    axes: Sequence[Axis],
    tables: TemporaryTables,
    rows_per_subject: int | None,
) -> str:
    """Return the query that groups the rows by all axes: public label indices, or texts of values."""
    keys, lookups = [], {}
    for i, axis in enumerate(axes):
        text = table.text(axis.attribute, sql.SOURCE_ALIAS)
        if not axis.public:
            keys.append(text)
            continue
        # Join public values to their indices in the engine, so that unknown values become ``OTHER`` there.
        values, places = list(axis.places), np.array(list(axis.places.values()), dtype=np.int64)
        lookups[i] = (tables.load({"value": values, "place": places}), text)
        keys.append(sql.key_position(i, len(axis.labels) - 1))
    policed = [table.text(name, sql.SOURCE_ALIAS) for name in _columns_without_null(spec)]
    condition = f"NOT {any_null(policed)}" if policed else None
    name = spec.source.subject
    subject = None if name is None else table.text(name, sql.SOURCE_ALIAS)
    rows = sql.rows_by_key(table.relation, keys, lookups, condition, subject)
    if rows_per_subject is not None:
        # The salt makes the choice of a subject's counted rows random; it depends only on the own rows.
        rows = sql.bounded_rows(rows, len(keys), rows_per_subject, secrets.token_hex(16), table.dialect)
    return sql.key_counts(rows, len(keys))


def _columns_without_null(spec: TableSpec) -> list[str]:
    """Return the columns in which NULL drops a row (decision 0002)."""
    if spec.source.null_policy is not NullPolicy.DROP:
        return []
    return [attribute.name for attribute in (*spec.quasi_identifiers, *spec.sensitive)]


def _count_vector(cells: MarginalCells, rows: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    counts = np.zeros([len(axis.labels) for axis in cells.axes], dtype=np.int64)
    for *places, number in rows:
        counts[tuple(int(str(index)) for index in places)] += int(str(number))
    return counts.ravel()


def _count_mapping(cells: MarginalCells, rows: Sequence[Sequence[object]]) -> dict[str, int]:
    labels: list[dict[object, str]] = [{} for _ in cells.axes]
    counts: dict[str, int] = {}
    for *values, number in rows:
        for axis, known, value in zip(cells.axes, labels, values, strict=True):
            if value not in known:
                known[value] = _cell_label(axis, value)
        key = encode_labels([known[value] for known, value in zip(labels, values, strict=True)])
        counts[key] = counts.get(key, 0) + int(str(number))
    return counts


def _cell_label(axis: Axis, value: object) -> str:
    if axis.public:
        return axis.labels[int(str(value))]
    return axis.label(None if value is None else str(value))


@contextmanager
def _hide_reasons() -> Iterator[None]:
    """Re-raise errors of the block without their reason, which may reveal a row."""
    try:
        yield
    except DiscreetError as error:
        kind = LimitReached if isinstance(error, LimitReached) else InputError
        raise kind(
            "the rows could not be counted; the reason is hidden because it could reveal a row",
            advice="discreet inspect SPEC counts the same rows and reports the reason. No budget was spent.",
        ) from None
