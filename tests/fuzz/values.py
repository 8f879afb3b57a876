"""Cells that have misled programs: near-duplicates, number and Unicode forms, separators, labels."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

Cell = str | None
"""The text of a cell; None is NULL."""


def is_star(cell: object) -> bool:
    """Test whether a cell contains only stars: in a sensitive column it is not a value (decision 0016)."""
    if not isinstance(cell, str) or "*" not in cell:
        return False
    return all(sign == "*" or sign.isspace() or sign in "\u200b\u2060\ufeff" for sign in cell)


FAMILIES: dict[str, tuple[Cell, ...]] = {
    "plain": ("a", "b", "c", "d"),
    "few": ("x", "y"),
    "blanks": (None, "", " ", "  ", "\t", " a", "a ", "a", "A"),
    "numbers": (
        (
            "0",
            "-0",
            "-0.0",
            "0.0",
            "1",
            "1.0",
            "1e0",
            "01",
            "010",
            "10",
            "+1",
            "1_0",
            "0x10",
            ".5",
            "5.",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551616",
            "1e308",
            "1e400",
            "NaN",
            "nan",
            "inf",
            "-Infinity",
        )
    ),
    "zeros": ("0", "-0.0", "1e0", "2", "3", "-1"),
    "codes": ("010", "10", "0020", "007", "02138", "7"),
    "huge": ("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616"),
    "small": ("1", "2", "3", "5", "8", "13", "21", "34"),
    "decimals": ("1.50", "1.5", "2.25", "-3.75", "100", "0.001"),
    "unicode": (
        (
            "é",
            "é",
            "\u200fa",
            "a\u200f",
            "\u200b",
            "a\u200bb",
            "a",
            "𝒳",
            "ﬁ",
            "fi",
            "ß",
            "ẞ",
            "SS",
            "İ",
            "i",
            "ı",
            "\ufeffa",
            "大小",
            "\xa0",
            "👩\u200d👧",
        )
    ),
    "separators": (
        (
            "a,b",
            "a;b",
            '"',
            '""',
            'a"b',
            "a\nb",
            "a\r\nb",
            "\r",
            "\n",
            "'",
            "a|b",
            "\\",
            "\\n",
            "#",
            "--",
            "%s",
            "$1",
            "a\tb",
            "\x1b[2J",
            "=1+1",
        )
    ),
    "labels": (
        (
            "*",
            "**",
            "{a, b}",
            "{a",
            "b}",
            "1-5",
            "[1, 5]",
            "[1, 5[",
            "a … b",
            "≥90",
            "<18",
            "a",
            "b",
            "a, b",
            "NULL",
            "null",
            "None",
            "NA",
            "{a, b} (2)",
            "true",
        )
    ),
    "dates": (
        "2020-02-29",
        "1999-12-31",
        "2000-01-01",
        "2020-03-17",
        "1970-01-01",
        "0001-01-01",
        "9999-12-31",
    ),
    "only NULL": (None,),
    "only empty": ("",),
    "constant": ("same",),
    "long": ("x" * 3000, "x" * 2999 + "y", "x"),
}

INTEGERS = (0, 1, 2, 3, 5, 8, 17, 40, 41, 99, -1, -7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
AGES = tuple(range(17, 60, 3))
DOUBLES = (0.0, -0.0, 1.0, 1.5, -2.25, 1e300, 5e-324, float("nan"), float("inf"), float("-inf"), 0.1)

NAMES = (
    "age",
    "town",
    "q 1",
    'q "2"',
    "select",
    "a,b",
    "größe",
    "q;3",
    "'x'",
    "count(*)",
    "c0",
    "group_id",
    "Q",
    "1",
    "x.y",
    "*",
    "rows",
    "大小",
    "hits",
    "%",
    "á",
    "-",
    "release",
    "value",
    "class",
)
"""Names of columns, most of which need quotes somewhere."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def number_of(text: str | None) -> Decimal | None:
    """Return a plain number, or None."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
