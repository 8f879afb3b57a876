"""TOML description of a generated workload: queries, attributes, dimensions, selectivity, aggregate, seed.

Only ``discreet workload`` loads this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from discreet.spec.validation import StrictTable, TextList, read_toml, validate_table


def _float(value: object) -> object:
    return float(value) if isinstance(value, Decimal | int) and not isinstance(value, bool) else value


class WorkloadTable(StrictTable):
    """Keys of a workload's description."""

    queries: int = Field(100, ge=1, description="a whole number of at least 1")
    attributes: TextList = Field((), description='a list of quasi-identifiers, such as ["age", "sex"]')
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
    return parse_workload_description(read_toml(path, f"the workload {path}"), str(path))


def parse_workload_description(document: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Parse a description given as a mapping; see ``load_workload_description``."""
    table = validate_table(WorkloadTable, document, label=label, key=())
    return dict(table) | {"selectivity": None if table.selectivity == "point" else table.selectivity}
