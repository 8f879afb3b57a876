"""Column profiles, checked by counting in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.engines.connection import connect
from discreet.model.table_spec import SourceSpec
from discreet.profile.column_profile import SURE_NULLS, ColumnProfile, column_values, profile_columns
from discreet.settings import Settings
from tests.drawing import some_of


def profiled(path: Path, settings: Settings) -> dict[str, ColumnProfile]:
    with connect(settings) as engine:
        table = engine.open_source(SourceSpec(path=path))
        return {column.name: column for column in profile_columns(engine, table)}


TABLE = """\
code,amount,day,mixed,holes,same,born
A17,1.5,2020-01-31,x,1,k,01234
B03,-2,2020-02-01,7,NA,k,01235
A17,1e2,2021-12-24,y,-,k,22222
C99,.5,1999-01-01,x,3,k,22222
D00,0,2020-01-31,?,,k,10115
"""


def test_forms_of_values_are_recognized(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    found = profiled(path, settings)
    assert {name: (c.numbers, c.dates, c.codes) for name, c in found.items()} == {
        "code": (False, False, True),
        "amount": (True, False, False),
        "day": (False, True, True),
        "mixed": (False, False, False),
        "holes": (True, False, True),
        "same": (False, False, False),
        "born": (True, False, True),
    }
    assert (found["amount"].lowest, found["amount"].highest) == (-2, 100)
    assert (found["born"].zeros, found["amount"].zeros) == (True, False)
    assert (found["code"].distinct, found["code"].once, found["code"].most) == (4, 3, 2)
    assert (found["same"].distinct, found["same"].most, found["same"].nulls) == (1, 5, 0)


def test_texts_for_null_are_recognized(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    found = profiled(path, settings)
    assert found["mixed"].null_texts == ("?",)
    assert (found["mixed"].distinct, found["mixed"].nulls, found["mixed"].filled) == (3, 1, 4)
    assert found["holes"].null_texts == ("NA", "-")
    assert (found["holes"].distinct, found["holes"].nulls, found["holes"].once) == (2, 3, 2)
    assert found["code"].null_texts == ()


def test_country_code_na_among_words_is_not_null(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text("country\nNA\nDE\nFR\n", encoding="utf-8")
    found = profiled(path, settings)["country"]
    assert (found.null_texts, found.distinct, found.nulls) == ((), 3, 0)


@hypothesis_settings(
    max_examples=some_of(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(["a", "b", "B2", "17", "-3", "?", "", "0.5", "é"]), min_size=1, max_size=30))
def test_counts_are_those_of_plain_python(tmp_path: Path, settings: Settings, cells: list[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("c,d\n" + "".join(f"{cell},x\n" for cell in cells), encoding="utf-8")
    found = profiled(path, settings)["c"]
    values = Counter(cell for cell in cells if cell and cell not in SURE_NULLS)
    assert (found.rows, found.filled) == (len(cells), sum(values.values()))
    assert (found.distinct, found.once) == (len(values), sum(n == 1 for n in values.values()))
    assert found.most == max(values.values(), default=0)
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
    assert found.numbers == (bool(values) and all(number.fullmatch(value) for value in values))
    assert found.null_texts == (("?",) if "?" in cells else ())


def test_values_have_their_row_counts(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text("c\na\nb\na\n?\n", encoding="utf-8")
    with connect(settings) as engine:
        table = engine.open_source(SourceSpec(path=path))
        ((values, rows),) = column_values(engine, table, ["c"], ("?",))
    assert dict(zip(values, rows, strict=True)) == {"a": 2, "b": 1}


@pytest.mark.parametrize("name", ['odd "name"', "a b", "c0", "SELECT"])
def test_odd_column_names_are_profiled(name: str, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text('"' + name.replace('"', '""') + '",other\n1,2\n', encoding="utf-8")
    assert list(profiled(path, settings)) == [name, "other"]
