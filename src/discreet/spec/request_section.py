"""Registered criteria, costs and model options of ``[request]`` and of option files.

Each criterion, cost and model declares its options; only declared keys are accepted. Criteria are a number,
numbers by sensitive attribute, or a list of tables with fixed parts: ``t = [{value = 0.2, attribute =
"wage"}]``; a cost is a name or a table: ``cost = {name = "loss", aggregate = "rank"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.measures.cost_registry import COSTS
from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import Criterion, check_parameter, fixed_parameters
from discreet.model.criteria.registry import CRITERIA
from discreet.model.option import Option, OptionKind
from discreet.model.registry import suggest_name
from discreet.model.request import CostRequest
from discreet.spec.spec_sections import RequestSection
from discreet.spec.validation import (
    KeyPath,
    StrictTable,
    format_key,
    format_toml_value,
    locate_error,
    read_toml,
    validate_table,
)


def _integer_to_float(value: object) -> object:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


DecimalOption = Annotated[float, BeforeValidator(_integer_to_float), Field(allow_inf_nan=False)]
WeightOption = Annotated[float, BeforeValidator(_integer_to_float), Field(ge=0, allow_inf_nan=False)]
_OPTION_TYPES: Mapping[OptionKind, Any] = {
    OptionKind.WHOLE: int,
    OptionKind.DECIMAL: DecimalOption,
    OptionKind.FLAG: bool,
    OptionKind.QUASI_IDENTIFIERS: list[str],
    OptionKind.GROUPS: list[list[str]],
    OptionKind.LEVELS: dict[str, int],
    OptionKind.NUMBERS: dict[str, WeightOption],
}


def load_model_options(path: Path, options: Sequence[Option], file_noun: str) -> dict[str, Any]:
    """Load the options that a file sets, by name; ``file_noun`` describes the file in errors.

    Raises ``InputError`` with the file, the key, the value, and the allowed values.
    """
    document = read_toml(path, f"{file_noun} {path}")
    table = validate_table(
        options_table([each for each in options if each.in_spec]), document, label=str(path), key=()
    )
    return {name: value for name, value in table.model_dump().items() if value is not None}


def options_table(options: Sequence[Option]) -> type[StrictTable]:
    """Return the model of a file's options."""
    keys: dict[str, Any] = {each.name: _option_field(each) for each in options}
    return create_model("OptionsTable", __base__=StrictTable, **keys)


def _option_field(option: Option) -> tuple[Any, Any]:
    kind = (
        Literal[option.choices] if option.kind is OptionKind.CHOICE else _OPTION_TYPES.get(option.kind, str)
    )
    if kind is str and option.repeatable:
        kind = list[str]
    bounds = {"ge": option.least, "le": option.most}
    checks: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    return kind | None, Field(None, description=option.allowed, **checks)


_ALLOWED_COST = 'the name of a cost in quotes, or a table such as {name = "loss", aggregate = "rank"}'


def read_cost(content: object, label: str, key: KeyPath = ("request", "cost")) -> CostRequest | None:
    """Return the named cost with its given options, or None.

    Raises ``InputError`` for an unknown cost, and for an option or a value that the cost does not accept.
    """
    if content is None:
        return None
    table = {"name": content} if isinstance(content, str) else content
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise InputError(f"{label}: {format_key(key)} = {format_toml_value(content)}", allowed=_ALLOWED_COST)
    cost = COSTS.get(table["name"])
    if cost is None:
        names = COSTS.names()
        where = format_key(key if isinstance(content, str) else (*key, "name"))
        raise InputError(
            f"{label}: {where} = {format_toml_value(table['name'])}",
            allowed=", ".join(names),
            advice=suggest_name(table["name"], names),
        )
    plain = {
        name: float(value) if isinstance(value, Decimal) else value
        for name, value in table.items()
        if name != "name"
    }
    found = validate_table(options_table(spec_options(cost)), plain, label=label, key=key).model_dump()
    options = {name: value for name, value in found.items() if value is not None}
    try:
        cost.having(options)
    except InputError as error:
        raise locate_error(error, label=label, key=key) from None
    return CostRequest(cost.name, tuple(options.items()))


def spec_options(cost: NamedCost) -> tuple[Option, ...]:
    """Return the options of a cost that a spec can set: all except those that only Python can pass."""
    return tuple(each for each in cost.options() if each.kind is not OptionKind.PYTHON)


