"""How columns seem to be written: forms of numbers and dates, told from the shapes of their texts.

A shape is a text of which every digit has become a 0: shapes leave the engine, values do not. What they
suggest is tried on every cell before it is proposed, so that a proposal works as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from discreet.engines.base import Engine, SourceTable
from discreet.model.table_spec import SourceSpec
from discreet.model.written_form import WrittenForm
from discreet.profile.columns import (
    LIKELY_NULLS,
    SURE_NULLS,
    ColumnProfile,
    columns_at_once,
    grouped_texts,
)
from discreet.profile.date_shapes import DateShapes, are_months, date_shapes, ordered
from discreet.profile.number_shapes import NumberMarks, number_marks, totals
from discreet.profile.whole_numbers import PACKED_DAYS, whole_number_forms
from discreet.sql.cells import in_parts
from discreet.sql.names import literal
from discreet.sql.source import is_text
from discreet.sql.written import MISREAD, read_as_written
from discreet.sql.written_steps import stripped

_LONGEST = 40
_MOST_SHAPES = 400
_SOME_ROWS = 20_000
_MOSTLY = 0.5
_MOST_OTHERS = 5
_TO_EACH_WORD = 10
_NULLS = frozenset(SURE_NULLS + LIKELY_NULLS)
_NO_DAYS = ("00.00.0000", "00/00/0000", "00-00-0000", "0000-00-00", "00000000")


@dataclass(frozen=True)
class ToldForms:
    """Forms by column, each with its reason; ``undecided`` columns hold dates that are not read.

    ``null_texts`` stand for NULL in columns that have a form, ``padded`` columns have blanks around texts.
    ``warnings`` say what a publisher must decide.
    """

    forms: Mapping[str, WrittenForm] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    null_texts: tuple[str, ...] = ()
    padded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether a source is to be read otherwise."""
        return bool(self.forms or self.padded)

    def applied(self, source: SourceSpec) -> SourceSpec:
        """A source that is read so."""
        texts = tuple(dict.fromkeys((*source.null_values, *self.null_texts)))
        return replace(
            source,
            written={**self.forms, **source.written},
            null_values=texts if self.forms else source.null_values,
            strip=source.strip or bool(self.padded),
        )


@dataclass
class _Found:
    """What is being collected."""

    forms: dict[str, WrittenForm] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)
    null_texts: dict[str, None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def tell_forms(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], source: SourceSpec
) -> ToldForms:
    """The forms of a table's columns of texts, but for those whose form the source declares.

    ``table`` may be a copy of the source's. Cost: a grouping of the columns that may have a form, and a scan
    for each pattern of dates that may be read in two ways, and one for all forms together.
    """
    asked = [
        c.name
        for c in columns
        if c.name not in source.written and is_text(table.types[c.name]) and _may_have_form(c)
    ]
    profiles = {c.name: c for c in columns}
    rows = columns[0].rows if columns else 0
    shapes = _shapes(engine, table, _not_plain(engine, table, asked, profiles), rows)
    nulls = tuple(text for c in columns for text in c.null_texts)
    found = _Found(null_texts=dict.fromkeys(nulls))
    fits = _fitting(engine, table, source)
    dates = {name: date_shapes(of) for name, of in shapes.items() if not _is_plain(profiles[name])}
    _tell_dates({n: d for n, d in dates.items() if d.values}, found, fits)
    _tell_months(shapes, found)
    found.warnings += totals(shapes)
    marks = {
        name: number_marks({shape: values for shape, (values, _) in of.items()})
        for name, of in shapes.items()
        if name not in found.forms and name not in found.undecided and not profiles[name].zeros
    }
    _tell_numbers({n: m for n, m in marks.items() if m.values}, found, source.decimal, profiles)
    _tell_packed(profiles, asked, found, fits)
    left = [c for c in profiles.values() if c.name in asked and c.name not in found.forms]
    for name, form in whole_number_forms(left, lambda n: _some_shapes(engine, table, n), fits).items():
        found.forms[name] = form
        found.reasons[name] = form.words if form.dates else "whole numbers, written with a decimal of 0"
    _drop_misfits(engine, table, source, found)
    return ToldForms(
        found.forms,
        found.reasons,
        frozenset(found.undecided),
        tuple(found.null_texts),
        tuple(
            c.name for c in columns if c.padded and c.name not in found.forms and is_text(table.types[c.name])
        ),
        tuple(found.warnings),
    )


