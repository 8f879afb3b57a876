"""Inference of cell formats: how numbers and dates of a column are written.

Only shapes (texts with every digit replaced by 0) leave the engine, not values. Every inferred format is
tried on all cells before it is proposed. Cost: one grouping of the columns that may have a format, one scan
per ambiguous date pattern, and one for all formats together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from discreet.engines.base import Engine, SourceTable
from discreet.model.cell_format import CellFormat
from discreet.model.table_spec import SourceSpec
from discreet.profile.column_profile import (
    LIKELY_NULLS,
    SURE_NULLS,
    ColumnProfile,
    column_batch_size,
    grouped_texts_sql,
    literal_list,
)
from discreet.profile.value_shapes import (
    DateShapes,
    NumberMarks,
    are_months,
    read_date_shapes,
    read_number_marks,
    resolve_day_order,
    warn_about_totals,
)
from discreet.sql.cell_expressions import batched, is_text
from discreet.sql.format_parsing import MISREAD, parse_by_format, strip_blanks

PACKED_DAYS = 18_000_101, 21_001_231
"""First and last day that eight digits are read as."""

_WHOLE_NUMBER_SHAPE = re.compile(r"[-+]?0+([.]0{1,2})?")


def infer_whole_numbers(
    columns: Sequence[ColumnProfile],
    shapes_of: Callable[[Sequence[str]], Mapping[str, Collection[str]]],
    fits: Callable[[str, CellFormat], int],
) -> dict[str, CellFormat]:
    """Return the formats of the columns whose numbers are all whole and written with a decimal of 0.

    ``shapes_of`` returns the shapes of columns by name, ``fits`` the number of rows of a column that have a
    format. With three zeros after the point, the point may separate thousands: such columns get no format
    here.
    """
    integral = [c for c in columns if c.numbers and c.points and not (c.fractions or c.zeros)]
    shapes = shapes_of([c.name for c in integral])
    result = {}
    first, last = PACKED_DAYS
    for column in integral:
        if all(_WHOLE_NUMBER_SHAPE.fullmatch(shape) for shape in shapes.get(column.name, ("",))):
            day = CellFormat(dates=("%Y%m%d.0",))
            is_day = first <= column.lowest and column.highest <= last
            is_day = is_day and fits(column.name, day) >= column.filled
            result[column.name] = day if is_day else CellFormat(decimal=".")
    return result


_LONGEST = 40
_MOST_SHAPES = 400
_SOME_ROWS = 20_000
_MOSTLY = 0.5
_MOST_OTHERS = 5
_VALUES_PER_WORD = 10
_NULLS = frozenset(SURE_NULLS + LIKELY_NULLS)
_EMPTY_DATES = ("00.00.0000", "00/00/0000", "00-00-0000", "0000-00-00", "00000000")


@dataclass(frozen=True)
class InferredFormats:
    """Formats by column, each with its reason; ``undecided`` columns contain dates that are not parsed.

    ``null_texts`` mean NULL in columns that have a format; ``padded`` columns have blanks around their texts.
    ``warnings`` name the decisions that are left to the publisher.
    """

    forms: Mapping[str, CellFormat] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    null_texts: tuple[str, ...] = ()
    padded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """True if the formats change how a source is read."""
        return bool(self.forms or self.padded)

    def applied(self, source: SourceSpec) -> SourceSpec:
        """Return a source that is read with these formats."""
        texts = tuple(dict.fromkeys((*source.null_values, *self.null_texts)))
        return replace(
            source,
            formats={**self.forms, **source.formats},
            null_values=texts if self.forms else source.null_values,
            strip=source.strip or bool(self.padded),
        )


@dataclass
class _CollectedFormats:
    """Mutable collector of formats, reasons and warnings."""

    forms: dict[str, CellFormat] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)
    null_texts: dict[str, None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def infer_formats(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], source: SourceSpec
) -> InferredFormats:
    """Infer the formats of a table's text columns, except those whose format the source declares.

    ``table`` may be a copy of the source's table.

    Notes
    -----
    Cost: one grouping of the columns that may have a format, one scan for each date pattern that may be read
    in two ways, and one scan for all formats together.
    """
    candidates = [
        c.name
        for c in columns
        if c.name not in source.formats and is_text(table.types[c.name]) and _may_have_form(c)
    ]
    profiles = {c.name: c for c in columns}
    rows = columns[0].rows if columns else 0
    shapes = _count_shapes(engine, table, _possibly_formatted(engine, table, candidates, profiles), rows)
    nulls = tuple(text for c in columns for text in c.null_texts)
    collected = _CollectedFormats(null_texts=dict.fromkeys(nulls))
    fits = _fit_counter(engine, table, source)
    dates = {name: read_date_shapes(of) for name, of in shapes.items() if not profiles[name].numbers}
    _infer_dates({n: d for n, d in dates.items() if d.values}, collected, fits)
    _find_months(shapes, collected)
    collected.warnings += warn_about_totals(shapes)
    marks = {
        name: read_number_marks({shape: values for shape, (values, _) in of.items()})
        for name, of in shapes.items()
        if name not in collected.forms and name not in collected.undecided and not profiles[name].zeros
    }
    _infer_numbers({n: m for n, m in marks.items() if m.values}, collected, source.decimal, profiles)
    _infer_packed_dates(profiles, candidates, collected, fits)
    left = [c for c in profiles.values() if c.name in candidates and c.name not in collected.forms]
    for name, form in infer_whole_numbers(left, lambda n: _sample_shapes(engine, table, n), fits).items():
        collected.forms[name] = form
        collected.reasons[name] = form.words if form.dates else "whole numbers, written with a decimal of 0"
    _drop_misfits(engine, table, source, collected)
    return InferredFormats(
        collected.forms,
        collected.reasons,
        frozenset(collected.undecided),
        tuple(collected.null_texts),
        tuple(
            c.name
            for c in columns
            if c.padded and c.name not in collected.forms and is_text(table.types[c.name])
        ),
        tuple(collected.warnings),
    )


def _may_have_form(column: ColumnProfile) -> bool:
    return column.distinct > 0 and not column.dates and column.with_digit >= _MOSTLY * column.distinct


def _possibly_formatted(
    engine: Engine, table: SourceTable, names: Sequence[str], profiles: Mapping[str, ColumnProfile]
) -> list[str]:
    """Return the columns that may need a format: texts, and numbers whose points may all separate thousands.

    A plain numeric column is left out if a sample of its rows shows that the point marks decimals.
    """
    pointed = [name for name in names if profiles[name].numbers and profiles[name].points]
    shapes = _sample_shapes(engine, table, pointed)
    decimal = {
        name
        for name, of in shapes.items()
        if read_number_marks({shape: values for shape, (values, _) in of.items()}).decimal
    }
    return [n for n in names if not profiles[n].numbers or (n in pointed and n not in decimal)]


def _sample_shapes(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> dict[str, dict[str, tuple[int, int]]]:
    some = replace(table, relation=f"(SELECT * FROM {table.relation} LIMIT {_SOME_ROWS}) AS r")
    return _count_shapes(engine, some, names, _SOME_ROWS)


def _count_shapes(
    engine: Engine, table: SourceTable, names: Sequence[str], rows: int
) -> dict[str, dict[str, tuple[int, int]]]:
    """Count the values and rows of each shape; columns of over ``_MOST_SHAPES`` shapes are left out."""
    collected: dict[str, dict[str, tuple[int, int]]] = {}
    left_out = literal_list(("", *_EMPTY_DATES))
    # translate replaces every digit by 0, so that the engine groups shapes and returns no value.
    shape = f"translate({strip_blanks('v')}, '123456789', '000000000')"
    for some in batched(names, column_batch_size(rows)):
        groups = (
            f"SELECT place, {shape} AS shape, count(*) AS texts, CAST(sum(n) AS BIGINT) AS n "
            f"FROM ({grouped_texts_sql(table, some)}) AS g "
            f"WHERE v NOT IN ({left_out}) AND length(v) <= {_LONGEST} "
            f"GROUP BY place, {shape}"
        )
        counted = f"SELECT *, count(*) OVER (PARTITION BY place) AS shapes FROM ({groups}) AS s"
        few = f"SELECT place, shape, texts, n FROM ({counted}) AS c WHERE shapes <= {_MOST_SHAPES}"
        for index, text, values, number in engine.fetch_rows(few):
            collected.setdefault(some[int(index)], {})[str(text)] = int(values), int(number)
    return collected


def _infer_dates(columns: Mapping[str, DateShapes], collected: _CollectedFormats, fits: FormatFit) -> None:
    """Infer date formats from shapes; an ambiguous day order is decided by the one that fits all rows."""
    decided: dict[str, bool] = {}
    later = []
    for name, shapes in columns.items():
        words = _words_among(name, shapes.values, shapes.unmatched, collected, "dates")
        if words is None:
            continue
        shapes.words = words
        orders = {key: _day_order(name, key, rows, fits) for key, rows in shapes.ambiguous.items()}
        if any(order == "neither" for order in orders.values()):
            collected.undecided.add(name)
            collected.warnings.append(
                f"'{name}' holds dates that fit neither with the day first nor with the month first, all of "
                "them: it is read as text."
            )
        elif "open" in orders.values():
            later.append((name, shapes, orders))
        else:
            decided |= {key[0]: order == "day" for key, order in orders.items()}
            _add_dates(name, shapes, {k: o == "day" for k, o in orders.items()}, collected, "")
    for name, shapes, orders in later:
        known = {o == "day" for o in orders.values() if o in ("day", "month")} or {*decided.values()}
        if len(known) == 1:
            day_first = next(iter(known))
            day_orders = {
                key: order == "day" if order != "open" else day_first for key, order in orders.items()
            }
            _add_dates(
                name, shapes, day_orders, collected, "; the order of day and month as in the other dates"
            )
        else:
            collected.undecided.add(name)
            key = next(key for key, order in orders.items() if order == "open")
            both = " or ".join(
                f'format = {{dates = "{resolve_day_order(key, day_first=d)}"}}' for d in (True, False)
            )
            collected.warnings.append(
                f"'{name}' holds dates whose order of day and month is ambiguous, as all are 12 or less: "
                f"give {both} in [attributes.{_toml_key(name)}]."
            )


def _find_months(shapes: Mapping[str, Mapping[str, object]], collected: _CollectedFormats) -> None:
    """Mark columns of months written before their years; a mask would keep the month and hide the year."""
    for name, of in shapes.items():
        if are_months([text for text in of if text not in _NULLS]):
            collected.undecided.add(name)
            collected.warnings.append(
                f"'{name}' holds months without days, which are read as text. Written as 2023-05-01 they "
                "would generalize by quarter, year and decade."
            )


def _day_order(name: str, key: tuple[str, str, str], rows: int, fits: FormatFit) -> str:
    """Return the order that fits all rows: ``day`` first, ``month`` first, ``open`` (both) or ``neither``."""
    if key[0].startswith("."):
        return "day"
    day, month = (
        fits(name, _date_format((resolve_day_order(key, day_first=d),))) >= rows for d in (True, False)
    )
    return "open" if day and month else "day" if day else "month" if month else "neither"


def _add_dates(
    name: str,
    shapes: DateShapes,
    orders: Mapping[tuple[str, str, str], bool],
    collected: _CollectedFormats,
    more: str,
) -> None:
    ambiguous = {
        resolve_day_order(key, day_first=orders[key]): rows for key, rows in shapes.ambiguous.items()
    }
    patterns = sorted({**ambiguous, **shapes.certain}.items(), key=lambda pair: -pair[1])
    form = _date_format(tuple(pattern for pattern, _ in patterns))
    collected.forms[name] = replace(form, others=shapes.words)
    collected.reasons[name] = f"{form.words}{more}{_words_text(shapes.words)}"


def _date_format(patterns: tuple[str, ...]) -> CellFormat:
    """Build a date format; two-digit years are read as years up to the current one."""
    short = any("%y" in pattern for pattern in patterns)
    return CellFormat(dates=patterns, pivot=datetime.now(UTC).year if short else None)


def _infer_numbers(
    columns: Mapping[str, NumberMarks],
    collected: _CollectedFormats,
    hint: str | None,
    profiles: Mapping[str, ColumnProfile],
) -> None:
    """Infer number formats from marks; ambiguous marks follow other columns or the declared mark."""
    texts = {n: m for n, m in columns.items() if not profiles[n].numbers}
    decimal_marks = {mark for marks in texts.values() for mark in marks.decimal}
    known = hint or (next(iter(decimal_marks)) if len(decimal_marks) == 1 else None)
    for name, marks in columns.items():
        thousands = marks.ambiguous == {"."} and known == "," and profiles[name].lowest >= 1
        if name not in texts and not (thousands and not marks.decimal):
            continue
        if marks.plain and not thousands and not _are_few_words(marks.values, marks.unmatched):
            continue
        words = _words_among(name, marks.values, marks.unmatched, collected, "numbers")
        if words is None:
            continue
        form = marks.form(known)
        if form is None:
            if marks.mixed:
                collected.warnings.append(
                    f"'{name}' holds numbers of several units, {', '.join(marks.mixed)}: it is read as text. "
                    "Convert them to one in the file."
                )
            elif marks.ambiguous and not marks.decimal and not marks.thousands:
                collected.warnings.append(
                    f"'{name}' holds numbers whose '{min(marks.ambiguous)}' marks decimals or thousands: set "
                    f'which, as in format = {{decimal = ","}} or {{thousands = ","}} in '
                    f"[attributes.{_toml_key(name)}]."
                )
            continue
        collected.forms[name] = replace(form, decimal=form.decimal_mark, others=words)
        some = sum(marks.units.values())
        part = f"; {some:,} of {marks.values:,} values have it" if 0 < some < marks.values else ""
        collected.reasons[name] = f"{form.words}{part}{_words_text(words)}"


def _infer_packed_dates(
    profiles: Mapping[str, ColumnProfile],
    candidates: Sequence[str],
    collected: _CollectedFormats,
    fits: FormatFit,
) -> None:
    """Read eight-digit whole numbers that are all days (20230401) as dates."""
    form = _date_format(("%Y%m%d",))
    for name in candidates:
        column, (first, last) = profiles[name], PACKED_DAYS
        packed = column.numbers and column.codes and first <= column.lowest and column.highest <= last
        if packed and fits(name, form) >= column.filled:
            collected.forms[name], collected.reasons[name] = form, form.words


def _words_among(
    name: str, values: int, unmatched: Mapping[str, int], collected: _CollectedFormats, noun: str
) -> tuple[str, ...] | None:
    """Return the few words among numbers or dates, which are kept; None if too many values do not match.

    Texts that mean NULL are collected as such. If more than half of the values match, a warning is added.
    """
    left = {text: number for text, number in unmatched.items() if text not in _NULLS}
    if not left or _are_few_words(values, left):
        collected.null_texts |= dict.fromkeys(text for text in unmatched if text in _NULLS)
        return tuple(sorted(left))
    missed = sum(left.values())
    if values > missed:
        if noun == "dates":
            collected.undecided.add(name)
        one = min(left, key=lambda shape: (-left[shape], shape))
        collected.warnings.append(
            f"'{name}' looks like {noun}, but {missed:,} of its {values + missed:,} values do not, such as "
            f"those of the form '{one}' (0: any digit): it is read as text. To read it, give its format, "
            "and list the other values under others: format = {…, others = […]} in "
            f"[attributes.{_toml_key(name)}]."
        )
    return None


def _are_few_words(values: int, unmatched: Mapping[str, int]) -> bool:
    """Return whether the unmatched shapes are a few words without digits, far fewer than the values."""
    left = [text for text in unmatched if text not in _NULLS]
    return (
        0 < len(left) <= _MOST_OTHERS
        and _VALUES_PER_WORD * len(left) <= values
        and not any("0" in text for text in left)
    )


def _words_text(words: Sequence[str]) -> str:
    """Return a note that words among other values are kept."""
    if not words:
        return ""
    return f"; {', '.join(map(repr, words))} {'stay' if len(words) > 1 else 'stays'} as written"


FormatFit = Callable[[str, CellFormat], int]
"""Function that counts the rows of a column that fit a format."""


def _fit_counter(engine: Engine, table: SourceTable, source: SourceSpec) -> FormatFit:
    def fits(name: str, form: CellFormat) -> int:
        rows = parse_by_format(
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


def _drop_misfits(
    engine: Engine, table: SourceTable, source: SourceSpec, collected: _CollectedFormats
) -> None:
    """Remove formats that some cell does not have: shapes do not show everything."""
    _add_empty_dates(engine, table, collected)
    nulls = (*source.null_values, *collected.null_texts)

    def missing(forms: Mapping[str, CellFormat]) -> int:
        places = {table.position(name): form for name, form in forms.items()}
        rows = parse_by_format(table.relation, len(table.columns), places, nulls, table.dialect)
        return int(engine.fetch_rows(f"SELECT count(*) FROM ({rows}) AS w WHERE {MISREAD} IS NOT NULL")[0][0])

    if not collected.forms or not missing(collected.forms):
        return
    for name, form in list(collected.forms.items()):
        missed = missing({name: form})
        if missed:
            del collected.forms[name], collected.reasons[name]
            if form.dates:
                collected.undecided.add(name)
                collected.warnings.append(
                    f"'{name}' looks like {form.words}, but {missed:,} rows do not: it is read as text."
                )


def _add_empty_dates(engine: Engine, table: SourceTable, collected: _CollectedFormats) -> None:
    """Read texts such as 00.00.0000, which programs write for no date, as NULL in columns of dates."""
    dated = [name for name, form in collected.forms.items() if form.dates]
    if dated:
        texts = (
            f"SELECT DISTINCT v FROM ({grouped_texts_sql(table, dated)}) AS g WHERE v IN "
            f"({literal_list(_EMPTY_DATES)})"
        )
        collected.null_texts |= {str(text): None for (text,) in sorted(engine.fetch_rows(texts))}


def _toml_key(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
