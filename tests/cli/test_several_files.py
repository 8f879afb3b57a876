"""Several files that form one table, named by a pattern."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run, run

__all__ = ["run"]

HEADER = 'age,sex,"to\nwn",disease'


def month(number: int, header: str = HEADER, end: str = "\r\n") -> str:
    """Return the rows of a month in the format of a spreadsheet."""
    rows = [f'{20 + i % 4},{"mf"[i % 2]},"Köln, ""{i % 2}""",flu {number}' for i in range(12)]
    return end.join([header, *rows, ""])


def write(name: str, text: str, encoding: str = "utf-8") -> None:
    path = Path("data", name)
    path.parent.mkdir(exist_ok=True)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


def released(run: Run, pattern: str) -> list[str]:
    """Publish a pattern's files with one level each; return the lines of the release, sorted."""
    assert (found := run("init", pattern)).status == 0, found.err
    assert f'path = "{pattern}"' in Path("discreet.toml").read_text(encoding="utf-8")
    options = ("discreet.toml", "--k", "2", "--max-suppressed", "0", "--output", "release.csv")
    assert (found := run("publish", *options)).status == 0, found.err
    assert run("audit", "release.csv").status == 0
    return sorted(Path("release.csv").read_text(encoding="utf-8").splitlines())


def test_text_files_with_different_line_ends_are_joined(run: Run) -> None:
    write("m1.csv", month(1))
    write("m2.csv", month(2).rstrip(), "utf-8-sig")
    write("m3.csv.gz", month(3))
    rows = released(run, "data/m*")
    assert sum("flu" in row for row in rows) == 36
    assert {row.rpartition("flu ")[2][:1] for row in rows if "flu" in row} == {"1", "2", "3"}


def test_other_encodings_and_json_lines(run: Run) -> None:
    write("m1.csv", month(1), "latin-1")
    write("m2.csv", month(2), "latin-1")
    write("m1.jsonl", '{"age": 3, "sex": "m"}\n' * 6)
    write("m2.jsonl", ('{"age": 3, "sex": "m"}\n' * 6).rstrip())
    assert sum("flu" in row for row in released(run, "data/*.csv")) == 24
    assert run("init", "data/*.jsonl", "--overwrite", "--json").json["rows"] == 12


def test_parquet_files_are_read_by_pattern(run: Run) -> None:
    Path("data").mkdir()
    for number in range(3):
        columns = {"age": [20, 21] * 6, "town": [f"t{number}"] * 12}
        names = ["age", "town"] if number else ["town", "age"]
        pq.write_table(pa.table({name: columns[name] for name in names}), f"data/m{number}.parquet")
    found = run("init", "data/*.parquet", "--json")
    assert found.json["rows"] == 36
    assert {a["name"]: a["values"] for a in found.json["attributes"]} == {"town": 3, "age": 2}


@pytest.mark.parametrize(
    ("name", "text", "encoding", "message"),
    [
        ("m2.csv", month(2, HEADER + ",x").replace("flu 2", "flu,2"), "utf-8", "'x' is not a column of both"),
        ("m2.csv", month(2, 'sex,age,"to\nwn",disease'), "utf-8", "the columns come in another order"),
        ("m2.csv", month(2) + '20,"m,a,b', "utf-8", "data/m2.csv ends within quotes"),
        ("m2.csv", month(2), "latin-1", "the encoding of data/m1.csv seems to be 'utf-8', and that of"),
        ("m2.csv", month(2).replace(",", ";"), "utf-8", "the delimiter of data/m1.csv seems to be ','"),
        ("m2.csv", "", "utf-8", "data/m2.csv is empty"),
        ("m2.tsv", month(2), "utf-8", "the format of data/m1.csv seems to be 'csv', and that of data/m2.tsv"),
        ("m2.parquet", month(2), "utf-8", "the format of data/m1.csv seems to be 'csv'"),
        ("m2.csv.bak", month(2), "utf-8", "the extension '.bak' has no known format"),
        ("m2.csv.manifest.json", "{}", "utf-8", "Write a narrower pattern, such as 'data/*.csv'."),
        ("m1.csv.manifest.json", "{}", "utf-8", "data/m1.csv matches data/*m* and is a release"),
        ("_m2.csv", month(2), "utf-8", "begins with '_'"),
    ],
)
def test_differing_files_of_a_pattern_are_refused_by_name(
    run: Run, name: str, text: str, encoding: str, message: str
) -> None:
    write("m1.csv", month(1))
    write(name, text, encoding)
    found = run("init", "data/*m*")
    assert found.status == 2
    assert message in " ".join(found.err.split())
    assert "Please report" not in found.err


def test_pattern_expanded_by_the_shell_is_explained(run: Run) -> None:
    write("m1.csv", month(1))
    write("m2.csv", month(2))
    found = run("init", "data/m1.csv", "data/m2.csv")
    assert found.status == 2
    assert "discreet init 'data/*.csv'" in " ".join(found.err.split())
    assert run("init", "data/x*.csv").status == 2
    assert run("init", "nowhere/*.csv").status == 2


def test_file_name_with_a_star_is_not_read_as_a_pattern(run: Run) -> None:
    write("m*.csv", month(1))
    write("m2.csv", month(2))
    assert run("init", "data/m*.csv", "--json").json["rows"] == 12


def test_release_replaces_no_file_of_its_input(run: Run) -> None:
    write("m1.csv", month(1))
    write("m2.csv", month(2))
    assert run("init", "data/*.csv").status == 0
    options = ("publish", "discreet.toml", "--k", "2", "--max-suppressed", "0", "--overwrite", "--output")
    found = run(*options, "data/m2.csv")
    assert found.status == 2
    assert "the input" in found.err
    assert Path("data/m2.csv").read_bytes() == month(2).encode()
