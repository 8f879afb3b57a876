"""The report: order, verification, withheld data, and independence of external resources."""

from __future__ import annotations

import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest

import discreet
from discreet.errors import InputError
from discreet.models import named
from discreet.report.report import ReportResult, report
from discreet.verbs.table import Table
from tests.attacks.test_linkage import PATIENTS, table_of

SECTIONS = [
    "Purpose and recipients",
    "Data inventory and attribute roles",
    "Threat model",
    "Model and parameters",
    "Transformation log",
    "Achieved guarantees",
    "Residual risk and attacks",
    "Utility",
    "Warnings and limits",
    "Governance and sign-off",
    "Checked without discreet",
]
VOID = {"meta", "br", "link", "rect", "line"}


class Page(HTMLParser):
    """A parser that checks balanced elements, and collects texts and addresses that would be loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe", "object")
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "action")]
        assert not any(k.startswith("on") or k == "style" for k, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)
        if self.open[-1:] == ["h2"]:
            self.headings.append(data)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    odd = [{"name": "odd", "age": "27", "city": "Trier", "disease": "b"}]
    found = table_of(tmp_path, [*PATIENTS, *odd])
    found.publish({"age": 1}, tmp_path / "out.csv", k=2, max_suppressed=1)
    return found


def made(table: Table, folder: Path, **options: str) -> tuple[ReportResult, str]:
    found = report(folder / "out.csv", table=table, **options)
    return found, found.path.read_text(encoding="utf-8")


def words(text: str) -> str:
    return " ".join(" ".join(Page(text).words).split())


def test_sections_are_in_order_and_load_nothing(table: Table, tmp_path: Path) -> None:
    found, text = made(table, tmp_path)
    page = Page(text)
    assert page.headings == SECTIONS
    assert page.addresses == []
    assert not re.search(r"url\(|@import|https?://", text)
    assert found.path == tmp_path / "out.csv.report.html"
    assert "default-src 'none'" in text
    figures = re.findall(r"<b>(Figure|Table) (\d+)\.</b>", text)
    for kind in ("Figure", "Table"):
        numbers = [int(number) for which, number in figures if which == kind]
        assert numbers == list(range(1, len(numbers) + 1))
        assert numbers


def test_report_is_owner_only_and_has_no_value_of_the_data(table: Table, tmp_path: Path) -> None:
    found, text = made(table, tmp_path)
    assert stat.S_IMODE(found.path.stat().st_mode) == 0o600
    for value in ("Trier", "Berlin", "Bonn", "odd", "p0", str(tmp_path)):
        assert value not in text
    assert "anonym" not in text.lower()
    plain = words(text)
    assert re.search(r"EMA Policy 0070.*?0\.09 12 not reached practice reads 11", plain)
    assert re.search(r"secure enclave highest risk 0\.33 4 reached", plain)


def test_guarantees_are_counted_in_the_current_file(table: Table, tmp_path: Path) -> None:
    assert made(table, tmp_path)[0].passed
    with (tmp_path / "out.csv").open("a", encoding="utf-8") as file:
        file.write("lonely,Berlin,a\n")
    found = report(tmp_path / "out.csv", overwrite=True)
    assert not found.passed
    assert "Audit failed." in found.path.read_text(encoding="utf-8")
    assert "failed" in str(found)


def test_texts_come_from_a_file_and_options(table: Table, tmp_path: Path) -> None:
    about = tmp_path / "about.toml"
    about.write_text(
        'title = "Visits <2024>"\npurpose = "A file\'s."\nrecipient = "The institute."\n', "utf-8"
    )
    found = report(tmp_path / "out.csv", about=about, purpose="Waiting times.")
    text = found.path.read_text(encoding="utf-8")
    assert "<h1>Visits &lt;2024&gt;</h1>" in text
    assert "Waiting times." in text
    assert "A file" not in text
    assert "The institute." in text
    assert text.count('class="rule"') == 4 + 2 + 2  # threat model, population and controls stay blank


@pytest.mark.parametrize(
    ("content", "message"),
    [("purpose = 3", "purpose"), ('motive = "x"', "motive"), ("purpose", "not TOML")],
)
def test_invalid_file_of_texts_is_refused(table: Table, tmp_path: Path, content: str, message: str) -> None:
    about = tmp_path / "about.toml"
    about.write_text(content, "utf-8")
    with pytest.raises(InputError, match=message):
        report(tmp_path / "out.csv", about=about)
    assert not (tmp_path / "out.csv.report.html").exists()


def test_report_without_the_original_has_no_comparison(table: Table, tmp_path: Path) -> None:
    found = report(tmp_path / "out.csv")
    text = words(found.path.read_text(encoding="utf-8"))
    assert "Utility is measured against the original" in text
    assert "original" not in text.partition("Table 4")[2].partition("Figure")[0]
    assert found.as_json()["comparison"] is None


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("local", {}),
        ("patterns", {"max_stars": 2}),
        ("full-subtree", {}),
        ("permutation", {}),
        ("permutation", {"form": "two-tables"}),
    ],
)
def test_report_of_every_kind_of_model(
    table: Table, tmp_path: Path, model: str, options: dict[str, object]
) -> None:
    limit = None if model == "permutation" else "50%"
    table.publish(named(model)(**options), tmp_path / "out.csv", k=2, max_suppressed=limit, overwrite=True)
    found, text = made(table, tmp_path)
    assert found.passed
    assert Page(text).headings == SECTIONS
    permuted = model == "permutation"
    assert ("Identity and membership are not protected" in text) is permuted
    assert ("by group" in words(text)) is permuted


def test_report_of_a_permuted_database(table: Table, tmp_path: Path) -> None:
    table.publish("permutation", tmp_path / "out.duckdb", k=2)
    found = report(tmp_path / "out.duckdb", table=table)
    assert found.passed
    assert found.evidence.comparison is None
    assert "database" in words(found.path.read_text(encoding="utf-8"))


def test_missing_release_or_existing_output_is_refused(table: Table, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        report(tmp_path / "people.csv")
    made(table, tmp_path)
    with pytest.raises(InputError, match="exists"):
        report(tmp_path / "out.csv")
    with pytest.raises(InputError, match="is the release"):
        report(tmp_path / "out.csv", output=tmp_path / "out.csv", overwrite=True)
    assert discreet.audit(tmp_path / "out.csv").passed
