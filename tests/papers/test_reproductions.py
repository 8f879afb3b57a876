"""The reproductions: a quick part of each here, the whole of each in slow tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from papers.comparison import Verdict, known_deviations
from papers.reproduction import REPRODUCTIONS, ReproductionRun, prepare_run
from papers.section import Section, all_comparisons, count_verdicts

# Printed figures of a quick run: (equal, different for a known reason).
QUICK = {
    "negotiation": (270, 11),
    "partial-lattice": (0, 0),
    "incognito": (25, 0),
    "mondrian": (7, 0),
    "patterns": (110, 0),
    "permutation": (16, 6),
}
WHOLE = {"negotiation": (566, 23), "partial-lattice": (30, 4), "patterns": (459, 9), "permutation": (16, 6)}


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_quick_run_finds_the_printed_figures(name: str, quick_run: Callable[[str], ReproductionRun]) -> None:
    run = quick_run(name)
    counts = run.as_json()["figures"]
    assert (counts["same"], counts["known"], counts["different"]) == (*QUICK[name], 0)
    assert not run.differs


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_run_writes_a_page_and_its_plots(name: str, quick_run: Callable[[str], ReproductionRun]) -> None:
    run = quick_run(name)
    named = {plot for section in run.as_json()["sections"] for plot in section["plots"]}
    assert named
    assert {path.name for path in run.folder.iterdir()} == {"README.md", *named}
    page = (run.folder / "README.md").read_text(encoding="utf-8")
    for plot in named:
        assert f"({plot})" in page
        ElementTree.parse(run.folder / plot)
    assert run.page == run.folder / "README.md"


def whole_run(name: str, data_dir: Path, settings: Settings, folder: Path) -> list[Section]:
    run = prepare_run(name, folder=folder, data=data_dir, settings=settings)
    return list(run.sections())


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_whole_run_meets_every_known_deviation(
    name: str, data_dir: Path, settings: Settings, tmp_path: Path
) -> None:
    sections = whole_run(name, data_dir, settings, tmp_path)
    counts = count_verdicts(sections)
    assert (counts[Verdict.SAME], counts[Verdict.KNOWN], counts[Verdict.DIFFERENT]) == (*WHOLE[name], 0)
    met = {c.cell for c in all_comparisons(sections) if c.verdict is Verdict.KNOWN}
    assert met == {d.cell for d in known_deviations(name.replace("-", "_"))}


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_missing_data_is_refused_with_its_option(name: str, settings: Settings, tmp_path: Path) -> None:
    run = prepare_run(name, folder=tmp_path / "out", data=tmp_path, settings=settings, quick=True)
    with pytest.raises(InputError) as raised:
        list(run.sections())
    assert str(tmp_path) in raised.value.message
    assert "--data" in (raised.value.advice or "")
    assert list((tmp_path / "out").iterdir()) == []


def test_data_folder_is_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings
) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path / "here"))
    assert prepare_run("negotiation", settings=settings).context.data == tmp_path / "here"
    assert prepare_run("negotiation", data=tmp_path, settings=settings).context.data == tmp_path
    monkeypatch.delenv("DISCREET_DATA")
    found = prepare_run("negotiation", settings=settings)
    assert found.context.data == Path("..", "shared", "data")
    assert found.folder == Path("out", "reproduce", "negotiation")


SVG = "{http://www.w3.org/2000/svg}"


def legend(svg: Path) -> dict[str, str]:
    """Return the colour of each name in a picture's legend: the first one drawn after the previous name."""
    found: dict[str, str] = {}
    for group in ElementTree.parse(svg).iter(f"{SVG}g"):
        if not group.get("id", "").startswith("legend"):
            continue
        colours: list[str] = []
        for part in group.iter():
            if part.tag in (f"{SVG}path", f"{SVG}use"):
                colours += re.findall(r"stroke: (#[0-9a-f]{6})", part.get("style", ""))
            elif part.tag == f"{SVG}text":
                found[part.text or ""] = colours[0]
                colours = []
    return found


@pytest.fixture(scope="module")
def legends(quick_run: Callable[[str], ReproductionRun]) -> dict[str, dict[str, str]]:
    """Return the legend's colours by picture, over all reproductions."""
    folders = [quick_run(name).folder for name in REPRODUCTIONS]
    return {
        f"{svg.parent.name}/{svg.name}": legend(svg) for at in folders for svg in sorted(at.glob("*.svg"))
    }


def test_series_has_one_colour_on_every_page(legends: dict[str, dict[str, str]]) -> None:
    colours: dict[str, set[str]] = {}
    for of_picture in legends.values():
        for name, colour in of_picture.items():
            colours.setdefault(name, set()).add(colour)
    assert len(colours) > 30
    assert {name: found for name, found in colours.items() if len(found) > 1} == {}


def test_series_of_one_picture_have_different_colours(legends: dict[str, dict[str, str]]) -> None:
    """A series and its printed counterpart may share a colour."""
    for picture, of_picture in legends.items():
        own = [colour for name, colour in of_picture.items() if not name.endswith(", printed")]
        assert len(set(own)) == len(own), picture


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")


def test_documented_example_makes_a_table_that_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "reproduce.md", "exec"), names)
    attributes = names["table"].attributes()  # type: ignore[attr-defined]
    table: Table = open_table(tmp_path / "synthetic.csv", {"attributes": attributes})
    assert table.frequency_set.rows == 10_000
    assert table.frequency_set.attributes == ("a1", "a2", "a3", "a4", "a5")


def test_page_reports_the_counts_of_a_whole_run() -> None:
    same, known = WHOLE["negotiation"]
    counts = re.search(
        r"Of the (\d+) printed figures .*?, (\d+) come out the same and (\d+) differ", PAGE, re.DOTALL
    )
    assert counts is not None
    assert [int(number) for number in counts.groups()] == [same + known, same, known]
