"""Bad input: the kind of error, the exit status, the message, and no files left behind.

Each case changes the folder of eight people in one respect and runs one command.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import CITIES, PEOPLE, SPEC, Run
from tests.waiting import PATIENCE

NEGOTIATE = "negotiate discreet.toml"
PUBLISH = "publish discreet.toml --k 2 --output release.csv"


@dataclass(frozen=True)
class Case:
    """A case: ``files`` to write before ``command`` runs; None removes a file."""

    name: str
    command: str
    words: tuple[str, ...]
    files: tuple[tuple[str, bytes | str | None], ...] = ()
    kind: str = "bad-input"
    status: int = 2


def case(
    name: str,
    command: str,
    *words: str,
    kind: str = "bad-input",
    status: int = 2,
    **files: bytes | str | None,
) -> Case:
    """Build a case; file names are keywords with ``_`` for the dot."""
    named = tuple((key.replace("_", "."), content) for key, content in files.items())
    return Case(name, command, words, named, kind, status)


CASES = (
    case("missing spec", "inspect nowhere.toml", "nowhere.toml", "does not exist"),
    case("missing data", f"{NEGOTIATE} --k 2", "people.csv", people_csv=None),
    case("missing release", "audit nowhere.csv --quasi-identifier age --k 2", "nowhere.csv"),
    case("data instead of a spec", "inspect people.csv", "people.csv is data, not a spec", "discreet init"),
    case("no TOML", "inspect discreet.toml", "line 1", discreet_toml="[source\n"),
    case("unknown key", "inspect discreet.toml", "colour", discreet_toml="colour = 1\n" + SPEC),
    case(
        "unreadable encoding",
        f"{NEGOTIATE} --k 2",
        "people.csv",
        people_csv=PEOPLE.replace("Bonn", "Köln").encode("latin-1"),
        city_csv=CITIES.replace("Bonn", "Köln"),
    ),
    case("empty table", f"{NEGOTIATE} --k 2", "people.csv", "empty", people_csv=""),
    case("header only", f"{NEGOTIATE} --k 2", "people.csv", "row", people_csv="name,age,city,disease\n"),
    case(
        "duplicate column names",
        f"{NEGOTIATE} --k 2",
        "city",
        people_csv=PEOPLE.replace("name,", "city,", 1),
    ),
    case("init on an empty table", "init people.csv --output new.toml", "people.csv", people_csv=""),
    case(
        "quasi-identifier that is not there",
        f"{NEGOTIATE} --k 2",
        "citty",
        discreet_toml=SPEC.replace("attributes.city", "attributes.citty"),
    ),
    case("value without a leaf", f"{NEGOTIATE} --k 2", "Bremen", "city", city_csv="Berlin;B;*\nBonn;B;*\n"),
    case(
        "hierarchy with two tops",
        f"{NEGOTIATE} --k 2",
        "city.csv",
        "line 3",
        "top",
        city_csv="Berlin;B;*\nBonn;B;*\nBremen;North;all\n",
    ),
    case("k of 0", f"{NEGOTIATE} --k 0", "k = 0", "at least 1"),
    case("neither k nor l", NEGOTIATE, "k"),
    case("limit of 101 %", f"{NEGOTIATE} --k 2 --max-suppressed 101%", "101%", "100%"),
    case("level above the top", f"{NEGOTIATE} --k 2 --max-level age=4", "4", "age", "0 to 3"),
    case("least above greatest", f"{NEGOTIATE} --k 2 --max-level age=1 --min-level age=2", "age"),
    case("unknown scope", f"{NEGOTIATE} --k 2 --scope below", "below", "above, global"),
    case("more threads than cores", f"{NEGOTIATE} --k 2 --threads 1{'0' * 30}", "threads", "1 to 4096"),
    case("unknown option", f"{NEGOTIATE} --epsilon 1", "--epsilon", "discreet negotiate --help"),
    case("unknown verb", "anonymize discreet.toml", "anonymize", "discreet --help"),
    case("missing argument", "negotiate --k 2", "SPEC"),
    case("one argument too many", f"{NEGOTIATE} again --k 2", "again"),
    case("published level out of range", f"{PUBLISH} --level age=9", "9", "age"),
    case(
        "levels and a relaxation",
        f"{PUBLISH} --level age=3 --accept-relaxation k",
        "--accept-relaxation",
        "--level",
    ),
    case(
        "unknown relaxation",
        f"{PUBLISH} --accept-relaxation everything",
        "everything",
        "max_suppressed, height, k, l",
    ),
    case(
        "unknown format",
        "publish discreet.toml --k 2 --output release.xlsx",
        "release.xlsx",
        ".csv, .parquet",
    ),
    case(
        "missing output folder", "publish discreet.toml --k 2 --output no/where.csv", "no", "does not exist"
    ),
    case(
        "output over the input", "publish discreet.toml --k 2 --output people.csv --overwrite", "people.csv"
    ),
    case("output over the spec", "init people.csv --output people.csv --overwrite", "people.csv", "input"),
    case("output that exists", PUBLISH, "release.csv", "exists", release_csv="mine\n"),
    case("spec that exists", "init people.csv", "discreet.toml", "exists", "--overwrite"),
    case("a folder that is not the demonstration's", "demo --output .", "demonstration"),
    case("audit of an unnamed column", "audit people.csv --k 2", "--quasi-identifier"),
    case("audit of a column that is not there", "audit people.csv --quasi-identifier town --k 2", "town"),
    case(
        "k above the rows",
        "publish discreet.toml --k 9 --output release.csv",
        "k=9",
        kind="no-solution",
        status=3,
    ),
    case(
        "levels that suppress too much",
        "publish discreet.toml --k 3 --level age=1 --output release.csv",
        "suppress",
        kind="no-solution",
        status=3,
    ),
    case(
        "a relaxation without a solution",
        "publish discreet.toml --k 5 --max-level age=0 --accept-relaxation k --output release.csv",
        "k relaxed",
        kind="no-solution",
        status=3,
    ),
    case(
        "a relaxation that leaves nothing",
        "publish discreet.toml --k 5 --max-level age=0 --max-level city=0 --accept-relaxation max_suppressed"
        " --output release.csv",
        "not even with max_suppressed relaxed",
        kind="no-solution",
        status=3,
    ),
    case("a memory limit too small", f"{NEGOTIATE} --k 2 --memory-limit 1KB", kind="limit-reached", status=4),
)


@pytest.mark.parametrize("bad", CASES, ids=lambda c: c.name)
def test_bad_input_is_an_error_of_its_kind_and_leaves_the_files(bad: Case, run: Run, people: Path) -> None:
    for name, content in bad.files:
        if content is None:
            (people / name).unlink()
        else:
            (people / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = contents(people)

    done = run(*bad.command.split(), "--json")
    assert (done.status, done.err) == (bad.status, "")
    error = done.json["error"]
    assert list(error) == ["kind", "message", "allowed", "advice"]
    assert error["kind"] == bad.kind
    assert error["allowed"] or error["advice"]
    text = " ".join(str(part) for part in error.values())
    assert all(word in text for word in bad.words)
    assert contents(people) == before


def test_bad_input_in_text_is_one_error_without_a_traceback(run: Run, people: Path) -> None:
    done = run("negotiate", "discreet.toml", "--k", "0")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Error: k = 0")
    assert "at least 1" in done.err
    assert "Traceback" not in done.err


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of every file below a folder, including hidden ones."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def test_debug_adds_the_traceback(run: Run, people: Path) -> None:
    found = run("negotiate", "discreet.toml", "--k", "0", "--debug")
    assert found.status == 2
    assert "Traceback" in found.err
    assert "Error: k = 0" in found.err


def test_internal_error_contains_no_data(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("Ada has flu")

    monkeypatch.setattr("discreet.verbs.table.load_spec", broken)
    found = run("negotiate", "discreet.toml", "--k", "2")
    assert (found.status, found.out) == (70, "")
    assert "Ada" not in found.err
    assert "KeyError" in found.err
    assert "--debug" in found.err
    assert "Ada" in run("negotiate", "discreet.toml", "--k", "2", "--debug").err
    assert run("negotiate", "discreet.toml", "--json").json["error"]["kind"] == "internal"


@pytest.mark.parametrize(
    ("raised", "status"), [(KeyboardInterrupt, 130), (BrokenPipeError, 141), (MemoryError, 4)]
)
def test_interruption_has_its_exit_status_without_a_traceback(
    raised: type[BaseException], status: int, run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("discreet.verbs.table.load_spec", interrupted)
    monkeypatch.setattr("discreet.cli.main._silence_stdout", lambda: None)
    found = run("negotiate", "discreet.toml", "--k", "2")
    assert found.status == status
    assert "Traceback" not in found.err


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process: a private log of the test, one thread, no compilation."""
    log = str(folder.parent / "private" / "log.jsonl")
    return {**os.environ, "DISCREET_LOG": log, "DISCREET_THREADS": "1", "DISCREET_COMPILE": "never"}


