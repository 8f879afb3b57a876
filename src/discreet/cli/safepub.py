"""``discreet safepub``: a sample of rows under differential privacy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output

_Level = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="ATTR=N",
        help="Publish ATTR at this level, the spec's least or 0 where not named; repeatable.",
    ),
]
_Output = Annotated[
    Path, typer.Option("--output", metavar="PATH", help="The sample: a new file, .csv or .parquet.")
]
_Epsilon = Annotated[str, typer.Option("--epsilon", metavar="E", help="The privacy loss ε.")]
_Search = Annotated[
    str | None,
    typer.Option(
        "--search-epsilon",
        metavar="E",
        help="Part of ε for a private search, which chooses the levels that are not given.",
    ),
]
_Delta = Annotated[str, typer.Option("--delta", metavar="D", help="The privacy loss δ.")]


def safepub(
    spec: options.SpecPath,
    output_path: _Output,
    epsilon: _Epsilon,
    delta: _Delta,
    level: _Level = None,
    search_epsilon: _Search = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Release a random sample of rows under differential privacy.

    Rows are drawn, generalized to levels that are given or privately chosen, and left out where too few of a
    class were drawn. Their privacy loss is taken from the spec's [privacy_budget] before they are drawn.
    """
    result = options.open_table_of_spec(spec, threads, memory_limit).safepub(
        options.parse_level_options("--level", level),
        output_path,
        epsilon=epsilon,
        delta=delta,
        search_epsilon=search_epsilon,
        overwrite=overwrite,
    )
    if json:
        output.print_json(result.as_json())
    else:
        output.print_document(result.document())
    return 0
