"""``discreet init``: propose a first spec for a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from discreet.cli import options, output
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError

if TYPE_CHECKING:
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
    *,
    output_path: _Output = Path("discreet.toml"),
    table: _SourceTable = None,
    form: options.FileTexts,
    decimal: options.DecimalMark = None,
    strip: options.StripBlanks = False,
    null_policy: options.NullPolicyOption = "value",
    subject: options.SubjectColumn = None,
    hierarchies: _Hierarchies = None,
    schema: _Schema = None,
    extract_data: _ExtractData = None,
    related: _Related = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Write a first spec for a table, with reasons.

    Each column gets a role, and each quasi-identifier a hierarchy, by its name and its values. In doubt
    the more protected role is proposed. Read the spec before you publish: only you know the data.
    """
    from discreet.verbs import arx_spec, proposal

    reading = (*form, table, decimal, subject, hierarchies, schema)
    read_so = strip or null_policy != "value" or any(option is not None for option in reading)
    options.parse_settings()
    if related:
        _refuse_reading_options(read_so or extract_data is not None)
        return _init_related(data, related, output_path, overwrite=overwrite)
    if arx_spec.is_arx_project(data):
        if read_so:
            raise InputError(
                "options for reading data cannot be combined with an ARX project, which contains them",
                allowed="--output, --extract-data, --overwrite, --json",
            )
        carried = arx_spec.arx(data, output_path, extract=extract_data, overwrite=overwrite)
        return _print_proposal(carried, output_path)
    if extract_data is not None:
        raise InputError("--extract-data without an ARX project", allowed="a file such as study.deid")
    result = proposal.init(
        data,
        output=output_path,
        table=table,
        **form.keywords(),
        decimal=cast("Any", decimal),
        strip=strip,
        null_policy=cast("Any", null_policy),
        subject=subject,
        hierarchies=hierarchies,
        schema=schema,
        overwrite=overwrite,
        settings=options.parse_settings(),
        reporter=TerminalReporter(),
    )
    return _print_proposal(result, output_path)


def _refuse_reading_options(has_spec: bool) -> None:
    """Raise if reading options of one table are given together with ``--related``."""
    if has_spec:
        raise InputError(
            "options for reading a table cannot be combined with --related",
            allowed="--output, --overwrite, --json",
            advice="Change the specs that are written.",
        )


def _init_related(data: str, related: list[Path], path: Path, *, overwrite: bool) -> int:
    """Propose a relational spec."""
    from discreet.verbs.relational import init_tables

    settings, reporter = options.parse_settings(), TerminalReporter()
    found = init_tables(data, related, path, overwrite=overwrite, settings=settings, reporter=reporter)
    output.print_result(found)
    output.print_commands(
        "Read them, and set k in each table's [request], then:",
        f"discreet publish {output.quote_for_shell(path)} --output release",
    )
    return 0


def _print_proposal(result: Proposal | ArxSpec, spec_path: Path) -> int:
    output.print_result(result)
    spec = output.quote_for_shell(spec_path)
    request_words = "" if "k" in result.mapping.get("request", {}) else " --k 10 --max-suppressed 1%"
    output.print_commands(
        "Read it, correct it, then:",
        f"discreet inspect {spec}",
        f"discreet negotiate {spec}{request_words}",
    )
    return 0
