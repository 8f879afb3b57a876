"""Bodies of the Load screen: a source and a column's cell format, converted to and from the spec."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.model.table_spec import NullPolicy, SourceSpec, UnlistedPolicy
from discreet.screens.source_view import find_database, infer_source
from discreet.verbs.locations import database_label
from discreet.verbs.source_reading import MAX_INVALID_TEXTS, find_format_errors
from discreet.verbs.spec_editor import source_as_mapping, with_format
from discreet.web.error_responses import FieldError
from discreet.web.workspace import Workspace


class DatabaseBody(BaseModel):
    """A database by the name that the server's operator gave to its address."""

    name: str = Field(min_length=1, max_length=200)
    service: bool = Field(False, description="A service of the service file; else an environment variable.")


class SourceBody(BaseModel):
    """A source and how its cells are read; null values are inferred or set to the default."""

    path: str = Field(
        max_length=4096,
        description="Path in the workspace or below the root; empty for a table of a database.",
    )
    format: (
        Literal[
            "csv",
            "tsv",
            "parquet",
            "json",
            "jsonl",
            "ndjson",
            "xlsx",
            "sqlite",
            "sav",
            "zsav",
            "dta",
            "sas7bdat",
            "xpt",
        ]
        | None
    ) = None
    table: str | None = Field(
        None, max_length=200, description="The sheet of a spreadsheet, or the table of a database."
    )
    database: DatabaseBody | None = Field(None, description="The database that contains the table.")
    encoding: str | None = Field(None, max_length=40, description="Such as utf-8 or latin-1.")
    delimiter: str | None = Field(None, max_length=1)
    quote: str | None = Field(None, max_length=1, description="Empty: no character quotes.")
    decimal: Literal[",", "."] | None = Field(None, description="In columns without a cell format.")
    strip: bool = False
    keep_codes: bool = False
    null_values: list[str] = Field(default_factory=list, max_length=100)
    null_policy: Literal["value", "drop"] = "value"
    subject: str | None = None
    rows_are_people: bool = Field(
        False, description="Each row is a different person, although values of an identifier repeat."
    )
    unlisted_columns: Literal["drop", "insensitive"] = "drop"


class SourceLocation(BaseModel):
    """The location of the rows of a source that is not a file."""

    table: str
    database: str = Field(
        description="The database's address without a password, or the engine that reads the table."
    )


def source_location(source: SourceSpec) -> SourceLocation | None:
    """Return the location of the rows of a source in a database; None for a file of the workspace."""
    if source.path is not None or source.table is None:
        return None
    return SourceLocation(table=source.table, database=database_label(source))


def source_from_body(body: SourceBody, workspace: Workspace) -> SourceSpec:
    """Convert the body to a source: check its path and infer the missing values."""
    if body.database is not None:
        return _database_source(body, body.database, workspace)
    if not body.path and workspace.has_spec and workspace.spec().source.path is None:
        advice = "Change it in the spec's text, or load a file."
        raise FieldError("the source is a table of a database", field="path", advice=advice)
    if not body.path:
        raise FieldError("no file is named", field="path")
    source = SourceSpec(
        path=_resolve_source_path(body.path, workspace),
        format=body.format,
        table=body.table or None,
        encoding=body.encoding or "utf-8",
        delimiter=body.delimiter or None,
        quote='"' if body.quote is None else body.quote,
        decimal=body.decimal,
        strip=body.strip,
        keep_codes=body.keep_codes,
        **_policies(body),
    )
    if workspace.has_spec and workspace.spec().source.path == source.path:
        known = workspace.spec().source  # keep the options that the form does not show
        source = replace(
            source,
            subset=known.subset,
            survey_weight=known.survey_weight,
            warnings=known.warnings,
            unquoted_nulls=known.unquoted_nulls,
        )
    try:
        inferred = infer_source(source)
        if body.encoding:
            "a".encode(body.encoding)
    except (LookupError, ValueError):
        raise FieldError("no such encoding", field="encoding", allowed="utf-8, latin-1, utf-16, …") from None
    except InputError as error:
        raise FieldError.of(error, "format" if "format" in error.message else "path") from None
    if source.delimiter and source.delimiter == source.quote:
        raise FieldError("the delimiter is the quote", field="delimiter", allowed="two different characters")
    return replace(
        source,
        encoding=body.encoding or inferred.encoding,
        quote=inferred.quote if body.quote is None else body.quote,
    )


def named_database_address(body: DatabaseBody, workspace: Workspace) -> str:
    """Return the address by which a spec names a database.

    Raises ``FieldError`` if the server opens no databases or none has the name.
    """
    if not workspace.databases:
        raise FieldError(
            "this server opens no databases for its users",
            field="database",
            advice="Ask the server's operator for the table as a file.",
        )
    try:
        return find_database(body.name, is_service=body.service).url
    except InputError as error:
        raise FieldError.of(error, "database") from None


def _database_source(body: SourceBody, database: DatabaseBody, workspace: Workspace) -> SourceSpec:
    if not body.table:
        raise FieldError("no table is named", field="table")
    return SourceSpec(url=named_database_address(database, workspace), table=body.table, **_policies(body))


