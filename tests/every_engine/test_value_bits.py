"""Tests of counting sensitive values by bits: the same classes as by groupings, for any number of values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.audit import recount
from discreet.audit.class_audit import audit_source
from discreet.model.requirement import Requirement
from discreet.sql import audit_classes
from tests.every_engine.places import Place, once_on_spark

_ODD = ["", " ", "a", "A", "'", '"', "\\", "ä", "a\u0308", "NULL", "*a", "-0", "🙂", "line\nbreak"]


def _audited(place: Place, columns: dict[str, tuple[str, list[object]]]) -> tuple[dict[str, int], int, int]:
    source = place.put(columns)
    with place.connect(source) as engine:
        keys = [name for name in columns if name.startswith("q")]
        report = audit_source(
            engine,
            source,
            quasi_identifiers=keys,
            sensitive=[name for name in columns if name not in keys],
            requirement=Requirement.of(k=1),
        )
    return dict(report.l), report.classes, report.rows


@once_on_spark(
    "number",
    [1, audit_classes.MOST_BIT_VALUES, audit_classes.MOST_BIT_VALUES + 1],
    audit_classes.MOST_BIT_VALUES,
)
def test_every_value_counts_once(place: Place, number: int) -> None:
    columns: dict[str, tuple[str, list[object]]] = {
        "q": ("VARCHAR", ["x"] * (2 * number + 1)),
        "s": ("BIGINT", [*range(number), *range(number), None]),
    }
    assert _audited(place, columns) == ({"s": number}, 1, 2 * number + 1)


@once_on_spark(
    "number",
    [1, audit_classes.MOST_BIT_VALUES, audit_classes.MOST_BIT_VALUES + 1],
    audit_classes.MOST_BIT_VALUES,
)
def test_every_text_counts_once(place: Place, number: int) -> None:
    texts = [*_ODD[:number], *map(str, range(number - len(_ODD)))]
    columns: dict[str, tuple[str, list[object]]] = {
        "q": ("VARCHAR", ["x"] * (2 * number + 1)),
        "s": ("VARCHAR", [*texts, *texts, None]),
    }
    assert _audited(place, columns) == ({"s": number}, 1, 2 * number + 1)


def test_bits_and_groupings_agree(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 4 * len(_ODD)
    columns: dict[str, tuple[str, list[object]]] = {
        "q 1": ("VARCHAR", [[None, "u", "U"][i % 3] for i in range(size)]),
        "q2": ("DECIMAL(6,1)", [[None, Decimal("0.5")][i % 2] for i in range(size)]),
        "s": (
            "VARCHAR",
            [[None, "*", " **"][i % 3] if i % 5 == 0 else _ODD[i % len(_ODD)] for i in range(size)],
        ),
        "t": ("BOOLEAN", [None if i % 2 else i % 4 == 0 for i in range(size)]),
    }
    by_bits = _audited(place, columns)
    monkeypatch.setattr(recount, "_value_bits", lambda *_: None)
    assert by_bits == _audited(place, columns)


def test_a_class_without_a_value_has_none(place: Place) -> None:
    columns: dict[str, tuple[str, list[object]]] = {
        "q": ("VARCHAR", ["x", "x", "y"]),
        "s": ("VARCHAR", [None, None, "a"]),
    }
    assert _audited(place, columns) == ({"s": 0}, 2, 3)
