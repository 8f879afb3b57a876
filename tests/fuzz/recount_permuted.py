"""Recount of a permuted release in plain Python: its rows, its groups, its help table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

from tests.fuzz.cases import ROW, Column, Trial, number_of
from tests.fuzz.files import Record, read_release, text_of
from tests.fuzz.recount import demand, matched, published_texts, source_texts


def check_permuted(trial: Trial, path: Path) -> None:
    """Raise ``Wrong`` if the files are not a permutation of the table that meets the request."""
    column = permuted_column(trial)
    two = trial.options.get("form") == "two-tables"
    records = read_release(path, "quasi_identifiers" if two else "release")
    values = _companion(path, "sensitive", "sensitive_values") if two else records
    kept = [c for c in trial.columns if c.role in ("quasi-identifier", "insensitive")]
    published = {c.name for c in (*kept, column)}
    kept = [c for c in kept if not is_generalized(trial, c)]
    group = next(name for name in ("group_id", "group_id_2") if name in set(values[0]) - published)
    rows = published_texts(records, kept)
    found = Counter(tuple(row.values()) for row in rows)
    expected = Counter(tuple(row.values()) for row in source_texts(trial, kept))
    demand(found == expected, "all but the permuted column is the source's", list(found - expected)[:3])
    dealt: dict[Any, list[str | None]] = defaultdict(list)
    for record in values:
        dealt[record[group]].append(text_of(record[column.name], column.kind))
    if any(c.name == ROW for c in kept):
        own: dict[Any, list[str | None]] = defaultdict(list)
        for (_, number), record in zip(matched(trial, rows), records, strict=True):
            own[record[group]].append(text_of(column.value(number), column.kind))
        for name, members in own.items():
            demand(Counter(members) == Counter(dealt[name]), "a group's values", members, dealt[name])
    else:
        every = Counter(text_of(column.cells[row], column.kind) for row in trial.kept)
        demand(Counter(v for members in dealt.values() for v in members) == every, "the permuted values")
    _check_groups(trial, dealt)
    _check_help(_companion(path, "help", "help"), group, dealt)


def is_generalized(trial: Trial, column: Column) -> bool:
    """Test whether a quasi-identifier is published at another level than its values."""
    return column.has_age or bool(trial.options.get("level", {}).get(column.name))


def permuted_column(trial: Trial) -> Column:
    """Return the column whose values are permuted."""
    chosen = trial.options.get("sensitive")
    return next(c for c in trial.of("sensitive") if chosen in (None, c.name))


def _companion(path: Path, purpose: str, table: str) -> list[Record]:
    companion = path if path.suffix == ".duckdb" else path.with_name(f"{path.stem}.{purpose}{path.suffix}")
    return read_release(companion, table)


def _check_groups(trial: Trial, dealt: dict[Any, list[str | None]]) -> None:
    known = [value for members in dealt.values() for value in members if value is not None]
    numeric = all(number_of(value) is not None for value in known)
    for name, members in dealt.items():
        values: set[Any] = {number_of(v) if numeric else v for v in members if v is not None}
        demand(len(values) >= trial.k, "a group's distinct values", name, members)
        if trial.options.get("e"):
            demand(numeric, "a range of numbers", name, members)
            demand(max(values) - min(values) >= trial.options["e"], "a group's range", name, members)


def _check_help(rows: Sequence[Record], group: str, dealt: dict[Any, list[str | None]]) -> None:
    lines = Counter(row[group] for row in rows)
    sizes = {name: len(members) for name, members in dealt.items()}
    exact = _are_exact([value for members in dealt.values() for value in members if value is not None])
    demand(lines == Counter(sizes), "a line of the help table for each number of hits", lines, sizes)
    for row in rows:
        members, hits = dealt[row[group]], int(row["hits"])
        missing = members.count(None)
        least, most = max(0, hits - missing), min(hits, len(members) - missing)
        published = int(row["values_lower"]), int(row["values_upper"])
        demand(published == (least, most), "how many rows have a value", published, (least, most))
        if missing == 0 and "sum_lower" in row:
            _check_sums(row, hits, members, exact=exact)


def _are_exact(texts: Sequence[str]) -> bool:
    """Test whether sums are exact: one exponent, or more than 64 bits, in any group makes doubles."""
    numbers = [number for number in map(number_of, texts) if number is not None]
    if len(numbers) < len(texts) or any("e" in text.lower() for text in texts):
        return False
    scale = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    return all(abs(number) * 10**scale < 2**63 for number in numbers)


def _check_sums(row: Record, hits: int, members: Sequence[str | None], *, exact: bool) -> None:
    """Check that sums of the smallest and largest values are within the bounds; exact integers reach them."""
    numbers = sorted(number for number in map(number_of, members) if number is not None)
    if len(numbers) < len(members):
        return
    with localcontext() as context:
        context.prec = 400
        least, most = sum(numbers[:hits], Decimal(0)), sum(numbers[-hits:], Decimal(0))
        lower, upper = Decimal(str(row["sum_lower"])), Decimal(str(row["sum_upper"]))
        demand(lower <= least and most <= upper, "bounds of the sum", row, members)
        if exact and all(abs(n) < 10**9 and n == n.to_integral_value() for n in numbers):
            demand((lower, upper) == (least, most), "exact bounds of the sum", row, members)
