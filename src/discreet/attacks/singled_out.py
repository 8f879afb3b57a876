"""Rows that one published value singles out: exact sensitive numbers, and columns outside every check.

An attacker who knows the value, an income say, finds the row by it without any quasi-identifier; one who
knows the quasi-identifiers too finds the rows that are alone with it in their class.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.attacks.published import PublishedColumns, PublishedTable
from discreet.engines.base import Engine
from discreet.engines.connect import engine_for
from discreet.engines.scratch import opened
from discreet.engines.single_values import single_values
from discreet.model.single_values import SingleValues
from discreet.model.table_spec import SourceSpec
from discreet.release.manifest import Manifest
from discreet.settings import Settings

_MOST_COLUMNS = 1_000


def singled_out(
    engine: Engine,
    release: SourceSpec,
    columns: PublishedColumns,
    published: PublishedTable,
    manifest: Manifest | None,
    settings: Settings,
) -> tuple[SingleValues, ...]:
    """Count the rows that a value of each column singles out, of those that are no quasi-identifiers.

    Pseudonyms and groups are left out, and so are permuted values, which are not beside their rows.
    """
    source = release if columns.table is None else replace(release, table=columns.table)
    instead = () if manifest is None else [a.name for a in manifest.attributes if a.way is not None]
    apart = {*columns.quasi_identifiers, columns.group, *instead}
    if published.by_group:
        apart |= {*columns.sensitive}
    with engine_for(engine, settings, source) as reader, opened(reader, source) as table:
        names = [name for name in table.columns if name not in apart]
        first = sorted(names, key=lambda name: name not in columns.sensitive)[:_MOST_COLUMNS]
        if not first or not published.total:
            return ()
        return single_values(
            reader,
            table,
            first,
            columns.quasi_identifiers,
            published.total,
            starred_apart=published.starred > 0,
            every=True,
        )