def _may_have_form(column: ColumnProfile) -> bool:
    return column.distinct > 0 and not column.dates and column.with_digit >= _MOSTLY * column.distinct


def _is_plain(column: ColumnProfile) -> bool:
    """Whether a column's values are numbers already, as they stand."""
    return column.numbers


def _not_plain(
    engine: Engine, table: SourceTable, names: Sequence[str], profiles: Mapping[str, ColumnProfile]
) -> list[str]:
    """The columns that may have a form after all: numbers with points have decimals where some rows say so.

    Only columns all of whose points may part thousands (1.234) are left of those that hold plain numbers.
    """
    pointed = [name for name in names if profiles[name].numbers and profiles[name].points]
    shapes = _some_shapes(engine, table, pointed)
    decimal = {
        name
        for name, of in shapes.items()
        if number_marks({shape: values for shape, (values, _) in of.items()}).decimal
    }
    return [n for n in names if not profiles[n].numbers or (n in pointed and n not in decimal)]


def _some_shapes(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> dict[str, dict[str, tuple[int, int]]]:
    """The shapes of columns in the first rows of a table."""
    some = replace(table, relation=f"(SELECT * FROM {table.relation} LIMIT {_SOME_ROWS}) AS r")
    return _shapes(engine, some, names, _SOME_ROWS)


def _shapes(
    engine: Engine, table: SourceTable, names: Sequence[str], rows: int
) -> dict[str, dict[str, tuple[int, int]]]:
    """The shapes of columns that have few, each with its number of values and of rows."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    left_out = _listed(("", *_NO_DAYS))
    shape = f"translate({stripped('v')}, '123456789', '000000000')"
    for some in in_parts(names, columns_at_once(rows)):
        groups = (
            f"SELECT place, {shape} AS shape, count(*) AS texts, CAST(sum(n) AS BIGINT) AS n "
            f"FROM ({grouped_texts(table, some)}) AS g "
            f"WHERE v NOT IN ({left_out}) AND length(v) <= {_LONGEST} "
            f"GROUP BY place, {shape}"
        )
        counted = f"SELECT *, count(*) OVER (PARTITION BY place) AS shapes FROM ({groups}) AS s"
        few = f"SELECT place, shape, texts, n FROM ({counted}) AS c WHERE shapes <= {_MOST_SHAPES}"
        for place, text, values, number in engine.fetch_rows(few):
            found.setdefault(some[int(place)], {})[str(text)] = int(values), int(number)
    return found


def _tell_dates(columns: Mapping[str, DateShapes], found: _Found, fits: Fits) -> None:
    """Dates by the patterns of their shapes; where day and month may change places, by what fits."""
    decided: dict[str, bool] = {}
    later = []
    for name, shapes in columns.items():
        words = _words_beside(name, shapes.values, shapes.strange, found, "dates")
        if words is None:
            continue
        shapes.words = words
        orders = {key: _order(name, key, rows, fits) for key, rows in shapes.open_.items()}
        if any(order == "neither" for order in orders.values()):
            found.undecided.add(name)
            found.warnings.append(
                f"'{name}' holds dates that fit neither with the day first nor with the month first, all of "
                "them: it is read as text."
            )
        elif "open" in orders.values():
            later.append((name, shapes, orders))
        else:
            decided |= {key[0]: order == "day" for key, order in orders.items()}
            _add_dates(name, shapes, {k: o == "day" for k, o in orders.items()}, found, "")
    for name, shapes, orders in later:
        known = {o == "day" for o in orders.values() if o in ("day", "month")} or {*decided.values()}
        if len(known) == 1:
            day_first = next(iter(known))
            told = {key: order == "day" if order != "open" else day_first for key, order in orders.items()}
            _add_dates(name, shapes, told, found, "; the order of day and month as in the other dates")
        else:
            found.undecided.add(name)
            key = next(key for key, order in orders.items() if order == "open")
            both = " or ".join(f'written = {{dates = "{ordered(key, day_first=d)}"}}' for d in (True, False))
            found.warnings.append(
                f"'{name}' holds dates whose day and month nothing tells apart, as all are 12 or less: "
                f"say {both} in [attributes.{_quoted(name)}]."
            )


def _tell_months(shapes: Mapping[str, Mapping[str, object]], found: _Found) -> None:
    """Months before their years: masked from behind they would show the month and hide the year."""
    for name, of in shapes.items():
        if are_months([text for text in of if text not in _NULLS]):
            found.undecided.add(name)
            found.warnings.append(
                f"'{name}' holds months without days, which are read as text. Written as 2023-05-01 they "
                "would generalize by quarter, year and decade."
            )


def _order(name: str, key: tuple[str, str, str], rows: int, fits: Fits) -> str:
    """Whether dates have the day first, the month, either (``open``) or some the one and some the other."""
    if key[0].startswith("."):
        return "day"
    day, month = (fits(name, _dates((ordered(key, day_first=d),))) >= rows for d in (True, False))
    return "open" if day and month else "day" if day else "month" if month else "neither"


def _add_dates(
    name: str, shapes: DateShapes, orders: Mapping[tuple[str, str, str], bool], found: _Found, more: str
) -> None:
    open_ = {ordered(key, day_first=orders[key]): rows for key, rows in shapes.open_.items()}
    patterns = sorted({**open_, **shapes.sure}.items(), key=lambda pair: -pair[1])
    form = _dates(tuple(pattern for pattern, _ in patterns))
    found.forms[name] = replace(form, others=shapes.words)
    found.reasons[name] = f"{form.words}{more}{_told_words(shapes.words)}"


def _dates(patterns: tuple[str, ...]) -> WrittenForm:
    """Dates by patterns; years of two digits are those up to this one."""
    short = any("%y" in pattern for pattern in patterns)
    return WrittenForm(dates=patterns, pivot=datetime.now(UTC).year if short else None)


def _tell_numbers(
    columns: Mapping[str, NumberMarks],
    found: _Found,
    hint: str | None,
    profiles: Mapping[str, ColumnProfile],
) -> None:
    """Numbers by their marks; a mark that may be either is told by other columns, or by the publisher."""
    texts = {n: m for n, m in columns.items() if not _is_plain(profiles[n])}
    told = {mark for marks in texts.values() for mark in marks.decimal}
    known = hint or (next(iter(told)) if len(told) == 1 else None)
    for name, marks in columns.items():
        thousands = marks.open_ == {"."} and known == "," and profiles[name].lowest >= 1
        if name not in texts and not (thousands and not marks.decimal):
            continue
        if marks.plain and not thousands and not _few_words(marks.values, marks.strange):
            continue
        words = _words_beside(name, marks.values, marks.strange, found, "numbers")
        if words is None:
            continue
        form = marks.form(known)
        if form is None:
            if marks.mixed:
                found.warnings.append(
                    f"'{name}' holds numbers of several units, {', '.join(marks.mixed)}: it is read as text. "
                    "Convert them to one in the file."
                )
            elif marks.open_ and not marks.decimal and not marks.thousands:
                found.warnings.append(
                    f"'{name}' holds numbers whose '{min(marks.open_)}' marks decimals or thousands: say "
                    f'which, as in written = {{decimal = ","}} or {{thousands = ","}} in '
                    f"[attributes.{_quoted(name)}]."
                )
            continue
        found.forms[name] = replace(form, decimal=form.decimal_mark, others=words)
        some = sum(marks.units.values())
        part = f"; {some:,} of {marks.values:,} values have it" if 0 < some < marks.values else ""
        found.reasons[name] = f"{form.words}{part}{_told_words(words)}"


def _tell_packed(
    profiles: Mapping[str, ColumnProfile], asked: Sequence[str], found: _Found, fits: Fits
) -> None:
    """Whole numbers of eight digits that are all days: 20230401."""
    form = _dates(("%Y%m%d",))
    for name in asked:
        column, (first, last) = profiles[name], PACKED_DAYS
        packed = column.numbers and column.codes and first <= column.lowest and column.highest <= last
        if packed and fits(name, form) >= column.filled:
            found.forms[name], found.reasons[name] = form, form.words


def _words_beside(
    name: str, values: int, strange: Mapping[str, int], found: _Found, what: str
) -> tuple[str, ...] | None:
    """The few words among values of a kind, which stay as they are; None where too much is of no kind.

    Texts that stand for NULL are noted as such; a warning says where a kind is missed by less than half.
    """
    left = {text: number for text, number in strange.items() if text not in _NULLS}
    if not left or _few_words(values, left):
        found.null_texts |= dict.fromkeys(text for text in strange if text in _NULLS)
        return tuple(sorted(left))
    missed = sum(left.values())
    if values > missed:
        if what == "dates":
            found.undecided.add(name)
        one = min(left, key=lambda shape: (-left[shape], shape))
        found.warnings.append(
            f"'{name}' looks like {what}, but {missed:,} of its {values + missed:,} values do not, such as "
            f"those of the form '{one}' (0: any digit): it is read as text. To read it, say its form, and "
            f"under others what stays: written = {{…, others = […]}} in [attributes.{_quoted(name)}]."
        )
    return None


def _few_words(values: int, strange: Mapping[str, int]) -> bool:
    """Whether what is no number or date are words, few and fewer by far than the others."""
    left = [text for text in strange if text not in _NULLS]
    return (
        0 < len(left) <= _MOST_OTHERS
        and _TO_EACH_WORD * len(left) <= values
        and not any("0" in text for text in left)
    )


def _told_words(words: Sequence[str]) -> str:
    """What becomes of words among other values."""
    if not words:
        return ""
    return f"; {', '.join(map(repr, words))} {'stay' if len(words) > 1 else 'stays'} as written"


Fits = Callable[[str, WrittenForm], int]
"""How many rows of a column fit a form."""


def _fitting(engine: Engine, table: SourceTable, source: SourceSpec) -> Fits:
    def fits(name: str, form: WrittenForm) -> int:
        rows = read_as_written(
            table.relation,
            len(table.columns),
            {table.position(name): form},
            source.null_values,
            table.dialect,
        )
        cell = table.column(name)
        query = f"SELECT count(*) FROM ({rows}) AS w WHERE {MISREAD} IS NULL AND {cell} IS NOT NULL"
        return int(engine.fetch_rows(query)[0][0])

    return fits


def _drop_misfits(engine: Engine, table: SourceTable, source: SourceSpec, found: _Found) -> None:
    """Leave out forms that a cell misses after all: what shapes say is not all that there is to say."""
    _add_no_days(engine, table, found)
    nulls = (*source.null_values, *found.null_texts)

    def missing(forms: Mapping[str, WrittenForm]) -> int:
        places = {table.position(name): form for name, form in forms.items()}
        rows = read_as_written(table.relation, len(table.columns), places, nulls, table.dialect)
        return int(engine.fetch_rows(f"SELECT count(*) FROM ({rows}) AS w WHERE {MISREAD} IS NOT NULL")[0][0])

    if not found.forms or not missing(found.forms):
        return
    for name, form in list(found.forms.items()):
        missed = missing({name: form})
        if missed:
            del found.forms[name], found.reasons[name]
            if form.dates:
                found.undecided.add(name)
                found.warnings.append(
                    f"'{name}' looks like {form.words}, but {missed:,} rows do not: it is read as text."
                )


def _add_no_days(engine: Engine, table: SourceTable, found: _Found) -> None:
    """Read as NULL what programs write for no day at all, where columns of dates have it."""
    dated = [name for name, form in found.forms.items() if form.dates]
    if dated:
        texts = (
            f"SELECT DISTINCT v FROM ({grouped_texts(table, dated)}) AS g WHERE v IN ({_listed(_NO_DAYS)})"
        )
        found.null_texts |= {str(text): None for (text,) in sorted(engine.fetch_rows(texts))}


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(map(literal, texts))


def _quoted(name: str) -> str:
    """A name as a key of TOML."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
