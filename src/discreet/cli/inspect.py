"""``discreet inspect``: inspect a table, or compare a release with its original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output

_ReleasePath = Annotated[
    str | None,
    typer.Option(
        "--release",
        metavar="RELEASE",
        help="Compare a release, a path or a database's address, with the table: every metric.",
    ),
]
_WorkloadPath = Annotated[
    Path | None,
    typer.Option(
        "--workload", metavar="FILE", help="Ask the release queries: a file of SQL, or a .toml description."
    ),
]
_Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="COLUMN", help="Train a classifier of COLUMN on the release, and test it."
    ),
]
_Seed = Annotated[
    str | None, typer.Option("--seed", metavar="N", help="Which rows are held out to test it. [0]")
]


def inspect(
    spec: options.SpecPath,
    release: _ReleasePath = None,
    release_table: options.ReleaseTable = None,
    workload: _WorkloadPath = None,
    target: _Target = None,
    seed: _Seed = None,
    k: options.KOption = None,
) -> int:
    """Show row types, uniqueness, risk and warnings; or compare a release."""
    table = options.open_table_of_spec(spec)
    if release is None:
        measured = {"table": release_table, "workload": workload, "target": target, "seed": seed, "k": k}
        advice = "Give the release to compare: --release PATH."
        options.refuse_given(measured, "{} without --release", advice=advice)
        return output.print_result(table.inspect())
    from discreet.verbs.locations import address_of

    comparison = table.compare(
        address_of(release, release_table),
        workload=workload,
        target=target,
        seed=options.parse_whole_option("--seed", seed) or 0,
        k=options.parse_k(k),
    )
    return output.print_result(comparison)
