"""``discreet attack``: what an attacker gets out of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import file_options, options, output
from discreet.cli.attack_options import ATTACK_OPTIONS, options_of_texts
from discreet.cli.progress import TerminalReporter
from discreet.errors import InputError

ReleasePath = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A published file, folder, or a database's address; ours or not."),
]
SpecOption = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="The original's spec: risks before, and what cells mean."),
]
Outside = Annotated[
    Path | None,
    typer.Option("--outside", metavar="FILE", help="A file of the attacker's, to link with the release."),
]
Population = Annotated[
    Path | None,
    typer.Option("--population", metavar="FILE", help="A file of the whole population, for journalist risk."),
]
Match = Annotated[
    list[str] | None,
    typer.Option(
        "--match",
        metavar="COLUMN=COLUMN",
        help="A column of the file and its quasi-identifier; repeatable. [columns of the same name]",
    ),
]
Key = Annotated[
    str | None,
    typer.Option("--key", metavar="COLUMN=COLUMN", help="Columns of the file and the original: who is who."),
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="NAME", help="A further attack, listed below, or 'all'; repeatable."),
]
Persons = Annotated[
    bool,
    typer.Option("--persons", help="Show what is found of single persons: for the owner's eyes alone."),
]
Threshold = Annotated[
    str, typer.Option("--threshold", metavar="P", help="The chance above which a row counts as at risk.")
]
Dominance = Annotated[
    str, typer.Option("--dominance", metavar="P", help="The share above which one value dominates a class.")
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option("--quasi-identifier", metavar="C", help="A quasi-identifier; repeatable. [the manifest's]"),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="C", help="A sensitive attribute; repeatable. [the manifest's]"),
]


def attack(
    context: typer.Context,
    release: ReleasePath,
    table: options.ReleaseTable = None,
    spec: SpecOption = None,
    outside: Outside = None,
    population: Population = None,
    match: Match = None,
    key: Key = None,
    by: By = None,
    persons: Persons = False,
    threshold: Threshold = "0.05",
    dominance: Dominance = "0.8",
    quasi_identifier: QuasiIdentifiers = None,
    sensitive: Sensitive = None,
    format_name: file_options.Format = None,
    encoding: file_options.Encoding = None,
    delimiter: file_options.Delimiter = None,
    quote: file_options.Quote = None,
    null: file_options.Null = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Attack a release: risks, uniques, linkage with a file, and attacks by name."""
    from discreet.verbs import attacking
    from discreet.verbs.addresses import address_of

    _refuse(outside, population, match, key)
    result = attacking.attack(
        address_of(release, table),
        table=None if spec is None else options.opened(spec, threads, memory_limit),
        outside=outside,
        population=population,
        match=_pairs(match),
        key=key,
        threshold=threshold,
        dominance=dominance,
        quasi_identifiers=quasi_identifier or None,
        sensitive=sensitive or None,
        by=by,
        options=options_of_texts(ATTACK_OPTIONS.given(context)),
        persons=persons,
        format=format_name,
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        null_values=null or (),
        settings=options.settings_of(threads, memory_limit),
        reporter=TerminalReporter(),
    )
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.document())
    return 0


def _refuse(outside: Path | None, population: Path | None, match: list[str] | None, key: str | None) -> None:
    if match and outside is None and population is None:
        raise InputError("--match without a file", advice="Name it: --outside FILE or --population FILE.")
    if key is not None and outside is None:
        raise InputError("--key without --outside", advice="Name the file: --outside FILE.")


def _pairs(texts: list[str] | None) -> dict[str, str] | None:
    """``COLUMN=COLUMN`` texts, split at the last ``=``."""
    if not texts:
        return None
    found: dict[str, str] = {}
    for text in texts:
        outside, sign, release = text.rpartition("=")
        if not sign or not outside or not release:
            raise InputError(f"--match {text}", allowed="COLUMN=COLUMN, the file's and the release's")
        if outside in found:
            raise InputError(f"--match names '{outside}' twice", allowed="each column once")
        found[outside] = release
    return found
