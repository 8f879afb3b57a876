"""Tests of the documentation: words, links, commands, dependencies and pictures of figures are correct."""

from __future__ import annotations

import importlib
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from discreet.cli.main import main
from discreet.cli.typer_application import VERBS
from discreet.sample.census import write_census
from docs import man_page, model_options, spec_page
from docs.images import session, terminal

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
CODE = re.compile(r"`([^`]+)`")
LOADS = re.compile(r"(?:href|src)=[\"']|url\([\"']?http|@import|@font-face|<script")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table(name: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a line that begins with ``heading``."""
    lines = iter(read(name).splitlines())
    for line in lines:
        if line.startswith(heading):
            break
    else:
        raise AssertionError(f"{name} has no line that begins with '{heading}'")
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


# --- words -------------------------------------------------------------------------------------------------


def exists(dotted: str) -> bool:
    """Test whether a dotted name is a module, or a name in one; fields of dataclasses count."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if part in getattr(found, "__dataclass_fields__", {}) and part == parts[-1]:
                return True
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return length > 1 or isinstance(found, ModuleType)
    return False


def test_every_word_of_the_glossary_is_a_name_in_the_code() -> None:
    rows = table("docs/glossary.md", "# Glossary")
    assert len(rows) > 30
    names = [name for row in rows for name in CODE.findall(row[1])]
    assert [name for name in names if not exists(name)] == []
    assert all(CODE.search(row[1]) and row[2] for row in rows)


def test_glossary_is_in_order_and_defines_each_word_once() -> None:
    words = [row[0].casefold() for row in table("docs/glossary.md", "# Glossary")]
    assert words == sorted(set(words))


@pytest.mark.parametrize(
    ("dotted", "there"),
    [
        ("discreet.errors.InputError", True),
        ("discreet.model.requirement.Requirement.k", True),
        ("discreet.model.requirement.Requirement.least_rows", True),
        ("discreet.model.requirement.Requirement.m", False),
        ("discreet.nowhere", False),
    ],
)
def test_name_exists_only_where_it_is_defined(dotted: str, there: bool) -> None:
    assert exists(dotted) is there


# --- links, pictures, commands -----------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_resolves(document: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8"))
    relative = [target.split("#")[0] for target in targets if "://" not in target]
    assert [target for target in relative if target and not (document.parent / target).exists()] == []


def test_every_document_is_reachable_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop().resolve()
        if document in reached or document.suffix != ".md" or not document.is_file():
            continue
        reached.add(document)
        targets = re.findall(r"\]\(([^)\s#]+)", document.read_text(encoding="utf-8"))
        waiting += [document.parent / target for target in targets if "://" not in target]
    assert [str(path.relative_to(ROOT)) for path in DOCUMENTS if path not in reached] == []


def test_every_picture_is_a_drawing_with_a_title_and_loads_nothing() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.svg"))
    assert pictures
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        assert root.tag.endswith("svg"), picture
        assert root.find("{http://www.w3.org/2000/svg}title") is not None, f"{picture} has no title"
        assert re.findall(r"(?:href|src)=[\"']|url\([\"']?http|@import|@font-face|<script", text) == [], (
            picture
        )


def test_readme_shows_the_pictures() -> None:
    shown = re.findall(r"!\[[^\]]+\]\((docs/images/[a-z-]+\.[a-z]+)\)", read("README.md"))
    assert shown == ["docs/images/session.svg", "docs/images/workbench-negotiate.png"]


def test_first_command_is_on_the_first_screen() -> None:
    before = read("README.md").split("\ndiscreet ")[0]
    assert len(before.splitlines()) < 12


def test_every_line_of_the_comparison_has_its_evidence() -> None:
    sections = {
        re.sub(r"[^a-z-]", "", heading.lower().replace(" ", "-"))
        for heading in re.findall(r"^## (.+)$", read("docs/comparison.md"), re.MULTILINE)
    }
    rows = table("README.md", "## Compared with other tools")
    linked = [re.search(r"\(docs/comparison\.md#([a-z-]+)\)", row[0]) for row in rows]
    assert {match[1] for match in linked if match} == sections
    assert all(linked)
    assert sum("**" in cell for row in rows for cell in row[2:]) > 5, "where others are better is said"
    assert not any("**" in row[1] for row in rows)


def test_terminal_picture_equals_the_output() -> None:
    """``python docs/images/terminal.py`` draws it again."""
    drawn = (ROOT / "docs" / "images" / "negotiate.svg").read_text(encoding="utf-8")
    again = terminal.drawing(" ".join(["discreet", *terminal.REQUEST]), terminal.negotiation())
    assert words(drawn) == words(again)


def test_session_picture_equals_the_output() -> None:
    """``python docs/images/session.py`` draws it again."""
    drawn = (ROOT / "docs" / "images" / "session.svg").read_text(encoding="utf-8")
    assert words(drawn) == words(session.drawing(session.outputs()))
    assert "prefers-color-scheme: dark" in drawn
    assert "prefers-reduced-motion" in drawn
    assert len(drawn) < 40_000


def words(drawing: str) -> list[str]:
    """Return the words of a drawing's texts, in order."""
    texts = ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    return " ".join(text.text or "" for text in texts).split()


# --- examples ----------------------------------------------------------------------------------------------


def test_three_commands_and_ten_lines_of_the_readme_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generated census replaces the reader's patients."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "log.jsonl"))
    write_census(tmp_path / "patients.csv")
    section = read("README.md").split("## Three commands")[1].split("\n## ")[0]
    commands = re.findall(r"^discreet (.+)$", section, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["init", "negotiate", "publish"]
    for command in commands:
        assert main(command.split()) == 0
    assert (tmp_path / "release.csv").is_file()

    for made in ("discreet.toml", "release.csv", "release.csv.manifest.json"):
        (tmp_path / made).unlink()
    block = re.findall(r"^```python\n(.*?)^```", read("README.md"), re.MULTILINE | re.DOTALL)
    assert len(block) == 1
    assert len([line for line in block[0].splitlines() if line.strip()]) <= 12
    exec(compile(block[0], "README.md", "exec"), {})
    assert (tmp_path / "release.csv").is_file()


def test_every_make_command_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    documented = {
        name for path in DOCUMENTS for name in re.findall(r"\bmake ([a-z-]+)`", path.read_text("utf-8"))
    }
    documented |= set(re.findall(r"^make ([a-z-]+)", read("README.md"), re.MULTILINE))
    assert {"demo", "test"} <= documented
    assert documented - targets == set()


def test_every_verb_is_documented_and_every_documented_verb_exists() -> None:
    pages = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]  # it has the former names, too
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    blocks = "\n".join(re.findall(r"^```.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    verb = r"discreet ((?:dp |list )?[a-z]+)\b"
    documented = {*re.findall(rf"`{verb}", text), *re.findall(rf"^(?:\$ )?{verb}", blocks, re.MULTILINE)}
    assert {"init", "negotiate", "publish"} <= set(VERBS)
    assert documented == set(VERBS)


def test_philosophers_of_the_concepts_equal_those_of_the_negotiation() -> None:
    """``tests/negotiation/test_negotiation_document.py`` checks the figures."""
    block = re.search(r"^```csv\n(.*?)^```", read("docs/negotiation.md"), re.MULTILINE | re.DOTALL)
    assert block is not None
    expected = [line.split(",") for line in block.group(1).splitlines()[1:]]
    assert table("docs/concepts.md", "## Ten philosophers") == expected


def test_every_file_of_the_tour_exists() -> None:
    home = ROOT / "src" / "discreet"
    names = [name for name in CODE.findall(read("docs/tour.md")) if "/" in name and name != "src/discreet/"]
    assert len(names) > 60
    assert [name for name in names if not (home / name).exists()] == []
    assert [name for name in names if name != name.strip() or " " in name] == []


# --- dependencies, changes, rooms, benchmarks --------------------------------------------------------------


def test_every_dependency_has_its_reason_and_its_size() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = {re.split(r"[^A-Za-z0-9_-]", line, maxsplit=1)[0] for line in project["dependencies"]}
    rows = {name: row for row in table("README.md", "## Dependencies") for name in CODE.findall(row[0])}
    assert wanted - set(rows) == set()
    for name in wanted:
        size, reason = rows[name][1], rows[name][2]
        assert re.match(r"\d+ MB", size), f"{name}: '{size}' is no size"
        assert len(reason) > 30, f"{name} has no reason"


def test_every_development_tool_has_its_reason() -> None:
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]["dev"]
    section = read("README.md").split("## Dependencies")[1].split("\n## ")[0]
    names = [re.split(r"[^A-Za-z0-9_-]", line, maxsplit=1)[0] for line in extras]
    assert [name for name in names if f"`{name}`" not in section] == []


def test_changelog_has_this_version() -> None:
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    section = re.search(rf"^## {re.escape(version)}\b.*?(?=^## |\Z)", read("CHANGELOG.md"), re.M | re.S)
    assert section is not None
    assert len(re.findall(r"^- ", section.group(), re.MULTILINE)) >= 10


def test_every_benchmark_is_documented_and_run() -> None:
    modules = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    documented = {CODE.findall(row[0])[0] for row in table("benchmarks/README.md", "# Benchmarks")}
    shared = {"__init__", "__main__", "harness", "fresh_process", "history", "history_plot", "since"}
    shared |= {"tables", "adult"}
    shared |= {f"engine_{part}" for part in ("table", "duckdb", "postgres", "spark")}
    assert documented == modules - shared
    assert [name for name in documented if f'("{name}"' not in read("benchmarks/__main__.py")] == []


def test_contributing_is_ten_lines() -> None:
    assert len(re.findall(r"^\d+\. ", read("CONTRIBUTING.md"), re.MULTILINE)) == 10


# --- options -----------------------------------------------------------------------------------------------


def test_manual_page_equals_the_help() -> None:
    """``python docs/man_page.py`` writes it again."""
    assert read("docs/discreet.1") == man_page.page()


def test_page_of_options_equals_the_models_declarations() -> None:
    """``python docs/model_options.py`` writes it again."""
    assert read("docs/model-options.md") == model_options.page()


def test_page_of_the_spec_equals_the_schema() -> None:
    """``python docs/spec_page.py`` writes it again."""
    assert read("docs/spec.md") == spec_page.page()
