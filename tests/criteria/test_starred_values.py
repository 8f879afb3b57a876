"""Starred sensitive values in every small class: each criterion counts them like NULL."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

import discreet
from discreet.model.audit_report import StrictestValue
from discreet.model.criteria.alpha_deassociation import AlphaDeassociation
from tests.criteria.plain_known_values import t_closeness

CELLS = ("flu", "gout", "*", " ** ", None)
OTHER = ("flu", "gout", "gout")
CLASSES = list(combinations_with_replacement(CELLS, 3))


def written(path: Path, cells: Sequence[str | None]) -> Path:
    rows = [f"a,{cell or ''}" for cell in cells] + [f"b,{cell}" for cell in OTHER]
    path.write_text("q,s\n" + "\n".join(rows) + "\n")
    return path


def audited(path: Path) -> discreet.AuditResult:
    return discreet.audit(path, quasi_identifiers=["q"], sensitive=["s"], k=2, l=2, strictest=True)


def values(found: Sequence[StrictestValue]) -> dict[str, object]:
    proposed = {}
    for each in found:
        proposed.setdefault(each.criterion.name, each.value)
    return proposed


@pytest.mark.parametrize("cells", CLASSES, ids=str)
def test_audited_criteria_do_not_count_stars(cells: tuple[str | None, ...], tmp_path: Path) -> None:
    known = [cell for cell in cells if cell in ("flu", "gout")]
    report = audited(written(tmp_path / "stars.csv", cells)).report
    plain = audited(
        written(tmp_path / "empty.csv", [cell if cell in known else None for cell in cells])
    ).report
    assert report.strictest == plain.strictest
    assert (report.l, report.passed, report.failing) == (plain.l, plain.passed, plain.failing)
    assert report.l == {"s": len({*known})}
    assert report.passed == (len({*known}) >= 2)
    found, counts = values(report.strictest), Counter(known)
    if not known:
        assert found["alpha"] is None
        assert found["entropy_l"] is None
        return
    shares = [Fraction(n, len(known)) for n in counts.values()]
    assert found["alpha"] == pytest.approx(float(max(*shares, Fraction(2, 3))), abs=1e-6)
    entropies = [
        math.exp(-sum(float(s) * math.log(s) for s in each))
        for each in (shares, [Fraction(1, 3), Fraction(2, 3)])
    ]
    assert found["entropy_l"] == pytest.approx(min(entropies), abs=1e-6)
    assert found["p_sensitive"] == min(len(counts), 2)
    whole = [*known, *OTHER]
    distances = [
        t_closeness(held, whole, "equal", sorted({*whole}), {v: (v,) for v in whole})
        for held in (known, OTHER)
    ]
    assert found["t"] == pytest.approx(float(max(distances)), abs=1e-6)


@pytest.mark.parametrize("cells", CLASSES, ids=str)
def test_table_counts_starred_values_as_null(cells: tuple[str | None, ...], tmp_path: Path) -> None:
    known = {cell for cell in cells if cell in ("flu", "gout")}
    spec = {"attributes": {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}}
    path = written(tmp_path / "stars.csv", cells)
    table = discreet.open(path, spec | {"source": {"path": str(path)}})
    for l, alpha in ((2, 1.0), (1, 0.7), (1, 1.0)):
        level = table.negotiate(k=3, l=l, criteria=[AlphaDeassociation(alpha)])
        shares = Counter(cell for cell in cells if cell in known).values()
        holds = len(known) >= l and max(shares, default=99) <= alpha * sum(shares)
        assert (level.exact is not None and level.exact.levels == {"q": 0}) == holds
    released = table.publish({"q": 0}, tmp_path / "out.csv", k=3)
    assert released.release.audit.l == {"s": len(known)}
    written_cells = [line.split(",")[1] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert Counter(written_cells) == Counter([*(c if c in known else "" for c in cells), *OTHER])
