"""What a spec says of how a column's cells are written: ``[attributes.NAME] written = {…}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from discreet.errors import InputError
from discreet.model.hierarchy import HierarchySource
from discreet.model.written_form import WrittenForm
from discreet.spec.document import Texts
from discreet.spec.problems import KeyPath, StrictTable, located, validated, value_text


def _one_or_more(value: object) -> object:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, tuple) else value


OneOrMore = Annotated[list[str], BeforeValidator(_one_or_more)]


class WrittenTable(StrictTable):
    """``[attributes.NAME] written``."""

    decimal: str | None = Field(
        None,
        description='the mark before decimals in quotes: "," or "."',
        title="The mark before decimals.",
        examples=['","'],
    )
    thousands: str | None = Field(
        None,
        description='what parts thousands in quotes, such as "." or " "',
        title="What parts thousands.",
        examples=['"."'],
    )
    unit: OneOrMore = Field(
        default_factory=list,
        description='a text or texts in quotes, such as "€"',
        title="A currency or another unit before or behind the number, which is left out.",
        examples=['"€"'],
    )
    dates: OneOrMore = Field(
        default_factory=list,
        description='a pattern or patterns in quotes, such as "%d.%m.%Y"',
        title="How dates are written: the first pattern that fits.",
        examples=['["%d.%m.%Y", "%Y-%m-%d"]'],
    )
    pivot: int | None = Field(
        None,
        description="the latest year that two digits may mean, such as 2030",
        title="The latest year that two digits may mean.",
        examples=["2030"],
    )
    strip: bool | None = Field(
        None,
        description="true: blanks around texts are no part of them",
        title="Whether blanks around values are left out.",
        examples=["true"],
    )
    others: Texts = Field(
        default_factory=list,
        description='a list of texts that stay as they are, such as ["unknown"]',
        title="Texts that are no numbers or dates, and stay as they are.",
        examples=['["unknown"]'],
    )


def read_written(
    content: object, hierarchy: HierarchySource | None, *, label: str, key: KeyPath
) -> WrittenForm | None:
    """The written form that an attribute declares, None where it declares none.

    What the attribute's hierarchy lists under others stays as it is. A ``WrittenForm`` from Python is taken
    as it is. ``InputError`` names the key and what is allowed.
    """
    if content is None:
        return None
    if isinstance(content, WrittenForm):
        return content
    if not isinstance(content, Mapping):
        raise InputError(
            f"{label}: {'.'.join(map(str, key))} = {value_text(content)}",
            allowed='a table such as {decimal = ",", unit = "€"}, {dates = "%d.%m.%Y"} or {strip = true}',
        )
    table = validated(WrittenTable, content, label=label, key=key)
    others = (*table.others, *getattr(hierarchy, "others", ()))
    try:
        form = WrittenForm(
            decimal=table.decimal,
            thousands=table.thousands,
            units=tuple(table.unit),
            dates=tuple(table.dates),
            pivot=table.pivot,
            others=tuple(dict.fromkeys(others)),
        )
        _check(form, table, hierarchy)
    except InputError as error:
        raise located(error, label=label, key=key) from None
    return form


def _check(form: WrittenForm, table: WrittenTable, hierarchy: HierarchySource | None) -> None:
    """Raise for a form that says nothing, and for a hierarchy that reads dates by a pattern of its own."""
    if not form.is_number and not form.dates and not table.strip:
        raise InputError(
            "the table says nothing of the cells", allowed="decimal, thousands, unit, dates, or strip = true"
        )
    if table.strip is False:
        raise InputError("strip = false beside a written form", advice="Remove written, or strip.")
    if form.dates and getattr(hierarchy, "format", None) is not None:
        raise InputError(
            "dates beside a hierarchy with a format: dates are read once",
            advice="Remove format from the hierarchy.",
        )
