"""Stanzas by pattern: the columns of each, against plain loops; in commands; and as ``init`` writes them."""

from __future__ import annotations

import random
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.spec.attribute_globs import (
    collapse_series,
    expand_globs,
    find_globs,
    find_series_globs,
    matches_glob,
)
from tests.cli.conftest import Run, run

__all__ = ["run"]

SURVEY = "respondent,age,q1,q2,q3,q4,q*,q2_other\n" + "".join(
    f"r{i},{20 + i % 4},{i % 2},{i % 3},{i % 2},{i % 2},1,{i % 2}\n" for i in range(24)
)
SPEC = """\
[source]
path = "survey.csv"
subject = "respondent"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5]}

[attributes.q2]
role = "insensitive"

[attributes."*_other"]
role = "identifier"

[attributes."q*"]
role = "sensitive"

[attributes."q3*"]
role = "insensitive"
"""


def plain(stanzas: list[str], columns: list[str]) -> dict[str, list[str]]:
    """Return the columns of each stanza, one column at a time."""
    found: dict[str, list[str]] = {key: [] for key in stanzas}
    for name in columns:
        keys = (
            [name] if name in stanzas else [k for k in stanzas if k not in columns and fnmatchcase(name, k)]
        )
        if keys:
            found[keys[0]].append(name)
    return found


def test_columns_of_patterns_equal_those_of_plain_code() -> None:
    draw = random.Random(5)
    several = 0
    for _ in range(300):
        columns = list(dict.fromkeys("".join(draw.choices("ab1*", k=draw.randrange(1, 4))) for _ in range(9)))
        texts = dict.fromkeys("".join(draw.choices("ab1*", k=draw.randrange(1, 4))) for _ in range(5))
        stanzas = [key for key in texts if key in columns or any(fnmatchcase(c, key) for c in columns)]
        found = find_globs({key: {} for key in stanzas}, SourceSpec(), lambda _, c=columns: c, "spec")
        columns_by_pattern = {pattern.pattern: list(pattern.columns) for pattern in found}
        expected = plain(stanzas, columns)
        assert columns_by_pattern == {key: expected[key] for key in stanzas if key not in columns}
        several += any(len(names) > 1 for names in columns_by_pattern.values())
    assert several > 50


@pytest.mark.parametrize(
    ("pattern", "name", "fitting"),
    [
        ("q*", "q", True),
        ("q*", "Q1", False),
        ("*", "anything, with\nlines", True),
        ("q?*", "q1", False),
        ("q?*", "q?1", True),
        ("q[1]*", "q[1]SQ", True),
        ("a*b*c", "axxbxxc", True),
        ("a*b*c", "acb", False),
    ],
)
def test_only_the_star_is_special(pattern: str, name: str, *, fitting: bool) -> None:
    assert matches_glob(pattern, name) is fitting


def test_commands_use_the_columns_that_match(run: Run) -> None:
    Path("survey.csv").write_text(SURVEY, encoding="utf-8")
    spec = SPEC.replace('[attributes."q*"]', '[attributes."q**"]')  # q* is also the name of a column
    Path("discreet.toml").write_text(spec, encoding="utf-8")
    shown = run("inspect", "discreet.toml", "--json")
    assert shown.status == 0, shown.err
    assert shown.json["patterns"] == {
        "*_other": ["q2_other"],
        "q**": ["q1", "q3", "q4", "q*"],
        "q3*": [],
    }
    roles = {a["name"]: a["role"] for a in shown.json["attributes"]}
    assert roles == {
        "age": "quasi-identifier",
        "q1": "sensitive",
        "q3": "sensitive",
        "q4": "sensitive",
        "q*": "sensitive",
        "q2_other": "identifier",
        "respondent": "identifier",
        "q2": "insensitive",
    }
    assert 'The section attributes."q3*" is not used' in " ".join(shown.json["warnings"])
    text = run("inspect", "discreet.toml").out
    assert 'attributes."q**" matches 4 columns: q1, q3, q4, q*.' in text
    options = ("discreet.toml", "--k", "2", "--max-suppressed", "50%", "--output", "release.csv")
    assert run("publish", *options).status == 0
    header = Path("release.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "age,q1,q2,q3,q4,q*"
    assert run("audit", "release.csv").status == 0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"q3*"', '"x*"', 'attributes."x*" matches no column'),
        ('"q3*"]\nrole = "insensitive"', '"q3*"]\nrole = "secret"', "attributes.\"q3*\".role = 'secret'"),
        (
            'role = "sensitive"',
            'role = "sensitive"\nweight = 2',
            'attributes."q*".weight',
        ),
    ],
)
def test_errors_name_the_stanza(run: Run, old: str, new: str, expected: str) -> None:
    Path("survey.csv").write_text(SURVEY, encoding="utf-8")
    Path("discreet.toml").write_text(SPEC.replace(old, new), encoding="utf-8")
    failed = run("negotiate", "discreet.toml", "--k", "2")
    assert failed.status == 2
    assert expected in " ".join(failed.err.split())


