"""Tests that cell formats mean the same on every engine: the canonical texts of a plain oracle."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from discreet.engines.source_query import check_cell_formats
from discreet.errors import InputError
from discreet.model.cell_format import CellFormat
from discreet.profile.column_study import study_columns
from discreet.profile.spec_inference import propose_spec
from tests.every_engine.places import SLOW_ON_SPARK, Columns, DuckdbPlace, Place

EURO = CellFormat(decimal=",", thousands=".", units=("€", "EUR"))
DOLLAR = CellFormat(decimal=".", thousands=",", units=("$", "US$"))
SWISS = CellFormat(decimal=".", thousands="'", units=("Fr.",))
FRENCH = CellFormat(decimal=",", thousands=" ", units=("%",))
PLAIN = CellFormat(decimal=".")

NUMBERS: Sequence[tuple[CellFormat, str, str | None]] = [
    (EURO, "9116,50", "9116.5"),
    (EURO, " 1.234.567,80 € ", "1234567.8"),
    (EURO, "EUR 5", "5"),
    (EURO, "€-5,00", "-5"),
    (EURO, "-€5,00", "-5"),
    (EURO, "12,5-", "-12.5"),
    (EURO, "12,5-€", "-12.5"),
    (EURO, "12,5 €-", "-12.5"),
    (EURO, "−0,00", "0"),
    (EURO, ",5", "0.5"),
    (EURO, "007", "7"),
    (EURO, "1e+05", "100000"),
    (EURO, "-1,5E3", "-1500"),
    (EURO, "12,5e-3", "0.0125"),
    (EURO, "123456789012345678901234567890,123456789", "123456789012345678901234567890.123456789"),
    (EURO, "1.23", None),
    (EURO, "1.2345", None),
    (EURO, "1,2,3", None),
    (EURO, "--5", None),
    (EURO, "-5-", None),
    (EURO, "(5", None),
    (EURO, "5 $", None),
    (EURO, "", None),
    (EURO, "k.A.", None),
    (EURO, "5\n6", None),
    (DOLLAR, "$69,207.00", "69207"),
    (DOLLAR, "($1,234.50)", "-1234.5"),
    (DOLLAR, "US$ 3", "3"),
    (DOLLAR, "12,34,567", "1234567"),
    (DOLLAR, "1,23", None),
    (SWISS, "Fr. 1'234.05", "1234.05"),
    (SWISS, "Frx 1", None),
    (FRENCH, "1\u202f234,5\u00a0%", "1234.5"),
    (FRENCH, "1 234 567", "1234567"),
    (FRENCH, "\u00a012 %", "12"),
    (PLAIN, "+1.50", "1.5"),
    (PLAIN, "1,5", None),
]

GERMAN = CellFormat(dates=("%d.%m.%Y", "%Y-%m-%d"))
SHORT = CellFormat(dates=("%d.%m.%y",), pivot=2030)
AMERICAN = CellFormat(dates=("%m/%d/%Y %I:%M %p", "%m/%d/%Y"))
NAMED = CellFormat(dates=("%d-%b-%Y", "%d. %B %Y", "%d%b%y"), pivot=1999)
ZONED = CellFormat(dates=("%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S.%f", "%Y%m%d%H%M%S"))

DATES: Sequence[tuple[CellFormat, str, str | None]] = [
    (GERMAN, "01.04.2023", "2023-04-01"),
    (GERMAN, " 1.4.2023", "2023-04-01"),
    (GERMAN, "2023-04-01", "2023-04-01"),
    (GERMAN, "31.04.2023", None),
    (GERMAN, "29.02.2024", "2024-02-29"),
    (GERMAN, "29.02.2023", None),
    (GERMAN, "29.02.1900", None),
    (GERMAN, "29.02.2000", "2000-02-29"),
    (GERMAN, "01x04x2023", None),
    (GERMAN, "32.01.2023", None),
    (GERMAN, "01.04.23", None),
    (GERMAN, "01.01.0000", None),
    (SHORT, "17.03.30", "2030-03-17"),
    (SHORT, "17.03.31", "1931-03-17"),
    (AMERICAN, "02/14/1972", "1972-02-14"),
    (AMERICAN, "2/14/1972 12:05 am", "1972-02-14T00:05:00"),
    (AMERICAN, "2/14/1972 12:05 PM", "1972-02-14T12:05:00"),
    (AMERICAN, "2/14/1972 1:05 PM", "1972-02-14T13:05:00"),
    (AMERICAN, "14/02/1972", None),
    (NAMED, "14-FEB-1972", "1972-02-14"),
    (NAMED, "3. März 1999", "1999-03-03"),
    (NAMED, "14feb72", "1972-02-14"),
    (NAMED, "14-fab-1972", None),
    (ZONED, "2023-04-01T23:15:00+02:00", "2023-04-01T23:15:00"),
    (ZONED, "2023-04-01T23:15:00Z", "2023-04-01T23:15:00"),
    (ZONED, "2023-04-01 23:15:07.120", "2023-04-01T23:15:07.12"),
    (ZONED, "20230401231507", "2023-04-01T23:15:07"),
    (ZONED, "2023-04-01T24:15:00Z", None),
]


def read(place: Place, columns: Columns, **options: object) -> dict[str, list[str | None]]:
    """Return the texts of columns as they are read, in the order of the rows."""
    rows = len(next(iter(columns.values()))[1])
    source = place.put({**columns, "row": ("INTEGER", list(range(rows)))}, **options)
    with place.connect(source) as engine:
        table = engine.open_source(source)
        texts = ", ".join(table.text(name) for name in columns)
        order = table.column("row")
        found = engine.fetch_rows(f"SELECT {texts} FROM {table.relation} ORDER BY {order}")
        engine.close_source(table)
    return {name: [row[i] for row in found] for i, name in enumerate(columns)}


def by_form(
    cases: Sequence[tuple[CellFormat, str, str | None]],
) -> dict[CellFormat, list[tuple[str, str | None]]]:
    """Return the cases of each format."""
    found: dict[CellFormat, list[tuple[str, str | None]]] = {}
    for form, written, expected in cases:
        found.setdefault(form, []).append((written, expected))
    return found


@pytest.mark.parametrize("cases", [NUMBERS, DATES], ids=["numbers", "dates"])
def test_written_form_gives_the_canonical_text(
    place: Place, cases: Sequence[tuple[CellFormat, str, str | None]]
) -> None:
    forms = by_form(cases)
    longest = max(map(len, forms.values()))
    columns = {
        f"column {i}": ("VARCHAR", [written for written, _ in of] + [None] * (longest - len(of)))
        for i, of in enumerate(forms.values())
    }
    written = {f"column {i}": form for i, form in enumerate(forms)}
    found = read(place, columns, formats=written)
    for i, of in enumerate(forms.values()):
        expected = [text if canonical is None else canonical for text, canonical in of]
        assert found[f"column {i}"] == expected + [None] * (longest - len(of))


def oracle_number(text: str) -> str:
    """Parse a number with a decimal comma, points and a euro sign, in Python's own arithmetic."""
    plain = text.replace("€", "").replace(".", "").replace(",", ".").strip()
    number = format(Decimal(plain), "f")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return "0" if number == "-0" else number


