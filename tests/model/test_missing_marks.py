"""Texts and numbers that mark a missing value."""

from __future__ import annotations

import pytest

from discreet.model.cell_format import is_star
from discreet.model.missing_value_codes import (
    MARK_NUMBERS,
    MARK_SPELLINGS,
    MARK_WORDS,
    RemainingCells,
    is_mark,
)

MARKS = [
    *("suppressed", "unknown", "missing", "not stated", "None", "?", "-", "n/a", "k. A.", "unbekannt"),
    *("refused", "don't know", "NULL", "(null)", "#N/A", "Unknown", " UNKNOWN ", "<missing>", "[redacted]"),
    *("Keine Angabe", "non renseigné", "DESCONOCIDO", "неизвестно", "НЕИЗВЕСТНО", "未知", "不明", "모름"),
    *("غير معروف", "לא ידוע", "bilinmiyor", "onbekend", "nieznane", "uoplyst", "Άγνωστο", "*suppressed*"),
]


@pytest.mark.parametrize("text", MARKS)
def test_mark_is_recognized(text: str) -> None:
    assert is_mark(text, sensitive=False)


@pytest.mark.parametrize(
    "text", ["flu", "", "Miss", "Nil disease", "unknownness", "0", "()", "*", "99", "none of it"]
)
def test_other_texts_are_not_marks(text: str) -> None:
    assert not is_mark(text, sensitive=True)


@pytest.mark.parametrize("text", ["NC", "ND", "DK"])
def test_letters_that_name_places_are_marks_only_among_diagnoses(text: str) -> None:
    assert (is_mark(text, sensitive=False), is_mark(text, sensitive=True)) == (False, True)


def test_every_word_is_in_small_letters_and_found() -> None:
    for word in MARK_WORDS:
        assert word == word.strip() == word.lower()
        assert word in MARK_SPELLINGS
        assert is_mark(word.upper(), sensitive=False)


@pytest.mark.parametrize(
    ("number", "others", "apart"),
    [
        (99, RemainingCells(4, 0, 1, 5), True),
        (99, RemainingCells(70, 0, 18, 97), False),
        (999, RemainingCells(70, 0, 18, 97), True),
        (-9, RemainingCells(4, 0, 0, 100_000), True),
        (-9, RemainingCells(4, 0, -40, 30), False),
        (99, RemainingCells(0, 5), True),
        (99, RemainingCells(0, 0), False),
        (99, RemainingCells(4, 0, 5, 5), True),
        (66, RemainingCells(4, 0, 0, 500), False),
    ],
)
def test_number_far_from_the_others_is_a_code(number: float, others: RemainingCells, *, apart: bool) -> None:
    assert others.is_outlier(number) is apart


def test_codes_are_those_of_statistics_programs() -> None:
    assert {"-9", "99", "999", "-1", "-99", "99.0", "777"} <= {*MARK_NUMBERS}
    assert not {"9", "1", "0", "100", "-3"} & {*MARK_NUMBERS}


@pytest.mark.parametrize(
    ("text", "star"), [("*", True), (" * ", True), ("**", True), ("", False), (" ", False), ("*1", False)]
)
def test_star_is_recognized(text: str, *, star: bool) -> None:
    assert is_star(text) is star
