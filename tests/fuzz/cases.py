"""One case of the fuzz: a hostile table and its request, all of it determined by the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Self

from tests.fuzz import values
from tests.fuzz.values import is_star, number_of

RECODINGS = (
    "full-domain",
    "attribute-suppression",
    "full-subtree",
    "unrestricted-single-dimension",
    "ordered-single-dimension",
    "full-subgraph",
    "unrestricted-multi-dimension",
    "mondrian",
    "relaxed-mondrian",
    "cell-suppression",
    "local",
    "patterns",
    "negotiated",
    "levels",
)
PERMUTATION = "permutation"
ROW = "row_number"
"""The insensitive column that identifies, in most tables, the source row of a published row."""


@dataclass(frozen=True)
class Column:
    """A column: its cells as texts or, if ``kind`` is not ``text``, as Python values."""

    name: str
    role: str
    kind: str
    cells: tuple[Any, ...]
    hierarchy: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the spec, such as the pseudonymization, ``shift``, ``weight`` and ``domain``."""

    def value(self, row: int) -> Any:
        """Return the cell of a row as the program reads it: stars in a sensitive column are NULL."""
        cell = self.cells[row]
        return None if self.role == "sensitive" and is_star(cell) else cell

    @property
    def is_published(self) -> bool:
        """Whether a release has the column."""
        return self.role not in ("identifier", "subject") or "way" in self.more

    def at(self, rows: Sequence[int]) -> Column:
        """Return the column with some of its rows."""
        return replace(self, cells=tuple(self.cells[row] for row in rows))


@dataclass(frozen=True)
class Case:
    """A table and a request."""

    seed: int
    columns: tuple[Column, ...]
    source: str
    release: str
    model: str
    k: int
    l: int | None = None
    limit: str | int = 0
    drop_nulls: bool = False
    star: bool = False
    command: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].cells)

    def of(self, role: str) -> list[Column]:
        """Return the columns of a role."""
        return [column for column in self.columns if column.role == role]

    @property
    def subject(self) -> Column | None:
        """The column of the subjects."""
        return next(iter(self.of("subject")), None)

    @property
    def kept(self) -> list[int]:
        """The rows that the policy for NULLs retains."""
        listed = [*self.of("quasi-identifier"), *self.of("sensitive")]
        return [
            row
            for row in range(self.rows)
            if not self._is_nobody(row)
            and not (self.drop_nulls and any(column.value(row) is None for column in listed))
        ]

    def _is_nobody(self, row: int) -> bool:
        """Test whether a row has only stars or NULLs as quasi-identifiers, and at least one star.

        The program sets such rows apart.
        """
        cells = [column.cells[row] for column in self.of("quasi-identifier")]
        return all(cell is None or is_star(cell) for cell in cells) and any(map(is_star, cells))

    def at(self, rows: Sequence[int]) -> Self:
        """Return the case with some of its rows."""
        return replace(self, columns=tuple(column.at(rows) for column in self.columns))


def drawn(seed: int) -> Case:
    """Draw the case of a seed."""
    random = Random(seed)
    permuted = random.random() < 0.25
    source = random.choice(("csv", "csv", "parquet", "duckdb", "jsonl"))
    number = random.choice((1, 2, 3, 4, 5, 6, 8, 12, 20, 20, 40))
    names = list(values.NAMES)
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
        cells = tuple(f"row-{i}" for i in range(number))
        columns.append(Column(ROW, "insensitive", "text", cells))
    model = PERMUTATION if permuted else random.choice(RECODINGS)
    if random.random() < 0.15:
        several = model in ("full-domain", "negotiated", "levels") and random.random() < 0.7
        columns.append(_subjects(random, number, alone=not several))
    if random.random() < 0.3:
        columns.append(Column("name", "identifier", "text", tuple(f"secret-{i}" for i in range(number))))
    random.shuffle(columns)
    case = Case(
        seed=seed,
        columns=tuple(columns),
        source=source,
        release=random.choice(
            ("csv", "parquet", "parquet", "duckdb") if permuted else ("csv", "csv", "parquet")
        ),
        model=model,
        k=min(random.choice((1, 2, 2, 2, 3, 3, 4, 5, 10)), max(number - random.choice((0, 1, 5)), 1)),
        drop_nulls=random.random() < 0.2,
        command=random.random() < 0.05,
    )
    return _permutation(random, case) if permuted else _recoding(random, case)


