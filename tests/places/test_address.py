"""Database addresses and the passwords in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import discreet
from discreet.engines.postgres.declaration import is_postgres_address, normalize_address
from discreet.errors import InputError, redact_secrets
from discreet.places.address import has_password, looks_like_address, parse_path, without_password
from discreet.web.workspace_files import resolve_below, safe_name

CLEAN = {
    "postgresql:///clinic": "postgresql:///clinic",
    "postgresql://ann@/clinic?host=%2Ftmp%2Fx&port=5": "postgresql://ann@/clinic?host=%2Ftmp%2Fx&port=5",
    "postgresql://ann:secret@[::1]:5432/clinic": "postgresql://ann@[::1]:5432/clinic",
    "postgres://a:1,b:2/clinic?password=secret": "postgres://a:1,b:2/clinic",
    "postgresql://ann:se:cr@t@host/a%20b?sslpassword=secret&sslmode=require": (
        "postgresql://ann@host/a%20b?sslmode=require"
    ),
}


@pytest.mark.parametrize("address", CLEAN)
def test_only_the_password_is_removed(address: str) -> None:
    assert is_postgres_address(address)
    assert without_password(address) == CLEAN[address]
    assert has_password(address) == ("sec" in address or "se:cr" in address)
    assert not has_password(without_password(address))


def test_other_addresses_are_not_postgres() -> None:
    assert not any(map(is_postgres_address, ("/postgresql://x", "mysql://host/db", "")))


@pytest.mark.parametrize(
    "scheme", ["postgresql", "postgres", "POSTGRESQL", "postgresql+psycopg", "Postgres+asyncpg"]
)
def test_spellings_of_the_scheme_give_one_address(scheme: str) -> None:
    assert normalize_address(f"{scheme}://ann@h:1,[::1]:2/clinic?sslmode=require") == (
        "postgresql://ann@h:1,[::1]:2/clinic?sslmode=require"
    )


@pytest.mark.parametrize("password", ["se/cret", "1/secret", "se?cret", "1?secret", "se#cret", "1#secret"])
def test_password_that_reads_as_the_database_name_is_refused(password: str) -> None:
    with pytest.raises(InputError, match="cannot be read") as error:
        normalize_address(f"postgresql://ann:{password}@h/clinic")
    assert "cret" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["people.csv", "C:/people.csv", "D:people", "/data/a b/x=1.csv", "notes: 12/3.csv", "a@b.csv", "./a:b/c"],
)
def test_paths_stay_paths(text: str) -> None:
    assert parse_path(text) == Path(text)
    assert not looks_like_address(text)
    assert not is_postgres_address(text)


LEAKS = (
    "mysql://ann:open-sesame@h/db",
    "mysql:/ann:open-sesame@h/db",
    "mysql://ann:open-sesame",
    "https://open-sesame@h/db",
    "ann:open-sesame@h/db",
    "host=h password=open-sesame user=ann",
    "host=h password='open-sesame two'",
)


@pytest.mark.parametrize("text", LEAKS)
def test_errors_redact_possible_passwords(text: str) -> None:
    """Errors redact a possible password, also in messages that quote an unknown word."""
    for shown in (text, f"Got unexpected extra argument ({text})", f"No such command '{text}'"):
        assert "sesame" not in str(InputError(shown))
    kept = "http://127.0.0.1:8000/x, k8s://https://h:443, line 3: a@b, 12:30"
    assert redact_secrets(kept) == kept


SECRET = "mysql://ann:open-sesame@h/db"


@pytest.mark.parametrize(
    "act",
    [
        lambda: discreet.init(SECRET),
        lambda: discreet.init(Path(SECRET)),
        lambda: discreet.open(SECRET),
        lambda: discreet.open(SECRET, {"attributes": {"age": {"role": "quasi-identifier"}}}),
        lambda: discreet.audit(SECRET),
        lambda: discreet.audit(Path(SECRET), quasi_identifiers=["age"]),
        lambda: discreet.attack("x.csv", population=SECRET),
        lambda: resolve_below(SECRET, base=Path("/tmp"), folders=[Path("/tmp")]),
        lambda: safe_name(SECRET),
    ],
)
def test_python_and_the_pages_refuse_addresses_unseen(act: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        act()
    assert "sesame" not in repr(error.value) + str(error.value)
