"""JSON Schema of the spec, generated from the models that validate it, for editors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from discreet.engines.registry import ENGINES
from discreet.measures.cost_registry import COSTS
from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import Criterion, fixed_parameters
from discreet.model.criteria.registry import CRITERIA
from discreet.model.identifiers.methods import known_methods
from discreet.model.option import Option, OptionKind
from discreet.spec.attribute_section import BudgetSection, CellFormatTable, ShiftTable
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES
from discreet.spec.request_section import spec_options
from discreet.spec.spec_sections import (
    AttributeSection,
    PopulationSection,
    ReportSection,
    RequestSection,
    SourceSection,
    SubsetTable,
)
from discreet.spec.validation import StrictTable

_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def build_spec_schema() -> dict[str, Any]:
    """Build the JSON Schema of a spec: tables, keys, allowed values, and an example of each key.

    Criteria, costs, engines and kinds of hierarchies are those in the registries. The schema knows no table:
    only reading a spec shows whether a column exists.
    """
    source = table_schema(SourceSection)
    source["properties"]["engine"]["enum"] = [engine.name for engine in ENGINES if engine.on_request]
    source["properties"]["subset"] |= table_schema(SubsetTable)
    attribute = table_schema(AttributeSection)
    attribute["properties"]["hierarchy"] |= {
        "anyOf": [{"type": "string"}, *(_kind_schema(name, kind) for name, kind in HIERARCHY_TABLES.items())]
    }
    attribute["properties"]["format"] |= table_schema(CellFormatTable)
    attribute["properties"]["date_shift"] |= table_schema(ShiftTable)
    attribute["properties"]["pseudonymization"] |= {
        "type": "object",
        "required": ["method"],
        "properties": {"method": {"type": "string", "enum": list(known_methods())}},
    }
    request = table_schema(RequestSection)
    for criterion in CRITERIA:
        request["properties"].setdefault(criterion.name, _criterion_schema(criterion))
    names = {"type": "string", "enum": list(COSTS.names())}
    request["properties"]["cost"] |= {"anyOf": [names, *map(_cost_schema, COSTS)]}
    return {
        "$schema": _SCHEMA_DIALECT,
        "title": "The spec of discreet: a table, the roles of its columns, and the request for a release.",
        "type": "object",
        "additionalProperties": False,
        "required": ["source"],
        "properties": {
            "source": source,
            "population": table_schema(PopulationSection),
            "attributes": {
                "description": 'A table for each column; "q*" is one for every column whose name matches.',
                "type": "object",
                "additionalProperties": attribute,
            },
            "request": request,
            "privacy_budget": table_schema(BudgetSection),
            "report": table_schema(ReportSection),
        },
    }


def table_schema(table: type[StrictTable]) -> dict[str, Any]:
    """Return the schema of one table; examples, which are TOML, are converted to JSON."""
    found = table.model_json_schema()
    keys = {name: _key_schema(declared) for name, declared in found["properties"].items()}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": keys,
        **{name: found[name] for name in ("required",) if name in found},
    }


def example_value(key: Mapping[str, Any]) -> object:
    """Return the value of a key's example."""
    return tomllib.loads(f"key = {key['examples'][0]}")["key"]


def _key_schema(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a key, with its meaning and allowed values as the description that editors show.

    NULL is removed, since TOML has no null.
    """
    result = {name: part for name, part in declared.items() if name not in ("title", "default", "examples")}
    if "anyOf" in result:
        result["anyOf"] = [part for part in result["anyOf"] if part != {"type": "null"}]
    if "examples" in declared:
        allowed = f" Allowed: {declared['description']}." if "description" in declared else ""
        result |= {"description": f"{declared['title']}{allowed}", "examples": [example_value(declared)]}
    return result


def _kind_schema(name: str, table: type[StrictTable]) -> dict[str, Any]:
    result = table_schema(table)
    result["properties"]["kind"] = {"const": name}
    return result


def _criterion_schema(criterion: type[Criterion]) -> dict[str, Any]:
    """Return the schema of a criterion: a number, numbers by sensitive attribute, or a list of tables."""
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
            **{part.name: _option_schema(part) for part in fixed_parameters(criterion)},
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


def _cost_schema(cost: NamedCost) -> dict[str, Any]:
    """Return the schema of a table with the cost's name and its options."""
    options = {each.name: _option_schema(each) for each in spec_options(cost)}
    return {
        "description": cost.meaning,
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {"name": {"const": cost.name}, **options},
    }


_SCHEMA_TYPES = {OptionKind.WHOLE: "integer", OptionKind.DECIMAL: "number", OptionKind.FLAG: "boolean"}


def _option_schema(option: Option) -> dict[str, Any]:
    found: dict[str, Any] = {"type": _SCHEMA_TYPES.get(option.kind, "string"), "description": option.help}
    bounds = {"minimum": option.least, "maximum": option.most, "enum": list(option.choices) or None}
    return found | {name: bound for name, bound in bounds.items() if bound is not None}
