"""No verb repeats an address with a password, in any argument, not even with ``--debug``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

SECRET = "open-sesame"
ADDRESSES = [
    f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/fun",
    f"POSTGRESQL://ann:{SECRET}@127.0.0.1:1/fun",
    f"postgresql://ann:{SECRET}/x@127.0.0.1:1/fun",
    f"postgresql://ann:{SECRET}?x@127.0.0.1:1/fun",
    f"snowflake://ann:{SECRET}@account/db?warehouse=w",
    f"mysql://ann:{SECRET}@h/db",
    f"jdbc:postgresql://h/db?user=ann&password={SECRET}",
    f"s3://key:{SECRET}@bucket/people.parquet",
    f"https://ann:{SECRET}@h/people.csv",
    f"spark:s3://key:{SECRET}@bucket/people",
    f"env:mysql://ann:{SECRET}@h/db",
    f"ann:{SECRET}@h/db",
    f"host=h user=ann password={SECRET}",
    f"mysql:/ann:{SECRET}@h/db",
]
COMMANDS = [
    ("init", "ADDRESS"),
    ("init", "ADDRESS", "--table", "t"),
    ("init", "people.csv", "--output", "ADDRESS"),
    ("init", "people.csv", "ADDRESS"),
    ("ADDRESS",),
    ("inspect", "ADDRESS"),
    ("inspect", "discreet.toml", "--workload", "ADDRESS"),
    ("negotiate", "ADDRESS", "--k", "2"),
    ("publish", "discreet.toml", "--k", "2", "--output", "ADDRESS"),
    ("publish", "discreet.toml", "--k", "2", "--output", "ADDRESS.csv"),
    ("publish", "discreet.toml", "--k", "2", "--output", "out.csv", "--patterns", "ADDRESS"),
    ("publish", "discreet.toml", "--k", "ADDRESS", "--output", "out.csv"),
    ("audit", "ADDRESS"),
    ("audit", "ADDRESS", "--quasi-identifier", "age"),
    ("query", "ADDRESS", "SELECT count(*)"),
    ("report", "ADDRESS"),
    ("attack", "ADDRESS"),
    ("attack", "people.csv", "--quasi-identifier", "age", "--population", "ADDRESS"),
    ("attack", "people.csv", "--quasi-identifier", "age", "--outside", "ADDRESS", "--match", "age"),
    ("serve", "ADDRESS"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_verb_repeats_an_address(command: tuple[str, ...], run: Run, people: Path) -> None:
    for number, address in enumerate(ADDRESSES, COMMANDS.index(command)):
        words = [word.replace("ADDRESS", address) for word in command]
        # One of every two addresses: together the runs cover every verb and every address.
        done = run(*words, ("--debug", "--json")[number % 2])
        assert done.status in (2, 4), (words, done.out, done.err)
        assert SECRET not in done.out + done.err, words


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("line", ['path = "ADDRESS"', 'url = "ADDRESS"\ntable = "t"', 'path = ["ADDRESS"]'])
def test_no_spec_s_address_is_repeated(line: str, address: str, run: Run, people: Path) -> None:
    spec = people / "discreet.toml"
    rest = spec.read_text(encoding="utf-8").replace('path = "people.csv"', line.replace("ADDRESS", address))
    spec.write_text(rest, encoding="utf-8")
    done = run("inspect", str(spec), "--debug")
    assert done.status == 2
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("form", ['"ADDRESS"', '{kind = "file", path = "ADDRESS"}'])
def test_no_hierarchy_s_address_is_repeated(form: str, address: str, run: Run, people: Path) -> None:
    spec = people / "discreet.toml"
    text = spec.read_text(encoding="utf-8").replace('"city.csv"', form.replace("ADDRESS", address))
    spec.write_text(text, encoding="utf-8")
    done = run("inspect", str(spec), "--debug")
    assert done.status == 2
    assert SECRET not in done.out + done.err
