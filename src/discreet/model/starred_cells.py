"""Cells of stars, and the rows that show nothing but them.

A star is what this program and others write where nothing is shown. It is no value of a sensitive attribute,
and a row that has stars or NULL in every quasi-identifier says of nobody who it is (decision 0016).
"""

from __future__ import annotations

BLANKS = " \t\n\r\f\v\u00a0\u2007\u202f\u3000\u200b\u2060\ufeff"
"""Blanks that are no part of a cell or of a column's name: no-break, ideographic and zero-width ones too."""


def is_star(text: str) -> bool:
    """Test whether a text consists of stars, with blanks around them or not.

    >>> is_star("*"), is_star(" ** "), is_star("81***"), is_star("")
    (True, True, False, False)
    """
    return "*" in text and not text.replace("*", "").strip(BLANKS)
