"""``publish --model permutation`` and ``audit`` of its releases, up to the real table."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.oracle.permuted_tables import no_group_fails, rows_of, values_by_group

PUBLISH = ("publish", "discreet.toml", "--model", "permutation", "--output", "release.csv")
ADULT = """\
[source]
path = "{path}"

[attributes.age]
role = "quasi-identifier"
hierarchy = {{kind = "intervals", widths = [5, 10, 20]}}

[attributes.sex]
role = "quasi-identifier"

[attributes.capital_loss]
role = "sensitive"

[attributes.hours_per_week]
role = "sensitive"
"""


@pytest.fixture
def adult(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = data_dir / "adult" / "adult_30162.csv"
    (tmp_path / "discreet.toml").write_text(ADULT.format(path=source), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return source


@pytest.mark.parametrize(
    ("name", "k", "e", "partition"),
    [("capital_loss", 5, 500, "min-sum"), ("hours_per_week", 5, 20, "qi-aware")],
)
def test_permuted_adult_equals_its_plain_definition(
    name: str, k: int, e: int, partition: str, run: Run, adult: Path
) -> None:
    options = ("--k", str(k), "--e", str(e), "--sensitive", name, "--partition", partition, "--json")
    found = run(*PUBLISH, *options)
    assert (found.status, found.err) == (0, ""), found
    facts = found.json["permutation"]
    assert (facts["sensitive"], facts["k"], facts["e"], facts["partition"]) == (name, k, str(e), partition)
    before, after = rows_of(adult), rows_of(Path("release.csv"))
    assert list(after[0]) == ["age", "sex", "group_id", name]
    assert Counter((r["age"], r["sex"]) for r in after) == Counter((r["age"], r["sex"]) for r in before)
    groups = values_by_group(after, name)
    assert sum(groups.values(), Counter[str]()) == Counter(r[name] for r in before)
    assert no_group_fails(groups, k, e)
    assert len(groups) == facts["groups"] > 1
    if partition == "min-sum":
        spans = [max(map(int, g)) - min(map(int, g)) for g in groups.values()]
        assert sum(spans) < 4356
    helped = rows_of(Path("release.help.csv"))
    assert len(helped) == len(after)
    assert Counter(r["group_id"] for r in helped) == Counter(r["group_id"] for r in after)

    audited = run("audit", "release.csv", "--json")
    assert audited.status == 0
    assert audited.json["permutation"]["groups"] == len(groups)
    assert Decimal(audited.json["permutation"]["smallest_range"]) >= e
    assert any("Identity and membership" in text for text in audited.json["warnings"])
    assert run("audit", "release.csv", "--k", "1000").status == 1


def test_groups_are_cut_along_the_named_attributes(run: Run, adult: Path) -> None:
    del adult
    options = ("--k", "5", "--e", "20", "--sensitive", "hours_per_week", "--partition")
    mixed = {}
    for name in ("age", "sex"):
        found = run(*PUBLISH, *options, "qi-aware", "--cut-along", name, "--overwrite", "--json")
        assert (found.status, found.err) == (0, ""), found
        ages: dict[str, list[int]] = {}
        for row in rows_of(Path("release.csv")):
            ages.setdefault(row["group_id"], []).append(int(row["age"]))
        mixed[name] = sum(len(group) * (max(group) - min(group)) for group in ages.values())
    assert mixed["age"] < mixed["sex"] / 2
    for partition, name, word in (("min-sum", "age", "qi-aware"), ("qi-aware", "salary", "age, sex")):
        refused = run(*PUBLISH, *options, partition, "--cut-along", name, "--overwrite", "--json")
        assert (refused.status, refused.json["error"]["kind"]) == (2, "bad-input")
        assert word in refused.json["error"]["allowed"]


def test_generalized_permutation_is_written_to_a_database(run: Run, adult: Path) -> None:
    del adult
    options = ("--k", "5", "--e", "500", "--sensitive", "capital_loss", "--level", "age=2")
    words = [word if word != "release.csv" else "release.duckdb" for word in PUBLISH]
    found = run(*words, *options, "--form", "two-tables", "--json")
    assert (found.status, found.err) == (0, ""), found
    assert found.json["levels"] == {"age": 2, "sex": 0}
    assert found.json["permutation"]["files"]["help"]["table"] == "help"
    assert run("audit", "release.duckdb").status == 0


def test_permuted_release_text_names_unprotected_facts(run: Run, people: Path) -> None:
    found = run(*PUBLISH, "--k", "2")
    assert found.status == 0
    text = " ".join(found.out.split())
    assert "Published release.csv for k=2, e=0 by permutation" in text
    assert "Identity and membership are not protected" in text
    assert "deFinetti" in text
    assert "discreet audit release.csv" in text
    shown = " ".join(run("audit", "release.csv").out.split())
    assert "Audit passed: 8 rows in" in shown
    assert "Identity and membership are not protected" in shown
    document = json.loads((people / "release.csv.manifest.json").read_text())
    assert document["permutation"]["numeric"] is False


def test_groups_are_the_classes_of_a_recoding(run: Run, people: Path) -> None:
    del people
    more = ("--partition", "recoding", "--recoding", "mondrian", "--cut", "median", "--json")
    found = run(*PUBLISH, "--k", "2", *more)
    assert (found.status, found.err) == (0, ""), found
    assert found.json["permutation"]["partition"] == "recoding"
    levels = run(*PUBLISH, "--k", "2", "--partition", "recoding", "--level", "city=2", "--overwrite")
    assert levels.status == 1
    merged = run(
        *PUBLISH, "--k", "2", "--partition", "recoding", "--level", "city=2", "--merge-failing", "--overwrite"
    )
    assert merged.status == 0


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ((), 2, "no k was given"),
        (("--k", "2", "--e", "5"), 2, "not numeric"),
        (("--k", "2", "--first-group", "5"), 2, "--first-group 5"),
        (("--k", "2", "--partition", "best"), 2, "partition 'best'"),
        (("--k", "2", "--accept-relaxation", "k"), 2, "--accept-relaxation"),
        (("--k", "2", "--seed", "7"), 2, "'seed' does not apply to the permutation model"),
        (("--k", "2", "--suppressed-rows", "star"), 2, "starred rows"),
        (("--k", "7"), 3, "distinct values"),
    ],
)
def test_unfit_permutation_options_are_refused(
    options: tuple[str, ...], status: int, message: str, run: Run, people: Path
) -> None:
    found = run(*PUBLISH, *options)
    assert found.status == status
    assert message in " ".join(found.err.split())
    assert not list(people.glob("release*"))


def test_permutation_format_of_another_model_is_refused(run: Run, people: Path) -> None:
    del people
    base = ("publish", "discreet.toml", "--output", "release.csv", "--k", "2")
    assert run(*base, "--output", "release.duckdb").status == 2
