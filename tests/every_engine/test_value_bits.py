"""Tests of counting sensitive values by bits: the same classes as by groupings, for any number of values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.audit import recount
from discreet.sql import audit_classes
from tests.every_engine.auditing import audited
from tests.every_engine.places import ODD_TEXTS, SLOW_ON_SPARK, Columns, Place, once_on_spark


def counted(place: Place, columns: Columns) -> tuple[dict[str, int], int, int]:
    keys = [name for name in columns if name.startswith("q")]
    values = [name for name in columns if name not in keys]
    report = audited(place, place.put(columns), keys=keys, values=values, k=1)
    return dict(report.l), report.classes, report.rows


@once_on_spark(
    "number",
    [1, audit_classes.MOST_BIT_VALUES, audit_classes.MOST_BIT_VALUES + 1],
    audit_classes.MOST_BIT_VALUES,
)
def test_every_value_counts_once(place: Place, number: int) -> None:
    odd = [text for text in ODD_TEXTS if len(text) < 100]
    words = [*odd[:number], *(f"v{i}" for i in range(number - len(odd)))]
    columns: Columns = {
        "q": ("VARCHAR", ["x"] * (2 * number + 1) + ["y"]),
        "s": ("VARCHAR", [*words, *words, None, None]),
        "t": ("BIGINT", [*range(number), *range(number), None, 0]),
    }
    assert counted(place, columns) == ({"s": 0, "t": 1}, 2, 2 * number + 2)
    kept = {name: (kind, cells[:-1]) for name, (kind, cells) in columns.items()}
    assert counted(place, kept) == ({"s": number, "t": number}, 1, 2 * number + 1)


@SLOW_ON_SPARK
def test_bits_and_groupings_give_the_same_counts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = ODD_TEXTS[:14]
    size = 4 * len(odd)
    stars = [None, "*", " **"]
    columns: Columns = {
        "q 1": ("VARCHAR", [[None, "u", "U"][i % 3] for i in range(size)]),
        "q2": ("DECIMAL(6,1)", [[None, Decimal("0.5")][i % 2] for i in range(size)]),
        "s": ("VARCHAR", [stars[i % 3] if i % 5 == 0 else odd[i % len(odd)] for i in range(size)]),
        "t": ("BOOLEAN", [None if i % 2 else i % 4 == 0 for i in range(size)]),
    }
    by_bits = counted(place, columns)
    monkeypatch.setattr(recount, "_value_bits", lambda *_: None)
    assert by_bits == counted(place, columns)
