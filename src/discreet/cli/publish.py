"""``discreet publish``: recode, write, audit, and only then hand over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, output
from discreet.errors import InputError

Output = Annotated[
    Path, typer.Option("--output", metavar="PATH", help="The release: a new file, .csv or .parquet.")
]
Level = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="ATTR=N",
        help="Publish at this level of ATTR (0 where not named) and negotiate nothing; repeatable.",
    ),
]
Accept = Annotated[
    str | None,
    typer.Option(
        "--accept",
        metavar="max_suppressed|height|k|l",
        help="Publish this relaxation where there is no exact answer.",
    ),
]
Suppressed = Annotated[
    str,
    typer.Option(
        "--suppressed", metavar="drop|star", help="Leave suppressed rows out, or star every cell. [drop]"
    ),
]


def publish(
    spec: options.SpecPath,
    output_path: Output,
    level: Level = None,
    k: options.K = None,
    l: options.L = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    scope: options.Scope = None,
    accept: Accept = None,
    suppressed: Suppressed = "drop",
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    _debug: options.Debug = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Recode, write, audit, and only then hand over.

    Either levels (--level) or a request; only its exact answer is published unless --accept names a
    relaxation. Options that are left out come from the spec's [request]. Where nothing meets the request,
    nothing is written and the exit status is 3.
    """

    from discreet.workbench.publishing import publish_levels, publish_request

    table = options.opened(spec, threads, memory_limit)
    levels = options.levels_of("--level", level)
    if levels:
        _refuse_beside_levels(accept=accept, max_level=max_level, min_level=min_level, scope=scope)
    request = options.request_for(table, k, l, max_suppressed, max_level, min_level, scope)
    how: dict[str, Any] = {"suppressed": suppressed, "overwrite": overwrite}
    if levels:
        result = publish_levels(table, levels, request, output_path, **how)
    else:
        result = publish_request(table, request, output_path, accept=accept, **how)
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.document())
        output.show_commands("To check it again:", f"discreet audit {output.quoted(output_path)}")
    return 0


def _refuse_beside_levels(**given: object) -> None:
    """Raise where an option of a request stands beside --level, which negotiates nothing."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} beside --level",
                allowed="levels by --level, or a request with --max-level, --min-level, --scope and --accept",
                advice=f"Leave out --level or {option}.",
            )
