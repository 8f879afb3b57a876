"""Whether what was written is what was decided: every cell of every row, and each row once.

An engine may write something else than it was told: DuckDB's parallel writer of Parquet blanked about one
enumerated cell in forty million (docs/decisions/0011). Counting classes finds that where it breaks a class,
and nowhere else. So the rows that were decided are computed once more, without their order, and compared with
those that are read back from what was written: as many of them, and one sum of hashes (``sql.multiset``).

Where one engine has both, its own hash function is used, on cells as they are where types agree; what rows
have from their class is hashed once per class. Where the engine multiplies large numbers exactly, a row's
hash is the product of two, of what its class shows and of its other cells: so these are added up by class on
both sides, and no row is joined to anything. Where the rows come from a database and the file was written by
the embedded engine, both hash the canonical texts of all cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from discreet.audit.counts import Along, CheckedSum
from discreet.engines.base import Engine, SourceTable
from discreet.engines.delivery import Delivery, Part
from discreet.engines.scratch import opened
from discreet.errors import InputError, InternalError, LimitReached
from discreet.sql import multiset
from discreet.sql.class_cells import LABELS, ClassCells
from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier
from discreet.sql.recode import POSITION
from discreet.sql.recode_classes import KEY
from discreet.sql.source import canonical_text, column_name, decimals_of, fits_long, group_key, is_text

_HASHED = "hashed_cells"


def check_written(engine: Engine, delivery: Delivery, parts: Mapping[str, Part]) -> None:
    """Compare each part that was written with its query on ``engine``; ``LimitReached`` where they differ.

    Cost: a scan of what was written, and one of the rows that were decided, which need not be sorted again.
    """
    for purpose, part in parts.items():
        with (
            delivery.auditor() as reader,
            compared(engine, purpose, part) as along,
            opened(reader, delivery.source(purpose, part.name)) as written,
        ):
            found = along(written)
            found.check(*_found(reader, written.relation, found.term))


@contextmanager
def compared(engine: Engine, purpose: str, part: Part) -> Iterator[Along]:
    """What whoever reads all that was written adds up along, to have it compared.

    Raises ``LimitReached`` where something else was found, or nothing that can be read.
    """
    agreed = False

    def along(written: SourceTable) -> CheckedSum:
        pair = _pair(engine, part, written)
        if pair is None:
            raise _other_than_decided(purpose, "has other cells than were decided")
        decided, found = pair

        def check(rows: int, total: int) -> None:
            nonlocal agreed
            if (rows, total) != _decided(engine, part, decided):
                raise _other_than_decided(purpose, "has other cells than were decided")
            agreed = True

        if not _by_class(part, decided):
            return CheckedSum(found.row(_names(part)), check)
        shown = [part.table.columns[i] for i in found.shown]
        return CheckedSum(
            found.others(_names(part)), check, lambda texts: found.of_class([texts[name] for name in shown])
        )

    try:
        yield along
    except (InputError, InternalError) as error:
        if agreed:
            raise
        raise _other_than_decided(purpose, "cannot be read back") from error


def _other_than_decided(purpose: str, found: str) -> LimitReached:
    return LimitReached(
        f"the engine wrote something else than it was told: the {purpose} {found}",
        advice="Nothing was published. Run it again; if it happens again, with fewer threads (--threads 1).",
    )


def _names(part: Part) -> list[str]:
    return [column_name(i) for i in range(len(part.table.columns))]


def _query(part: Part) -> str:
    return part.table.unordered or part.table.query


def _pair(engine: Engine, part: Part, written: SourceTable) -> tuple[_Cells, _Cells] | None:
    """How decided and written cells are hashed; None where the columns are others."""
    if written.columns != part.table.columns:
        return None
    types = part.table.types or engine.column_types(_query(part))
    found = tuple(written.types[name] for name in written.columns)
    own = engine.dialect.name == written.dialect.name
    plain = tuple(own and kind == other for kind, other in zip(types, found, strict=True))
    shown = () if part.classes is None else tuple(part.classes.cells)
    return (
        _Cells(engine.dialect, types, plain, shown, own=own),
        _Cells(written.dialect, found, plain, shown, own=own),
    )


def _by_class(part: Part, cells: _Cells) -> bool:
    """Whether a row's hash is that of its class times that of its other cells."""
    return cells.own and part.classes is not None and cells.dialect.multiplies_sums


def _decided(engine: Engine, part: Part, cells: _Cells) -> tuple[int, int]:
    if part.classes is not None and cells.own:
        found = _sums_of_classes if _by_class(part, cells) else _hash_of_classes
        return found(engine, part.classes, cells)
    names = _names(part)
    return _found(engine, f"({_query(part)}) AS t({', '.join(names)})", cells.row(names))


