"""Messages of a publication: each warning once, long lists shortened, and the counted unit named."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.cli.conftest import Run

SPEC = """\
[source]
path = "visits.csv"
{source}

[attributes.person]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = {{kind = "intervals", widths = [20]}}

[attributes.disease]
role = "sensitive"
"""


def visits(folder: Path, source: str) -> Path:
    """Write ten people with two visits each, thirteen columns that no spec lists, and one disease."""
    columns = [f"q{i}" for i in range(13)]
    with (folder / "visits.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "age", "disease", *columns])
        for person in range(10):
            writer.writerows([[f"P{person}", 20 + person, "flu", *range(13)]] * 2)
    spec = folder / "discreet.toml"
    spec.write_text(SPEC.format(source=source), encoding="utf-8")
    return spec


def test_warning_is_printed_once_with_a_list_cut_at_ten(run: Run, people: Path) -> None:
    spec = visits(people, 'unlisted_columns = "insensitive"')
    found = run("publish", spec, "--k", 2, "--output", "out.csv")
    assert found.status == 0, found.err
    assert found.out.count("published unchanged and unchecked") == 1
    assert found.out.count("all people have the same disease") == 1
    assert found.out.count("groups contain fewer than 2 different person") == 1
    printed = " ".join(found.out.split())
    assert printed.startswith("Warning: 10 of 10 groups contain fewer than 2 different person: k counts rows")
    assert "'q8', 'q9' and 3 more." in printed
    assert "'q10'" not in printed
    (listed,) = [
        text
        for text in run("publish", spec, "--k", 2, "--output", "out.csv", "--overwrite", "--json").json[
            "warnings"
        ]
        if "Not listed" in text
    ]
    assert "'q12'" in listed
    assert run("audit", "out.csv").out.count("unchanged and unchecked") == 1
