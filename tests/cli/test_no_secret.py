"""No verb repeats a potential password from an argument or option, neither in its output nor in a file.

Verbs and options come from the declarations of the command line, which covers new ones automatically.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from discreet.cli.typer_application import VERBS, build_command
from discreet.web.server import WorkbenchServer
from docs.commands_page import verbs
from tests.cli.conftest import Run

SECRET = "open-sesame"
ENCODED = "open%2Dsesame"
ADDRESSES = (
    f"postgresql://ann:{SECRET}@127.0.0.1:1/fun",
    f"POSTGRESQL+psycopg://ann:{SECRET}@127.0.0.1:1/fun",
    f"postgresql://ann:{ENCODED}@127.0.0.1:1/fun",
    f"postgresql://ann:x@{SECRET}@127.0.0.1:1/fun",
    f"postgresql://ann:{SECRET}/x@127.0.0.1:1/fun",
    f"postgresql://ann:{SECRET}?x@127.0.0.1:1/fun",
    f"postgresql://ann:a {SECRET}@127.0.0.1:1/fun",
    f"postgresql://ann@127.0.0.1:1/fun?password={SECRET}",
    f"postgresql://127.0.0.1:1/fun?user=ann&sslpassword={SECRET}",
    f"postgresql://ann:{SECRET}@[::1]:1/fun",
    f"mariadb://ann:{SECRET}@127.0.0.1:1/fun",
    f"mariadb://ann@127.0.0.1:1/fun?password={SECRET}",
    f"mysql+pymysql://ann:{SECRET}@h/db",
    f"mysql:/ann:{SECRET}@h/db",
    f"spark://ann:{SECRET}@h/x",
    f"spark:s3a://key:{SECRET}@bucket/people",
    f"sqlite:///people.db?key={SECRET}",
    f"snowflake://ann:{SECRET}@account/db?warehouse=w",
    f"snowflake://account/db?token={SECRET}",
    f"bigquery://project/set?credentials_base64={SECRET}",
    f"jdbc:postgresql://h/db?user=ann&password={SECRET}",
    f"jdbc:sqlserver://h;user=ann;password={SECRET}",
    f"jdbc:oracle:thin:ann/{SECRET}@h:1521:sid",
    f"S3://key:{SECRET}@bucket/people.parquet",
    f"https://{SECRET}@h/people.csv",
    f"https://h/people.csv?token={SECRET}",
    f"env:mysql://ann:{SECRET}@h/db",
    f"ann:{SECRET}@h/db",
    f"//ann:{SECRET}@h/db",
    f"host=h user=ann password={SECRET}",
    f"host=h user=ann password='x {SECRET}'",
    f"Server=h;Uid=ann;Pwd={SECRET}",
)
STEP = 11
"""Every eleventh pair of an option and an address is run; each option meets several addresses."""
ALSO = ((), ("--debug",), ("--json",), ("--debug", "--json"))
GIVEN = {
    "SPEC": "discreet.toml",
    "DATA": "people.csv",
    "RELEASE": "first.csv",
    "RELEASE…": "first.csv",
    "[RELEASE]…": "first.csv",
    "[RELEASE… SQL]": "first.csv",
}
"""Values of the verbs' arguments; any other argument gets an address."""
NEEDED = {
    "publish": ("--k", "2", "--output", "out.csv"),
    "apply": ("--spec", "discreet.toml", "--output", "out.csv"),
    "dp histogram": ("--marginal", "age", "--epsilon", "1", "--delta", "0.01", "--output", "out.csv"),
    "dp sample": ("--epsilon", "1", "--delta", "0.01", "--output", "out.csv"),
    "audit": ("--k", "2", "--junit", "record.xml", "--sarif", "record.sarif"),
    "search": ("--algorithm", "bfs", "--k", "2"),
    "negotiate": ("--k", "2"),
    "compare": ("--k", "2", "--node", "age=1"),
    "serve": ("--no-browser", "--port", "0"),
    "demo": ("--quiet",),
}


def parameters(verb: str) -> list[Any]:
    """Return the parameters of a verb that take a text, including those of criteria, models and attacks."""
    command = dict(verbs(build_command((verb,))))[verb]
    context = typer.Context(command, info_name=verb, resilient_parsing=True)
    return [p for p in command.get_params(context) if not getattr(p, "is_flag", False) and p.name != "help"]


def command_lines(verb: str, address: str) -> Iterator[list[str]]:
    """Yield a command line for each argument and option of a verb, with an address as its value."""
    found = parameters(verb)
    arguments = [p for p in found if p.param_type_name == "argument"]
    plain = {p.name: GIVEN.get(str(p.metavar), address) for p in arguments if p.required or verb == "query"}
    needed = NEEDED.get(verb, ())
    for each in found:
        if each.param_type_name == "argument":
            words = [
                address if p is each else plain[p.name] for p in arguments if p is each or p.name in plain
            ]
            yield [*verb.split(), *words, *needed]
            if each.nargs == -1:
                yield [*verb.split(), *words, address, *needed]
        else:
            yield [*verb.split(), *plain.values(), *_without(needed, each.opts), each.opts[0], address]
            yield [*verb.split(), *plain.values(), *needed, each.opts[0], f"age={address}"]


def _without(words: tuple[str, ...], flags: list[str]) -> list[str]:
    pairs = list(words)
    for flag in flags:
        if flag in pairs:
            place = pairs.index(flag)
            del pairs[place : place + 2]
    return pairs


@pytest.fixture(autouse=True)
def release(people: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish a release, declare a budget, and let the workbench stop as soon as it listens."""
    with (people / "discreet.toml").open("a", encoding="utf-8") as spec:
        spec.write("\n[privacy_budget]\nepsilon = 1000\ndelta = 0.9\n")
    assert (
        run("publish", "discreet.toml", "--k", "2", "--max-suppressed", "2", "--output", "first.csv").status
        == 0
    )
    monkeypatch.setattr(WorkbenchServer, "run", _started_and_closed)


def _started_and_closed(server: WorkbenchServer, started: Callable[[], None]) -> None:
    started()
    server.close()


def repeated(done: Any, folder: Path) -> list[str]:
    """Return the places that contain the secret: the output streams and files, which it removes."""
    found = [name for name, text in (("stdout", done.out), ("stderr", done.err)) if contains_secret(text)]
    for path in sorted(folder.parent.rglob("*")):
        if not path.exists():
            continue
        text = "" if path.is_dir() else path.read_text("utf-8", errors="replace")
        if contains_secret(path.name) or contains_secret(text):
            found.append(str(path))
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def contains_secret(text: str) -> bool:
    return SECRET in text or ENCODED in text


@pytest.mark.parametrize("verb", VERBS)
def test_output_of_verbs_and_options_repeats_no_secret(verb: str, run: Run, people: Path) -> None:
    found = []
    for number, address in enumerate(ADDRESSES):
        for place, words in enumerate(command_lines(verb, address)):
            turn, chosen = divmod(number + place, STEP)
            if chosen:
                continue
            done = run(*words, *ALSO[turn % len(ALSO)])
            found += [(where, words) for where in repeated(done, people)]
    assert not found, found[:20]
