"""``discreet apply``: a release's recoding, applied to other rows of the same kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress import TerminalReporter

Recoding = Annotated[
    str, typer.Argument(metavar="RELEASE", help="The release by levels whose manifest records them.")
]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="A file with the columns of the spec's source.")]
Spec = Annotated[
    Path, typer.Option("--spec", metavar="SPEC", help="The spec of the release, with its hierarchies.")
]
Output = Annotated[
    Path, typer.Option("--output", metavar="PATH", help="The new release: a new file, .csv or .parquet.")
]


def apply(
    release: Recoding,
    data: Data,
    spec: Spec,
    output_path: Output,
    max_suppressed: options.MaxSuppressed = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Apply a release's recoding to new rows, and audit them afresh.

    The levels and what is required are those of the release. A value without a leaf is an error, and so is a
    recoding that no manifest records.
    """
    from discreet.verbs import applying

    result = applying.apply(
        release,
        data,
        output_path,
        spec=spec,
        max_suppressed=max_suppressed,
        overwrite=overwrite,
        settings=options.settings_of(threads, memory_limit),
        reporter=TerminalReporter(),
    )
    output.print_json(result.as_json()) if json else output.show(result.document())
    return 0
