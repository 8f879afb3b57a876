"""Adult published at nodes whose suppressed rows are printed in the paper on online negotiation."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from tests.drawing import in_turn
from tests.oracle.patients import publish_patients

QI3 = ("age", "race", "work_class")


@pytest.mark.parametrize(
    ("node", "k", "l", "suppressed", "name"),
    [
        (*case, name)
        for case, name in in_turn(
            [((1, 0, 0), 3, None, 125), ((1, 1, 2), 3, None, 11), ((1, 0, 0), 3, 2, None)],
            ["r.csv", "r.parquet"],
        )
    ],
)
def test_release_of_adult_has_the_suppression_and_classes_of_a_plain_count(
    name: str,
    node: tuple[int, ...],
    k: int,
    l: int | None,
    suppressed: int | None,
    data_dir: Path,
    engine: Engine,
    settings: Settings,
    out: Path,
) -> None:
    adult = data_dir / "adult"
    document = {
        "source": {"path": "adult_30162.csv"},
        "attributes": {
            **{
                attribute: {
                    "role": "quasi-identifier",
                    "hierarchy": f"hierarchies_negotiation/{attribute}.csv",
                }
                for attribute in QI3
            },
            "salary_class": {"role": "sensitive"},
        },
    }
    spec = spec_from_mapping(document, base=adult, label="Adult")
    expected = classes(adult, node)
    failing = {
        key: members
        for key, members in expected.items()
        if members.total() < k or (l is not None and len(members) < l)
    }
    counted = sum(members.total() for members in failing.values())
    assert suppressed is None or counted == suppressed

    release = publish_patients(
        engine, settings, spec, out / name, node=node, k=k, l=l, expected_suppressed=counted
    )
    assert (release.rows, release.suppressed) == (30162, counted)
    kept = [members for key, members in expected.items() if key not in failing]
    assert release.audit.k == min(members.total() for members in kept)
    assert release.audit.classes == len(kept)
    assert release.audit.l == {"salary_class": min(map(len, kept))}
    assert audit_release(engine, out / name).passed


def classes(adult: Path, node: tuple[int, ...]) -> dict[tuple[str, ...], Counter[str]]:
    """Return the classes at a node and the rows of each salary class, using only the csv module."""
    paths = {}
    for attribute in QI3:
        with (adult / "hierarchies_negotiation" / f"{attribute}.csv").open(newline="") as file:
            paths[attribute] = {line[0]: line for line in csv.reader(file, delimiter=";")}
    found: dict[tuple[str, ...], Counter[str]] = {}
    with (adult / "adult_30162.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = tuple(paths[name][row[name]][level] for name, level in zip(QI3, node, strict=True))
            found.setdefault(key, Counter())[row["salary_class"]] += 1
    return found
