"""Proposals: roles that fail closed, hierarchies that fit, lattices that stay small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from discreet.engines.connection import connect
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.column_profile import ColumnProfile
from discreet.profile.hierarchy_proposal import (
    FLAT_PROPOSAL,
    HierarchyProposal,
    choose_widths,
    needs_values,
    propose_hierarchy,
)
from discreet.profile.roles import propose_role
from discreet.profile.spec_inference import propose_spec
from discreet.profile.spec_proposal import MOST_PROPOSED_NODES, SpecProposal
from discreet.settings import Settings

COLUMN = ColumnProfile(
    name="x",
    rows=1000,
    nulls=0,
    distinct=20,
    once=0,
    most=90,
    shortest=1,
    longest=9,
    numbers=False,
    dates=False,
    codes=False,
    zeros=False,
    lowest=0,
    highest=0,
    null_texts=(),
)


@pytest.mark.parametrize(
    ("changes", "role"),
    [
        ({"name": "patient_id"}, "identifier"),
        ({"name": "patient_id", "distinct": 2}, "identifier"),
        ({"name": "diagnosis"}, "sensitive"),
        ({"name": "age"}, "quasi-identifier"),
        ({"name": "birth_date", "distinct": 990, "once": 980}, "quasi-identifier"),
        ({}, "quasi-identifier"),
        ({"numbers": True, "distinct": 300}, "quasi-identifier"),
        ({"distinct": 600}, "identifier"),
        ({"distinct": 400, "once": 300}, "identifier"),
        ({"name": "income", "numbers": True, "distinct": 800, "once": 700}, "quasi-identifier"),
        ({"name": "Kosten", "numbers": True, "distinct": 800, "once": 700}, "quasi-identifier"),
        ({"name": "x", "numbers": True, "distinct": 800, "fractions": True}, "quasi-identifier"),
        ({"name": "x", "numbers": True, "distinct": 800}, "identifier"),
        (
            {"name": "credit card", "numbers": True, "codes": True, "distinct": 800, "longest": 16},
            "identifier",
        ),
        ({"name": "weight", "numbers": True, "distinct": 900, "lowest": 0.2, "highest": 5}, "identifier"),
        (
            {"name": "weight", "numbers": True, "distinct": 90, "lowest": 38, "highest": 160},
            "quasi-identifier",
        ),
        ({"name": "interview", "dates": True, "distinct": 990, "once": 980}, "quasi-identifier"),
        ({"name": "PatNr", "distinct": 300}, "identifier"),
        ({"name": "Belegnummer", "distinct": 300}, "identifier"),
        ({"name": "Bemerkung", "distinct": 300, "longest": 90}, "identifier"),
        ({"name": "answer", "distinct": 5, "longest": 90}, "quasi-identifier"),
        ({"name": "diag"}, "sensitive"),
        ({"name": "diagnosis", "rows": 10, "distinct": 8, "once": 6}, "sensitive"),
        ({"distinct": 1}, "insensitive"),
        ({"distinct": 1, "nulls": 10}, "quasi-identifier"),
        ({"distinct": 0, "nulls": 1000}, "identifier"),
        ({"rows": 1, "distinct": 1, "once": 1}, "identifier"),
    ],
)
def test_roles_are_proposed_with_a_reason(changes: dict[str, object], role: str) -> None:
    found, reason = propose_role(replace(COLUMN, **changes))  # type: ignore[arg-type]
    assert found == role
    assert reason


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"dates": True}, {"kind": "dates", "levels": ["month", "year", "decade"]}),
        (
            {"numbers": True, "distinct": 73, "lowest": 17, "highest": 90},
            {"kind": "intervals", "widths": [5, 10, 20]},
        ),
        (
            {"numbers": True, "distinct": 400, "lowest": 0, "highest": 1.5},
            {"kind": "intervals", "widths": [0.1, 0.2, 0.4]},
        ),
        ({"numbers": True, "distinct": 4, "lowest": 1, "highest": 4}, None),
        ({"codes": True, "shortest": 3, "longest": 3}, {"kind": "mask", "steps": [1, 1]}),
        (
            {"name": "zip", "codes": True, "numbers": True, "shortest": 5, "longest": 5},
            {"kind": "mask", "steps": [2, 1, 1]},
        ),
        (
            {"codes": True, "numbers": True, "zeros": True, "shortest": 8, "longest": 8},
            {"kind": "mask", "steps": [3, 2, 2]},
        ),
        ({"distinct": 5}, None),
    ],
)
def test_hierarchies_are_proposed_with_a_reason(
    changes: dict[str, object], expected: dict[str, object] | None
) -> None:
    found = propose_hierarchy(replace(COLUMN, **changes))  # type: ignore[arg-type]
    assert found.table == expected
    assert found.words


def test_many_words_get_automatic_groups() -> None:
    values = [f"v{i}" for i in range(20)]
    found = propose_hierarchy(COLUMN, values, [50] * 20)
    assert found.table == {"kind": "auto", "by": "frequency"}
    assert found.height > 1


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        (("GT3", "LE3"), None),
        (("A10", "A20", "B10"), [2]),
        (("A10", "A11", "B10"), [1]),
        (("A10", "A11", "A20", "B10"), [1, 1]),
        (("1000", "2000", "3000"), None),
        (("53711", "53712", "53703", "53705"), [1]),
    ],
)
def test_masks_that_join_nothing_are_not_proposed(values: tuple[str, ...], steps: list[int] | None) -> None:
    length = len(values[0])
    column = replace(COLUMN, codes=True, shortest=length, longest=length, distinct=len(values))
    assert needs_values(column)
    table = propose_hierarchy(column, values, [1] * len(values)).table
    assert table == (None if steps is None else {"kind": "mask", "steps": steps})


@pytest.mark.parametrize(("lowest", "highest"), [(0, 1), (17, 90), (-5, 5), (0, 1e6), (0.001, 0.002), (5, 5)])
@pytest.mark.parametrize("distinct", [1, 3, 9, 50, 5000])
def test_nice_widths_nest(lowest: float, highest: float, distinct: int) -> None:
    widths = choose_widths(lowest, highest, distinct)
    assert len(widths) <= 3
    if widths:
        IntervalHierarchy.of(widths)
        assert widths[-1] < highest - lowest


def test_hierarchies_are_reduced_level_by_level() -> None:
    hierarchy = HierarchyProposal("intervals", "widths", (5, 10, 20))
    heights, words = [], []
    while hierarchy != FLAT_PROPOSAL:
        heights.append(hierarchy.height)
        words.append(hierarchy.words)
        hierarchy = hierarchy.lower()
    assert heights == [4, 3, 2]
    assert words == ["intervals of 5, 10, 20", "intervals of 10, 20", "intervals of 20"]
    assert HierarchyProposal("mask", "steps", (2, 1, 1)).lower().levels == (3, 1)


def proposal_of(text: str, path: Path, settings: Settings) -> SpecProposal:
    path.write_text(text, encoding="utf-8")
    with connect(settings) as engine:
        return propose_spec(engine, SourceSpec(path=path))


def numbered(rows: int, columns: Sequence[tuple[str, int]]) -> str:
    """Return a table in which a column of n values repeats 0 … n - 1."""
    lines = [",".join(name for name, _ in columns)]
    lines += [",".join(str((row * 7919) % n) for _, n in columns) for row in range(rows)]
    return "\n".join(lines) + "\n"


def test_repeating_identifier_is_warned_about(tmp_path: Path, settings: Settings) -> None:
    text = numbered(300, [("patient_id", 100), ("sex", 2), ("disease", 5)])
    found = proposal_of(text, tmp_path / "visits.csv", settings)
    (warning,) = found.warnings
    assert "'patient_id' repeats: 300 rows have 100 values, one of them 3 times" in warning
    assert 'subject = "patient_id"' in warning


def test_missing_roles_are_warned_about(tmp_path: Path, settings: Settings) -> None:
    found = proposal_of("name\nAda\nBob\n", tmp_path / "names.csv", settings)
    assert any("quasi-identifier" in warning for warning in found.warnings)
    assert any("sensitive" in warning for warning in found.warnings)


def test_wide_table_gets_a_small_lattice(tmp_path: Path, settings: Settings) -> None:
    columns = [("age", 80), ("zip", 900), ("sex", 2), *((f"answer{i}", 5 + i) for i in range(30))]
    found = proposal_of(numbered(3000, columns), tmp_path / "wide.csv", settings)
    heights = [a.hierarchy.height for a in found.attributes if a.hierarchy is not None]
    assert found.nodes == prod(h + 1 for h in heights) <= MOST_PROPOSED_NODES
    by_name = {a.name: a for a in found.attributes}
    for name in ("age", "zip", "sex"):
        assert by_name[name].role is AttributeRole.QUASI_IDENTIFIER
    left_out = [a for a in found.attributes if a.reason.startswith("dropped until")]
    assert len(left_out) == 30
    assert {a.role for a in left_out} == {AttributeRole.IDENTIFIER}
    assert [h.words for a in found.attributes if (h := a.hierarchy) is not None] == [
        "intervals of 5, 10, 20",
        "intervals of 100, 200, 400",
        "value → *",
    ]
    (warning,) = (warning for warning in found.warnings if "lattice" in warning)
    assert "30 columns" in warning
    assert "answer0, answer1, …, answer29" in warning
    assert "unlisted" not in warning
    assert "leave names, numbers of persons and free text" in warning


def test_doubtful_columns_are_reduced_before_known_ones(tmp_path: Path, settings: Settings) -> None:
    words = ["alpha", "beta", "gamma", "delta", "eta2", "theta"]
    columns = [("alter", 80), *((word, 40) for word in words), ("birth year", 70), ("sex", 2)]
    found = proposal_of(numbered(2000, columns), tmp_path / "wide.csv", settings)
    by_name = {a.name: a for a in found.attributes}
    assert found.nodes <= MOST_PROPOSED_NODES
    assert by_name["alter"].hierarchy == HierarchyProposal("intervals", "widths", (5, 10, 20))
    assert by_name["birth year"].hierarchy == HierarchyProposal("intervals", "widths", (5, 10, 20))
    kept = [word for word in words if by_name[word].role is AttributeRole.QUASI_IDENTIFIER]
    assert kept == words[:5]
    assert all(
        by_name[word].hierarchy != FLAT_PROPOSAL for word in kept
    )  # 40 values without a level become *


@pytest.mark.parametrize(
    ("header", "line", "expected"),
    [
        ('person ""id""', "p{0}", 'set subject = "person \\"id\\"" in [source]'),
        ("Age", "{1}", "'Age' holds -9, which is not an age"),
        ("town", "{2}", "differ only in capitals or blanks, in 'town' (4 values, then 2)"),
        ("30", "{1}", "The first line holds '30', which does not look like a column name"),
        ("sep=", "{1}", "The first line holds 'sep=', which does not look like a column name"),
        ("phone", "+49 30 {3}", "Exact copies of other rows, nearly unique cells included: 1."),
    ],
)
def test_odd_columns_are_warned_about_once(
    header: str, line: str, expected: str, tmp_path: Path, settings: Settings
) -> None:
    towns = ("Bonn", "bonn", "Köln", "KÖLN")
    cells = [line.format(i % 100, i % 50 or -9, towns[i % 4], 1_000_000 + max(i, 1)) for i in range(200)]
    text = f'"{header}",sex\n' + "".join(f"{cell},m\n" for cell in cells)
    found = proposal_of(text, tmp_path / "odd.csv", settings)
    assert len([warning for warning in found.warnings if expected in warning]) == 1
    others = ("No column", "may mean a missing value")
    assert len([text for text in found.warnings if not any(other in text for other in others)]) == 1


@pytest.mark.parametrize(("name", "values"), [("room_id", 4), ("Name on passport", 90), ("email", 90)])
def test_identifiers_of_other_things_are_not_the_subject(
    name: str, values: int, tmp_path: Path, settings: Settings
) -> None:
    found = proposal_of(numbered(200, [(name, values), ("sex", 2)]), tmp_path / "x.csv", settings)
    assert not any("subject" in warning for warning in found.warnings)


def test_null_texts_are_named_once(tmp_path: Path, settings: Settings) -> None:
    found = proposal_of("age,work\n17,?\n?,a\n23,b\n", tmp_path / "holes.csv", settings)
    assert found.null_texts == ("?",)
    assert found.document("holes.csv")["source"] == {"path": "holes.csv", "null_values": ["?"]}
