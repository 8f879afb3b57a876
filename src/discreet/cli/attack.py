"""``discreet attack``: risks of a release, and attacks by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.declared_options import ATTACK_OPTIONS, parse_attack_options
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError

_ReleasePath = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A published file, folder, or a database's address; ours or not."),
]
_SpecOption = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="The original's spec: risks before, and what cells mean."),
]
_Outside = Annotated[
    Path | None,
    typer.Option("--outside", metavar="FILE", help="A file of the attacker's, to link with the release."),
]
_Population = Annotated[
    Path | None,
    typer.Option("--population", metavar="FILE", help="A file of the whole population, for journalist risk."),
]
_Match = Annotated[
    list[str] | None,
    typer.Option(
        "--match",
        metavar="COLUMN=COLUMN",
        help="A column of the file and its quasi-identifier; repeatable. [columns of the same name]",
    ),
]
_Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="COLUMN=COLUMN",
        help="Columns that identify a person in both the file and the original.",
    ),
]
_By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="NAME", help="A further attack, listed below, or 'all'; repeatable."),
]
_Persons = Annotated[
    bool,
    typer.Option("--persons", help="Include findings about single persons, for the owner only."),
]
_Threshold = Annotated[
    str, typer.Option("--threshold", metavar="P", help="The chance above which a row counts as at risk.")
]
_Dominance = Annotated[
    str, typer.Option("--dominance", metavar="P", help="The share above which one value dominates a class.")
]


def attack(
    release: _ReleasePath,
    *,
    table: options.ReleaseTable = None,
    spec: _SpecOption = None,
    outside: _Outside = None,
    population: _Population = None,
    match: _Match = None,
    key: _Key = None,
    by: _By = None,
    persons: _Persons = False,
    threshold: _Threshold = "0.05",
    dominance: _Dominance = "0.8",
    columns: options.ColumnTexts,
    form: options.FileTexts,
) -> int:
    """Attack a release: risks, uniques, linkage with a file, and attacks by name."""
    from discreet.verbs import release_attack
    from discreet.verbs.locations import address_of

    _require_files(outside, population, match, key)
    result = release_attack.attack(
        address_of(release, table),
        table=None if spec is None else options.open_table_of_spec(spec),
        outside=outside,
        population=population,
        match=_parse_pairs(match),
        key=key,
        threshold=threshold,
        dominance=dominance,
        by=by,
        options=parse_attack_options(ATTACK_OPTIONS.arguments()),
        persons=persons,
        **columns.keywords(),
        **form.keywords(),
        settings=options.parse_settings(),
        reporter=TerminalReporter(),
    )
    return output.print_result(result)


def _require_files(
    outside: Path | None, population: Path | None, match: list[str] | None, key: str | None
) -> None:
    if match and outside is None and population is None:
        raise InputError("--match without a file", advice="Name it: --outside FILE or --population FILE.")
    if key is not None and outside is None:
        raise InputError("--key without --outside", advice="Name the file: --outside FILE.")


def _parse_pairs(texts: list[str] | None) -> dict[str, str] | None:
    """Parse ``COLUMN=COLUMN`` texts, split at the last ``=``."""
    if not texts:
        return None
    result: dict[str, str] = {}
    for text in texts:
        outside, sign, release = text.rpartition("=")
        if not sign or not outside or not release:
            raise InputError(f"--match {text}", allowed="COLUMN=COLUMN, the file's and the release's")
        if outside in result:
            raise InputError(f"--match names '{outside}' twice", allowed="each column once")
        result[outside] = release
    return result