def test_drawn_numbers_and_dates_equal_those_of_the_oracle(place: Place) -> None:
    draw = random.Random(7)
    numbers = []
    for _ in range(150):
        value = Decimal(draw.randrange(-(10**9), 10**9)).scaleb(-draw.randrange(4))
        english = f"{value:,}" if draw.random() < 0.6 else f"{value}"
        numbers.append(english.translate(str.maketrans(",.", ".,")) + draw.choice(["", " €", "€"]))
    days = [dt.date(1900, 1, 1) + dt.timedelta(draw.randrange(60_000)) for _ in range(150)]
    patterns = [draw.choice(["%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d"]) for _ in days]
    dates = [day.strftime(pattern) for day, pattern in zip(days, patterns, strict=True)]
    form = CellFormat(dates=("%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d"))
    found = read(
        place,
        {"cost": ("VARCHAR", numbers), "day": ("VARCHAR", dates)},
        formats={"cost": EURO, "day": form},
    )
    assert found["cost"] == [oracle_number(text) for text in numbers]
    assert found["day"] == [day.isoformat() for day in days]
    assert all(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", str(text)) for text in found["cost"])


def test_null_texts_precede_others_and_the_rest_is_refused_by_name(place: Place) -> None:
    cells = ["1,5", " NA ", "NA", "k.A. ", None, "2,50"]
    form = CellFormat(decimal=",", others=("k.A.",))
    source = place.put({"cost": ("VARCHAR", cells)}, null_values=("NA",), formats={"cost": form})
    with place.connect(source) as engine:
        table = engine.open_source(source)
        check_cell_formats(engine, table, source)
        found = engine.fetch_rows(f"SELECT {table.text('cost')} FROM {table.relation}")
    assert sorted(map(str, (row[0] for row in found))) == ["1.5", "2.5", "None", "None", "None", "k.A."]

    wrong = place.put({"cost": ("VARCHAR", [*cells, "?"])}, formats={"cost": form})
    with place.connect(wrong) as engine:
        table = engine.open_source(wrong)
        with pytest.raises(InputError, match="3 cells of the column 'cost'") as error:
            check_cell_formats(engine, table, wrong)
    assert "null_values" in str(error.value)
    assert "others" in str(error.value)


@SLOW_ON_SPARK
def test_defaults_of_the_source_apply_to_every_other_column(place: Place) -> None:
    columns: Mapping[str, tuple[str, Sequence[str | None]]] = {
        "cost": ("VARCHAR", ["9116,50", " 7 ", "n,a"]),
        "sex": ("VARCHAR", ["m", "m ", " f"]),
        "zip": ("VARCHAR", ["01234", "0123,5", "1"]),
        "own": ("VARCHAR", ["1.5", "2.50", "3"]),
    }
    found = read(place, columns, decimal=",", strip=True, formats={"own": PLAIN})
    assert found["cost"] == ["9116.5", "7", "n,a"]
    assert found["sex"] == ["m", "m", "f"]
    assert found["zip"] == ["01234", "0123,5", "1"]
    assert found["own"] == ["1.5", "2.5", "3"]
    assert read(place, columns, decimal=",")["sex"] == ["m", "m ", " f"]


def test_columns_of_whole_floats_are_read_as_whole_numbers(place: Place) -> None:
    columns: Columns = {
        "zip": ("DOUBLE", [53711.0, None, -0.0, 2.0**52]),
        "cost": ("DOUBLE", [1.0, 2.5, None, 3.0]),
        "huge": ("DOUBLE", [1e300, 2.0, 3.0, 4.0]),
        "none": ("DOUBLE", [None] * 4),
    }
    texts = {
        True: [("53711", "1.0"), (None, "2.5"), ("0", None), ("4503599627370496", "3.0")],
        False: [("53711.0", "1.0"), (None, "2.5"), ("-0.0", None), ("4503599627370496.0", "3.0")],
    }
    for whole in (True, False):
        source = place.put(columns, floats_as_integers=whole)
        with place.connect(source) as engine:
            table = engine.open_source(source)
            assert table.types["zip"] == ("BIGINT" if whole else "DOUBLE")
            assert [table.types[name] for name in ("cost", "huge", "none")] == ["DOUBLE"] * 3
            found = engine.fetch_rows(
                f"SELECT {table.text('zip')}, {table.text('cost')} FROM {table.relation}"
            )
        expected = place.read_as({"zip": ("DOUBLE", [-0.0])})["zip"][1] if not whole else []
        if whole or expected == [-0.0]:
            assert sorted(found, key=str) == sorted(texts[whole], key=str)


def test_column_without_texts_has_no_written_form(place: Place) -> None:
    source = place.put({"cost": ("DOUBLE", [1.5])}, formats={"cost": EURO})
    with place.connect(source) as engine, pytest.raises(InputError, match="contains DOUBLE, not text"):
        engine.open_source(source)


@SLOW_ON_SPARK
def test_formats_are_proposed_alike_everywhere(place: Place) -> None:
    columns: Columns = {
        "Kosten": ("VARCHAR", [f"{i % 7}.{i:03},50 €" for i in range(60)]),
        "birthdate": ("VARCHAR", [f"{1 + i % 28:02}/{1 + i % 12:02}/19{50 + i % 40}" for i in range(60)]),
        "visit": ("VARCHAR", [f"01/{1 + i % 12:02}/2023 10:{i % 60:02}" for i in range(60)]),
        " sex\u00a0": ("VARCHAR", ["m ", "f"] * 30),
    }
    source = place.put(columns)
    with place.connect(source) as engine:
        found = propose_spec(engine, source)
        study = study_columns(engine, source, memory_limit=10**9)
    forms = {a.name: a.format for a in found.attributes}
    assert forms == {
        "Kosten": CellFormat(",", ".", ("€",)),
        "birthdate": CellFormat(dates=("%d/%m/%Y",)),
        "visit": CellFormat(dates=("%d/%m/%Y %H:%M",)),
        "sex": None,
    }
    assert found.padded_names == study.proposal.padded_names == (" sex\u00a0",)
    assert {a.name: a.format for a in study.proposal.attributes} == forms
    assert study.occurring("sex")[0] == ("f", "m")
    assert study.occurring("birthdate")[0][:2] == ("1950-01-01", "1950-05-13")


def test_engine_that_reads_no_forms_is_refused(duckdb_place: DuckdbPlace) -> None:
    source = duckdb_place.put({"cost": ("VARCHAR", ["1,5"])})
    with duckdb_place.connect(source) as engine:
        table = engine.open_source(source)
        with pytest.raises(InputError, match="does not read cells by a written form"):
            check_cell_formats(engine, table, replace(source, formats={"cost": EURO}))
