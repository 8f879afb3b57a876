"""``discreet init``: propose a first spec for a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from discreet.cli import options, output
from discreet.cli.options import parse_settings
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.settings import Settings
    from discreet.verbs.arx_spec import ArxSpec
    from discreet.verbs.proposal import Proposal

_Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet or JSON-lines file with one row per person, or a pattern of several in "
        "quotes ('data/*.csv'); or {data_addresses}; "
        "a data package or CSVW (.json) that names one; or a project of ARX (.deid).",
    ),
]
_SourceTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="The table of the database, such as clinic.people; or the sheet of a spreadsheet.",
    ),
]
_Hierarchies = Annotated[
    Path | None,
    typer.Option(
        "--hierarchies",
        metavar="DIR",
        help="Take hierarchy files (.csv) of a folder for the columns that they fit by name or values.",
    ),
]
_Schema = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="A description of the columns: a Frictionless data package or Table Schema, or CSVW (.json).",
    ),
]
_ExtractData = Annotated[
    bool | None,
    typer.Option(
        "--extract-data/--no-extract-data",
        help="For an ARX project: also write its rows next to the spec. [if the spec's folder is new]",
    ),
]
_Related = Annotated[
    list[Path] | None,
    typer.Option(
        "--related",
        metavar="FILE",
        help="A further table of the same people: DATA has a row for each, and a relational spec is "
        "written; repeatable.",
    ),
]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="The spec to write. [discreet.toml]")]


def init(
    data: _Data,
    output_path: _Output = Path("discreet.toml"),
    table: _SourceTable = None,
    format_name: options.FileFormatOption = None,
    encoding: options.FileEncoding = None,
    delimiter: options.FileDelimiter = None,
    quote: options.FileQuote = None,
    decimal: options.DecimalMark = None,
    strip: options.StripBlanks = False,
    null: options.NullTexts = None,
    nulls: options.NullPolicyOption = "value",
    subject: options.SubjectColumn = None,
    hierarchies: _Hierarchies = None,
    schema: _Schema = None,
    extract_data: _ExtractData = None,
    related: _Related = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Write a first spec for a table, with reasons.

    Each column gets a role, and each quasi-identifier a hierarchy, by its name and its values. In doubt
    the more protected role is proposed. Read the spec before you publish: only you know the data.
    """
    from discreet.verbs import arx_spec, proposal

    reading = table, format_name, encoding, delimiter, quote, decimal, null, subject, hierarchies, schema
    read_so = strip or nulls != "value" or any(option is not None for option in reading)
    limits = parse_settings(threads, memory_limit)
    if related:
        _refuse_reading_options(read_so or extract_data is not None)
        return _init_related(data, related, output_path, overwrite=overwrite, json=json, settings=limits)
    if arx_spec.is_arx_project(data):
        if read_so:
            raise InputError(
                "options for reading data cannot be combined with an ARX project, which contains them",
                allowed="--output, --extract-data, --overwrite, --json",
            )
        carried = arx_spec.arx(data, output_path, extract=extract_data, overwrite=overwrite)
        return _print_proposal(carried, output_path, json=json)
    if extract_data is not None:
        raise InputError("--extract-data without an ARX project", allowed="a file such as study.deid")
    result = proposal.init(
        data,
        output=output_path,
        table=table,
        format=format_name,
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        decimal=cast("Any", decimal),
        strip=strip,
        null_values=null or (),
        nulls=cast("Any", nulls),
        subject=subject,
        hierarchies=hierarchies,
        schema=schema,
        overwrite=overwrite,
        settings=limits,
        reporter=TerminalReporter(),
    )
    return _print_proposal(result, output_path, json=json)


def _refuse_reading_options(has_spec: bool) -> None:
    """Raise if reading options of one table are given together with ``--related``."""
    if has_spec:
        raise InputError(
            "options for reading a table cannot be combined with --related",
            allowed="--output, --overwrite, --json",
            advice="Change the specs that are written.",
        )


def _init_related(
    data: str, related: list[Path], path: Path, *, overwrite: bool, json: bool, settings: Settings
) -> int:
    """Propose a relational spec."""
    from discreet.verbs.relational import init_tables

    found = init_tables(
        data, related, path, overwrite=overwrite, settings=settings, reporter=TerminalReporter()
    )
    if json:
        output.print_json(found.as_json())
        return 0
    output.print_document(found.document())
    output.print_commands(
        "Read them, and set k in each table's [request], then:",
        f"discreet publish {output.quote_for_shell(path)} --output release",
    )
    return 0


def _print_proposal(result: Proposal | ArxSpec, spec_path: Path, *, json: bool) -> int:
    if json:
        output.print_json(result.as_json())
        return 0
    output.print_document(result.document())
    spec = output.quote_for_shell(spec_path)
    request_words = "" if "k" in result.mapping.get("request", {}) else " --k 10 --max-suppressed 1%"
    output.print_commands(
        "Read it, correct it, then:",
        f"discreet inspect {spec}",
        f"discreet negotiate {spec}{request_words}",
    )
    return 0
