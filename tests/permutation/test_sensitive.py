"""Reading of a sensitive column: codes of rows, and the exact numbers of the texts."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError
from discreet.model.release_kind import SensitiveColumn
from discreet.permutation.sensitive_column import NumberForm, read_sensitive, select_rows, total_magnitude
from discreet.sql import value_permutation as sql


def read(engine: Engine, *texts: str | None) -> tuple[SensitiveColumn, NumberForm | None]:
    with TemporaryTables(engine) as tables:
        held = tables.load({"cell": list(texts), sql.ROW_NUMBER: np.arange(len(texts))})
        return read_sensitive(engine, tables, held, "cell", "pay", len(texts))


def row_numbers(column: SensitiveColumn) -> list[Decimal | float | None]:
    """Return the number of each row."""
    assert column.numbers is not None
    numbers = column.numbers.tolist()
    exact = column.numbers.dtype.kind == "i"
    return [
        None if code < 0 else (Decimal(numbers[code]).scaleb(-column.scale) if exact else numbers[code])
        for code in column.codes.tolist()
    ]


def test_whole_numbers_are_read(engine: Engine) -> None:
    column, form = read(engine, "7", "-12", None, "7", "0", "+3")
    assert form == NumberForm(0)
    assert row_numbers(column) == [7, -12, None, 7, 0, 3]
    assert column.codes.tolist() == [3, 0, -1, 3, 1, 2]


def test_decimals_keep_their_scale(engine: Engine) -> None:
    column, form = read(engine, "1.5", "-0.25", "2", ".5", "4.")
    assert (form, column.scale) == (NumberForm(2), 2)
    assert row_numbers(column) == [Decimal("1.5"), Decimal("-0.25"), 2, Decimal("0.5"), 4]


def test_texts_of_one_number_are_one_value(engine: Engine) -> None:
    column, _ = read(engine, "1", "1.0", " 01", "+1", "2", "-0", "0.0")
    assert column.codes.tolist() == [1, 1, 1, 1, 2, 0, 0]
    assert column.distinct == 3
    double, _ = read(engine, "1e3", "1000", "-0e0", "0")
    assert double.codes.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("text", [str(2**62), str(-(2**62)), str(2**63 - 1), str(-(2**63) + 1)])
def test_whole_numbers_of_64_bits_are_exact(engine: Engine, text: str) -> None:
    column, form = read(engine, text, "1")
    assert form == NumberForm(0, canonical=True)
    assert row_numbers(column) == [int(text), 1]


@pytest.mark.parametrize("texts", [("10", "-3", "0"), ("1.50", "-0.25", "0.00"), (str(2**63 - 1),)])
def test_texts_equal_to_their_formatted_numbers_are_canonical(engine: Engine, texts: tuple[str, ...]) -> None:
    _, form = read(engine, *texts, None)
    assert form is not None
    assert form.canonical


@pytest.mark.parametrize(
    "texts",
    [("10", "010"), ("1.5", "2"), ("+1",), (" 1",), ("-0",), ("-0.0",), (".5",), ("5.",), ("1e0",)],
)
def test_texts_unlike_their_formatted_numbers_are_not_canonical(
    engine: Engine, texts: tuple[str, ...]
) -> None:
    _, form = read(engine, *texts)
    assert form is not None
    assert not form.canonical


@pytest.mark.parametrize("text", [str(2**63), "1e20", "0." + "1" * 30, "12345678901234567.123"])
def test_other_numbers_are_doubles(engine: Engine, text: str) -> None:
    column, form = read(engine, text, "1")
    assert form == NumberForm(None)
    assert row_numbers(column) == [float(text), 1.0]


@pytest.mark.parametrize("text", ["flu", "", "1,000", "NaN", "inf", "0x10", "1_000", "1e999"])
def test_one_other_text_keeps_the_column_as_texts(engine: Engine, text: str) -> None:
    column, form = read(engine, "5", text, None, "10")
    assert form is None
    assert column.numbers is None
    assert column.distinct == 3
    places = {each: place for place, each in enumerate(sorted(["5", text, "10"]))}
    assert column.codes.tolist() == [places["5"], places[text], -1, places["10"]]


def test_column_without_values_is_read(engine: Engine) -> None:
    column, form = read(engine, None, None)
    assert form is None
    assert column.distinct == 0
    assert column.codes.tolist() == [-1, -1]


def test_doubles_whose_sum_overflows_are_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="exceed the range"):
        read(engine, "1e308", "1e307", "2")


def test_selected_rows_keep_only_their_values(engine: Engine) -> None:
    column, _ = read(engine, "7", None, "5", "9", "5")
    part = select_rows(column, np.array([1, 2, 3]))
    assert part.distinct == 2
    assert row_numbers(part) == [None, 5, 9]


def test_total_magnitude_is_never_rounded(engine: Engine) -> None:
    column, _ = read(engine, str(2**62), str(-(2**62)), "1", None)
    assert total_magnitude(column) == 2**63 + 1
    column, _ = read(engine, "-7", "2.5", None, "-7")
    assert total_magnitude(column) == 165
