"""The cost that a spec's ``[request]`` names: ``cost = "loss"``, or a table with the options it declares.

``cost = {name = "loss", aggregate = "rank", gs_factor = 0.66}``
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from discreet.errors import InputError
from discreet.measures.costs import COSTS
from discreet.measures.named_cost import NamedCost
from discreet.model.closest import closest
from discreet.model.option import Option, OptionKind
from discreet.model.request import AskedCost
from discreet.spec.model_options import table_of
from discreet.spec.problems import KeyPath, key_text, located, validated, value_text

_ALLOWED = 'the name of a cost in quotes, or a table such as {name = "loss", aggregate = "rank"}'


def read_cost(content: object, label: str, key: KeyPath = ("request", "cost")) -> AskedCost | None:
    """The cost that was named with the options given, None where nothing was.

    ``InputError`` for a name that no cost has, and for an option or a value that the cost does not take.
    """
    if content is None:
        return None
    table = {"name": content} if isinstance(content, str) else content
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise InputError(f"{label}: {key_text(key)} = {value_text(content)}", allowed=_ALLOWED)
    cost = COSTS.get(table["name"])
    if cost is None:
        names = COSTS.names()
        where = key_text(key if isinstance(content, str) else (*key, "name"))
        raise InputError(
            f"{label}: {where} = {value_text(table['name'])}",
            allowed=", ".join(names),
            advice=closest(table["name"], names),
        )
    plain = {
        name: float(value) if isinstance(value, Decimal) else value
        for name, value in table.items()
        if name != "name"
    }
    found = validated(table_of(options_in_spec(cost)), plain, label=label, key=key).model_dump()
    options = {name: value for name, value in found.items() if value is not None}
    try:
        cost.having(options)
    except InputError as error:
        raise located(error, label=label, key=key) from None
    return AskedCost(cost.name, tuple(options.items()))


def options_in_spec(cost: NamedCost) -> tuple[Option, ...]:
    """The options of a cost that a spec can say: all but those that only Python can give."""
    return tuple(each for each in cost.options() if each.kind is not OptionKind.PYTHON)
