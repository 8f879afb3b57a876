"""Tests of the references: ``docs/references.md`` lists every citation, and everything listed is cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_docs import CODE, exists

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "references.md"
TEXTS = {".py", ".md", ".toml", ".js", ".html", ".css"}

NAME = r"(?:(?:[dD]e|[vV]an|El) )?[A-Z][a-zà-ÿ]+(?:[A-Z][a-z]+)?"
CITATION = re.compile(
    rf"(?<![\w.])(?P<first>{NAME})(?:(?:, and |, | and ){NAME})*(?: et al\.| and others)?,?"
    r" \(?(?P<year>(?:19|20)\d\d)\b(?![-–:])"
)
UNDATED = re.compile(r"Pilalidou|Halwe")
"""Authors of slides without a printed year; they are cited without one."""
NO_AUTHORS = {"Jan", "Aug", "In", "Since", "November", "Februar", "März", "Mai", "Sales"}


def cited_in(text: str) -> Iterator[tuple[str, str]]:
    """Return first author and year of each citation; a citation may span a line break."""
    plain = re.sub(r"\s*\n[\s#>*]*", " ", text)
    for found in CITATION.finditer(plain):
        if found["first"] not in NO_AUTHORS:
            yield found["first"], found["year"]
    for name in UNDATED.findall(plain):
        yield name, ""


def cited_below(*tops: str) -> dict[tuple[str, str], str]:
    """Return each citation with one file that contains it; the list itself is left out."""
    paths = [path for top in tops for path in sorted((ROOT / top).rglob("*"))] + sorted(ROOT.glob("*.md"))
    return {
        key: str(path.relative_to(ROOT))
        for path in paths
        if path.suffix in TEXTS and path not in {LIST, Path(__file__).resolve()}
        for key in cited_by(path)
    }


@cache
def cited_by(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the citations of a file, which several tests check."""
    return tuple(cited_in(path.read_text(encoding="utf-8")))


def rows() -> list[list[str]]:
    """Return the rows of the list: citation, title and venue, where it is implemented."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [row for row in cells if row[0] != "cited as"]


def listed() -> list[tuple[str, str]]:
    return [key for row in rows() for key in cited_in(row[0])]


def test_every_citation_is_resolved() -> None:
    cited = cited_below("src", "papers", "docs", "tests", "benchmarks")
    assert {key: path for key, path in cited.items() if key not in set(listed())} == {}


def test_every_reference_is_cited_by_the_code_a_test_or_a_page() -> None:
    assert set(listed()) - set(cited_below("src", "papers", "docs", "tests")) == set()


def test_every_row_is_one_reference_with_title_and_place() -> None:
    keys = [list(cited_in(row[0])) for row in rows()]
    assert all(len(key) == 1 for key in keys)
    assert len(set(listed())) == len(keys) > 30
    assert all(len(row) == 3 and row[1].startswith("*") and row[2] for row in rows())


def test_every_module_of_the_list_exists() -> None:
    names = [name for row in rows() for name in CODE.findall(row[2])]
    named = [name if name.startswith("papers.") else f"discreet.{name}" for name in names]
    assert len(named) > 50
    assert [name for name in named if not exists(name)] == []


def test_every_part_of_the_list_is_in_order() -> None:
    parts = LIST.read_text(encoding="utf-8").split("\n## ")[1:]
    names = [re.findall(r"^\| ((?!cited as|---)[^|]+) \|", part, re.MULTILINE) for part in parts]
    assert [sorted(part, key=str.casefold) for part in names] == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the frequency set (LeFevre et al. 2005, section 3)", [("LeFevre", "2005")]),
        ("as Samarati (2001) and Sweeney (2002) say", [("Samarati", "2001"), ("Sweeney", "2002")]),
        ("(LeFevre, DeWitt and\n    Ramakrishnan 2008 take", [("LeFevre", "2008")]),
        ("de Waal and Willenborg 1999; Gionis and Tassa 2009", [("de Waal", "1999"), ("Gionis", "2009")]),
        ("Wong and others 2007", [("Wong", "2007")]),
        ("El Emam and Dankar (2008)", [("El Emam", "2008")]),
        ("the slides of Pilalidou and Vassiliadis", [("Pilalidou", "")]),
        ("on 2021-01-01, in 2005, 2000 rows", []),
    ],
)
def test_citation_is_found(text: str, found: list[tuple[str, str]]) -> None:
    assert list(cited_in(text)) == found
