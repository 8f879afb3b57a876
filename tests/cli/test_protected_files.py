"""No writing verb replaces a file of the publisher, however its path is spelled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SPEC, Run
from tests.drawing import in_turn

KEYED = SPEC.replace(
    '[attributes.name]\nrole = "identifier"\n',
    '[attributes.name]\nrole = "identifier"\npseudonymization = {method = "pseudonym", key = "KEY"}\n',
)
BUDGET = '\n[population]\npath = "population.csv"\n\n[privacy_budget]\nepsilon = 4\ndelta = 0.1\n'
KEPT = {
    "people.csv": "the input",
    "city.csv": "the hierarchy of 'city'",
    "keylist.csv": "the key file of 'name'",
    "population.csv": "the population",
    "discreet.toml": "the spec",
    "discreet.budget.json": "the ledger of the privacy budget",
    "log.csv": "the private log",
}
VERBS: dict[str, tuple[str, ...]] = {
    "publish": ("publish", "discreet.toml", "--k", "2", "--output", "{}", "--overwrite"),
    "levels": ("publish", "discreet.toml", "--k", "2", "--level", "age=2", "--output", "{}", "--overwrite"),
    "model": ("publish", "discreet.toml", "--k", "2", "--model", "mondrian", "--output", "{}", "--overwrite"),
    "lock": ("publish", "discreet.toml", "--k", "2", "--output", "new.csv", "--lock", "{}"),
    "apply": ("apply", "first.csv", "people.csv", "--spec", "discreet.toml", "--output", "{}", "--overwrite"),
    "report": ("report", "first.csv", "--spec", "discreet.toml", "--output", "{}", "--overwrite"),
    "junit": ("audit", "first.csv", "--spec", "discreet.toml", "--junit", "{}"),
    "sarif": ("audit", "first.csv", "--spec", "discreet.toml", "--sarif", "{}"),
    "histogram": (
        *("dp", "histogram", "discreet.toml", "--marginal", "age", "--epsilon", "1", "--delta", "0.01"),
        *("--output", "{}", "--overwrite"),
    ),
    "sample": (
        *("dp", "sample", "discreet.toml", "--epsilon", "1", "--delta", "0.01"),
        *("--output", "{}", "--overwrite"),
    ),
}
SPELLINGS: dict[str, Callable[[Path], str]] = {
    "plain": lambda path: path.name,
    "dotted": lambda path: f"./hierarchies/../{path.name}",
    "absolute": lambda path: str(path.resolve()),
    "symbolic link": lambda path: _linked(path, Path("other-name.csv").symlink_to),
    "hard link": lambda path: _linked(path, Path("other-name.csv").hardlink_to),
}


def _linked(path: Path, link: Callable[[Path], None]) -> str:
    link(path.resolve())
    return "other-name.csv"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def work(people: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a spec that names files of every kind, and publish a release with it."""
    monkeypatch.setenv("DISCREET_LOG", str(people / "log.csv"))
    (people / "hierarchies").mkdir()
    (people / "population.csv").write_bytes((people / "people.csv").read_bytes())
    (people / "discreet.toml").write_text(KEYED.replace("KEY", "keylist.csv") + BUDGET, "utf-8")
    assert run("publish", "discreet.toml", "--k", "2", "--output", "first.csv").status == 0
    (people / "discreet.budget.json").write_text('{"ledger": 1, "entries": []}', "utf-8")
    return people


@pytest.mark.parametrize(("verb", "name"), in_turn(VERBS, KEPT, rounds=2))
def test_no_verb_replaces_a_file_of_the_publisher(run: Run, work: Path, verb: str, name: str) -> None:
    before = contents(work)
    done = run(*(name if word == "{}" else word for word in VERBS[verb]))
    assert done.status == 2
    message = " ".join(done.err.split())
    assert f"{name} is {KEPT[name]}" in message
    assert contents(work) == before


@pytest.mark.parametrize(("verb", "spelling"), in_turn(VERBS, SPELLINGS))
def test_key_file_is_protected_under_every_spelling(run: Run, work: Path, verb: str, spelling: str) -> None:
    spelled = SPELLINGS[spelling](work / "keylist.csv")
    before = contents(work)
    done = run(*(spelled if word == "{}" else word for word in VERBS[verb]))
    assert done.status == 2
    message = " ".join(done.err.split())
    assert "is the key file of 'name'" in message
    assert contents(work) == before


NEW_KEYS = {
    "rel.csv": "a release",
    "./hierarchies/../rel.csv": "a release",
    "rel.csv.manifest.json": "the manifest of a release",
    "rel.csv/list": "a release",
    "dangling": "a release",
}


@pytest.mark.parametrize(("key", "verb"), in_turn(NEW_KEYS, ["publish", "levels", "model", "apply"]))
def test_new_key_file_never_replaces_a_release(run: Run, work: Path, verb: str, key: str) -> None:
    (work / "dangling").symlink_to("rel.csv")
    spec = work / "discreet.toml"
    spec.write_text(spec.read_text("utf-8").replace("keylist.csv", key), "utf-8")
    before = contents(work)
    done = run(*("rel.csv" if word == "{}" else word for word in VERBS[verb]))
    assert done.status == 2
    message = " ".join(done.err.split())
    assert "the key file of 'name'" in message
    assert NEW_KEYS[key] in message
    assert contents(work) == before
    assert not (work / "rel.csv").exists()


