"""The audit of permuted tables on every engine: columns of exact numbers say what their texts say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from discreet.audit.permuted import PermutedClaims, PermutedSources, audit_permuted
from discreet.model.audit_report import AuditReport
from discreet.sql.help_table import help_columns
from tests.every_engine.places import Columns, Place, once_on_spark

CLAIMS = PermutedClaims("g", "v", (), k=2, e=Decimal(3), first_group=None)
VALUES = [5, -7, 12, None, 0, 400, 400, 5]
GROUPS: dict[str, list[int | None]] = {
    "numbered": [1, 1, 1, 2, 2, 2, 3, 3],
    "a gap": [1, 1, 1, 2, 2, 2, 4, 4],
    "from 0": [0, 0, 0, 1, 1, 1, 2, 2],
    "none": [1, 1, 1, 2, 2, 2, None, None],
}


def audited(place: Place, columns: Columns, claims: PermutedClaims, *, apart: bool = False) -> AuditReport:
    """The audit of a table, or of its sensitive values ``apart``, beside a help table of one wrong row."""
    data = place.put(columns if not apart else {"g": columns["g"], "q": ("INTEGER", [1] * len(VALUES))})
    told = place.put({name: ("BIGINT", [1]) for name in help_columns("g", numeric=True)})
    sources = PermutedSources(data, told, place.put(columns) if apart else None)
    with place.connect(data) as engine:
        return audit_permuted(engine, sources, claims)


@once_on_spark("named", list(GROUPS), "a gap")
@pytest.mark.parametrize("apart", [False, True])
def test_exact_numbers_are_audited_as_their_texts(place: Place, named: str, apart: bool) -> None:
    """Of few digits or many, whichever type the audit counts them in."""
    groups = GROUPS[named]
    for values, claims in ((VALUES, CLAIMS), (_many(VALUES), replace(CLAIMS, e=Decimal(3 * 10**12)))):
        texts: Columns = {"g": ("VARCHAR", _texts(groups)), "v": ("VARCHAR", _texts(values))}
        expected = audited(place, texts, claims, apart=apart)
        found = audited(place, {"g": ("BIGINT", groups), "v": ("BIGINT", values)}, claims, apart=apart)
        assert found == expected
        assert found.failing_classes == (named == "none")
        assert any("not numbered" in warning for warning in found.warnings) == (named != "numbered")


def _many(values: Sequence[int | None]) -> list[int | None]:
    return [None if value is None else value * 10**12 for value in values]


def _texts(values: Sequence[int | None]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]