def discreet(
    *argv: str, folder: Path, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    return subprocess.run(
        [sys.executable, "-c", "import sys; from discreet.cli.main import main; sys.exit(main())", *argv],
        cwd=folder,
        # A limit of file sizes would truncate the compiled modules that Python writes next to its sources.
        env=environment(folder) | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        preexec_fn=before,
        timeout=PATIENCE,
        check=False,
    )


def test_separate_process_reports_and_exits_alike(people: Path) -> None:
    before = contents(people)
    found = discreet("negotiate", "discreet.toml", "--k", "2.5", "--json", folder=people)
    assert found.returncode == 2
    assert '"bad-input"' in found.stdout
    assert found.stderr == ""
    assert contents(people) == before


def test_full_disk_is_an_error_and_leaves_the_files(people: Path) -> None:
    before = contents(people)
    limit = 100

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    found = discreet(*PUBLISH.split(), "--json", folder=people, before=small_files)
    assert found.returncode == 4, found.stderr + found.stdout
    assert '"limit-reached"' in found.stdout
    assert contents(people) == before


def test_read_only_folder_is_an_error(people: Path) -> None:
    folder = people / "locked"
    folder.mkdir(mode=0o555)
    target: Path = folder / "release.csv"
    if os.access(folder, os.W_OK):
        target = Path("/proc/self/release.csv")
    found = discreet("publish", "discreet.toml", "--k", "2", "--output", str(target), "--json", folder=people)
    assert found.returncode == 2, found.stderr + found.stdout
    assert "cannot be written" in found.stdout
    assert not target.exists()


def test_closed_pipe_prints_no_error(people: Path) -> None:
    script = "import sys; from discreet.cli.main import main; sys.exit(main())"
    command = f'{sys.executable} -c "{script}" lattice discreet.toml --k 2 --all | head -n 1'
    found = subprocess.run(
        ["sh", "-c", command],
        cwd=people,
        env=environment(people),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert found.stderr == ""


def test_common_options_are_allowed_before_the_verb(run: Run, people: Path) -> None:
    """This includes ``--debug``, whose traceback ends with the words of the command line."""
    before = run("--debug", "negotiate", "discreet.toml", "--k", "2", "--accept-relaxation", "l")
    behind = run("negotiate", "discreet.toml", "--k", "2", "--accept-relaxation", "l", "--debug")
    assert "Traceback" in before.err
    assert before.err.splitlines()[-3:] == behind.err.splitlines()[-3:]
    found = run("--debug", "publish", "discreet.toml", "--k", "2")
    assert "Allowed: --output PATH" in found.err.splitlines()[-3]
    assert "output=PATH" not in found.err
    assert run("--quiet", "inspect", "discreet.toml").out == ""
    assert run("--json", "inspect", "discreet.toml").json
    assert "discreet --help" in run("--debug", "--k").err
