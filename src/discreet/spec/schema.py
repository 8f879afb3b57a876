"""The JSON Schema of the spec, from the tables that read it, for editors that complete and check one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from discreet.engines.registry import ENGINES
from discreet.measures.costs import COSTS
from discreet.measures.named_cost import NamedCost
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.fixed_parts import fixed_parts
from discreet.model.criteria.registry import CRITERIA
from discreet.model.identifiers.known_ways import known_ways
from discreet.model.option import Option, OptionKind
from discreet.spec.about import ReportTable
from discreet.spec.costs import options_in_spec
from discreet.spec.document import (
    AttributeTable,
    PopulationTable,
    RequestTable,
    SourceTable,
    SubsetTable,
)
from discreet.spec.hierarchy_kinds import KINDS
from discreet.spec.identifiers import ShiftTable
from discreet.spec.problems import StrictTable
from discreet.spec.public import BudgetTable
from discreet.spec.written import WrittenTable

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> dict[str, Any]:
    """The schema as a document: tables, keys, values that are allowed, and an example of each key.

    Criteria, costs, engines and kinds of hierarchies are those that are registered. An editor that knows it
    still knows no table: whether a column exists the program says.
    """
    source = table_schema(SourceTable)
    source["properties"]["engine"]["enum"] = [engine.name for engine in ENGINES if engine.on_request]
    source["properties"]["subset"] |= table_schema(SubsetTable)
    attribute = table_schema(AttributeTable)
    attribute["properties"]["hierarchy"] |= {
        "anyOf": [{"type": "string"}, *(_kind(name, kind) for name, kind in KINDS.items())]
    }
    attribute["properties"]["written"] |= table_schema(WrittenTable)
    attribute["properties"]["shift"] |= table_schema(ShiftTable)
    attribute["properties"]["way"] |= {
        "type": "object",
        "required": ["way"],
        "properties": {"way": {"type": "string", "enum": list(known_ways())}},
    }
    request = table_schema(RequestTable)
    for criterion in CRITERIA:
        request["properties"].setdefault(criterion.name, _criterion(criterion))
    names = {"type": "string", "enum": list(COSTS.names())}
    request["properties"]["cost"] |= {"anyOf": [names, *map(_cost, COSTS)]}
    return {
        "$schema": _DIALECT,
        "title": "The spec of discreet: a table, what its columns are, and what is asked of a release.",
        "type": "object",
        "additionalProperties": False,
        "required": ["source"],
        "properties": {
            "source": source,
            "population": table_schema(PopulationTable),
            "attributes": {
                "description": 'A table for each column; "q*" is one for every column whose name fits.',
                "type": "object",
                "additionalProperties": attribute,
            },
            "request": request,
            "privacy_budget": table_schema(BudgetTable),
            "report": table_schema(ReportTable),
        },
    }


def table_schema(table: type[StrictTable]) -> dict[str, Any]:
    """The schema of one table; examples, which are TOML, as JSON."""
    found = table.model_json_schema()
    keys = {name: _key(told) for name, told in found["properties"].items()}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": keys,
        **{name: found[name] for name in ("required",) if name in found},
    }


def example_of(key: Mapping[str, Any]) -> object:
    """The value of a key's example."""
    return tomllib.loads(f"key = {key['examples'][0]}")["key"]


def _key(told: Mapping[str, Any]) -> dict[str, Any]:
    """A key: what it means and what is allowed as its description, which editors show; NULL is not TOML."""
    found = {name: part for name, part in told.items() if name not in ("title", "default", "examples")}
    if "anyOf" in found:
        found["anyOf"] = [part for part in found["anyOf"] if part != {"type": "null"}]
    if "examples" in told:
        allowed = f" Allowed: {told['description']}." if "description" in told else ""
        found |= {"description": f"{told['title']}{allowed}", "examples": [example_of(told)]}
    return found


def _kind(name: str, table: type[StrictTable]) -> dict[str, Any]:
    found = table_schema(table)
    found["properties"]["kind"] = {"const": name}
    return found


def _criterion(criterion: type[Criterion]) -> dict[str, Any]:
    """A number, numbers by sensitive attribute, or a list of tables with the fixed parts."""
    bounds = {"minimum": criterion.parameter.least, "maximum": criterion.parameter.most}
    number = {"type": "integer" if criterion.parameter.whole else "number", **bounds}
    by_attribute = {"type": "object", "additionalProperties": number}
    table = {
        "type": "object",
        "additionalProperties": False,
        "required": ["value"],
        "properties": {
            "value": number,
            **({"attribute": {"type": "string"}} if criterion.of_attribute else {}),
            **{part.name: _part(part) for part in fixed_parts(criterion)},
        },
    }
    parameter = criterion.parameter
    return {
        "description": f"{criterion.title}: {parameter.hint}. Allowed: {parameter.allowed}.",
        "anyOf": [
            number,
            *([by_attribute] if criterion.of_attribute else []),
            {"type": "array", "minItems": 1, "items": table},
        ],
    }


def _cost(cost: NamedCost) -> dict[str, Any]:
    """A table with the cost's name and its options."""
    options = {each.name: _part(each) for each in options_in_spec(cost)}
    return {
        "description": cost.meaning,
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {"name": {"const": cost.name}, **options},
    }


_TYPES = {OptionKind.WHOLE: "integer", OptionKind.DECIMAL: "number", OptionKind.FLAG: "boolean"}


def _part(option: Option) -> dict[str, Any]:
    found: dict[str, Any] = {"type": _TYPES.get(option.kind, "string"), "description": option.help}
    bounds = {"minimum": option.least, "maximum": option.most, "enum": list(option.choices) or None}
    return found | {name: bound for name, bound in bounds.items() if bound is not None}
