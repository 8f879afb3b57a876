"""Errors use the terms of the caller's interface: options on the command line, keywords in Python."""

from __future__ import annotations

import pytest

from discreet.errors import InputError, python_wording


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("--output PATH, or --table SCHEMA.NAME here", "output=PATH, or table=SCHEMA.NAME here"),
        ("Add --overwrite.", "Add overwrite=…."),
        ("Allow --max-suppressed 12. Then ask.", "Allow max_suppressed=12. Then ask."),
        ("Name each by --quasi-identifier COLUMN.", "Name each by quasi_identifiers=COLUMN."),
        ("Give --hierarchy city=FILE.", "Give hierarchies={'city': FILE}."),
        ("Use --model mondrian instead.", "Use model='mondrian' instead."),
        ("A dash -- is none, nor is a-b.", "A dash -- is none, nor is a-b."),
    ],
)
def test_options_are_keywords_in_python(message: str, expected: str) -> None:
    assert python_wording(message) == expected


def test_terminal_shows_options_and_python_keywords() -> None:
    error = InputError("'--k' is a value here", allowed="--k N", advice="Give --k 5.")
    assert (error.message, error.allowed, error.advice) == ("'--k' is a value here", "--k N", "Give --k 5.")
    assert str(error) == "'--k' is a value here. Allowed: k=N. Give k=5."
