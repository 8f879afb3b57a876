"""Random aggregate queries over people, with conditions of every allowed kind, from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

AGGREGATES = ("SUM", "AVG", "MIN", "MAX", "COUNT")


@dataclass(frozen=True)
class RandomQuery:
    """A random query: its parts and its text."""

    aggregates: tuple[str, ...]
    condition: str | None
    keys: tuple[str, ...]

    def text(self, table: str = "people") -> str:
        """Return the query as an analyst writes it."""
        parts = ["SELECT " + ", ".join((*self.keys, *self.aggregates)), f"FROM {table}"]
        parts += [f"WHERE {self.condition}"] if self.condition else []
        parts += ["GROUP BY " + ", ".join(self.keys)] if self.keys else []
        return " ".join(parts)


@dataclass(frozen=True)
class QueryMaker:
    """A generator of random queries.

    ``numbers`` are ranges of numeric columns, ``texts`` values of text columns; queries may group by
    ``keys``.
    """

    sensitive: str
    numbers: Mapping[str, tuple[int, int]]
    texts: Mapping[str, Sequence[str]]
    keys: Sequence[str]

    def queries(self, number: int, seed: int) -> list[RandomQuery]:
        """Return ``number`` queries; equal seeds give equal queries."""
        draw = Random(seed)
        return [self._query(draw) for _ in range(number)]

    def _query(self, draw: Random) -> RandomQuery:
        possible = ["COUNT(*)", *(f"{name}({self.sensitive})" for name in AGGREGATES)]
        aggregates = tuple(draw.sample(possible, draw.choice((1, 1, 2, 3, 6))))
        condition = self._condition(draw, draw.randint(0, 3)) if draw.random() < 0.97 else None
        keys = tuple(draw.sample(list(self.keys), min(len(self.keys), draw.choice((0, 0, 0, 1, 1, 2)))))
        return RandomQuery(aggregates, condition, keys)

    def _condition(self, draw: Random, depth: int) -> str:
        if depth == 0 or draw.random() < 0.15:
            return self._atom(draw)
        kind = draw.choice(("AND", "AND", "OR", "OR", "NOT"))
        if kind == "NOT":
            return f"NOT ({self._condition(draw, depth - 1)})"
        parts = [self._condition(draw, depth - 1) for _ in range(draw.choice((2, 2, 3)))]
        return "(" + f" {kind} ".join(parts) + ")"

    def _atom(self, draw: Random) -> str:
        makers = (
            *(self._compared, self._between, self._among, self._arithmetic, self._remainder),
            *(self._equal, self._member, self._like, self._null, self._case),
        )
        return draw.choice(makers)(draw)

    def _number(self, draw: Random) -> tuple[str, int]:
        name = draw.choice(list(self.numbers))
        return name, draw.randint(*self.numbers[name])

    def _compared(self, draw: Random) -> str:
        name, value = self._number(draw)
        return f"{name} {draw.choice(('<', '<=', '>', '>=', '=', '<>'))} {value}"

    def _between(self, draw: Random) -> str:
        name, low = self._number(draw)
        high = draw.randint(low, self.numbers[name][1])
        return f"{name} {draw.choice(('', '', 'NOT '))}BETWEEN {low} AND {high}"

    def _among(self, draw: Random) -> str:
        name, _ = self._number(draw)
        values = [str(draw.randint(*self.numbers[name])) for _ in range(draw.randint(1, 8))]
        return f"{name} {draw.choice(('', '', 'NOT '))}IN ({', '.join(values)})"

    def _arithmetic(self, draw: Random) -> str:
        (first, a), (second, b) = self._number(draw), self._number(draw)
        factor, sign = draw.randint(1, 4), draw.choice("+-")
        right = a * factor + (b if sign == "+" else -b)
        return f"{first} * {factor} {sign} {second} {draw.choice(('<', '>='))} {right}"

    def _remainder(self, draw: Random) -> str:
        name, _ = self._number(draw)
        modulus = draw.randint(2, 7)
        return f"{name} % {modulus} = {draw.randrange(modulus)}"

    def _text(self, draw: Random) -> tuple[str, str]:
        name = draw.choice(list(self.texts))
        return name, draw.choice(self.texts[name])

    def _equal(self, draw: Random) -> str:
        name, value = self._text(draw)
        return f"{name} {draw.choice(('=', '=', '<>'))} {_quoted(value)}"

    def _member(self, draw: Random) -> str:
        name, _ = self._text(draw)
        values = draw.sample(list(self.texts[name]), min(len(self.texts[name]), draw.randint(1, 4)))
        return f"{name} {draw.choice(('', '', 'NOT '))}IN ({', '.join(map(_quoted, values))})"

    def _like(self, draw: Random) -> str:
        name, value = self._text(draw)
        start = draw.randrange(len(value))
        part = value[start : start + draw.randint(1, 3)]
        pattern = draw.choice((f"{value[:2]}%", f"%{part}%", f"%{value[-2:]}", f"_{value[1:]}", value))
        return f"{name} {draw.choice(('', '', 'NOT '))}LIKE {_quoted(pattern)}"

    def _null(self, draw: Random) -> str:
        name = draw.choice([*self.numbers, *self.texts])
        return f"{name} IS {draw.choice(('', 'NOT '))}NULL"

    def _case(self, draw: Random) -> str:
        first, second = self._compared(draw), self._equal(draw)
        value = draw.randint(0, 2)
        return f"CASE WHEN {first} THEN 1 WHEN {second} THEN 2 ELSE 0 END = {value}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
