"""What a description of a table says of it: a Frictionless data package or Table Schema, or CSVW metadata.

https://specs.frictionlessdata.io/table-schema and https://www.w3.org/TR/tabular-metadata say what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.foreign.csvw import CSVW, csvw_table
from discreet.foreign.described import DescribedTable
from discreet.foreign.table_schema import package_table, schema_table
from discreet.model.json_text import json_of
from discreet.places.regular_file import read_text

_LARGEST = 64 * 2**20


@dataclass(frozen=True)
class Description:
    """A description's path, its table, and where that one's rows lie, None where it does not say."""

    path: Path
    table: DescribedTable
    data: Path | None = field(default=None)


def is_description(data: object) -> bool:
    """Whether data are the path of a description that names its rows: a package or CSVW, no bare schema."""
    if not isinstance(data, str | Path) or Path(data).suffix.lower() != ".json":
        return False
    path = Path(data)
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return False
    try:
        found = json_of(read_text(path, str(path)))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and ("resources" in found or _is_csvw(found))


def read_description(path: Path, table: str | None = None) -> Description:
    """Read a description; ``table`` is one of several, by its name.

    ``InputError`` for a file that is none, and for what it says that is not done here, such as rows that are
    to be left out.
    """
    try:
        found = json_of(read_text(path, str(path)))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    kinds = "a Frictionless data package or Table Schema, or metadata of CSV on the web (CSVW)"
    if not isinstance(found, dict):
        raise InputError(f"{path} describes no table", allowed=kinds)
    try:
        if _is_csvw(found):
            described = csvw_table(found, table, str(path))
        elif "resources" in found:
            described = package_table(found, table, str(path))
        elif isinstance(found.get("fields"), list):
            described = schema_table(found, str(path))
        else:
            raise InputError(f"{path} describes no table", allowed=kinds)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be understood: {error}", allowed=kinds) from None
    return Description(path, described, _data(described, path))


def _is_csvw(found: Mapping[str, Any]) -> bool:
    context = found.get("@context")
    return CSVW in (context if isinstance(context, list) else [context])


def _data(described: DescribedTable, path: Path) -> Path | None:
    if described.data is None:
        return None
    if "://" in described.data:
        raise InputError(
            f"{path} names rows at {described.data}",
            advice="Nothing is fetched from a network: put the file beside it, and name that.",
        )
    return path.parent / described.data
