"""Hostile manifests, ledgers, locks and other documents: every verb fails with an error of discreet."""

from __future__ import annotations

import copy
import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import models
from discreet.errors import InputError, LimitReached, NoSolution, RequirementNotMet
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.json_documents import MAX_DEPTH, parse_json
from discreet.release.lock import read_lock
from discreet.release.release_target import LEDGER_NAME
from discreet.settings import Settings
from discreet.spec.spec_reader import parse_spec_mapping
from tests.cli.conftest import CITIES, PEOPLE, SPEC

DEEP = "[" * 100_000
DEEPER = '{"a":' * 100_000
LONG = '{"rows": ' + "9" * 5000 + "}"
TEXTS = {
    "deep": DEEP,
    "deeper": DEEPER,
    "closed": "[" * 100_000 + "]" * 100_000,
    "at the limit of recursion": "[" * 900 + "]" * 900,
    "long number": LONG,
    "nothing": "",
    "a text": '"x"',
    "a list": "[]",
    "a number": "1e999",
    "surrogate": '{"manifest": "\\ud800"}',
    "no json": "{",
}
VALUES: list[Any] = [
    *([], {}, None, "x", "\ud800", -1, 2**70, 1.5, True, float("nan"), [[]], [{}], {"k": []}),
    *({"a": {"b": [{}]}}, 10**400),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with people, their spec, and releases of several kinds."""
    folder = tmp_path_factory.mktemp("hostile")
    way = 'role = "identifier"\npseudonymization = {method = "pseudonym", key = "list.key"}'
    keyed = SPEC.replace('role = "identifier"', way)
    given = {"people.csv": PEOPLE, "city.csv": CITIES, "discreet.toml": SPEC, "keyed.toml": keyed}
    for name, text in given.items():
        (folder / name).write_text(text, "utf-8")
    settings = Settings(2 * 10**9, 1, folder / "private" / "log.jsonl")
    table = discreet.open(folder / "discreet.toml", settings=settings)
    criteria = [EntropyDiversity(1.1)]
    table.publish({"age": 1, "city": 1}, folder / "classes.csv", k=2, max_suppressed=8, criteria=criteria)
    table.publish("patterns", folder / "patterns.csv", k=2, max_suppressed=8)
    table.publish("permutation", folder / "permuted.csv", k=2)
    return folder


@pytest.fixture
def work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the folder of ``made`` and make the copy the working folder."""
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_THREADS", "1")
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of the document with another value at a path; ``...`` removes it."""
    if not path:
        return value
    found = copy.deepcopy(document)
    item = found
    for key in path[:-1]:
        item = item[key]
    if value is ...:
        del item[path[-1]]
    else:
        item[path[-1]] = value
    return found


ACTS: dict[str, Callable[[str], object]] = {
    "audit": lambda name: discreet.audit(name).as_json(),
    "audit_sql": lambda name: discreet.audit_sql(name).as_json(),
    "check": lambda name: discreet.check([name], junit_to="r.xml", sarif_to="r.sarif").as_json(),
    "attack": lambda name: discreet.attack(name).as_json(),
    "attack with the original": lambda name: discreet.attack(
        name, table=discreet.open("discreet.toml")
    ).as_json(),
    "report": lambda name: discreet.report(name, overwrite=True),
    "apply": lambda name: discreet.apply(name, "people.csv", "new.csv", spec="discreet.toml", overwrite=True),
    "query": lambda name: discreet.query(name, "SELECT count(*) FROM release GROUP BY city").as_json(),
    "views": lambda name: discreet.views(name),
    "compare": lambda name: discreet.compare(discreet.open("discreet.toml"), [name]).as_json(),
    "after": lambda name: discreet.open("discreet.toml").publish(
        {"age": 2}, k=2, max_suppressed=8, previous_releases=name
    ),
    "overwrite": lambda name: discreet.open("discreet.toml").publish(
        {"age": 2}, name, k=2, max_suppressed=8, overwrite=True
    ),
}


def act(name: str, file: str) -> None:
    """Run a verb on a release; every error of discreet except an internal one is accepted."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            str(ACTS[name](file))
    except (InputError, NoSolution, LimitReached, RequirementNotMet) as error:
        str(error)


@pytest.mark.parametrize("name", [name for name in ACTS if name != "overwrite"])
@pytest.mark.parametrize("kind", ["classes", "patterns", "permuted"])
def test_manifest_with_any_value_anywhere_is_read_or_refused(work: Path, name: str, kind: str) -> None:
    manifest = work / f"{kind}.csv.manifest.json"
    document = json.loads(manifest.read_text("utf-8"))
    turn = list(ACTS).index(name)
    for number, path in enumerate(places(document)):
        # Each verb gets a different tenth of the paths; all verbs together cover each path of each kind.
        if (number + turn) % 10:
            continue
        for value in (VALUES[(number + turn) % len(VALUES)], VALUES[(number + turn + 7) % len(VALUES)], ...):
            if path or value is not ...:
                manifest.write_text(json.dumps(changed(document, path, value)), "utf-8")
                act(name, f"{kind}.csv")


@pytest.mark.parametrize(
    "path", [("attributes", 0, "name"), ("attributes", 1, "role"), ("data", "sha256"), ("requirement", "k")]
)
@pytest.mark.parametrize("value", [[], {}, 3, None])
def test_wrong_type_is_named_with_its_key_and_file(work: Path, path: tuple[Any, ...], value: Any) -> None:
    manifest = work / "classes.csv.manifest.json"
    document = changed(json.loads(manifest.read_text("utf-8")), path, value)
    if path[-1] == "k" and not isinstance(value, list | dict):
        return
    manifest.write_text(json.dumps(document), "utf-8")
    if path[-1] == "k":
        with pytest.raises(InputError, match="k"):
            discreet.audit("classes.csv")
        return
    with pytest.raises(InputError, match=str(path[-1])) as raised:
        discreet.audit("classes.csv")
    assert "classes.csv.manifest.json" in raised.value.message
    assert "where a text belongs" in raised.value.message


@pytest.mark.parametrize("name", ACTS)
def test_manifest_of_any_json_is_read_or_refused(work: Path, name: str) -> None:
    for text in TEXTS.values():
        (work / "classes.csv.manifest.json").write_text(text, "utf-8", errors="surrogatepass")
        act(name, "classes.csv")


def written(path: Path) -> Iterator[str]:
    """Write each text to a file in turn and yield its name."""
    for name, text in TEXTS.items():
        path.write_text(text, "utf-8", errors="surrogatepass")
        yield name


def test_list_of_pseudonyms_of_any_json_is_refused(work: Path) -> None:
    (work / "list.key").touch(0o600)
    for name in written(work / "list.key"):
        if name != "surrogate":
            with pytest.raises(InputError, match=r"list\.key.*no list of pseudonyms"):
                discreet.open("keyed.toml").publish({"age": 2}, "r.csv", k=2, max_suppressed=8)


def test_ledger_of_any_json_is_refused(work: Path) -> None:
    with (work / "discreet.toml").open("a", encoding="utf-8") as spec:
        spec.write("\n[privacy_budget]\nepsilon = 1\n")
    for _ in written(work / LEDGER_NAME):
        with pytest.raises(InputError, match=r"the ledger of the privacy budget .* cannot be read"):
            discreet.open("discreet.toml").budget()


def test_lock_of_any_json_is_refused(work: Path) -> None:
    for _ in written(work / "lock.json"):
        with pytest.raises(InputError, match=r"lock\.json is not a lock"):
            read_lock(work / "lock.json")


def test_description_of_any_json_is_refused(work: Path) -> None:
    for _ in written(work / "schema.json"):
        with pytest.raises(InputError, match=r"schema\.json"):
            discreet.init("people.csv", schema="schema.json")
        with suppress(InputError):
            discreet.init("schema.json")


def test_rows_and_folders_of_any_json_are_read_or_refused(work: Path) -> None:
    for _ in written(work / "rows.jsonl"):
        with suppress(InputError):  # a number of any length is a valid cell text
            discreet.init("rows.jsonl")
    (work / "folder").mkdir()
    for _ in written(work / "folder" / "discreet.manifest.json"):
        with pytest.raises(InputError):
            discreet.audit_tables("folder")


def test_log_with_lines_of_any_json_is_read(work: Path) -> None:
    log = work / "private" / "log.jsonl"
    for text in TEXTS.values():
        with log.open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text + "\n")
    release = discreet.open("discreet.toml").publish({"age": 2}, "r.csv", k=2, max_suppressed=8)
    assert release.intersections is not None


