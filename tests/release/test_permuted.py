"""Permuted releases: the content of their files, and facts that they do not reveal."""

from __future__ import annotations

import csv
import json
import stat
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import discreet
from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.model.release_kind import GroupPartition, SensitiveColumn
from discreet.model.requirement import Requirement
from discreet.models import Permutation
from discreet.mondrian.partition import partition_table
from discreet.release.manifest import read_manifest
from discreet.results.recoding_result import RecodingResult
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.oracle.permuted_tables import (
    SPEC,
    STAFF,
    no_group_fails,
    rows_of,
    staff,
    table_of,
    values_by_group,
)

PAY = Counter(row.split(",")[3] for row in STAFF.splitlines()[1:])
PEOPLE = Counter((row.split(",")[1], row.split(",")[2]) for row in STAFF.splitlines()[1:])


@pytest.fixture
def table(tmp_path: Path, settings: Settings) -> Table:
    return staff(tmp_path, settings)


def test_one_table_contains_groups_and_values(table: Table, out: Path) -> None:
    release = table.publish(Permutation(e=1000), out / "p.csv", k=2)
    rows = rows_of(out / "p.csv")
    assert list(rows[0]) == ["age", "town", "group_id", "pay", "desk"]
    assert Counter((row["age"], row["town"]) for row in rows) == PEOPLE
    groups = values_by_group(rows)
    assert sum(groups.values(), Counter[str]()) == PAY
    assert no_group_fails(groups, 2, 1000)
    assert sorted(map(int, groups)) == list(range(1, len(groups) + 1))
    assert sorted(p.name for p in out.iterdir()) == ["p.csv", "p.csv.manifest.json", "p.help.csv"]
    assert release.permutation is not None
    assert release.permutation.groups == len(groups) > 1
    assert release.audit.passed


def test_insensitive_columns_stay_with_their_rows(table: Table, out: Path) -> None:
    table.publish("permutation", out / "p.csv", k=2)
    desk = {line.split(",")[4]: line.split(",")[1:3] for line in STAFF.splitlines()[1:]}
    assert all([row["age"], row["town"]] == desk[row["desk"]] for row in rows_of(out / "p.csv"))


def test_two_tables_share_only_the_groups(table: Table, out: Path) -> None:
    release = table.publish(Permutation(e=1000, form="two-tables"), out / "p.csv", k=2)
    data, sensitive = rows_of(out / "p.csv"), rows_of(out / "p.sensitive.csv")
    assert list(data[0]) == ["age", "town", "group_id", "desk"]
    assert list(sensitive[0]) == ["group_id", "pay"]
    assert Counter(row["group_id"] for row in data) == Counter(row["group_id"] for row in sensitive)
    assert no_group_fails(values_by_group(sensitive), 2, 1000)
    assert release.permutation is not None
    assert sorted(release.permutation.files) == ["help", "sensitive"]


@pytest.mark.parametrize("form", ["one-table", "two-tables"])
def test_database_contains_release_groups_and_help_table(table: Table, out: Path, form: str) -> None:
    table.publish(Permutation(e=1000, form=form), out / "p.duckdb", k=2)
    assert sorted(p.name for p in out.iterdir()) == ["p.duckdb", "p.duckdb.manifest.json"]
    assert stat.S_IMODE((out / "p.duckdb").stat().st_mode) == 0o600
    with duckdb.connect(str(out / "p.duckdb"), read_only=True) as database:
        of = "release" if form == "one-table" else "sensitive_values"
        pay = database.execute(f"SELECT pay FROM {of}").fetchall()
        hits = database.execute("SELECT count(*), max(hits), sum(1) FROM help").fetchall()
        ages = database.execute("SELECT sum(age) FROM groups, release_with_bounds").fetchall()
    assert Counter("" if p is None else str(p) for (p,) in pay) == PAY
    assert hits[0][0] == 10
    assert ages[0][0] > 0


def test_types_of_a_parquet_source_are_kept(tmp_path: Path, settings: Settings, out: Path) -> None:
    columns = (
        "i AS age, DATE '2020-01-01' + i::INTEGER AS day, i % 3 AS room, (i * 1.25)::DECIMAL(9,2) AS pay"
    )
    duckdb.sql(f"COPY (SELECT {columns} FROM range(1, 13) t(i)) TO '{tmp_path / 's.parquet'}'")
    roles = {"age": "quasi-identifier", "day": "quasi-identifier", "room": "insensitive", "pay": "sensitive"}
    spec = {"attributes": {name: {"role": role} for name, role in roles.items()}}
    table = discreet.open(tmp_path / "s.parquet", spec, settings=settings)
    for name in ("p.parquet", "p.duckdb", "p.csv"):
        assert table.publish(Permutation(e="2.5"), out / name, k=3).audit.passed
    found = duckdb.sql(f"DESCRIBE FROM '{out / 'p.parquet'}'").fetchall()
    types = {"age": "BIGINT", "day": "DATE", "group_id": "BIGINT", "pay": "DECIMAL(18,2)", "room": "BIGINT"}
    assert {row[0]: row[1] for row in found} == types
    total = duckdb.sql(f"SELECT sum(pay), sum(room) FROM '{out / 'p.parquet'}'").fetchall()
    assert total == [(Decimal("97.50"), 12)]


