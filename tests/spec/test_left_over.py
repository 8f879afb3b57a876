"""Keys left over from another role: of an identifier a notice, of a published column an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.table import open as open_table

SPEC = """
[source]
path = "people.csv"

[attributes.name]
role = "identifier"
hierarchy = "hierarchies/that/is/not/there.csv"
weight = 2

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", width = 10}

[attributes.pay]
role = "sensitive"
"""
NOTE = "'name' is an identifier, so its hierarchy and weight in the spec are not used."


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    rows = "".join(f"p{number},{20 + number},{number}\n" for number in range(8))
    (tmp_path / "people.csv").write_text("name,age,pay\n" + rows, encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_an_identifier_that_was_a_quasi_identifier(spec: Path, settings: Settings, tmp_path: Path) -> None:
    table = open_table(spec, settings=settings)
    assert NOTE in table.inspect().warnings
    release = table.publish({"age": 1}, tmp_path / "r.csv", k=8)
    assert NOTE in release.release.warnings
    assert "name" not in (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[0]
    assert NOTE not in (tmp_path / "r.csv.manifest.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_a_column_that_is_published_is_refused(role: str, spec: Path) -> None:
    spec.write_text(SPEC.replace('role = "identifier"', f'role = "{role}"'), encoding="utf-8")
    with pytest.raises(InputError, match=f"for an attribute whose role is {role}"):
        open_table(spec)
