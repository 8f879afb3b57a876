"""The statements by which anybody checks the groups and the help table of a permuted release."""

from __future__ import annotations

from discreet.audit.permuted import Numbers, PermutedClaims, PermutedSources, numbers_of, pairs_of
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables, opened
from discreet.model.check_statement import CheckStatement
from discreet.model.table_spec import SourceSpec
from discreet.sql import own_check
from discreet.sql import verify_permuted as sql
from discreet.sql.dialect import Dialect
from discreet.sql.help_table import help_columns
from discreet.sql.source import canonical_text, is_floating
from discreet.sql.starred_cells import holds_stars, is_star_in_words, star_free

_PAIRS, _NUMBERS, _GROUPS = "pairs", "numbers", "permuted_groups"
_UP, _DOWN, _SPREAD = "upwards", "downwards", "spread"


def statements_of_groups(
    engine: Engine,
    reader: Dialect,
    claims: PermutedClaims,
    sources: PermutedSources,
    *,
    by_name: bool = False,
) -> tuple[CheckStatement, ...]:
    """That every group has k values and a range of e, and that the help table says what the groups do."""
    held = sources.data if sources.sensitive is None else sources.sensitive
    with opened(engine, held) as table, TemporaryTables(engine) as tables:
        numbers = numbers_of(engine, tables, pairs_of(engine, tables, table, claims), claims, table)
        group, value = (
            canonical_text(reader.identifier(name), table.types[name], reader)
            for name in (claims.group_column, claims.sensitive)
        )
        if holds_stars(table.types[claims.sensitive]):
            value = star_free(value, "VARCHAR", reader, is_star_in_words)
        pairs = sql.pairs_table(
            own_check.relation(held, reader, by_name=by_name),
            group,
            value,
            floating=is_floating(table.types[claims.sensitive]),
        )
    numeric = numbers.type_name is not None
    named = {
        _PAIRS: pairs,
        _NUMBERS: sql.numbers_table(reader, _PAIRS, numbers.type_name),
        _GROUPS: sql.groups_table(reader, _NUMBERS, numeric=numeric),
    }
    predicate = sql.failing(claims.k, numbers.least(claims.e))
    asked = f"k = {claims.k}: every group has at least {claims.k} different values of '{claims.sensitive}'"
    if numeric:
        asked += f", at least {claims.e} apart"
    failing = own_check.as_failing(sql.count_groups(_GROUPS, predicate))
    return (
        CheckStatement(asked, own_check.with_tables(named, failing)),
        CheckStatement(
            "every row of the help table says what the values of its group say, and none is missing",
            own_check.with_tables(
                {**named, **_sums(numbers)},
                _help(engine, reader, claims, sources.help, numbers, by_name=by_name),
            ),
        ),
    )


def _sums(numbers: Numbers) -> dict[str, str]:
    """What a help table's bounds are computed of; nothing where values are texts."""
    if numbers.type_name is None:
        return {}
    found = {
        _UP: sql.ranked_table(_NUMBERS, down=False),
        _DOWN: sql.ranked_table(_NUMBERS, down=True),
    }
    return {**found, _SPREAD: sql.slack_table(_NUMBERS)} if numbers.type_name == "DOUBLE" else found


def _help(
    engine: Engine,
    reader: Dialect,
    claims: PermutedClaims,
    source: SourceSpec,
    numbers: Numbers,
    *,
    by_name: bool,
) -> str:
    """How many rows of the help table are wrong or missing."""
    house = numbers.type_name
    up, down = (None, None) if house is None else (_UP, _DOWN)
    with opened(engine, source) as table:
        names = help_columns(claims.group_column, numeric=house is not None)
        cells = [canonical_text(reader.identifier(name), table.types[name], reader) for name in names]
    stated = sql.StatedHelp(own_check.relation(source, reader, by_name=by_name), cells, [False] * len(cells))
    expected = sql.expected_help(reader, _GROUPS, "TRUE", up, down)
    spread = _SPREAD if house == "DOUBLE" else None
    return own_check.as_failing(sql.wrong_help(reader, expected, stated, spread, house))
