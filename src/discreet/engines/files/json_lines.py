"""JSON lines: one object per line, its keys the columns, scalars as text.

``null`` and a missing key are NULL; keys are case-sensitive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.text_file import check_utf8, is_compressed, open_bytes
from discreet.errors import InputError
from discreet.model.json_documents import parse_json
from discreet.sql.cell_expressions import column_name
from discreet.sql.quoting import glob_literal, literal

_LONGEST_LINE = 1 << 24


@dataclass(frozen=True)
class JsonLines:
    """JSON-lines file with its columns, in the order of their first appearance.

    ``nested`` are the columns with a cell that is an object or an array; such a cell's text is JSON.
    """

    path: Path
    label: str
    columns: tuple[str, ...]
    nested: frozenset[str] = frozenset()

    def relation(self, *, serial: bool = False) -> str:
        """Return the file for a FROM clause, with text columns ``c0``, ``c1``, …; always read in parallel."""
        del serial
        cells = ", ".join(f"{_cell(name)} AS {column_name(i)}" for i, name in enumerate(self.columns))
        return f"(SELECT {cells} FROM {_objects(self.path)})"

    def has_records(self, number: int) -> bool:
        """Return True if the file has this number of non-blank lines."""
        with open_bytes(self.path) as handle:
            return sum(1 for line in handle if line.strip()) == number


def read_json_keys(path: Path, label: str, fetch: Callable[[str], list[tuple[Any, ...]]]) -> JsonLines:
    """Read the columns of a file in one pass over all lines.

    Raises ``InputError`` for a file without objects, a line that is not an object, and an object with a
    duplicate key.
    """
    with open_bytes(path) as handle:
        start = handle.read(1 << 16).lstrip()
    if not start:
        raise InputError(f"{label} is empty", allowed="one JSON object per line")
    if start.startswith(b"["):
        raise InputError(
            f"{label} is one JSON array", allowed="JSON lines: one object per line, without commas between"
        )
    try:
        # One row per distinct list of keys, in the order of the first line: columns are in order of
        # appearance.
        shapes = fetch(
            "SELECT kind, keys, min(place) FROM (SELECT json_type(json) AS kind, json_keys(json) AS keys, "
            f"row_number() OVER () AS place FROM {_objects(path)}) GROUP BY kind, keys ORDER BY min(place)"
        )
    except InputError:
        raise malformed_json_error(path, label) from None
    columns: dict[str, None] = {}
    for kind, keys, line in shapes:
        _check_shape(kind, keys, line, label)
        columns.update(dict.fromkeys(keys))
    if not columns:
        raise InputError(f"{label} has no columns", allowed="at least one key in an object")
    return JsonLines(path, label, tuple(columns), _nested(path, tuple(columns), fetch))


def find_malformed_line(path: Path) -> int | None:
    """Return the first line that is no JSON text, from 1; None if all are valid."""
    with open_bytes(path) as handle:
        for number, line in enumerate(handle, start=1):
            try:
                if line.strip():
                    parse_json(line.decode())
            except ValueError:
                return number
    return None


def malformed_json_error(path: Path, label: str) -> InputError:
    """Return the error for a file that DuckDB cannot parse."""
    try:
        check_utf8(path)
    except InputError as error:
        return error
    line = find_malformed_line(path)
    return InputError(
        f"{label}{'' if line is None else f', line {line}'}: not valid JSON",
        allowed=f"JSON lines: one object per line, at most {_LONGEST_LINE // 2**20} MiB each",
    )


def _check_shape(kind: str, keys: Sequence[str], line: int, label: str) -> None:
    if kind != "OBJECT":
        raise InputError(f"{label}, row {line}: not a JSON object", allowed="one JSON object per line")
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if list(keys).count(key) > 1)
        raise InputError(f"{label}, row {line}: duplicate key '{twice}'", allowed="each key once")


def _objects(path: Path) -> str:
    compression = "gzip" if is_compressed(path) else "uncompressed"
    return (
        f"read_ndjson_objects({glob_literal(path)}, maximum_object_size={_LONGEST_LINE}, "
        f"compression='{compression}', hive_partitioning=false)"
    )


def _nested(
    path: Path, columns: Sequence[str], fetch: Callable[[str], list[tuple[Any, ...]]]
) -> frozenset[str]:
    """Return the keys whose values are objects or arrays in some line; another pass."""
    tests = ", ".join(f"bool_or(json_type(json, {_pointer(key)}) IN ('OBJECT', 'ARRAY'))" for key in columns)
    (found,) = fetch(f"SELECT {tests} FROM {_objects(path)}")
    return frozenset(key for key, nested in zip(columns, found, strict=True) if nested)


def _cell(key: str) -> str:
    return f"json_extract_string(json, {_pointer(key)})"


def _pointer(key: str) -> str:
    return literal("/" + key.replace("~", "~0").replace("/", "~1"))
