"""``discreet apply``: apply the recoding of a release to other rows of the same kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.output import TerminalReporter

_Recoding = Annotated[
    str, typer.Argument(metavar="RELEASE", help="The release by levels whose manifest records them.")
]
_Data = Annotated[Path, typer.Argument(metavar="DATA", help="A file with the columns of the spec's source.")]
_Spec = Annotated[
    Path, typer.Option("--spec", metavar="SPEC", help="The spec of the release, with its hierarchies.")
]
_Output = Annotated[
    Path, typer.Option("--output", metavar="PATH", help="The new release: a new file, .csv or .parquet.")
]


def apply(
    release: _Recoding,
    data: _Data,
    spec: _Spec,
    output_path: _Output,
    max_suppressed: options.MaxSuppressed = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Apply a release's recoding to new rows, and audit them afresh.

    Levels and criteria are those of the release. A value without a leaf is an error, and so is a
    recoding that no manifest records.
    """
    from discreet.verbs import recorded_decisions

    result = recorded_decisions.apply(
        release,
        data,
        output_path,
        spec=spec,
        max_suppressed=max_suppressed,
        overwrite=overwrite,
        settings=options.parse_settings(),
        reporter=TerminalReporter(),
    )
    return output.print_result(result)
