"""The options that say how a file is read, for verbs that take one without a spec."""

from __future__ import annotations

from typing import Annotated

import typer

_PANEL = "How the file is read"

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="csv, tsv, parquet, jsonl, xlsx or sqlite. [its ending]",
        rich_help_panel=_PANEL,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Such as latin-1, windows-1252 or utf-16. [told from the file]",
        rich_help_panel=_PANEL,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="C",
        help="What parts cells: a character, or comma, semicolon, tab, bar. [told from the header]",
        rich_help_panel=_PANEL,
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(
        "--quote",
        metavar="C",
        help='What quotes cells, "" for none. [told from the header]',
        rich_help_panel=_PANEL,
    ),
]
Null = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        metavar="TEXT",
        help="A cell of this text is NULL; repeatable.",
        rich_help_panel=_PANEL,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar=", | .",
        help="The mark before a number's decimals. [told from each column]",
        rich_help_panel=_PANEL,
    ),
]
Strip = Annotated[
    bool,
    typer.Option("--strip", help="Blanks around texts are no part of them.", rich_help_panel=_PANEL),
]
Nulls = Annotated[
    str,
    typer.Option(
        "--nulls",
        metavar="value|drop",
        help="NULL is a value of its own, or its row is left out.",
        rich_help_panel=_PANEL,
    ),
]
Subject = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="COLUMN",
        help="The column that names the person, where rows are visits, say: k counts people.",
        rich_help_panel=_PANEL,
    ),
]
