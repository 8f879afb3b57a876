"""Blocks of the other pages: commands and Python on one small table, or a check of their options.

A page with a block is run here or by the test that is named for it; a page with neither fails. Commands that
need a server, a database or another program are checked against the existing options.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import discreet
from discreet.cli.main import main
from discreet.cli.typer_application import VERBS, build_command, name_verb
from docs.commands_page import verbs
from tests.site import test_pages_run
from tests.site.page_blocks import BLOCK, ROOT

DOCS = ROOT / "docs"
SPEC = """
[source]
path = "rows.csv"
unlisted_columns = "insensitive"
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 20]}
[attributes.sex]
role = "quasi-identifier"
[attributes.education]
role = "quasi-identifier"
[attributes.work_class]
role = "quasi-identifier"
[attributes.occupation]
role = "quasi-identifier"
[attributes.race]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
"""
PERMUTED = """
[source]
path = "rows.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 20]}
[attributes.state]
role = "quasi-identifier"
[attributes.sex]
role = "quasi-identifier"
[attributes.salary]
role = "sensitive"
"""


def table() -> None:
    """Write 60 people with every column that a page names, and two specs of them."""
    header = "age,sex,education,work_class,occupation,race,state,disease,hours_per_week,salary,city"
    rows = [
        f"{20 + i % 40},{'Male' if i % 2 else 'Female'},{('Masters', 'Doctorate', 'HS-grad')[i % 3]},"
        f"{('Private', 'Gov')[i % 7 == 0]},{('Sales', 'Craft')[i % 5 == 0]},{('White', 'Black')[i % 4 == 0]},"
        f"{('TX', 'OH')[i % 2]},d{i * 7 % 11},{20 + i % 41},{1000 + i * 37 % 900},Bonn"
        for i in range(60)
    ]
    Path("rows.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    Path("discreet.toml").write_text(SPEC, encoding="utf-8")
    Path("permuted.toml").write_text(PERMUTED, encoding="utf-8")


def released() -> None:
    """Write the table and a release of it."""
    table()
    options = ["--k", "2", "--max-suppressed", "5%", "--output", "release.csv"]
    assert main(["publish", "discreet.toml", *options]) == 0


def permuted() -> None:
    """Write a permuted release of the table."""
    table()
    options = ["--model", "permutation", "--k", "5", "--e", "100", "--output", "people.csv"]
    assert main(["publish", "permuted.toml", *options]) == 0


def many() -> None:
    """Write the output of a pipeline: a release, and others in a folder."""
    released()
    Path("out").mkdir()
    for name in ("a", "b"):
        options = ["--k", "5", "--l", "2", "--max-suppressed", "50%", "--output", f"out/{name}.parquet"]
        assert main(["publish", "discreet.toml", *options]) == 0


def philosophers() -> None:
    """Write the example of the page on negotiation."""
    text = (DOCS / "negotiation.md").read_text(encoding="utf-8")
    blocks = dict(BLOCK.findall(text))
    Path("philosophers.csv").write_text(blocks["csv"], encoding="utf-8")
    Path("philosophers.toml").write_text(blocks["toml"], encoding="utf-8")


RUN: dict[str, Callable[[], None]] = {
    "attacks": released,
    "audit": released,
    "costs": table,
    "local-recoding": table,
    "negotiation": philosophers,
    "partial-lattice": philosophers,
    "patterns": table,
    "patterns-exact": table,
    "patterns-matching": table,
    "permutation": table,
    "pipelines": many,
    "queries": permuted,
    "report": table,
    "search": table,
    "search/anytime": table,
    "search/optimal": table,
    "single-dimension-optimal": table,
    "workload": released,
    "mondrian": table,
}
"""Pages whose commands and Python run unchanged, with the preparation of the folder."""
LONG = {"local-recoding", "attacks"}
"""Pages whose numpy fallback takes a minute: kernels are compiled for them."""
STATUS = {"negotiation": 3}
"""Pages whose request has no exact answer."""
ELSEWHERE = {
    "README": "tests/test_docs.py",
    "api": "tests/verbs/test_api_page.py",
    "coming-from": "tests/foreign/test_coming_from_page.py",
    "commands": "tests/cli/test_help.py",
    "differential-privacy": "tests/differential/test_page.py",
    "errors": "tests/site/test_pages_run.py",
    "extending": "tests/extending/test_recipes.py",
    "hierarchies": "tests/spec/test_docs_hierarchies.py",
    "python": "tests/site/test_reference_pages.py",
    "queries-generalized": "tests/bounds/test_queries_page.py",
    "reproduce": "tests/papers/test_reproductions.py",
    "spec": "tests/spec/test_schema.py",
    **{f"search/{path.stem}": "tests/search/test_search_document.py" for path in (DOCS / "search").glob("*")},
    **dict.fromkeys(test_pages_run.PAGES, "tests/site/test_pages_run.py"),
    **dict.fromkeys(test_pages_run.ELSEWHERE, "tests/site/test_pages_run.py"),
}
READ = {
    *(
        "concepts",
        "container",
        "criteria/linkage",
        "criteria/lkc",
        "evaluation",
        "identifiers",
        "mariadb",
        "postgres",
    ),
    *("reading", "recoding-models", "related-tables", "serve", "site/index", "sources-and-tables", "spark"),
    "workbench",
}
"""Pages of pictures, keys and commands that need a server: their commands are parsed, not run."""
OTHER_PROGRAMS = ("duckdb ", "podman ", "pip ")
NOT_RUN_PYTHON = {"mondrian", "permutation"}
"""Fragments of internal code on values that a page does not define: only their imports are run."""


def blocks(page: str) -> list[tuple[str, str]]:
    path = ROOT / "README.md" if page == "README" else DOCS / f"{page}.md"
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each discreet command in a block, without prompt, redirection and comments."""
    for line in text.replace("\\\n", " ").splitlines():
        found = re.match(r"(?:\$ )?discreet (.*)", line)
        if found:
            words = shlex.split(found[1], comments=True)
            yield words[: words.index(">")] if ">" in words else words


