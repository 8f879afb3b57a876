"""The linkage attack on small published files, checked against nested loops over records and rows."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import discreet
from discreet.attacks.linkage import MATCH_STEPS
from discreet.errors import InputError
from discreet.printing.document import format_share
from discreet.settings import Settings
from discreet.verbs.release_attack import attack
from discreet.verbs.table import Table
from tests.drawing import some_of
from tests.oracle.plain_attacks import Row, candidates, expected_links

SPEC = {
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [2, 4]}},
        "city": {"role": "quasi-identifier", "hierarchy": "city.csv"},
        "disease": {"role": "sensitive"},
    }
}
CITIES = {"Berlin": "east", "Dresden": "east", "Bonn": "west", "Trier": "west"}
AGES = [str(age) for age in range(20, 28)]
PEOPLE = st.lists(
    st.tuples(st.sampled_from([*AGES, None]), st.sampled_from([*CITIES, None]), st.sampled_from("ab")),
    min_size=3,
    max_size=9,
)
RECORDS = st.lists(
    st.tuples(
        st.integers(0, 10), st.sampled_from([*AGES, "33", None]), st.sampled_from([*CITIES, "Rome", None])
    ),
    min_size=1,
    max_size=6,
)


def write(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    return path


def read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]


def table_of(folder: Path, people: Sequence[Row]) -> Table:
    write(folder / "people.csv", people)
    lines = "".join(f"{city};{region};*\n" for city, region in CITIES.items())
    (folder / "city.csv").write_text(lines, encoding="utf-8")
    text = '[source]\npath = "people.csv"\n'
    for name, given_keys in SPEC["attributes"].items():
        text += f'\n[attributes.{name}]\nrole = "{given_keys["role"]}"\n'
        if name == "age":
            text += 'hierarchy = {kind = "intervals", widths = [2, 4]}\n'
        if name == "city":
            text += 'hierarchy = "city.csv"\n'
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    quiet = Settings(memory_limit=10**9, threads=1, private_log=folder / "log.jsonl")
    return discreet.open(folder / "discreet.toml", settings=quiet)


def shown(levels: Mapping[str, int], table: Table, name: str, value: str | None) -> str | None:
    """Return the released label of a value by its hierarchy; values without a leaf occur only at the top."""
    hierarchy = next(h for h in table.frequency_set.hierarchies if h.attribute == name)
    if levels[name] == hierarchy.height:
        return hierarchy.labels[-1][0]
    if value is None:
        return None
    if name == "age" and levels[name]:
        width = (2, 4)[levels[name] - 1]
        same = [leaf for leaf in hierarchy.leaves if int(leaf) // width == int(value) // width]
        return hierarchy.path(hierarchy.code_of_leaf[same[0]])[levels[name]] if same else "nobody"
    code = hierarchy.code_of_leaf.get(value)
    return (
        "nobody"
        if code is None and name == "city" and levels[name]
        else (value if code is None else hierarchy.path(code)[levels[name]])
    )


@given(PEOPLE, RECORDS, st.integers(0, 3), st.integers(0, 2), st.integers(1, 3))
@examples(max_examples=some_of(15))
def test_matches_and_right_links_equal_a_plain_loop(
    drawn: list[tuple[str | None, str | None, str]],
    known: list[tuple[int, str | None, str | None]],
    age: int,
    city: int,
    k: int,
) -> None:
    people: list[Row] = [
        {"name": f"p{i}", "age": a, "city": c, "disease": d} for i, (a, c, d) in enumerate(drawn)
    ]
    records: list[Row] = [{"who": f"p{i}", "years": a, "town": c} for i, a, c in known]
    match = {"years": "age", "town": "city"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = table_of(folder, people)
        heights = {h.attribute: h.height for h in table.frequency_set.hierarchies}
        levels = {"age": min(age, heights["age"]), "city": min(city, heights["city"])}
        try:
            table.publish(levels, folder / "out.csv", k=k, max_suppressed="100%")
        except discreet.NoSolution:
            return
        found = attack(
            folder / "out.csv",
            table=table,
            outside=write(folder / "known.csv", records),
            match=match,
            key="who=name",
        )
        published = read(folder / "out.csv")

        def covers(column: str, cell: str | None, value: str | None) -> bool:
            return cell == shown(levels, table, column, value)

        def exactly(_column: str, cell: str | None, value: str | None) -> bool:
            return cell == value

        def own_before(record: Row, place: int) -> float:
            return float(people[place]["name"] == record["who"])

        def own_after(record: Row, place: int) -> float:
            cells = (published[place]["age"], published[place]["city"])
            alike = sum((row["age"], row["city"]) == cells for row in published)
            mine = [p for p in people if p["name"] == record["who"]]
            theirs = [tuple(shown(levels, table, c, p[c]) for c in ("age", "city")) for p in mine]
            return sum(each == cells for each in theirs) / alike

        assert found.linkage is not None
        assert found.linkage.before is not None
        for side, rows, rule, own in (
            (found.linkage.before, people, exactly, own_before),
            (found.linkage.after, published, covers, own_after),
        ):
            numbers = [len(candidates(record, rows, match, rule)) for record in records]
            assert side.matched == sum(n > 0 for n in numbers)
            assert side.unique == sum(n == 1 for n in numbers)
            assert side.expected_if_present == pytest.approx(sum(1 / n for n in numbers if n))
            assert side.correct == pytest.approx(expected_links(records, rows, match, rule, own))
            assert side.known == sum(record["who"] in {p["name"] for p in people} for record in records)
            for i, least in enumerate(MATCH_STEPS):
                most = MATCH_STEPS[i + 1] if i + 1 < len(MATCH_STEPS) else 10**9
                assert side.histogram[i] == sum(least <= n < most for n in numbers)


PATIENTS: list[Row] = [
    {"name": f"p{i}", "age": a, "city": c, "disease": d}
    for i, (a, c, d) in enumerate(
        [("20", "Berlin", "a"), ("21", "Berlin", "a"), ("22", "Bonn", "a"), ("23", "Bonn", "b")] * 2
    )
]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return table_of(tmp_path, PATIENTS)


def test_marketer_risk_uses_the_population_if_it_is_given(table: Table, tmp_path: Path) -> None:
    table.publish({"age": 1}, tmp_path / "out.csv", k=2)
    people = [{"age": "20", "city": "Berlin"}] * 10 + [
        {"age": "23", "city": "Bonn"},
        {"age": "", "city": "Bonn"},
    ]
    found = attack(tmp_path / "out.csv", table=table, population=write(tmp_path / "all.csv", people))
    assert found.journalist is not None
    assert found.journalist.risk.highest == pytest.approx(1 / 4)  # Bonn's class has 4 rows and 1 person
    assert found.marketer == pytest.approx((4 / 10 + 4 / 4) / 8)
    assert (found.journalist.thin, found.journalist.incomplete) == (1, 1)
    assert found.marketer_basis == "the population file"
    assert found.marketer_before is None
    without_population = attack(tmp_path / "out.csv", table=table)
    assert without_population.before is not None
    assert (
        without_population.marketer_before
        == without_population.before.prosecutor.mean
        > without_population.marketer
    )
    assert without_population.as_json()["marketer"]["before"] == without_population.marketer_before
    for result, shown in (
        (found, "–"),
        (without_population, format_share(without_population.marketer_before, 1)),
    ):
        (line,) = [line for line in str(result).splitlines() if line.startswith("marketer risk")]
        assert line.split()[2:] == [shown, format_share(result.marketer, 1)]


@pytest.mark.parametrize("model", ["mondrian", "full-subtree"])
def test_linking_the_original_table_is_right_once_per_class(table: Table, tmp_path: Path, model: str) -> None:
    table.publish(model, tmp_path / "out.csv", k=2)
    found = attack(tmp_path / "out.csv", table=table, outside=tmp_path / "people.csv", key="name")
    assert found.linkage is not None
    assert found.linkage.before is not None
    assert found.before is not None
    assert found.linkage.before.correct == pytest.approx(found.before.classes)
    assert found.linkage.after.correct == pytest.approx(found.after.classes)


def test_local_release_divides_a_person_among_its_classes(table: Table, tmp_path: Path) -> None:
    table.publish("mondrian", tmp_path / "out.csv", k=2)
    found = attack(
        tmp_path / "out.csv", table=table, outside=tmp_path / "people.csv", match={"age": "age"}, key="name"
    )
    assert found.linkage is not None
    assert found.linkage.after.correct is not None
    assert 0 < found.linkage.after.correct <= found.linkage.after.expected_if_present + 1e-9


def test_without_the_original_only_exact_columns_can_be_matched(table: Table, tmp_path: Path) -> None:
    table.publish({"age": 1, "city": 0}, tmp_path / "out.csv", k=2)
    found = attack(tmp_path / "out.csv", outside=tmp_path / "people.csv", match={"city": "city"})
    assert found.linkage is not None
    assert found.linkage.before is None
    assert found.linkage.after.matched == 8
    assert "the spec of the original" in found.warnings[0]
    with pytest.raises(InputError, match="generalized cells of 'age'"):
        attack(tmp_path / "out.csv", outside=tmp_path / "people.csv")
    with pytest.raises(InputError, match="key without the original"):
        attack(tmp_path / "out.csv", outside=tmp_path / "people.csv", match={"city": "city"}, key="name")


@pytest.mark.parametrize(
    ("match", "message"),
    [
        ({"nothing": "age"}, "no column 'nothing'"),
        ({"age": "disease"}, "no quasi-identifier 'disease'"),
        ({"age": "age", "name": "age"}, "same quasi-identifier"),
        ({}, "no column is matched"),
    ],
)
def test_columns_that_do_not_match_are_refused(
    table: Table, tmp_path: Path, match: dict[str, str], message: str
) -> None:
    table.publish({"age": 1}, tmp_path / "out.csv", k=2)
    with pytest.raises(InputError, match=message):
        attack(tmp_path / "out.csv", table=table, outside=tmp_path / "people.csv", match=match)


def test_file_that_shares_no_column_name_is_refused(table: Table, tmp_path: Path) -> None:
    table.publish({"age": 1}, tmp_path / "out.csv", k=2)
    other = write(tmp_path / "other.csv", [{"x": "1"}])
    with pytest.raises(InputError, match="shares no column name"):
        attack(tmp_path / "out.csv", table=table, outside=other)
