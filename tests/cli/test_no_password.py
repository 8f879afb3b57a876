"""No message repeats an address with a password that a spec names, not even with ``--debug``.

``test_no_secret`` tests the arguments and options of every verb.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.drawing import in_turn

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


LINES = {
    'path = "ADDRESS"': 'path = "people.csv"',
    'url = "ADDRESS"\ntable = "t"': 'path = "people.csv"',
    'path = ["ADDRESS"]': 'path = "people.csv"',
    'hierarchy = "ADDRESS"': 'hierarchy = "city.csv"',
    'hierarchy = {kind = "file", path = "ADDRESS"}': 'hierarchy = "city.csv"',
}
"""Lines of a spec with an address, and the line that each replaces."""


@pytest.mark.parametrize(("address", "line"), in_turn(ADDRESSES, LINES, rounds=2))
def test_output_repeats_no_password_of_a_spec(line: str, address: str, run: Run, people: Path) -> None:
    spec = people / "discreet.toml"
    text = spec.read_text(encoding="utf-8").replace(LINES[line], line.replace("ADDRESS", address))
    spec.write_text(text, encoding="utf-8")
    done = run("inspect", str(spec), "--debug")
    assert done.status == 2
    assert SECRET not in done.out + done.err