def test_categorical_attribute_is_permuted_without_a_range(
    tmp_path: Path, settings: Settings, out: Path
) -> None:
    rows = [(i, value) for i, value in enumerate(["flu", "gout", "flu", None, "cold", "flu", "gout"])]
    table = table_of(tmp_path, settings, rows)
    release = table.publish("permutation", out / "p.csv", k=2)
    assert list(rows_of(out / "p.help.csv")[0])[-2:] == ["group_rows", "group_values"]
    assert release.permutation is not None
    assert not release.permutation.numeric
    with pytest.raises(InputError, match="not numeric"):
        table.publish(Permutation(e=5), out / "q.csv", k=2)


def test_rows_with_null_are_dropped_if_the_spec_requires_it(
    tmp_path: Path, settings: Settings, out: Path
) -> None:
    release = staff(tmp_path, settings, null_policy="drop").publish("permutation", out / "p.csv", k=2)
    assert len(rows_of(out / "p.csv")) == 8
    manifest = read_manifest(out / "p.csv")
    assert (manifest.dropped, manifest.rows) == (2, 8)
    assert release.permutation is not None
    assert release.permutation.rows_without_value == 0


def test_groups_made_by_mondrian(tmp_path: Path, settings: Settings, out: Path) -> None:
    rows = [(age, sex, (age + place) % 5) for age in range(40) for place, sex in enumerate("fmfmf")]
    table = table_of(tmp_path, settings, rows, names="age,sex,pay")
    found = partition_table(table.frequency_set, Requirement(k=20, l=3), settings)
    recoding = RecodingResult.of(table.frequency_set, found)
    release = table.publish(Permutation(partition="recoding", recoding=recoding), out / "p.csv", k=3)
    groups = values_by_group(rows_of(out / "p.csv"))
    assert release.permutation is not None
    assert release.permutation.groups == len(groups) == recoding.classes > 1
    assert all(sum(group.values()) >= 20 and len(group) >= 3 for group in groups.values())


def test_suppressed_rows_of_a_recoding_are_left_out(table: Table, out: Path) -> None:
    recoding = table.recode("full-subtree", k=3, max_suppressed="40%")
    release = table.publish(Permutation(partition="recoding", recoding=recoding), out / "p.csv", k=2)
    assert len(rows_of(out / "p.csv")) == 10 - recoding.suppressed
    assert release.suppressed == recoding.suppressed
    assert read_manifest(out / "p.csv").suppressed == recoding.suppressed


def test_random_order_of_rows_is_uncorrelated_with_values(
    tmp_path: Path, settings: Settings, out: Path
) -> None:
    table = table_of(tmp_path, settings, [(i, i % 20) for i in range(400)])
    table.publish(Permutation(form="two-tables"), out / "p.csv", k=2, row_order="random")
    for name, column in (("p.csv", "age"), ("p.sensitive.csv", "group_id")):
        numbers = np.array([float(row[column]) for row in rows_of(out / name)])
        places = np.arange(len(numbers))
        spread = numbers.std() * places.std()
        correlation = ((numbers - numbers.mean()) * (places - places.mean())).mean() / spread
        assert abs(correlation) < 0.25


def test_manifest_and_log_cannot_repeat_the_permutation(table: Table, out: Path, settings: Settings) -> None:
    table.publish("permutation", out / "p.csv", k=2)
    kept = (out / "p.csv.manifest.json").read_text() + settings.private_log.read_text()
    assert "seed" not in kept
    assert "source_row" not in kept
    entry = json.loads(settings.private_log.read_text().splitlines()[-1])
    assert entry["model"] == "permutation"
    assert entry["requirement"] == {"k": 2, "e": "0"}
    assert set(entry) & {"groups", "sources", "order", "draw"} == set()


def test_manifest_describes_the_permutation(table: Table, out: Path) -> None:
    table.publish(Permutation(e="1000.5", first_group=(3, 2000)), out / "p.csv", k=2)
    facts = read_manifest(out / "p.csv").permutation
    assert facts is not None
    assert (facts.sensitive, facts.k, facts.e, facts.partition) == ("pay", 2, Decimal("1000.5"), "min-sum")
    assert facts.first_group == (3, Decimal(2000))
    document = json.loads((out / "p.csv.manifest.json").read_text())
    assert document["recoding"]["model"] == "permutation"
    assert {"identity-and-membership", "definetti"} <= {w["code"] for w in document["warnings"]}
    assert "not hidden" in document["statement"]


def test_column_named_like_the_groups_renames_the_groups(
    tmp_path: Path, settings: Settings, out: Path
) -> None:
    rows = [(i, i, i) for i in range(4)]
    table = table_of(tmp_path, settings, rows, names="group_id,Hits,pay")
    table.publish("permutation", out / "p.csv", k=2)
    assert list(rows_of(out / "p.csv")[0]) == ["group_id", "Hits", "group_id_2", "pay"]
    assert "group_id_2" in rows_of(out / "p.help.csv")[0]


