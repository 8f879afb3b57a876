"""Tests of the audit of permuted tables on every engine: exact numbers are audited like their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product

from discreet.audit.permuted_audit import PermutedClaims, PermutedSources, audit_permuted
from discreet.model.audit_report import AuditReport
from discreet.sql.help_table import help_columns
from tests.drawing import NEW
from tests.every_engine.places import Columns, Place, SparkPlace, once_on_spark

CLAIMS = PermutedClaims("g", "v", (), k=2, e=Decimal(3), first_group=None)
VALUES = [5, -7, 12, None, 0, 400, 400, 5]
GROUPS: dict[str, list[int | None]] = {
    "numbered": [1, 1, 1, 2, 2, 2, 3, 3],
    "a gap": [1, 1, 1, 2, 2, 2, 4, 4],
    "from 0": [0, 0, 0, 1, 1, 1, 2, 2],
    "none": [1, 1, 1, 2, 2, 2, None, None],
}


def audited(place: Place, columns: Columns, claims: PermutedClaims, *, apart: bool = False) -> AuditReport:
    """Audit a table, or its sensitive values ``apart``, with a help table of one wrong row."""
    data = place.put(columns if not apart else {"g": columns["g"], "q": ("INTEGER", [1] * len(VALUES))})
    help_table = place.put({name: ("BIGINT", [1]) for name in help_columns("g", numeric=True)})
    sources = PermutedSources(data, help_table, place.put(columns) if apart else None)
    with place.connect(data) as engine:
        return audit_permuted(engine, sources, claims)


@once_on_spark("case", list(product(GROUPS, (False, True))), ("a gap", True))
def test_exact_numbers_are_audited_like_their_texts(place: Place, case: tuple[str, bool]) -> None:
    """Of few digits or many, in any type that the audit counts with; of one table or of two."""
    named, apart = case
    groups = GROUPS[named]
    more = [None if value is None else value * 10**12 for value in VALUES]
    cents = [None if value is None else Decimal(value).scaleb(-2) for value in VALUES]
    cases = [("BIGINT", VALUES, 3), ("BIGINT", more, 3 * 10**12), ("DECIMAL(9,2)", cents, "0.03")]
    for kind, values, e in cases if NEW or not isinstance(place, SparkPlace) else cases[-1:]:
        claims = replace(CLAIMS, e=Decimal(e))
        texts: Columns = {"g": ("VARCHAR", _texts(groups)), "v": ("VARCHAR", _texts(values))}
        expected = audited(place, texts, claims, apart=apart)
        found = audited(place, {"g": ("BIGINT", groups), "v": (kind, values)}, claims, apart=apart)
        assert found == expected
        assert found.failing_classes == (named == "none")
        assert any("not numbered" in warning for warning in found.warnings) == (named != "numbered")


def _texts(values: Sequence[int | Decimal | None]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]