def test_frames_accept_patterns_and_missing_source_is_named(tmp_path: Path) -> None:
    frame = pa.table({"age": [1, 1], "q1": ["a", "b"], "q2": ["c", "c"]})
    attributes = {"age": {"role": "quasi-identifier"}, "q*": {"role": "sensitive"}}
    table = discreet.open(frame, {"attributes": attributes})
    assert [a.name for a in table.spec.sensitive] == ["q1", "q2"]
    (tmp_path / "discreet.toml").write_text(SPEC, encoding="utf-8")
    with pytest.raises(InputError, match=r"survey\.csv is missing"):
        discreet.open(tmp_path / "discreet.toml")


def test_no_pattern_matches_the_subject(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    text = '[source]\npath = "survey.csv"\nsubject = "q1"\n[attributes."q*"]\nrole = "insensitive"\n'
    (tmp_path / "discreet.toml").write_text(text.replace('"q*"', '"q*r*"'), encoding="utf-8")
    (tmp_path / "all.toml").write_text(text.replace('"q*"', '"*"'), encoding="utf-8")
    for name in ("discreet.toml", "all.toml"):
        roles = {a.name: str(a.role) for a in discreet.open(tmp_path / name).spec.attributes}
        assert roles["q1"] == "identifier"
    assert roles["q2"] == "insensitive"


def test_folding_loses_nothing() -> None:
    """Folding keeps each column's stanza, whatever is folded."""
    draw = random.Random(8)
    shorter = 0
    for _ in range(300):
        names = dict.fromkeys(
            draw.choice(["{}", "q{}", "q{}_other", "q{}_{}", "{}x", "qq{}", "*{}"]).format(
                draw.randrange(12), draw.randrange(3)
            )
            for _ in range(draw.randrange(30))
        )
        stanzas: dict[str, Any] = {name: {"role": draw.choice("aaab")} for name in names}
        patterns = find_series_globs(stanzas, 3)
        assert "*" not in {pattern.pattern for pattern in patterns}
        found = collapse_series(stanzas, patterns)
        columns = list(stanzas)
        again = find_globs(found, SourceSpec(), lambda _, c=columns: c, "spec")
        assert expand_globs(found, again) == stanzas
        assert sum(len(p.columns) - 1 for p in patterns) == len(stanzas) - len(found)
        shorter += bool(patterns)
    assert shorter > 100


def test_init_writes_one_stanza_for_a_series(run: Run) -> None:
    """The series is folded only if most columns are alike; the others keep separate stanzas."""
    header = "id,age," + ",".join(f"q{i}" for i in range(1, 121))
    rows = [
        f"p{r},{20 + r % 50}," + ",".join("7" if i == 17 else f"{(r + i) % 5}" for i in range(1, 121))
        for r in range(200)
    ]
    Path("wide.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    found = run("init", "wide.csv", "--json")
    assert found.status == 0, found.err
    text = Path("discreet.toml").read_text(encoding="utf-8")
    spec = tomllib.loads(text)["attributes"]
    assert set(spec) == {"id", "age", "q*", "q17"}
    assert spec["q17"] == {"role": "insensitive"}  # constant in all rows
    assert "columns, q1 to q120." in text
    assert len(found.json["attributes"]) == 122
    shown = run("inspect", "discreet.toml", "--json")
    assert len(shown.json["patterns"]["q*"]) == 119
    Path("few.csv").write_text("age,q1,q2\n30,1,2\n31,2,1\n30,2,1\n31,1,2\n", encoding="utf-8")
    assert run("init", "few.csv", "--overwrite").status == 0
    assert "*" not in "".join(tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))["attributes"])
