"""``discreet inspect``: what a table is before anything is done to it, or what a release keeps of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.errors import InputError

ReleasePath = Annotated[
    str | None,
    typer.Option(
        "--release",
        metavar="RELEASE",
        help="Compare a release, a path or a database's address, with the table: every metric.",
    ),
]
WorkloadPath = Annotated[
    Path | None,
    typer.Option(
        "--workload", metavar="FILE", help="Ask the release queries: a file of SQL, or a .toml description."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="COLUMN", help="Train a classifier of COLUMN on the release, and test it."
    ),
]
Seed = Annotated[
    str | None, typer.Option("--seed", metavar="N", help="Which rows are held out to test it. [0]")
]


def inspect(
    spec: options.SpecPath,
    release: ReleasePath = None,
    release_table: options.ReleaseTable = None,
    workload: WorkloadPath = None,
    target: Target = None,
    seed: Seed = None,
    k: options.K = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Show row types, uniqueness, risk and warnings; or a release beside its original."""
    table = options.opened(spec, threads, memory_limit)
    if release is None:
        given = {
            "--table": release_table,
            "--workload": workload,
            "--target": target,
            "--seed": seed,
            "--k": k,
        }
        _refuse([name for name, value in given.items() if value is not None])
        inspection = table.inspect()
        document, as_json = inspection.document, inspection.as_json
    else:
        from discreet.verbs.addresses import address_of

        comparison = table.compare(
            address_of(release, release_table),
            workload=workload,
            target=target,
            seed=options.whole_of("--seed", seed) or 0,
            k=options.k_of(k),
        )
        document, as_json = comparison.document, comparison.as_json
    if json:
        output.print_json(as_json())
    else:
        output.show(document())
    return 0


def _refuse(given: list[str]) -> None:
    if given:
        raise InputError(
            f"{given[0]} without --release", advice="Name the release to compare: --release PATH."
        )