def test_several_sensitive_attributes(tmp_path: Path, settings: Settings, out: Path) -> None:
    table_of(tmp_path, settings, [(i, i, 9 - i) for i in range(6)], names="age,pay,tax")
    roles = {"age": "quasi-identifier", "pay": "sensitive", "tax": "sensitive"}
    spec = {"attributes": {name: {"role": role} for name, role in roles.items()}}
    table = discreet.open(tmp_path / "rows.csv", spec, settings=settings)
    with pytest.raises(InputError, match="several"):
        table.publish("permutation", out / "p.csv", k=2)
    release = table.publish(Permutation(sensitive="tax"), out / "p.csv", k=2)
    assert list(rows_of(out / "p.csv")[0]) == ["age", "group_id", "tax"]
    assert any("left out of the release: 'pay'" in warning for warning in release.release.warnings)


def test_subjects_with_several_rows_are_counted(tmp_path: Path, settings: Settings, out: Path) -> None:
    rows = STAFF.replace("Bert", "Anna")
    table = staff(tmp_path, settings, rows, subject="name")
    with pytest.raises(InputError, match="counts rows"):
        table.publish(Permutation(partition="min-max"), out / "p.csv", k=2)
    with pytest.raises(NoSolution, match="fewer than k = 8"):
        table.publish("permutation", out / "p.csv", k=8)
    assert list(out.iterdir()) == []
    release = table.publish("permutation", out / "p.csv", k=2)
    assert release.permutation is not None
    manifest = read_manifest(out / "p.csv")
    assert manifest.counted == "subjects"
    audit = discreet.audit(out / "p.csv")
    assert audit.passed
    assert any("this audit counted values" in warning for warning in audit.report.warnings)
    staff(tmp_path, settings, STAFF, subject="name").publish("permutation", out / "q.csv", k=2)
    assert read_manifest(out / "q.csv").counted == "rows"


def test_groups_with_one_persons_values_are_not_published(
    tmp_path: Path, settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups with one person's values are not published.

    People are counted before values are permuted, independently of the partition.
    """
    from discreet.verbs.models import permutation_groups

    def by_rows(column: SensitiveColumn, *arguments: Any, **named: Any) -> GroupPartition:
        return partition_of(replace(column, subjects=None), *arguments, **named)

    partition_of = permutation_groups.partition_rows
    monkeypatch.setattr(permutation_groups, "partition_rows", by_rows)
    rows = "name,age,town,pay,desk\n" + "".join(
        f"{name},3{i},Kiel,{pay},{i}\n" for i, (name, pay) in enumerate(zip("AABBCC", range(6), strict=True))
    )
    table = staff(tmp_path, settings, rows, subject="name")
    with pytest.raises(RequirementNotMet, match="fewer than 2 people"):
        table.publish("permutation", out / "p.csv", k=2)
    assert list(out.iterdir()) == []


def test_audit_counts_people_by_their_pseudonyms(tmp_path: Path, settings: Settings, out: Path) -> None:
    names = {"name": {"role": "identifier", "pseudonymization": {"method": "per-release"}}}
    document = {**SPEC, "source": {"subject": "name"}, "attributes": {**SPEC["attributes"], **names}}
    (tmp_path / "staff.csv").write_text(STAFF.replace("Bert", "Anna"), encoding="utf-8")
    table = discreet.open(tmp_path / "staff.csv", document, settings=settings)
    table.publish("permutation", out / "p.csv", k=2)
    assert discreet.audit(out / "p.csv").passed
    rows = rows_of(out / "p.csv")
    assert len({row["name"] for row in rows}) == 9
    changed = [{**row, "name": "x"} if row["group_id"] == "1" else row for row in rows]
    with (out / "p.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(changed)
    audit = discreet.audit(out / "p.csv")
    assert not audit.passed
    assert "1 groups have fewer than 2 people." in audit.report.warnings


def test_overwriting_removes_the_files_of_the_old_release(table: Table, out: Path) -> None:
    table.publish(Permutation(form="two-tables"), out / "p.csv", k=2)
    table.publish("permutation", out / "p.csv", k=2, overwrite=True)
    assert sorted(p.name for p in out.iterdir()) == ["p.csv", "p.csv.manifest.json", "p.help.csv"]
    table.publish(Permutation(form="two-tables"), out / "p.csv", k=2, overwrite=True)
    (out / "p.sensitive.csv").write_text("changed by its owner")
    table.publish({"age": 2, "town": 1}, out / "p.csv", k=2, overwrite=True)
    left = ["p.csv", "p.csv.manifest.json", "p.sensitive.csv"]
    assert sorted(p.name for p in out.iterdir()) == left


def test_comparison_warns_of_unprotected_membership(table: Table, out: Path) -> None:
    table.publish("permutation", out / "p.csv", k=2)
    assert any("membership" in text for text in table.compare(out / "p.csv").warnings)
    (out / "asked.sql").write_text("SELECT SUM(pay) FROM t WHERE age > 40;")
    with pytest.raises(InputError, match="discreet query"):
        table.compare(out / "p.csv", workload=out / "asked.sql")
