"""TOML description of a generated workload: queries, attributes, dimensions, selectivity, aggregate, seed.

Only ``discreet workload`` loads this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from discreet.errors import InputError
from discreet.places.file_access import read_text
from discreet.spec.validation import StrictTable, parse_toml, validate_table


def _float(value: object) -> object:
    return float(value) if isinstance(value, Decimal | int) and not isinstance(value, bool) else value


class WorkloadTable(StrictTable):
    """Keys of a workload's description."""

    queries: int = Field(100, ge=1, description="a whole number of at least 1")
    attributes: list[str] = Field(
        default_factory=list, description='a list of quasi-identifiers, such as ["age", "sex"]'
    )
    dimensions: int = Field(2, ge=1, description="a whole number of at least 1")
    selectivity: Annotated[float, BeforeValidator(_float)] | Literal["point"] = Field(
        0.05, description='a share above 0 and at most 1, such as 0.05, or "point" for one value each'
    )
    aggregate: Literal["COUNT", "SUM", "AVG", "MIN", "MAX"] = Field(
        "COUNT", description="COUNT, SUM, AVG, MIN, MAX"
    )
    measure: str | None = Field(None, min_length=1, description="the name of a column")
    seed: int = Field(0, ge=0, description="a whole number of at least 0")


def load_workload_description(path: Path) -> dict[str, Any]:
    """Load a description's keys with their values; ``selectivity`` is None for point queries.

    Raises ``InputError`` with the file, the key, the value, and the allowed values.
    """
    try:
        document = parse_toml(read_text(path, f"the workload {path}"))
    except OSError as error:
        raise InputError(f"the workload {path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path} is not TOML: {error}", allowed="TOML in UTF-8") from None
    return parse_workload_description(document, str(path))


def parse_workload_description(document: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Parse a description given as a mapping; see ``load_workload_description``."""
    content = {**document}
    if isinstance(content.get("attributes"), tuple):
        content["attributes"] = list(content["attributes"])
    table = validate_table(WorkloadTable, content, label=label, key=())
    result = table.model_dump()
    result["attributes"] = tuple(table.attributes)
    result["selectivity"] = None if table.selectivity == "point" else table.selectivity
    return result
