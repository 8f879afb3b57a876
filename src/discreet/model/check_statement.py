"""A statement by which anybody checks one guarantee of a release, without this program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckStatement:
    """One guarantee, and the SQL that counts it.

    ``guarantee`` says what must be so. ``sql`` is a query of one row, of which the column ``failing`` must be
    0; None where the release alone cannot tell it, and ``guarantee`` then says why. ``holds_values`` says
    that cells of sensitive attributes stand in it.
    """

    guarantee: str
    sql: str | None
    holds_values: bool = False
