"""``discreet check``: audits for pipelines, with an exit status and JUnit or SARIF records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import audit, declared_options, options, output
from discreet.cli.output import TerminalReporter

_Files = Annotated[
    list[str],
    typer.Argument(metavar="RELEASE…", help="CSV or Parquet files, or Parquet folders; ours or not."),
]
_Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the results as JUnit XML.")
]
_Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write the results as SARIF 2.1.0.")
]


def check(
    context: typer.Context,
    release: _Files,
    quasi_identifier: audit.QuasiIdentifierOption = None,
    sensitive: audit.SensitiveOption = None,
    k: options.KOption = None,
    l: options.LOption = None,
    spec: audit.PublisherSpecOption = None,
    junit: _Junit = None,
    sarif: _Sarif = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Check files in a pipeline: audit each file and report every check.

    The exit status is 0 where every check of every file passes, 1 where one fails, and 2 where a file cannot
    be checked. No record shows a cell of a file.
    """
    from discreet.verbs import release_check

    found = release_check.check(
        release,
        quasi_identifiers=quasi_identifier or None,
        sensitive=sensitive or None,
        k=options.parse_k(k),
        l=options.parse_l(l),
        criteria=declared_options.parse_criteria(context),
        spec=spec,
        junit_to=junit,
        sarif_to=sarif,
        settings=options.parse_settings(threads, memory_limit),
        reporter=TerminalReporter(),
    )
    if json:
        output.print_json(found.as_json())
    else:
        output.print_document(found.document(typed=True))
    return found.status
