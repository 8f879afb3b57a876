"""Oracle: the content of a release, row by row in plain Python, and readers and writers of its files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from discreet.hierarchy.level_table import LevelsHierarchy
from discreet.model.table_spec import Attribute, AttributeRole, NullPolicy, SourceSpec, TableSpec
from tests.oracle.brute_lattice import most_pairs

Row = Mapping[str, str | None]
Levels = Mapping[str, Sequence[str]]
"""A hierarchy: leaf → (level 1, …, top)."""
PublishedRow = tuple[tuple[str | None, ...], Row]
"""The published cells, and the source row."""


@dataclass(frozen=True)
class PlainTable:
    """A table of texts with its roles; the columns are the keys of a row, in order."""

    rows: Sequence[Row]
    hierarchies: Mapping[str, Levels]
    sensitive: Sequence[str] = ()
    insensitive: Sequence[str] = ()
    subject: str | None = None
    drop_nulls: bool = False
    columns: Sequence[str] = field(default=())

    def spec(self, path: Path) -> TableSpec:
        """Return the spec of the table once it is stored at ``path``."""
        roles = [
            *((name, AttributeRole.QUASI_IDENTIFIER) for name in self.hierarchies),
            *((name, AttributeRole.SENSITIVE) for name in self.sensitive),
            *((name, AttributeRole.INSENSITIVE) for name in self.insensitive),
        ]
        attributes = tuple(
            Attribute(
                name, role, LevelsHierarchy.of(self.hierarchies[name]) if name in self.hierarchies else None
            )
            for name, role in roles
        )
        nulls = NullPolicy.DROP if self.drop_nulls else NullPolicy.VALUE
        return TableSpec(SourceSpec(path=path, null_policy=nulls, subject=self.subject), attributes)

    @property
    def named(self) -> list[Row]:
        """Return the rows as the program reads them.

        Sensitive stars are NULL, and rows with only stars or NULL are left out.
        """
        found = []
        for row in self.rows:
            keys = [row[name] for name in self.hierarchies]
            if not any(map(is_star, keys)) or not all(cell is None or is_star(cell) for cell in keys):
                found.append({n: None if n in self.sensitive and is_star(row[n]) else row[n] for n in row})
        return found

    @property
    def kept(self) -> list[Row]:
        """Return the rows after the NULL policy."""
        listed = [*self.hierarchies, *self.sensitive]
        return [row for row in self.named if not (self.drop_nulls and any(row[n] is None for n in listed))]

    def generalized(self, row: Row, node: Sequence[int]) -> tuple[str | None, ...]:
        """Return a row's quasi-identifiers at a node."""
        return tuple(
            at_level(levels, row[name], level)
            for (name, levels), level in zip(self.hierarchies.items(), node, strict=True)
        )

    def classes(self, node: Sequence[int]) -> dict[tuple[str | None, ...], list[Row]]:
        """Return the equivalence classes at a node."""
        classes = defaultdict(list)
        for row in self.kept:
            classes[self.generalized(row, node)].append(row)
        return dict(classes)

    def size(self, members: Sequence[Row]) -> int:
        """Return the size of a class that k limits."""
        return len({row[self.subject] for row in members}) if self.subject else len(members)

    def diversity(self, members: Sequence[Row], name: str) -> int:
        """Return the diversity of a class that l limits."""
        if self.subject is None:
            return len({row[name] for row in members} - {None})
        pairs = {(row[name], row[self.subject]) for row in members if row[name] is not None}
        return most_pairs(sorted(pairs))  # type: ignore[arg-type]

    def meets(self, members: Sequence[Row], k: int, l: int | None) -> bool:
        """Test whether a class is published."""
        return self.size(members) >= k and all(
            l is None or self.diversity(members, name) >= l for name in self.sensitive
        )

    @property
    def shown(self) -> list[str]:
        """Return the published columns, in the order of the source."""
        listed = {*self.hierarchies, *self.sensitive, *self.insensitive}
        return [name for name in (self.columns or self.rows[0]) if name in listed]

    def published(
        self, node: Sequence[int], k: int, l: int | None, *, star: bool
    ) -> tuple[list[PublishedRow], int]:
        """Return the published rows, each with its source row, and the number of suppressed rows."""
        published: list[PublishedRow] = []
        suppressed = 0
        for values, members in self.classes(node).items():
            general = dict(zip(self.hierarchies, values, strict=True))
            fails = not self.meets(members, k, l)
            suppressed += len(members) * fails
            for row in members:
                if not fails:
                    published.append((tuple(general.get(n, row[n]) for n in self.shown), row))
                elif star:
                    published.append((("*",) * len(self.shown), row))
        return published, suppressed

    def audited(self, published: Sequence[PublishedRow], *, suppressed: int) -> PlainAudit:
        """Return the counts that an audit of published rows must find, with some rows suppressed and starred.

        Further rows of stars are people; an audit that counts subjects cannot distinguish them.
        """
        stars = [i for i, (cells, _) in enumerate(published) if set(cells) == {"*"}]
        apart = {*stars} if suppressed and self.subject else {*stars[:suppressed]}
        starred = [i in apart for i in range(len(published))]
        classes = defaultdict(list)
        for (cells, row), star in zip(published, starred, strict=True):
            if not star:
                shown = dict(zip(self.shown, cells, strict=True))
                classes[tuple(shown[name] for name in self.hierarchies)].append(row)
        return PlainAudit(
            rows=len(published) - sum(starred),
            classes=len(classes),
            sizes=Counter(map(self.size, classes.values())),
            l={
                name: min((self.diversity(members, name) for members in classes.values()), default=0)
                for name in self.sensitive
            },
            starred=sum(starred),
        )


