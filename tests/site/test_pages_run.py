"""Every command and Python block of the tutorials and how-to pages runs unchanged."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.sample.census import write_census
from tests.first_hour.messy_tables import hospital, survey
from tests.servers.postgres import PostgresServer
from tests.site.page_blocks import BLOCK, ROOT, run_page

DOCS = ROOT / "docs"
ROWS = 1_000


def publish(*more: str) -> None:
    assert main(["publish", "discreet.toml", *more]) == 0


def census() -> None:
    write_census(Path("census.csv"), ROWS)


def released() -> None:
    """Write the input of an analyst and of the publisher: two releases and the queries."""
    census()
    assert main(["init", "census.csv"]) == 0
    publish("--k", "5", "--max-suppressed", "5%", "--output", "levels.csv")
    publish("--model", "mondrian", "--k", "5", "--output", "boxes.csv")
    Path("questions.sql").write_text("SELECT count(*) FROM release WHERE age < 30;\n", encoding="utf-8")


def attacked() -> None:
    """Write a census without its numbers, and two releases of it."""
    census()
    assert main(["init", "census.csv"]) == 0
    lines = Path("census.csv").read_text(encoding="utf-8").splitlines()
    Path("raw.csv").write_text("\n".join(line.split(",", 1)[1] for line in lines) + "\n", encoding="utf-8")
    publish("--k", "5", "--max-suppressed", "5%", "--output", "release.csv")
    publish("--k", "5", "--max-suppressed", "10%", "--max-level", "age=2", "--output", "next.csv")


def checked() -> None:
    census()
    assert main(["init", "census.csv"]) == 0
    publish("--k", "5", "--max-suppressed", "5%", "--output", "release.csv")


PAGES: dict[str, Callable[[], object]] = {
    "start/ten-minutes": census,
    "start/publisher": census,
    "start/analyst": released,
    "start/attacker": attacked,
    "how-to/hospital": lambda: hospital(Path("admissions.csv"), 300),
    "how-to/survey": lambda: survey(Path("survey.parquet")),
    "how-to/pipeline": checked,
    "errors": lambda: None,
    "pictures": lambda: None,
    "statistics-files": lambda: None,
}
ELSEWHERE = {"how-to/database", "how-to/cluster", "how-to/air-gapped"}
"""Pages that need a server, Java or more are tested below."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder; nothing is compiled, the log is inside the test's folder."""
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


QUICK = {"start/ten-minutes", "errors", "pictures", "statistics-files"}
"""Pages of every run; the other pages take 5 to 60 seconds of processor time each."""


@pytest.mark.parametrize(
    "page", [page if page in QUICK else pytest.param(page, marks=pytest.mark.slow) for page in PAGES]
)
def test_page_runs(page: str, folder: Path) -> None:
    PAGES[page]()
    ran = run_page(DOCS / f"{page}.md", csv_to="club.csv")
    assert ran or page == "pictures"


def test_every_page_with_steps_has_an_entry() -> None:
    written = {
        str(path.relative_to(DOCS))[:-3]
        for place in ("start", "how-to")
        for path in (DOCS / place).glob("*.md")
    }
    assert written == {page for page in {*PAGES, *ELSEWHERE} if "/" in page}


@pytest.mark.slow
def test_page_of_a_machine_without_a_network_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The demonstration and the checks run; pip's commands are checked by option, for lack of a network."""
    text = (DOCS / "how-to" / "air-gapped.md").read_text(encoding="utf-8")
    shell = [block for language, block in BLOCK.findall(text) if language == "sh"]
    assert len(shell) == 2
    for block in shell:
        pip, verb, *words = block.split()
        assert pip == "pip"
        help_text = subprocess.run(
            [sys.executable, "-m", "pip", verb, "--help"], capture_output=True, text=True, check=True
        )
        assert [word for word in words if word.startswith("--") and word not in help_text.stdout] == []
    commands = [block for language, block in BLOCK.findall(text) if language == "console"]
    page = folder / "commands.md"
    page.write_text("".join(f"```console\n{block}```\n" for block in commands), encoding="utf-8")
    assert run_page(page) == 2


@pytest.mark.slow
def test_page_of_a_database_runs(
    folder: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = postgres_server.create_database()
    postgres_server.run(
        "CREATE SCHEMA care",
        "CREATE SCHEMA published",
        "CREATE TABLE care.patients AS SELECT 20 + i % 50 AS age, 'ward ' || i % 4 AS ward, "
        "'d' || i % 6 AS diagnosis FROM generate_series(1, 600) AS i",
        database=database,
    )
    monkeypatch.setenv("CLINIC", postgres_server.url(database))
    assert run_page(DOCS / "how-to" / "database.md") == 2
    assert Path("patients.csv").is_file()
    assert 'url = "env:CLINIC"' in Path("patients.toml").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.spark
def test_page_of_a_cluster_runs(folder: Path, spark_process: None) -> None:
    Path("people").mkdir()
    ages = pa.array([20 + row % 50 for row in range(400)])
    wards = pa.array([f"ward {row % 4}" for row in range(400)])
    pq.write_table(pa.table({"age": ages, "ward": wards}), "people/part-0.parquet")
    assert run_page(DOCS / "how-to" / "cluster.md") == 1
    assert Path("released").is_dir()


def test_block_without_a_runner_is_refused(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text("```ruby\nputs 1\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="has no runner"):
        run_page(page)
    page.write_text("```console\n$ discreet audit nothing.csv\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=re.escape("audit nothing.csv")):
        run_page(page)
