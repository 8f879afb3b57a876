"""Costs on the command line: ``--cost`` names one, and every option that one declares is a flag.

A flag that several costs declare is one flag. The costs are loaded when the verb is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.declared import Declarations, Flag, Section, option_row
from discreet.errors import InputError
from discreet.model.option import Option, OptionKind

if TYPE_CHECKING:
    from discreet.model.table_spec import TableSpec
    from discreet.verbs.searching import NamedCost


CostOption = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="NAME",
        help="What each solution costs, and what optimal and anytime make least: one of those below.",
    ),
]


def asked(context: typer.Context, name: str | None, spec: TableSpec) -> NamedCost | None:
    """The cost that was asked with its options, those of the spec's cost where none was named.

    None where neither was asked. ``InputError`` for options that it does not have.
    """
    given = COST_OPTIONS.given(context)
    if name is None and not given:
        return None
    from discreet.results.requests import cost_of
    from discreet.verbs.searching import COSTS

    cost = cost_of(spec, name)
    if cost is None:
        flag = next(str(each.flag) for each in _declared() if each.name in given)
        raise InputError(f"{flag} was given without --cost", allowed=", ".join(COSTS.names()))
    declared = {each.name: each for each in cost.options()}
    values: dict[str, object] = dict(given)
    for option in declared.values():
        if option.name in given:
            values[option.name] = option.read(given[option.name], str(option.flag))
    return cost.having(values)


def _flags() -> list[Flag]:
    """Each flag once."""
    kinds = {each.name: Flag(each.name, str(each.flag), each.kind is OptionKind.FLAG) for each in _declared()}
    return list(kinds.values())


def _sections(taken: frozenset[str]) -> list[Section]:
    """The costs there are, then the options by the costs that have them."""
    from discreet.verbs.searching import COSTS

    owners: dict[Option, list[str]] = {}
    for cost in COSTS:
        for each in cost.options():
            if each.flag is not None and each.flag not in taken:
                owners.setdefault(each, []).append(cost.name)
    found: list[Section] = [("--cost", [(cost.name, cost.meaning) for cost in COSTS])]
    sections: dict[str, list[tuple[str, str]]] = {}
    for each, costs in owners.items():
        sections.setdefault(f"--cost {', '.join(costs)}", []).append(option_row(each))
    return [*found, *sections.items()]


def _declared() -> list[Option]:
    from discreet.verbs.searching import COSTS

    return [each for cost in COSTS for each in cost.options() if each.flag is not None]


COST_OPTIONS = Declarations("costs", _flags, _sections)
"""What ``--cost`` may name and their options, in the verb's help: every cost, other packages' included."""
