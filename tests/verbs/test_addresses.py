"""Addresses of releases, and the locations that they resolve to."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.verbs.locations import address_of, parse_target

URL = "postgresql://ann:secret@db.example/care"


def test_path_or_address_is_read_from_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address_of("a.csv") == ReleaseAddress(path=Path("a.csv"))
    assert address_of(Path("folder")) == ReleaseAddress(path=Path("folder"))
    assert address_of(URL, "out.p") == ReleaseAddress(table="out.p", url=URL)
    assert address_of("spark:", "p") == ReleaseAddress(table="p", engine="spark")
    assert address_of("spark:/there") == ReleaseAddress(path=Path("/there"), engine="spark")
    monkeypatch.setenv("CARE", URL)
    assert address_of("env:CARE", "out.p") == ReleaseAddress(table="out.p", url=URL)
    assert "secret" not in repr(address_of(URL, "out.p"))
    assert address_of(URL, "out.p").companion("help").table == "out.p_help"


@pytest.mark.parametrize(
    ("release", "table"),
    [(URL, None), ("spark:", None), ("a.csv", "out.p"), ("env:CARE", "p"), ("env:BAD", "p")],
)
def test_unfit_address_and_table_are_refused_without_the_password(
    release: str, table: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARE", raising=False)
    monkeypatch.setenv("BAD", "mysql://ann:secret@x")
    with pytest.raises(InputError) as error:
        address_of(release, table)
    assert "secret" not in f"{error.value.message} {error.value.allowed} {error.value.advice}"


def test_publication_requires_exactly_one_target() -> None:
    assert parse_target("a.csv", None) == Path("a.csv")
    assert parse_target(None, "out.p") == ReleaseAddress(table="out.p")
    for output, table in ((None, None), ("a.csv", "out.p")):
        with pytest.raises(InputError, match="target"):
            parse_target(output, table)
