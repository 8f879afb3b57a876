"""The searches of the Incognito reproduction: agreeing results, and the largest size of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings
from papers.comparison import Verdict
from papers.incognito import OrderStudy, compare_with_basic
from papers.incognito_searches import SEARCHES, SearchStudy, agreement_cell
from papers.reproduction import Context
from papers.synthetic_tables import SyntheticColumn, generate_table

COLUMNS = tuple(SyntheticColumn(name, 3) for name in ("a", "b", "c"))


@pytest.fixture
def study(tmp_path: Path, settings: Settings) -> SearchStudy:
    """Return forty rows of three attributes with three values."""
    context = Context(tmp_path, settings, quick=True, scratch=tmp_path)
    table = generate_table(COLUMNS, 40)
    table.write_csv(tmp_path / "rows.csv")

    def count(size: int) -> FrequencySet:
        names = [column.name for column in COLUMNS[:size]]
        return context.table(
            tmp_path / "rows.csv", {name: table.attributes()[name] for name in names}
        ).frequency_set

    return SearchStudy(context, "Rows", count)


def test_searches_agree_on_a_small_table(study: SearchStudy) -> None:
    assert study.agree(3, 2)
    assert agreement_cell("QID 3", True).verdict is Verdict.NONE


@pytest.mark.parametrize("search", SEARCHES)
def test_search_with_fewer_solutions_is_reported(study: SearchStudy, search: str) -> None:
    found = study.search(search, 3, 2)
    assert found.solutions
    study._found[search, 3, 2] = replace(found, solutions=found.solutions[1:])
    assert not study.agree(3, 2)
    assert agreement_cell("QID 3", False).verdict is Verdict.DIFFERENT


def test_sizes_are_limited_by_a_budget(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quick budget is 0.05 s; a size is tried while its estimated time is at most twice that."""

    def seconds(self: SearchStudy, search: str, size: int, k: int) -> float:
        growth = {"samarati": 1.0, "bottom-up": 10.0, "incognito": 2.0}.get(search, 100.0)
        start = 0.03 if search == "incognito-cube" else 0.002
        return start * growth ** (size - 3)

    monkeypatch.setattr(SearchStudy, "seconds", seconds)
    orders = OrderStudy(Context(tmp_path, settings, quick=True, scratch=tmp_path))
    sizes = orders.staggered[2]
    assert sizes["samarati"] == (3, 4, 5, 6, 7, 8)
    assert sizes["bottom-up"] == (3, 4)  # 0.02 s; ten times that would be too much
    assert sizes["incognito"] == (3, 4, 5, 6, 7, 8)  # 0.064 s at 8: over the budget, yet below twice it
    assert sizes["bottom-up-rollup"] == (3, 4)
    assert sizes["incognito-cube"] == (3,)
    assert orders.within_budget("incognito", 2) == 7
    assert orders.within_budget("bottom-up-rollup", 2) == 3


def test_variants_slower_than_basic_incognito_are_reported() -> None:
    def compared(superroots: float, cube: float) -> str:
        seconds = {"incognito": 10.0, "incognito-superroots": superroots, "incognito-cube": cube}
        return compare_with_basic(seconds, "At QID 4")

    assert compared(52.7, 29.9) == (
        "At QID 4, basic Incognito takes 10 s, super-roots 52.7 s, cube 29.9 s: super-roots and cube are "
        "slower here, the reverse of what the paper offers them for."
    )
    assert "super-roots is slower here" in compared(11, 9)
    assert compared(9, 8).endswith("both are faster, as the paper says.")