@dataclass(frozen=True)
class _Cells:
    """How the cells of a table are hashed.

    They are taken as they are where ``plain``, elsewhere as canonical texts. Those at the places ``shown``
    come first, as one number. ``own`` asks for the engine's own hash function.
    """

    dialect: Dialect
    types: Sequence[str]
    plain: Sequence[bool]
    shown: Sequence[int]
    own: bool

    def key(self, place: int, column: str) -> str:
        """What is hashed of a column's cells."""
        # Some numbers of 128 bits have one hash in DuckDB, 0 and -1 too; their texts have not.
        exact = self.plain[place] and (decimals_of(self.types[place]) is None or fits_long(self.types[place]))
        of = group_key if exact else canonical_text
        found = of(column, self.types[place], self.dialect)
        # By their code points, as they may be grouped, and not by the rules of the source's language.
        return self.dialect.binary_order.format(found) if is_text(self.types[place]) else found

    def row(self, columns: Sequence[str]) -> str:
        """The hash of a row of columns."""
        if not self.own:
            return multiset.text_hash(self.dialect, [self.key(i, c) for i, c in enumerate(columns)])
        return self.rest(self.first(dict(enumerate(columns))), columns)

    def first(self, cells: Mapping[int, str]) -> str:
        """The hash of the cells that are shown, by their place."""
        return multiset.row_hash(self.dialect, [self.key(i, cells[i]) for i in self.shown] or ["0"])

    def rest(self, first: str, columns: Sequence[str]) -> str:
        """The hash of a row of which ``first`` is the hash of what is shown."""
        shown = set(self.shown)
        keys = [self.key(i, column) for i, column in enumerate(columns) if i not in shown]
        return multiset.row_hash(self.dialect, [first, *keys])

    def others(self, columns: Sequence[str]) -> str:
        """The hash of the cells of a row that are not shown."""
        shown = set(self.shown)
        return self.of_others([column for i, column in enumerate(columns) if i not in shown])

    def of_others(self, cells: Sequence[str]) -> str:
        """As ``others``, of those cells alone."""
        places = [i for i in range(len(self.types)) if i not in self.shown]
        keys = [self.key(i, cell) for i, cell in zip(places, cells, strict=True)]
        # Where cells are not of one type on both sides, their texts are hashed on both.
        if len(places) == 1 and (is_text(self.types[places[0]]) or not self.plain[places[0]]):
            return multiset.one_text_hash(self.dialect, keys[0])
        return multiset.row_hash(self.dialect, keys or ["0"])

    def of_class(self, texts: Sequence[str]) -> str:
        """The hash of the texts that a class shows."""
        return multiset.row_hash(self.dialect, texts or ["0"])


def _sums_of_classes(engine: Engine, classes: ClassCells, cells: _Cells) -> tuple[int, int]:
    """As ``_found``, of the decided rows: the sums of their other cells, each times the hash of its class."""
    texts = [canonical_text(f"({cell})", cells.types[i], cells.dialect) for i, cell in classes.cells.items()]
    summed = engine.dialect.hash_sum.format(cells.of_others(classes.others))
    rows, total = engine.fetch_rows(
        f"SELECT sum(s.n), sum(s.b * l.{_HASHED}) FROM ({classes.sums(summed)}) AS s "
        f"LEFT JOIN {_hashed(classes, cells.of_class(texts))} AS l ON s.{KEY} = l.{POSITION}"
    )[0]
    return int(rows or 0), int(total or 0)


def _hash_of_classes(engine: Engine, classes: ClassCells, cells: _Cells) -> tuple[int, int]:
    """As ``_found``, of the decided rows: what they have from their class is hashed once for it."""
    places = [i for i in range(len(cells.types)) if i not in classes.cells]
    before = 2 if classes.counted else 1
    names = dict(zip(places, (column_name(i + before) for i in range(len(places))), strict=True))
    columns = [names.get(i, "") for i in range(len(cells.types))]
    number = column_name(1) if classes.counted else None
    # No table of its own, which Spark takes two jobs for: what is joined is computed once all the same.
    rows = classes.rows(_hashed(classes, cells.first(classes.cells)), _HASHED)
    return _found(engine, f"({rows}) AS t", cells.rest(column_name(0), columns), number)


def _hashed(classes: ClassCells, term: str) -> str:
    """A number of each class beside its place, as a relation."""
    labels = f"{identifier(classes.labels)} AS {LABELS}"
    return f"(SELECT {LABELS}.{POSITION} AS {POSITION}, {term} AS {_HASHED} FROM {labels})"


def _found(engine: Engine, relation: str, row: str, number: str | None = None) -> tuple[int, int]:
    """The number of rows of a relation, and the sum of their hashes (see ``sql.multiset``)."""
    rows, total = engine.fetch_rows(multiset.multiset_hash(engine.dialect, relation, row, number))[0]
    return int(rows or 0), int(total or 0)
