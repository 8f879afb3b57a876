"""The examples of docs/hierarchies.md run; each table shows their output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.hierarchy import FileHierarchy, IntervalHierarchy, write_hierarchy_csv
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES
from discreet.spec.spec_reader import load_spec
from tests.hierarchy.soundness import assert_sound

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "hierarchies.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```\n+((?:\|[^\n]*\n)*)", re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A TOML example, the rows of the table below it, and the CSV file above it."""

    toml: str
    rows: list[tuple[str, ...]]
    file: str


def examples() -> list[Example]:
    found, file = [], ""
    for language, text, table in BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")):
        if language == "csv":
            file = text
        if language == "toml":
            cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
            assert cells[0] == [f"level {level}" for level in range(len(cells[0]))]
            found.append(Example(text, [tuple(row) for row in cells[2:]], file))
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.toml.splitlines()[0].strip("[]"))
def test_example_gives_its_table(example: Example, tmp_path: Path) -> None:
    toml = example.toml
    if "role" not in toml:
        head = toml.splitlines()[0].removesuffix(".hierarchy]") + "]"
        toml = f'{head}\nrole = "quasi-identifier"\n{toml}'
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "work_class.csv").write_text(example.file, encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(f'[source]\npath = "x.csv"\n\n{toml}', encoding="utf-8")
    [attribute] = load_spec(path).quasi_identifiers
    assert attribute.hierarchy is not None
    values = [row[0] for row in example.rows]
    hierarchy = attribute.hierarchy.build(attribute.name, values)
    assert_sound(hierarchy, values)
    assert [hierarchy.path(hierarchy.code_of_leaf[value]) for value in values] == example.rows


def test_every_kind_has_an_example() -> None:
    shown = {kind for kind in HIERARCHY_TABLES for example in EXAMPLES if f'kind = "{kind}"' in example.toml}
    assert shown == set(HIERARCHY_TABLES) - {"file"}
    assert any('hierarchy = "hierarchies/work_class.csv"' in example.toml for example in EXAMPLES)
    assert len(EXAMPLES) > 15


def test_python_example_gives_its_table(tmp_path: Path) -> None:
    hierarchy = IntervalHierarchy.of([5, 10], upper=90).build("age", ["17", "23", "91"])
    assert hierarchy.path(1) == ("23", "20-24", "20-29", "*")
    write_hierarchy_csv(hierarchy, tmp_path / "age.csv")
    assert FileHierarchy(tmp_path / "age.csv").build("age", ["17"]).digest == hierarchy.digest
