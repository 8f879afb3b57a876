"""No function of the Python API repeats a potential password in an error, a repr, a text or a file."""

from __future__ import annotations

import inspect
import shutil
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError
from tests.cli.conftest import CITIES, PEOPLE, SPEC
from tests.cli.test_no_secret import ADDRESSES, contains_secret

FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(discreet, name) for name in discreet.__all__ if inspect.isfunction(getattr(discreet, name))
}
FUNCTIONS |= {
    f"Table.{name}": method
    for name, method in inspect.getmembers(discreet.Table, inspect.isfunction)
    if not name.startswith("_")
}
TEXTS = ("str", "Path", "ReleasePlace", "object", "Levels", "Publishable", "AskedAttacks")
GIVEN: dict[str, Any] = {
    "release": "first.csv",
    "data": "people.csv",
    "spec": "discreet.toml",
    "files": ["first.csv"],
    "output": "out.csv",
    "related": ["people.csv"],
    "sql": "SELECT count(*) FROM release",
    "levels": {"age": 1},
    "marginals": ["age"],
    "epsilon": "0.01",
    "delta": "0.001",
    "k": 2,
    "name": "ema-0070",
    "answer": {"age": 1},
    "algorithm": "bfs",
}
ALWAYS = {"check": ("k",), "negotiate": ("k",), "search": ("k",), "audit": (), "report": ()}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with people, their spec and a release of them."""
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_THREADS", "1")
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    budget = "\n[privacy_budget]\nepsilon = 1000\ndelta = 0.9\n"
    for name, text in (("people.csv", PEOPLE), ("city.csv", CITIES), ("discreet.toml", SPEC + budget)):
        (folder / name).write_text(text, "utf-8")
    discreet.open("discreet.toml").publish({"age": 1, "city": 1}, "first.csv", k=2, max_suppressed=8)
    return folder


def calls(name: str, address: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a call for each parameter that takes a text, with the address as its value."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    needed = {
        each.name: GIVEN.get(each.name, address)
        for each in parameters.values()
        if each.name != "self"
        and (
            each.name in ALWAYS.get(name.removeprefix("Table."), ())
            or each.default is inspect.Parameter.empty
        )
        and each.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }
    for each in parameters.values():
        # Texts that denote NULL are repeated verbatim: the spec and its SQL need them.
        if each.name in ("self", "settings", "reporter", "null_values"):
            continue
        if any(word in str(each.annotation) for word in TEXTS):
            several = "Sequence" in str(each.annotation) and not str(each.annotation).startswith("str")
            yield {**needed, each.name: [address] if several else address}


def outcome(name: str, arguments: dict[str, Any]) -> str:
    """Return the text of a call: its result in each form, or its error with the traceback's last line."""
    own = [discreet.open("discreet.toml")] if name.startswith("Table.") else []
    if name == "compare":
        arguments = {**arguments, "table": discreet.open("discreet.toml")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = FUNCTIONS[name](*own, **arguments)
            shown = [str(found), repr(found)]
            for form in ("as_json", "document", "_repr_html_"):
                shown.append(str(getattr(found, form)() if hasattr(found, form) else ""))
            return "\n".join(shown)
    except DiscreetError as error:
        return "\n".join([str(error), repr(error), str(error.as_json()), *_printed(error)])
    except (TypeError, AttributeError, ValueError, KeyError) as error:
        return repr(error)


def _printed(error: BaseException) -> list[str]:
    return list(traceback.format_exception_only(error))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_repeat_no_secret(name: str, work: Path) -> None:
    found = []
    for number, address in enumerate(ADDRESSES):
        for place, arguments in enumerate(calls(name, address)):
            if (number + place) % 4:
                continue
            if contains_secret(outcome(name, arguments)):
                found.append(arguments)
            for path in sorted(work.parent.rglob("*")):
                if path.exists() and contains_secret(
                    path.name + ("" if path.is_dir() else path.read_text("utf-8", "replace"))
                ):
                    found.append({"left": path, **arguments})
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert not found, found[:10]
