"""Arguments of anjana and pycanon give the same figures here, on one table, against plain counting."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pandas
import pytest

import discreet
from discreet import coming_from
from discreet.errors import InputError

FRAME = pandas.DataFrame(
    {
        "name": ["Ada", "Bea", "Cid", "Dan", "Eva", "Fay", "Gil", "Hal"],
        "age": [23, 24, 27, 28, 41, 44, 47, 48],
        "city": ["Bonn", "Bonn", "Köln", "Köln", "Bonn", "Jena", "Jena", None],
        "disease": ["flu", "cold", "flu", "gout", "flu", "cold", "flu", "cold"],
    }
)
QUASI = ["age", "city"]
# a value for each row of the table, as in the examples of anjana
HIERARCHIES = {
    "age": {
        0: FRAME["age"].to_numpy(),
        1: [f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in FRAME["age"]],
    },
    "city": {0: FRAME["city"], 1: ["*"] * len(FRAME)},
}


def spec(**options: object) -> dict[str, object]:
    return coming_from.anjana(QUASI, HIERARCHIES, ident=["name"], sens_att="disease", **options)  # type: ignore[arg-type]


def test_arguments_of_anjana_become_a_spec() -> None:
    assert spec(k=2, l_div=2, supp_level=12.5) == {
        "attributes": {
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {
                    "kind": "levels",
                    "rows": [
                        [str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10})", "*"] for age in FRAME["age"]
                    ],
                },
            },
            "city": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "levels", "rows": [["Bonn", "*"], ["Köln", "*"], ["Jena", "*"]]},
            },
            "disease": {"role": "sensitive"},
        },
        "request": {"k": 2, "l": 2, "max_suppressed": "12.5%", "max_level": {"age": 1, "city": 1}},
    }


def test_frame_is_published_as_anjana_would() -> None:
    table = discreet.open(FRAME, spec(k=3, supp_level=0))
    release = table.publish(table.negotiate().exact).to_pandas()
    assert "name" not in release
    assert Counter(zip(release["age"], release["city"], strict=True)) == {
        ("[20, 30)", "*"): 4,
        ("[40, 50)", "*"): 4,
    }


def test_column_without_a_hierarchy_is_not_generalized() -> None:
    made = coming_from.anjana(["age", "city"], {"age": HIERARCHIES["age"]}, k=2)
    assert made["request"]["max_level"] == {"age": 1, "city": 0}


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ({0: [23, 23], 1: ["20s", "30s"]}, "'20s' in one row and '30s'"),
        ({0: [23, 24], 1: ["20s"]}, "2, 1 values"),
        ({0: [23], 2: ["*"]}, "without a gap"),
        ({}, "without a gap"),
        ({0: [None], 1: ["*"]}, "no value"),
    ],
)
def test_contradictory_levels_are_refused(hierarchy: dict[int, list[object]], message: str) -> None:
    with pytest.raises(InputError) as error:
        coming_from.anjana(["age"], {"age": hierarchy})
    assert message in str(error.value)


def test_column_with_two_roles_is_refused() -> None:
    with pytest.raises(InputError, match="'age' is named twice"):
        coming_from.anjana(["age"], {}, sens_att="age")


def test_measures_of_pycanon_are_in_the_audit_and_the_attack(tmp_path: Path) -> None:
    """k, distinct l and entropy l of a table equal counts in plain Python."""
    table = FRAME.assign(age=FRAME["age"] // 30, city="x").drop(columns="name")
    table.to_csv(tmp_path / "table.csv", index=False)
    classes = [group["disease"].tolist() for _, group in table.groupby(QUASI)]
    columns = coming_from.pycanon(QUASI, ["disease"])
    audit = discreet.audit(tmp_path / "table.csv", k=1, **columns)
    assert audit.k == min(len(rows) for rows in classes)
    assert audit.l == {"disease": min(len(set(rows)) for rows in classes)}
    shares = [[count / len(rows) for count in Counter(rows).values()] for rows in classes]
    entropies = [math.exp(-sum(p * math.log(p) for p in share)) for share in shares]
    [disclosure] = discreet.attack(tmp_path / "table.csv", **columns).disclosure
    assert disclosure.entropy_l == pytest.approx(min(entropies))
    assert disclosure.largest_share == pytest.approx(max(max(share) for share in shares))  # alpha
