"""Permuted releases of small tables, built on an engine step by step, and read back as plain rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.permuted_audit import PermutedClaims, PermutedSources, audit_permuted
from discreet.engines.base import Engine
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.audit_report import AuditReport
from discreet.model.release_kind import (
    HELP_NAME,
    ONE_TABLE_NAME,
    SENSITIVE_NAME,
    GroupRequirement,
    PermutedRelease,
    ReleaseForm,
)
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec, TableSpec
from discreet.permutation.partitions import partition_rows
from discreet.permutation.row_positions import draw_group_numbers, draw_order
from discreet.permutation.sensitive_column import select_rows
from discreet.release.permutation_staging import StagedRows, stage_rows
from discreet.release.permuted_output import PermutedRows, build_release_tables
from discreet.release.permuted_publication import permute_values
from discreet.sql import value_permutation as sql
from tests.every_engine.places import Columns, Place

GROUP = "group_id"
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Released:
    """The rows of a release's tables, and its claims; ``names`` are the columns of each table."""

    rows: Mapping[str, list[Row]]
    names: Mapping[str, tuple[str, ...]]
    claims: PermutedClaims

    def column(self, name: str, table: str = ONE_TABLE_NAME) -> list[Any]:
        """Return a column of a table."""
        place = self.names[table].index(name)
        return [row[place] for row in self.rows[table]]

    @property
    def values(self) -> dict[int, list[Any]]:
        """Return the sensitive values of each group."""
        table = SENSITIVE_NAME if SENSITIVE_NAME in self.rows else ONE_TABLE_NAME
        found: dict[int, list[Any]] = defaultdict(list)
        for group, value in zip(
            self.column(GROUP, table), self.column(self.claims.sensitive, table), strict=True
        ):
            found[int(group)].append(value)
        return dict(found)

    def groups_of(self, name: str) -> dict[Any, int]:
        """Return the group of each row, by a column of row names."""
        return dict(zip(self.column(name), map(int, self.column(GROUP)), strict=True))


def roles(source: SourceSpec, sensitive: str, *quasi_identifiers: str, name: str) -> TableSpec:
    """Build a spec of quasi-identifiers, a sensitive attribute, and a column of row names."""
    return TableSpec(
        source,
        (
            *(Attribute(a, AttributeRole.QUASI_IDENTIFIER) for a in quasi_identifiers),
            Attribute(sensitive, AttributeRole.SENSITIVE),
            Attribute(name, AttributeRole.INSENSITIVE),
        ),
    )


def release(
    place: Place,
    spec: TableSpec,
    k: int,
    e: int | str = 0,
    strategy: str = "min-sum",
    form: ReleaseForm = ReleaseForm.ONE_TABLE,
    classes: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None,
    watch: Callable[[Engine], None] = lambda _: None,
) -> Released:
    """Permute on the engine of the place; ``classes`` are built from leaf codes (negative: suppressed)."""
    requirement = GroupRequirement(k, Decimal(e))
    by_row_type = strategy in ("qi-aware", "recoding")
    sensitive = spec.sensitive[0].name
    with place.connect(spec.source) as engine:
        counted = count_frequency_set(engine, spec, place.settings)
        node = (0,) * len(counted.hierarchies)
        watch(engine)
        with stage_rows(engine, spec, counted, sensitive, node, typed=True, row_types=by_row_type) as held:
            column, rows, made = held.sensitive, None, None
            if classes is not None:
                made = classes(held.codes())
                rows = np.flatnonzero(made >= 0)
                column, made = select_rows(column, rows), made[rows]
            near = held.codes() if strategy == "qi-aware" else None
            found = partition_rows(column, requirement, strategy, quasi_identifiers=near, classes=made)
            numbers = draw_group_numbers(found.group_count)
            moved = permute_values(held, found.groups, numbers, rows, draw_order)
            kept = len(found.groups)
            tables = PermutedRows(moved, kept, held.text_of(sql.MOVED_VALUE), held.form, held.exact)
            without = engine.fetch_rows(sql.null_value_count(moved))[0][0]
            facts = _facts(held, requirement, strategy, form, found.group_count, without)
            written = build_release_tables(held, tables, facts, held.tables, typed=True, drawn=False)
            read = {name: engine.fetch_rows(table.query) for name, table in written.items()}
            names = {name: table.columns for name, table in written.items()}
    claims = PermutedClaims(
        GROUP,
        sensitive,
        tuple(a.name for a in spec.quasi_identifiers),
        k,
        Decimal(e),
        numeric=facts.numeric,
        doubles=facts.numeric and facts.scale is None,
    )
    return Released(read, names, claims)


def _facts(
    held: StagedRows,
    requirement: GroupRequirement,
    strategy: str,
    form: ReleaseForm,
    groups: int,
    without: int,
) -> PermutedRelease:
    return PermutedRelease(
        sensitive=held.sensitive.attribute,
        k=requirement.k,
        e=requirement.e,
        partition=strategy,
        form=form,
        group_column=GROUP,
        groups=groups,
        rows_without_value=without,
        numeric=held.form is not None,
        scale=None if held.form is None else held.form.scale,
    )


def audited(
    place: Place, found: Released, edits: Mapping[str, Callable[[list[Row]], list[Row]]]
) -> AuditReport:
    """Audit a release whose tables, some of them edited, are stored for the engine."""
    sources = {
        name: place.put(_columns(names, edits.get(name, list)(found.rows[name])))
        for name, names in found.names.items()
    }
    sensitive = sources.get(SENSITIVE_NAME)
    with place.connect(sources[HELP_NAME]) as engine:
        return audit_permuted(
            engine, PermutedSources(sources[ONE_TABLE_NAME], sources[HELP_NAME], sensitive), found.claims
        )


def _columns(names: Sequence[str], rows: Sequence[Row]) -> Columns:
    """Convert rows to typed columns: integers, doubles, decimals of the most digits in use, or texts."""
    found = {}
    for place, name in enumerate(names):
        cells = [row[place] for row in rows]
        known = [cell for cell in cells if cell is not None]
        house = "VARCHAR"
        if known and all(isinstance(cell, Decimal) for cell in known):
            house = f"DECIMAL(38,{max(-int(cell.as_tuple().exponent) for cell in known)})"
        elif known and all(isinstance(cell, int) for cell in known):
            house = "BIGINT"
        elif known and all(isinstance(cell, float) for cell in known):
            house = "DOUBLE"
        found[name] = (house, cells)
    return found


def counted(values: Mapping[int, Sequence[Any]]) -> dict[int, Counter[Any]]:
    """Count each value of each group."""
    return {group: Counter(of) for group, of in values.items()}