@pytest.mark.parametrize("key", ["rel.help.csv", "rel.sensitive.csv", "rel.csv"])
def test_help_table_never_replaces_a_file_of_the_publisher(run: Run, work: Path, key: str) -> None:
    spec = work / "discreet.toml"
    text = KEYED.replace("KEY", key)
    spec.write_text(text, "utf-8")
    before = contents(work)
    done = run(
        *("publish", "discreet.toml", "--model", "permutation", "--k", "2", "--output", "rel.csv"),
        *("--overwrite",),
    )
    assert done.status == 2
    assert "the key file of 'name'" in " ".join(done.err.split())
    assert contents(work) == before


@pytest.mark.parametrize(
    ("output", "message"),
    [("first.csv", "first.csv is an earlier release"), ("p", "is the manifest of an earlier release")],
)
def test_earlier_release_is_not_replaced(run: Run, work: Path, output: str, message: str) -> None:
    if output == "p":
        (work / "p").symlink_to("first.csv.manifest.json")
    before = contents(work)
    done = run(
        *("publish", "discreet.toml", "--k", "2", "--previous-release", "first.csv", "--output", output),
        "--overwrite",
    )
    assert done.status == 2
    assert message in " ".join(done.err.split())
    assert contents(work) == before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("publish discreet.toml --k 2 --output rel.csv --lock ./rel.csv", "is both the lock and"),
        ("publish discreet.toml --k 2 --output rel.csv --lock rel.csv.manifest.json", "is both the lock and"),
        ("audit first.csv --k 2 --junit r.xml --sarif ./r.xml", "r.xml is both"),
    ],
)
def test_two_outputs_of_a_verb_must_be_two_files(run: Run, work: Path, command: str, message: str) -> None:
    before = contents(work)
    done = run(*command.split())
    assert done.status == 2
    assert message in " ".join(done.err.split())
    assert contents(work) == before


def test_lock_in_use_is_not_replaced(run: Run, work: Path) -> None:
    (work / "discreet.toml").write_text(KEYED.replace("KEY", "keylist.csv"), "utf-8")
    assert run("publish", "discreet.toml", "--level", "age=3", "--level", "city=2", *("--k", "2"),
               "--output", "rel.csv", "--lock", "lock.csv").status == 0  # fmt: skip
    before = contents(work)
    done = run("publish", "discreet.toml", "--output", "lock.csv", "--lock", "lock.csv", "--overwrite")
    assert done.status == 2
    assert "lock.csv is both the lock and a release" in " ".join(done.err.split())
    assert contents(work) == before


@pytest.mark.parametrize(
    "key", ["people.csv", "city.csv", "log.csv", "discreet.budget.json", "population.csv"]
)
def test_key_file_must_not_be_another_file_of_the_publisher(run: Run, work: Path, key: str) -> None:
    spec = work / "discreet.toml"
    spec.write_text(spec.read_text("utf-8").replace("keylist.csv", key), "utf-8")
    before = contents(work)
    done = run("publish", "discreet.toml", "--k", "2", "--output", "rel.csv")
    message = " ".join(done.err.split())
    assert done.status == 2
    assert f"{key} is both" in message
    assert "the key file of 'name'" in message
    assert contents(work) == before


def test_log_is_not_written_into_the_input(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_LOG", str(work / "people.csv"))
    before = contents(work)
    done = run("publish", "discreet.toml", "--k", "2", "--output", "rel.csv")
    assert done.status == 2
    assert "is both" in " ".join(done.err.split())
    assert contents(work) == before


@pytest.mark.parametrize("target", ["people.csv", "hierarchies/city.csv", "package.json"])
def test_init_replaces_no_input(run: Run, work: Path, target: str) -> None:
    (work / "hierarchies" / "city.csv").write_bytes((work / "city.csv").read_bytes())
    (work / "package.json").write_text('{"fields": [{"name": "age", "type": "integer"}]}', "utf-8")
    before = (work / target).read_bytes()
    done = run(
        *("init", "people.csv", "--hierarchies", "hierarchies", "--schema", "package.json"),
        *("--output", target, "--overwrite"),
    )
    assert done.status == 2
    assert "must never replace" in " ".join(done.err.split())
    assert (work / target).read_bytes() == before


def test_key_of_a_date_shift_is_not_replaced(run: Run, work: Path) -> None:
    (work / "visits.csv").write_text(
        "who,day,city\n" + "".join(f"{n},2024-01-{n + 1:02},Bonn\n" for n in range(9)), "utf-8"
    )
    (work / "visits.toml").write_text(
        '[source]\npath = "visits.csv"\nsubject = "who"\n'
        '[attributes.city]\nrole = "quasi-identifier"\n'
        '[attributes.day]\nrole = "insensitive"\ndate_shift = {days = 9, key = "rel.csv"}\n',
        "utf-8",
    )
    done = run("publish", "visits.toml", "--k", "2", "--output", "rel.csv")
    assert done.status == 2
    assert "rel.csv is the key file of 'day'" in " ".join(done.err.split())
    assert not (work / "rel.csv").exists()


def test_password_file_is_not_replaced(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passwords = work / "passwords.csv"
    passwords.write_text("localhost:5432:*:ann:secret\n", "utf-8")
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    (work / "base.toml").write_text(
        '[source]\nurl = "postgresql://ann@127.0.0.1:1/clinic"\ntable = "people"\n'
        '[attributes.city]\nrole = "quasi-identifier"\n',
        "utf-8",
    )
    done = run("publish", "base.toml", "--k", "2", "--output", "passwords.csv", "--overwrite")
    assert done.status == 2
    assert "passwords.csv is a file of the database's address" in " ".join(done.err.split())
    assert "secret" in passwords.read_text("utf-8")
