"""What a criterion may ask of a sensitive attribute as a whole, beside its values in each class.

A search tells it by ``SensitiveAttribute``. An audit has relations of the same in SQL: the publisher's, where
the input is there, else what the release itself tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.errors import InputError
from discreet.model.sensitive_attribute import SensitiveAttribute


class Asks(StrEnum):
    """What an attribute must have: an order that means something, numbers, or a hierarchy."""

    ORDER = "order"
    NUMBERS = "numbers"
    HIERARCHY = "hierarchy"


@dataclass(frozen=True)
class WholeTable:
    """The names of two relations, for the SQL of an audit.

    ``values`` has a line for each value: ``value``, ``held`` (the table's rows), ``place`` (from 0, in the
    attribute's order), ``number`` (a double) and ``millionths`` (of the number, above the smallest one), both
    0 where the values are no numbers. ``parts`` has a line for each value and level below the top:
    ``value``, ``level``, ``part``; it has none where there is no hierarchy, and ``height`` is None.
    """

    values: str
    parts: str
    height: int | None


HAS = {Asks.ORDER: "an order", Asks.NUMBERS: "numbers", Asks.HIERARCHY: "a hierarchy"}
"""What an attribute must have, in words."""

_ALLOWED = {
    Asks.ORDER: "numbers, or values that a hierarchy puts in order",
    Asks.NUMBERS: "an attribute whose every value is a number",
    Asks.HIERARCHY: "an attribute with a hierarchy in the spec",
}


def knows(asks: Asks | None, of: SensitiveAttribute) -> bool:
    """Whether an attribute has what is asked; of no value at all everything is true."""
    has = {
        None: True,
        Asks.ORDER: of.ordered,
        Asks.NUMBERS: of.numbers is not None,
        Asks.HIERARCHY: of.levels is not None,
    }
    return has[asks] or not of.values


def require_known(label: str, asks: Asks | None, name: str, of: SensitiveAttribute) -> None:
    """Raise ``InputError`` where a criterion asks for what its attribute does not have; ``label`` is its."""
    if asks is None or knows(asks, of):
        return
    what, allowed = HAS[asks], _ALLOWED[asks]
    advice = "Ask without it, or read what is no number as NULL by null_values in [source]."
    if asks is not Asks.NUMBERS:
        advice = f'Give it one: hierarchy = … in [attributes.{name}], beside role = "sensitive".'
    raise InputError(f"{label} needs {what}, which '{name}' does not have", allowed=allowed, advice=advice)
