"""What is odd in the values of quasi-identifiers, found again from a counted table: no query is made.

``init`` sees it in the profiles of columns. A later verb has the distinct values of the frequency set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.model.coded_warning import CodedWarning
from discreet.model.frequency_set import FrequencySet
from discreet.profile.columns import CODED_MISSING, ColumnProfile
from discreet.profile.oddities import warnings_of_values, warnings_of_words

ODD_VALUES = "odd-values"
_MOST_VALUES = 20_000
_MOST_WORDS = 2_000


def odd_values(table: FrequencySet) -> tuple[CodedWarning, ...]:
    """Return what is odd in quasi-identifiers: strange ages, numbers that mean missing, lost zeros, words.

    The warnings name values, so they are private.
    """
    columns, words = [], []
    for hierarchy, rows in zip(table.hierarchies, table.rows_by_code, strict=True):
        occurring = np.flatnonzero(rows[: hierarchy.null_code])
        if not 1 < len(occurring) <= _MOST_VALUES:
            continue
        texts = [hierarchy.leaves[place] for place in occurring.tolist()]
        numbers = _numbers(texts)
        if numbers is not None:
            columns.append(_profile(hierarchy.attribute, texts, numbers))
        elif len(texts) <= _MOST_WORDS:
            alike = len({text.strip().lower() for text in texts})
            if alike < len(texts):
                words.append(f"'{hierarchy.attribute}' ({len(texts):,} values, then {alike:,})")
    found = (*warnings_of_words(words), *warnings_of_values(columns))
    return tuple(CodedWarning(ODD_VALUES, text, private=True) for text in found)


def _numbers(texts: Sequence[str]) -> list[float] | None:
    """The numbers that the texts say; None where one says none."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        return None


def _profile(name: str, texts: Sequence[str], numbers: Sequence[float]) -> ColumnProfile:
    """A column of numbers as the warnings read it."""
    measured = [n for n, text in zip(numbers, texts, strict=True) if text not in CODED_MISSING] or numbers
    lengths = [len(text) for text in texts]
    return ColumnProfile(
        name=name,
        rows=len(texts),
        nulls=0,
        distinct=len(texts),
        once=0,
        most=1,
        shortest=min(lengths),
        longest=max(lengths),
        numbers=True,
        dates=False,
        codes=False,
        zeros=any(text[:1] == "0" and text[1:2].isdigit() for text in texts),
        lowest=min(numbers),
        highest=max(numbers),
        null_texts=(),
        within=(min(measured), max(measured)),
    )