@dataclass(frozen=True)
class PlainAudit:
    """The counts of an audit."""

    rows: int
    classes: int
    sizes: Mapping[int, int]
    l: Mapping[str, int]
    starred: int

    def meets(self, k: int, l: int | None) -> bool:
        """Test whether every class meets a requirement."""
        return min(self.sizes, default=k) >= k and (
            l is None or not self.classes or all(found >= l for found in self.l.values())
        )


def is_star(cell: str | None) -> bool:
    """Test whether a cell consists of stars and blanks, and has a star."""
    return cell is not None and "*" in cell and set(cell) <= {"*", *" \t\n\r\f\v\u00a0\u202f\ufeff"}


def at_level(levels: Levels, value: str | None, level: int) -> str | None:
    """Return a value at a level; NULL stays NULL below the top."""
    height = len(next(iter(levels.values())))
    if value is None:
        return next(iter(levels.values()))[-1] if level == height else None
    return value if level == 0 else levels[value][level - 1]


def write_csv(path: Path, rows: Sequence[Row], columns: Sequence[str] = ()) -> None:
    """Write RFC 4180 with every text quoted; NULL is an empty cell."""
    names = list(columns or rows[0])
    lines = [",".join(_quoted(name) for name in names)]
    lines += [
        ",".join("" if row[name] is None else _quoted(row[name] or "") for name in names) for row in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def read_csv(path: Path) -> tuple[list[str | None], list[tuple[str | None, ...]]]:
    """Read the header and the rows, character by character; an empty cell is NULL, ``""`` the empty text."""
    records: list[tuple[str | None, ...]] = []
    cells: list[str | None] = []
    cell, quoted, inside = "", False, False
    text = path.read_bytes().decode("utf-8")
    i = 0
    while i < len(text):
        c = text[i]
        if inside:
            if c == '"' and text[i + 1 : i + 2] == '"':
                cell, i = cell + '"', i + 1
            elif c == '"':
                inside = False
            else:
                cell += c
        elif c == '"':
            assert not cell
            inside = quoted = True
        elif c in ",\n":
            cells.append(cell if cell or quoted else None)
            cell, quoted = "", False
            if c == "\n":
                records.append(tuple(cells))
                cells = []
        else:
            cell += c
        i += 1
    assert not inside
    assert not cells
    return list(records[0]), records[1:]