def names_of(path: Path) -> str:
    return str(path.relative_to(DOCS).with_suffix(""))


PAGES = {names_of(path): path for path in DOCS.rglob("*.md")}


def test_every_page_with_a_block_has_an_entry() -> None:
    written = {page for page in PAGES if blocks(page)}
    assert written - {*RUN, *ELSEWHERE, *READ} == set()
    assert {*RUN, *READ} - written == set()
    for test in set(ELSEWHERE.values()):
        assert (ROOT / test).is_file()


@pytest.mark.parametrize("page", ["README", *sorted(PAGES)])
def test_commands_have_existing_options(page: str) -> None:
    for _, text in blocks(page):
        for words in commands(text):
            name = name_verb(words)
            assert name in VERBS, words
            verb = dict(verbs(build_command((name,))))[name]
            context = verb.make_context(name, [], resilient_parsing=True)
            known = {name for each in verb.get_params(context) for name in (*each.opts, *each.secondary_opts)}
            assert {word for word in words if re.match("--[a-z]", word)} - known == set(), words


@pytest.mark.parametrize("page", sorted(PAGES))
def test_blocks_in_other_languages_can_be_parsed(page: str) -> None:
    for language, text in blocks(page):
        if language == "toml":
            tomllib.loads(text)
        elif language == "yaml":
            yaml.safe_load(text)
        elif language == "json":
            json.loads(text if text.startswith(("{", "[")) else f"{{{text}}}")
        elif language == "python":
            compile(text, page, "exec")
        elif language in ("sh", "bash"):
            others = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
            assert all(line.startswith(("discreet ", *OTHER_PROGRAMS)) for line in others), text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(RUN))
def test_page_runs_on_a_small_table(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page not in LONG:
        monkeypatch.setenv("DISCREET_COMPILE", "never")
    RUN[page]()
    count = 0
    names: dict[str, Any] = {"discreet": discreet}
    for language, text in blocks(page):
        if language == "sql" and page == "workload":
            Path("queries.sql").write_text(text, encoding="utf-8")
    for language, text in blocks(page):
        for words in commands(text):
            run_command(words, STATUS.get(page, 0))
            count += 1
        if language == "python":
            count += 1
            run_python(page, text, names)
    assert count


def run_command(words: list[str], status: int) -> None:
    """Run one command in the folder, after removing an earlier file at its output."""
    found = [str(each) for word in words for each in (sorted(Path().glob(word)) if "*" in word else [word])]
    found = ["permuted.toml" if word == "SPEC" else word for word in found]
    if "--output" in found:
        remove(found[found.index("--output") + 1])
    assert main(found) == status, shlex.join(found)


def run_python(page: str, text: str, names: dict[str, Any]) -> None:
    if page in NOT_RUN_PYTHON:
        text = "\n".join(line for line in text.splitlines() if line.startswith(("from ", "import ")))
    elif "table" not in names and "table =" not in text:
        names["table"] = discreet.open("discreet.toml")
    if ".publish(" in text:
        remove("release.csv")
    exec(compile(text, f"{page}.md", "exec"), names)


def remove(output: str) -> None:
    for path in Path().glob(f"{Path(output).stem}*"):
        if path.suffix != ".toml":
            path.unlink()
