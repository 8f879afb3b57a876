"""``discreet check``: audits for pipelines, with an exit status and records that they read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import audit, criterion_options, options, output
from discreet.cli.progress import TerminalReporter

Files = Annotated[
    list[str],
    typer.Argument(metavar="RELEASE…", help="CSV or Parquet files, or Parquet folders; ours or not."),
]
Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write what was found as JUnit's XML.")
]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write what was found as SARIF 2.1.0.")
]


def check(
    context: typer.Context,
    release: Files,
    quasi_identifier: audit.QuasiIdentifiers = None,
    sensitive: audit.Sensitive = None,
    k: options.K = None,
    l: options.L = None,
    spec: audit.Spec = None,
    junit: Junit = None,
    sarif: Sarif = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Check files in a pipeline: audit each, and tell every check.

    The exit status is 0 where every check of every file passes, 1 where one fails, and 2 where a file cannot
    be checked. No record shows a cell of a file.
    """
    from discreet.verbs import checking

    found = checking.check(
        release,
        quasi_identifiers=quasi_identifier or None,
        sensitive=sensitive or None,
        k=options.k_of(k),
        l=options.l_of(l),
        criteria=criterion_options.asked(context),
        spec=spec,
        junit_to=junit,
        sarif_to=sarif,
        settings=options.settings_of(threads, memory_limit),
        reporter=TerminalReporter(),
    )
    if json:
        output.print_json(found.as_json())
    else:
        output.show(found.document(typed=True))
    return found.status
