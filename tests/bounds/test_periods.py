"""Every period of generalized dates represents its own days and no others."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from discreet.bounds.label_codes import parse_period
from discreet.hierarchy.dates import DATE_LABELS

DAYS = [date(1999, 12, 20) + timedelta(days=17 * step) for step in range(120)]


@pytest.mark.parametrize("level", list(DATE_LABELS))
def test_label_represents_the_days_that_have_it(level: str) -> None:
    label_of = DATE_LABELS[level]
    for label in {label_of(day) for day in DAYS}:
        period = parse_period(label, own=False)
        assert period is not None, f"{label} tells a period"
        first, last, _ = period
        inside = {day for day in DAYS if first <= day.isoformat() < last}
        assert inside == {day for day in DAYS if label_of(day) == label}


@pytest.mark.parametrize("text", ["2020-2019", "2023-13", "2023-H3", "unknown", "20-24"])
def test_other_texts_are_not_periods(text: str) -> None:
    assert parse_period(text, own=False) is None
