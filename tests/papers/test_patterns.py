"""The patterns reproduction: judged figures, figures for information, Theorem 4, and Figure 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.settings import Settings
from papers.pattern_experiments import AGAINST_MONDRIAN, AGAINST_OPTIMUM, PreparedExperiment
from papers.reproduction import Context, ReproductionRun

TABLE_8 = (1.728, 1.810, 1.866, 1.914, 1.952, 1.986, 2.019, 2.043, 2.068, 2.308, 2.530, 2.567, 2.573)


def tables_of(run: ReproductionRun) -> dict[str, Any]:
    return {table["name"]: table for section in run.as_json()["sections"] for table in section["tables"]}


def cells_of(table: Any) -> list[Any]:
    return [cell for row in table["rows"] for cell in row if isinstance(cell, dict)]


def test_usefulness_of_table_8_equals_the_printed(data_dir: Path, settings: Settings) -> None:
    prepared = PreparedExperiment.of(Context(data_dir, settings), AGAINST_OPTIMUM[-1])
    assert prepared.numeric == ("age",)
    assert [prepared.heuristic(k)["u"] for k in prepared.ks] == pytest.approx(TABLE_8, abs=5e-4)


def test_figures_of_the_heuristic_are_judged_except_time(
    quick_run: Callable[[str], ReproductionRun],
) -> None:
    tables = tables_of(quick_run("patterns"))
    for experiment in (*AGAINST_OPTIMUM, *AGAINST_MONDRIAN[:-1]):
        cells = [c for c in cells_of(tables[experiment.name]) if "Mondrian" not in c["cell"]]
        assert {c["cell"].split()[-1] for c in cells if c["about"]} == {"r"}
        assert {c["verdict"] for c in cells if not c["about"]} == {"same"}


def test_stars_of_the_integer_program_are_judged(
    quick_run: Callable[[str], ReproductionRun],
) -> None:
    tables = tables_of(quick_run("patterns"))
    for experiment in AGAINST_OPTIMUM:
        table = tables[f"{experiment.name}_least"]
        assert table["columns"][1:] == ["least stars", "usefulness", "types", "average", "maximum", "time"]
        found = [c for c in cells_of(table) if c["ours"] is not None and not c["about"]]
        assert found
        for cell in found:
            only_stars = cell["cell"].endswith(" s")
            everything = experiment.name == "cmc_exact" and cell["cell"].startswith("k=100 ")
            assert cell["verdict"] == ("same" if only_stars or everything else None)
            assert cell["of_several"] == (not only_stars and not everything)
            assert cell["printed"] is not None
        assert "depend on which of them" in table["note"]


def test_theorem_4_cost_equals_its_proof(quick_run: Callable[[str], ReproductionRun]) -> None:
    table = tables_of(quick_run("patterns"))["theorem_4"]
    for m, cost, least, again, factor, most in table["rows"]:
        size = int(m)
        assert (cost["ours"], least["ours"], again["ours"]) == ((size - 1) * size**2, size**2, size**2)
        assert factor["ours"] == size - 1 < most["ours"] == size