def _policies(body: SourceBody) -> dict[str, Any]:
    """Return the options of a source that a file and a table of a database have in common."""
    return {
        "null_values": tuple(dict.fromkeys(body.null_values)),
        "null_policy": NullPolicy(body.null_policy),
        "subject": body.subject or None,
        "rows_are_people": body.rows_are_people and not body.subject,
        "unlisted_columns": UnlistedPolicy(body.unlisted_columns),
        "floats_as_integers": True,
    }


def _resolve_source_path(text: str, workspace: Workspace) -> Path:
    """Resolve a path of the form; the path of the spec's own source is returned unchanged."""
    if workspace.has_spec:
        current = workspace.spec().source.path
        if current is not None and workspace.spec_relative(current) == text:
            return current
    try:
        named = str(workspace.spec_path.parent / text)
    except ValueError:
        named = text
    return workspace.server_path(named)


def body_from_source(source: SourceSpec, workspace: Workspace) -> SourceBody:
    """Convert a source to the fields of the form."""
    unchanged = set(SourceBody.model_fields) - {"database"}
    fields = {name: getattr(source, name) for name in unchanged} | {
        "path": "" if source.path is None else workspace.spec_relative(source.path),
        "table": None if source.path is None else source.table,
        "null_values": list(source.null_values),
        "null_policy": str(source.null_policy),
        "unlisted_columns": str(source.unlisted_columns),
    }
    return SourceBody.model_construct(**fields)


def spec_source_table(source: SourceSpec, path: str) -> dict[str, Any]:
    """Return the source as the spec's ``[source]`` table."""
    location = {"path": path} if source.url is None else {"url": source.url}
    location |= {} if source.table is None else {"table": source.table}
    return {**location, **source_as_mapping(source)}


def relocate_spec(document: dict[str, Any], folder: Path, workspace: Workspace) -> dict[str, Any]:
    """Return a spec's mapping with its paths relative to the workspace's spec."""

    def moved(text: object) -> object:
        return workspace.spec_relative((folder / text).resolve()) if isinstance(text, str) else text

    result = dict(document)
    for table in ("source", "population"):
        if isinstance(result.get(table), dict) and "path" in result[table]:
            result[table] = {**result[table], "path": moved(result[table]["path"])}
    attributes = result.get("attributes")
    if not isinstance(attributes, dict):
        return result
    for name, entry in attributes.items():
        if not isinstance(entry, dict):
            continue
        declared = entry.get("hierarchy")
        if isinstance(declared, str):
            attributes[name] = {**entry, "hierarchy": moved(declared)}
        elif isinstance(declared, dict) and declared.get("kind") == "file":
            attributes[name] = {**entry, "hierarchy": {**declared, "path": moved(declared.get("path"))}}
    return result


class CellFormatBody(BaseModel):
    """The cell format of a column: the keys of the spec's ``format``; empty to read cells unchanged."""

    column: str
    format: dict[str, str | int | bool | list[str] | None] = Field(default_factory=dict)
    missed: Literal["refuse", "null", "keep"] = Field(
        "refuse", description="Cells that the format does not fit: refuse, read as NULL, or leave unchanged."
    )


def document_with_format(body: CellFormatBody, workspace: Workspace) -> dict[str, Any]:
    """Return the spec's mapping with another cell format of a column, which fits all its cells.

    Callers hold the workspace's ``edit_lock``. Raises ``InputError`` for an invalid format, and
    ``FieldError`` of the field ``missed`` for cells that it does not fit, unless they are read as NULL or
    kept unchanged.
    """
    document = workspace.document()
    form = {key: value for key, value in body.format.items() if value not in (None, "", [])}
    if not form:
        return with_format(document, body.column, None)
    others = (document["attributes"].get(body.column, {}).get("format") or {}).get("others")
    form |= {} if others is None else {"others": others}
    result = with_format(document, body.column, form)
    spec = workspace.checked_spec(result)
    invalid = find_format_errors(spec.source, body.column, workspace.settings)
    if invalid is None:
        return result
    texts = [each.text for each in invalid.texts]
    if len(texts) > MAX_INVALID_TEXTS:
        field = "dates" if form.get("dates") else "decimal"
        raise FieldError(invalid.message, field=field, advice="Add their format, or choose another one.")
    if body.missed == "refuse":
        advice = "Add their format, read them as NULL, or leave them unchanged."
        raise FieldError(invalid.message, field="missed", advice=advice)
    if body.missed == "null":
        source = document["source"]
        nulls = list(dict.fromkeys([*source.get("null_values", []), *texts]))
        return {**result, "source": {**source, "null_values": nulls}}
    return with_format(document, body.column, {**form, "others": [*(others or []), *texts]})


def format_field(error: InputError) -> str:
    """Return the field of a cell format that an error is about."""
    text = error.message.rpartition("written")[2]
    fields = {
        "pivot": "pivot",
        "date": "dates",
        "thousands": "thousands",
        "unit": "unit",
        "decimal": "decimal",
    }
    return next((field for word, field in fields.items() if word in text), "column")