def split_criteria(content: object, label: str) -> tuple[object, tuple[Criterion, ...], tuple[str, ...]]:
    """Split ``[request]`` into its other keys, the registered criteria, and names of further allowed keys.

    The names are listed only if there are keys that ``RequestSection`` does not know, so that packages with
    further criteria are loaded only then. Raises ``InputError`` for a value that a criterion does not accept.
    """
    if not isinstance(content, Mapping):
        return content, (), ()
    unknown = [key for key in content if key not in RequestSection.model_fields]
    if not unknown:
        return content, (), ()
    kinds = {kind.name: kind for kind in CRITERIA if kind.name not in RequestSection.model_fields}
    found = [
        one for name in unknown if name in kinds for one in _read_criterion(kinds[name], content[name], label)
    ]
    left = {key: value for key, value in content.items() if key not in kinds}
    return left, tuple(found), tuple(kinds)


def check_criterion_attributes(criteria: Sequence[Criterion], sensitive: Sequence[str], label: str) -> None:
    """Raise ``InputError`` for a criterion of an attribute that is not sensitive."""
    for criterion in criteria:
        if criterion.attribute is not None and criterion.attribute not in sensitive:
            key = format_key(("request", criterion.name, criterion.attribute))
            raise InputError(
                f"{label}: {key}: {quote_value(criterion.attribute)} is not a sensitive attribute",
                allowed=quote_values(sensitive, 20) or "none: the spec names no sensitive attribute",
                advice=suggest_name(criterion.attribute, sensitive),
            )


def _read_criterion(kind: type[Criterion], value: object, label: str) -> list[Criterion]:
    key: KeyPath = ("request", kind.name)
    if kind.of_attribute and isinstance(value, Mapping) and value:
        return [
            kind(_check_parameter(kind, part, (*key, str(name)), label), str(name))
            for name, part in value.items()
        ]
    if isinstance(value, list) and value:
        return [_read_criterion_table(kind, table, (*key, index), label) for index, table in enumerate(value)]
    return [kind(_check_parameter(kind, value, key, label))]


def _read_criterion_table(kind: type[Criterion], table: object, key: KeyPath, label: str) -> Criterion:
    parts = {part.name: part for part in fixed_parameters(kind)}
    known = ("value", *(("attribute",) if kind.of_attribute else ()), *parts)
    if not isinstance(table, Mapping):
        allowed = f"a table with value, and of {', '.join(known[1:])}" if known[1:] else "a table with value"
        raise InputError(f"{label}: {format_key(key)} = {format_toml_value(table)}", allowed=allowed)
    for name in table:
        if name not in known:
            raise InputError(
                f"{label}: {format_key(key)} has an unknown key {quote_value(name)}",
                allowed=", ".join(known),
                advice=suggest_name(str(name), known),
            )
    if "value" not in table:
        raise InputError(f"{label}: {format_key((*key, 'value'))} is missing", allowed=kind.parameter.allowed)
    attribute = table.get("attribute")
    if attribute is not None and not isinstance(attribute, str):
        where = format_key((*key, "attribute"))
        raise InputError(
            f"{label}: {where} = {format_toml_value(attribute)}", allowed="the name of a sensitive attribute"
        )
    value = _check_parameter(kind, table["value"], (*key, "value"), label)
    chosen = {
        name: _check_fixed_part(part, table[name], (*key, name), label)
        for name, part in parts.items()
        if name in table
    }
    return kind(value, attribute, **chosen)


def _check_fixed_part(part: Option, value: object, key: KeyPath, label: str) -> Any:
    plain = float(value) if isinstance(value, Decimal) else value
    try:
        return check_parameter(part, plain, part.name)
    except InputError:
        raise InputError(
            f"{label}: {format_key(key)} = {format_toml_value(value)}", allowed=part.allowed
        ) from None


def _check_parameter(kind: type[Criterion], value: object, key: KeyPath, label: str) -> Any:
    number = float(value) if isinstance(value, Decimal) else value
    try:
        return kind.parameter.checked(kind.name, number)
    except InputError:
        raise InputError(
            f"{label}: {format_key(key)} = {format_toml_value(value)}", allowed=_allowed_criterion(kind)
        ) from None


def _allowed_criterion(kind: type[Criterion]) -> str:
    several = ", or a table of them by sensitive attribute" if kind.of_attribute else ""
    listed = ", or a list of tables" if fixed_parameters(kind) else ""
    return f"{kind.parameter.allowed}{several}{listed}"
