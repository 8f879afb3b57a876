"""Addresses of databases, and the passwords in them."""

from __future__ import annotations

import pytest

from discreet.model.database_address import has_password, is_database_address, without_password

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
def test_the_password_goes_and_nothing_else(address: str) -> None:
    assert is_database_address(address)
    assert without_password(address) == CLEAN[address]
    assert has_password(address) == ("sec" in address or "se:cr" in address)
    assert not has_password(without_password(address))


def test_paths_are_no_addresses() -> None:
    assert not any(map(is_database_address, ("people.csv", "/postgresql://x", "mysql://host/db", "")))