def _recoding(random: Random, case: Case) -> Case:
    options: dict[str, Any] = {}
    if case.model in ("mondrian", "relaxed-mondrian"):
        options["summary"] = random.choice(("ranges", "means", "sets", "lca"))
    elif case.model == "local":
        options["summary"] = random.choice(("lca", "ranges", "sets"))
        options |= random.choice(({}, {"effort": 2}))
    elif case.model == "patterns":
        options["outliers"] = random.choice(("suppress", "delete"))
        options |= random.choice(({}, {"max_stars": 1}, {"cells": "levels"}))
    few = bool(case.of("sensitive")) and random.random() < 0.5
    return replace(
        case,
        l=random.choice((1, 2, 2, 3)) if few else None,
        limit=random.choice((0, 0, 1, 2, "10%", "50%", "80%", "100%", "100%")),
        star=random.random() < 0.3,
        options=options,
    )


def _permutation(random: Random, case: Case) -> Case:
    names = [column.name for column in case.of("sensitive")]
    options: dict[str, Any] = {
        "partition": random.choice(("min-sum", "min-max", "weighted-min-sum", "random", "qi-aware")),
        "form": random.choice(("one-table", "two-tables")),
    }
    if len(names) > 1:
        options["sensitive"] = random.choice(names)
    column = next(c for c in case.of("sensitive") if c.name == options.get("sensitive", c.name))
    known = {cell for cell in column.cells if cell is not None}
    if random.random() < 0.4 and all(number_of(str(cell)) is not None for cell in known):
        options["e"] = random.choice((1, 2, 10))
    return replace(case, k=max(2, min(case.k, len(known))), options=options)


def _subjects(random: Random, number: int, *, alone: bool) -> Column:
    people = list(range(number)) if alone else [random.randrange(max(number // 2, 1)) for _ in range(number)]
    return Column("person_id", "subject", "text", tuple(f"person-{i}" for i in people))


def _column(random: Random, name: str, role: str, source: str, number: int) -> Column:
    """Draw a column of a family of cells, with a hierarchy if it is a quasi-identifier."""
    nulls = random.choice((0.0, 0.0, 0.1, 0.5))
    if source in ("parquet", "duckdb", "jsonl") and random.random() < 0.3:
        kind, pool = random.choice(
            (("int", values.INTEGERS), ("int", values.AGES), ("double", values.DOUBLES))
        )
        if source == "jsonl":
            kind, pool = "int", values.AGES
        cells = _cells(random, pool, number, nulls)
        return Column(name, role, kind, cells, _of_numbers(random, role, pool))
    family = random.choice(list(values.FAMILIES))
    cells = _cells(random, values.FAMILIES[family], number, nulls)
    return Column(name, role, "text", cells, _of_texts(random, role, family, cells))


def _cells(random: Random, pool: Sequence[Any], number: int, nulls: float) -> tuple[Any, ...]:
    few = random.sample(list(pool), min(len(pool), random.choice((1, 2, 3, 5, 40))))
    return tuple(None if random.random() < nulls else random.choice(few) for _ in range(number))


def _of_numbers(random: Random, role: str, pool: Sequence[Any]) -> Mapping[str, Any] | None:
    if role != "quasi-identifier" or pool is not values.AGES or random.random() < 0.3:
        return None
    return random.choice(({"kind": "intervals", "widths": [5, 20]}, {"kind": "mask"}, {"kind": "auto"}))


def _of_texts(random: Random, role: str, family: str, cells: Sequence[Any]) -> Mapping[str, Any] | None:
    if role != "quasi-identifier":
        return None
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
    pool = [label for label in (*values.FAMILIES["labels"], *values.FAMILIES["blanks"]) if label]
    column = list(leaves)
    rows = [[leaf] for leaf in leaves]
    for _ in range(random.choice((0, 1, 1, 2))):
        labels = random.sample(pool, min(len(pool), random.choice((1, 2, 3))))
        above = {value: random.choice(labels) for value in dict.fromkeys(column)}
        column = [above[value] for value in column]
        for row, value in zip(rows, column, strict=True):
            row.append(value)
    return {"kind": "levels", "rows": [[*row, "*"] for row in rows]}
