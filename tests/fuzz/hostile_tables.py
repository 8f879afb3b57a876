"""Hostile tables: cells that have misled programs, in columns whose names need quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.fuzz.cases import HOSTILE, PERMUTATION, ROW, SECRET, Column, Trial, number_of

Cell = str | None
"""The text of a cell; None is NULL."""
_NUMBERS = """
    0 -0 -0.0 0.0 1 1.0 1e0 01 010 10 +1 1_0 0x10 .5 5. 9223372036854775807 9223372036854775808
    18446744073709551616 1e308 1e400 NaN nan inf -Infinity
"""
_UNICODE = "\xe9;e\u0301;\u200fa;a\u200f;\u200b;a\u200bb;a;𝒳;ﬁ;fi;ß;ẞ;SS;İ;i;ı;\ufeffa;大小;\xa0;👩\u200d👧"
_LABELS = "*;**;{a, b};{a;b};1-5;[1, 5];[1, 5[;a … b;≥90;<18;a;b;a, b;NULL;null;None;NA;{a, b} (2);true"
FAMILIES: dict[str, tuple[Cell, ...]] = {
    "plain": tuple("abcd"),
    "few": tuple("xy"),
    "blanks": (None, "", " ", "  ", "\t", " a", "a ", "a", "A"),
    "numbers": tuple(_NUMBERS.split()),
    "zeros": ("0", "-0.0", "1e0", "2", "3", "-1"),
    "codes": ("010", "10", "0020", "007", "02138", "7"),
    "huge": ("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616"),
    "small": ("1", "2", "3", "5", "8", "13", "21", "34"),
    "decimals": ("1.50", "1.5", "2.25", "-3.75", "100", "0.001"),
    "unicode": tuple(_UNICODE.split(";")),
    "separators": (
        *("a,b", "a;b", '"', '""', 'a"b', "a\nb", "a\r\nb", "\r", "\n", "'", "a|b", "\\", "\\n", "#", "--"),
        *("%s", "$1", "a\tb", "\x1b[2J", "=1+1"),
    ),
    "labels": tuple(_LABELS.split(";")),
    "dates": (
        *("2020-02-29", "1999-12-31", "2000-01-01", "2020-03-17"),
        *("1970-01-01", "0001-01-01", "9999-12-31"),
    ),
    "only NULL": (None,),
    "only empty": ("",),
    "constant": ("same",),
    "long": ("x" * 3000, "x" * 2999 + "y", "x"),
}
INTEGERS = (0, 1, 2, 3, 5, 8, 17, 40, 41, 99, -1, -7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
AGES = tuple(range(17, 60, 3))
DOUBLES = (0.0, -0.0, 1.0, 1.5, -2.25, 1e300, 5e-324, float("nan"), float("inf"), float("-inf"), 0.1)
_NAMES = (
    "age|town|q 1|q \"2\"|select|a,b|größe|q;3|'x'|count(*)|c0|group_id|Q|1|x.y|*|rows|大小|hits|%|"
    "a\u0301|-|release|value|class"
)
"""Names of columns, most of which need quotes somewhere."""
RECODINGS = (
    *("full-domain", "attribute-suppression", "full-subtree", "unrestricted-single-dimension"),
    *("ordered-single-dimension", "full-subgraph", "unrestricted-multi-dimension", "mondrian"),
    *("relaxed-mondrian", "cell-suppression", "local", "patterns", "negotiated", "levels"),
)


def drawn(seed: int) -> Trial:
    """Draw the hostile table of a seed."""
    random = Random(seed)
    permuted = random.random() < 0.25
    source = random.choice(("csv", "csv", "parquet", "duckdb", "jsonl"))
    number = random.choice((1, 2, 3, 4, 5, 6, 8, 12, 20, 20, 40))
    names = _NAMES.split("|")
    random.shuffle(names)
    columns = [
        _column(random, names.pop(), "quasi-identifier", source, number)
        for _ in range(random.choice((1, 1, 2, 2, 3, 4)))
    ]
    sensitive = random.choice((1, 1, 1, 2)) if permuted else random.choice((0, 1, 1, 2))
    columns += [_column(random, names.pop(), "sensitive", source, number) for _ in range(sensitive)]
    wide = random.random() < 0.03
    plain = 25 if wide else random.choice((0, 0, 1))
    columns += [
        _column(random, f"{i} {names[i % len(names)]}", "insensitive", source, number) for i in range(plain)
    ]
    if random.random() < 0.8:
        columns.append(Column(ROW, "insensitive", "text", tuple(f"row-{i}" for i in range(number))))
    model = PERMUTATION if permuted else random.choice(RECODINGS)
    if random.random() < 0.15:
        several = model in ("full-domain", "negotiated", "levels") and random.random() < 0.7
        columns.append(_subjects(random, number, unique=not several))
    if random.random() < 0.3:
        columns.append(Column("name", "identifier", "text", tuple(f"{SECRET}{i}" for i in range(number))))
    random.shuffle(columns)
    releases = ("csv", "parquet", "parquet", "duckdb") if permuted else ("csv", "csv", "parquet")
    trial = Trial(
        seed=seed,
        columns=tuple(columns),
        source=source,
        release=random.choice(releases),
        model=model,
        k=min(random.choice((1, 2, 2, 2, 3, 3, 4, 5, 10)), max(number - random.choice((0, 1, 5)), 1)),
        drop_nulls=random.random() < 0.2,
        command=random.random() < 0.05,
        journey=HOSTILE,
    )
    return (_permutation if permuted else _recoding)(random, trial)


def _recoding(random: Random, trial: Trial) -> Trial:
    options: dict[str, Any] = {}
    if trial.model in ("mondrian", "relaxed-mondrian"):
        options["summary"] = random.choice(("ranges", "means", "sets", "lca"))
    elif trial.model == "local":
        options["summary"] = random.choice(("lca", "ranges", "sets"))
        options |= random.choice(({}, {"effort": 2}))
    elif trial.model == "patterns":
        options["outliers"] = random.choice(("suppress", "delete"))
        options |= random.choice(({}, {"max_stars": 1}, {"cells": "levels"}))
    few = bool(trial.of("sensitive")) and random.random() < 0.5
    l = random.choice((1, 2, 2, 3)) if few else None
    limit = random.choice((0, 0, 1, 2, "10%", "50%", "80%", "100%", "100%"))
    limit = "100%" if trial.model == "levels" else limit
    return replace(trial, l=l, limit=limit, star=random.random() < 0.3, options=options)


def _permutation(random: Random, trial: Trial) -> Trial:
    names = [column.name for column in trial.of("sensitive")]
    options: dict[str, Any] = {
        "partition": random.choice(("min-sum", "min-max", "weighted-min-sum", "random", "qi-aware")),
        "form": random.choice(("one-table", "two-tables")),
    }
    if len(names) > 1:
        options["sensitive"] = random.choice(names)
    column = next(c for c in trial.of("sensitive") if c.name == options.get("sensitive", c.name))
    known = {cell for cell in column.cells if cell is not None}
    if random.random() < 0.4 and all(number_of(str(cell)) is not None for cell in known):
        options["e"] = random.choice((1, 2, 10))
    return replace(trial, k=max(2, min(trial.k, len(known))), options=options)


def _subjects(random: Random, number: int, *, unique: bool) -> Column:
    people = list(range(number)) if unique else [random.randrange(max(number // 2, 1)) for _ in range(number)]
    return Column("person_id", "subject", "text", tuple(f"person-{i}" for i in people))


def _column(random: Random, name: str, role: str, source: str, number: int) -> Column:
    """Draw a column of a family of cells, with a hierarchy if it is a quasi-identifier."""
    nulls = random.choice((0.0, 0.0, 0.1, 0.5))
    if source != "csv" and random.random() < 0.3:
        kind, pool = random.choice((("int", INTEGERS), ("int", AGES), ("double", DOUBLES)))
        if source == "jsonl":
            kind, pool = "int", AGES
        cells = _cells(random, pool, number, nulls)
        hierarchy = _of_numbers(random, pool) if role == "quasi-identifier" else None
        return Column(name, role, kind, cells, hierarchy)
    family = random.choice(list(FAMILIES))
    cells = _cells(random, FAMILIES[family], number, nulls)
    hierarchy = _of_texts(random, family, cells) if role == "quasi-identifier" else None
    return Column(name, role, "text", cells, hierarchy)


def _cells(random: Random, pool: Sequence[Any], number: int, nulls: float) -> tuple[Any, ...]:
    few = random.sample(list(pool), min(len(pool), random.choice((1, 2, 3, 5, 40))))
    return tuple(None if random.random() < nulls else random.choice(few) for _ in range(number))


def _of_numbers(random: Random, pool: Sequence[Any]) -> Mapping[str, Any] | None:
    if pool is not AGES or random.random() < 0.3:
        return None
    return random.choice(({"kind": "intervals", "widths": [5, 20]}, {"kind": "mask"}, {"kind": "auto"}))


def _of_texts(random: Random, family: str, cells: Sequence[Any]) -> Mapping[str, Any] | None:
    if family == "dates" and random.random() < 0.7:
        return {"kind": "dates"}
    if family in ("small", "decimals") and random.random() < 0.5:
        return {"kind": "intervals", "widths": [5, 20]}
    choice = random.random()
    if choice < 0.3:
        return None
    if choice < 0.45:
        return {"kind": "mask"} | random.choice(({}, {"from": "left"}, {"character": "#"}))
    if choice < 0.55:
        return {"kind": "auto"}
    if choice < 0.65:
        return {"kind": "order", "fanout": 2, "label": random.choice(("range", "set"))}
    return _levels(random, cells)


def _levels(random: Random, cells: Sequence[Any]) -> Mapping[str, Any] | None:
    """Draw nested levels of hostile labels over the values that occur, and over one that does not."""
    leaves = [*list(dict.fromkeys(cell for cell in cells if cell is not None)), "not in the table"]
    pool = [label for label in (*FAMILIES["labels"], *FAMILIES["blanks"]) if label]
    column = list(leaves)
    rows = [[leaf] for leaf in leaves]
    for _ in range(random.choice((0, 1, 1, 2))):
        labels = random.sample(pool, min(len(pool), random.choice((1, 2, 3))))
        above = {value: random.choice(labels) for value in dict.fromkeys(column)}
        column = [above[value] for value in column]
        for row, value in zip(rows, column, strict=True):
            row.append(value)
    return {"kind": "levels", "rows": [[*row, "*"] for row in rows]}
