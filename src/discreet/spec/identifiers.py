"""What a spec says of identifiers that are published in another form, and of dates that are shifted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.closest import closest
from discreet.model.date_shift import DateShift
from discreet.model.identifiers.base import IdentifierWay, options_of
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec
from discreet.spec.problems import KeyPath, StrictTable, key_text, located, validated, value_text

_MOST_DAYS = 36_525


class ShiftTable(StrictTable):
    """``[attributes.NAME] shift``."""

    days: int = Field(
        ge=1,
        le=_MOST_DAYS,
        description=f"a whole number from 1 to {_MOST_DAYS}",
        title="The most days by which dates are moved.",
        examples=["180"],
    )
    key: str = Field(
        min_length=1,
        description='the path of a file in quotes, such as "shifts.key"',
        title="The file of the secret, made where it is not there, for its owner alone.",
        examples=['"shifts.key"'],
    )


def _ways() -> dict[str, type[IdentifierWay]]:
    """All ways by name: a table without identifiers needs none of them."""
    from discreet.model.identifiers.known_ways import known_ways

    return known_ways()


def read_way(content: object, base: Path, *, label: str, key: KeyPath) -> IdentifierWay | None:
    """What stands in an identifier's place; None where nothing is said. Paths are relative to ``base``."""
    if content is None:
        return None
    ways = _ways()
    if not isinstance(content, Mapping):
        raise InputError(
            f"{label}: {key_text(key)} = {value_text(content)}",
            allowed=f'a table with a way: {", ".join(ways)}; such as {{way = "per-release"}}',
        )
    name = content.get("way")
    if name not in ways:
        fact = "is missing" if name is None else f"= {value_text(name)}"
        raise InputError(
            f"{label}: {key_text((*key, 'way'))} {fact}",
            allowed=", ".join(ways),
            advice=closest(str(name), list(ways)),
        )
    return _way(ways[str(name)], {k: v for k, v in content.items() if k != "way"}, base, label, key)


def _way(
    kind: type[IdentifierWay], given: Mapping[str, Any], base: Path, label: str, key: KeyPath
) -> IdentifierWay:
    options = options_of(kind)
    for name in given:
        if name not in options:
            raise InputError(
                f"{label}: {key_text((*key, name))} is no option of the way {kind.name}",
                allowed=", ".join(options) or "none",
            )
    values = dict(given)
    if "key" in options:
        held = values.get("key")
        if not isinstance(held, str) or not held:
            raise InputError(
                f"{label}: {key_text((*key, 'key'))} is missing",
                allowed="the path of a file in quotes; it is made where it is not there, for its owner alone",
            )
        values["key"] = base / held
    try:
        return kind(**values)
    except InputError as error:
        raise located(error, label=label, key=key) from None


def read_shift(content: object, base: Path, *, label: str, key: KeyPath) -> DateShift | None:
    """How a column's dates are moved; None where nothing is said."""
    if content is None:
        return None
    table = validated(ShiftTable, content, label=label, key=key)
    return DateShift(table.days, base / table.key)


def with_subject(document: dict[str, Any], subject: str, label: str) -> dict[str, Any]:
    """The document with its subject; ``InputError`` where it names another."""
    source = document.get("source")
    if not isinstance(source, Mapping):
        return document
    named = source.get("subject", subject)
    if named != subject:
        raise InputError(
            f"{label}: source.subject = {shown(named)}, and by the relational spec it is {shown(subject)}",
            advice="Remove it: the references say whose row a row is.",
        )
    return {**document, "source": {**source, "subject": subject}}


def with_treated(source: SourceSpec, attributes: list[Attribute], label: str) -> dict[str, Any]:
    """``ways`` and ``shifts`` of a source; ``InputError`` for what cannot be together."""
    ways = {a.name: a.way for a in attributes if a.way is not None}
    shifts = {a.name: a.shift for a in attributes if a.shift is not None}
    subject = source.subject
    if shifts and subject is None:
        name = next(iter(shifts))
        raise InputError(
            f"{label}: {key_text(('attributes', name, 'shift'))} without a subject",
            allowed="shifts where [source] names the subject, whose dates are moved together",
            advice='Give subject = "COLUMN" in [source].',
        )
    if subject in ways and not ways[subject].keeps_apart:
        raise InputError(
            f"{label}: the subject {shown(subject)} is published by the way {ways[subject].name}, which "
            "makes one of several people",
            allowed=", ".join(name for name, way in _ways().items() if way.keeps_apart),
        )
    return {"ways": ways, "shifts": shifts}


def check_roles(attribute: Attribute, label: str) -> None:
    """Raise ``InputError`` for a way of what is no identifier, and a shift of what is one."""
    name, role = attribute.name, attribute.role
    is_identifier = role is AttributeRole.IDENTIFIER
    if attribute.way is not None and not is_identifier:
        raise InputError(
            f"{label}: {key_text(('attributes', name, 'way'))} for an attribute whose role is {role}",
            allowed="way for identifiers only",
            advice=f'Remove it, or give the attribute role = "{AttributeRole.IDENTIFIER}".',
        )
    if attribute.shift is not None and is_identifier:
        raise InputError(
            f"{label}: {key_text(('attributes', name, 'shift'))} for an identifier",
            allowed="shift for columns that are published as they are or generalized",
            advice="Remove it.",
        )