TOML = {
    "deep": "x = " + "[" * 100_000,
    "deeper": "x = " + "{a=" * 50_000,
    "dotted": "a" + ".a" * 2_000 + " = 1",
    "tables": "[a" + ".a" * 2_000 + "]",
    "within": "[source]\npath = " + "[" * 300 + "]" * 300,
    "long number": "x = " + "9" * 5000,
    "long number of the request": "[request]\nk = " + "9" * 4000,
}


@pytest.mark.parametrize("text", TOML)
def test_spec_of_any_toml_is_refused(work: Path, text: str) -> None:
    (work / "x.toml").write_text(TOML[text], "utf-8")
    with pytest.raises(InputError):
        discreet.open("x.toml")
    with pytest.raises(InputError):
        discreet.report("classes.csv", about="x.toml", overwrite=True)
    with pytest.raises(InputError):
        discreet.open("discreet.toml").publish(models.Patterns(patterns="x.toml"), "r.csv", k=2)
    with suppress(InputError):
        parse_spec_mapping(TOML[text])


def test_reader_refuses_invalid_and_deep_json() -> None:
    inner = json.dumps({"a": [1, None, "x", {"b": 1.5}]})
    assert parse_json(inner) == json.loads(inner)
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for text in (DEEP, DEEPER, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), LONG, "", b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            parse_json(text)
