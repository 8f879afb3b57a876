"""The options of ``publish --model patterns``, each declared once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.errors import InputError

Pattern = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern",
        metavar="VECTOR",
        help="patterns: one to allow, a sign per quasi-identifier (. shown, * starred, N level); repeatable.",
    ),
]
MaxStars = Annotated[
    str | None, typer.Option("--max-stars", metavar="C", help="patterns: at most C stars in a row.")
]
Never = Annotated[
    list[str] | None,
    typer.Option("--never", metavar="A,B", help="patterns: none of these is ever starred; repeatable."),
]
Together = Annotated[
    list[str] | None,
    typer.Option(
        "--together", metavar="A,B", help="patterns: all of these are starred or none is; repeatable."
    ),
]
AtMostOne = Annotated[
    list[str] | None,
    typer.Option(
        "--at-most-one", metavar="A,B", help="patterns: at most one of these is starred; repeatable."
    ),
]
Required = Annotated[
    list[str] | None,
    typer.Option("--required", metavar="A,B", help="patterns: each of these is always starred; repeatable."),
]
Outliers = Annotated[
    str | None,
    typer.Option(
        "--outliers",
        metavar="suppress|delete|error",
        help="patterns: rows that fit none show stars only, are left out, or are an error. [suppress]",
    ),
]
Tie = Annotated[
    str | None,
    typer.Option(
        "--tie",
        metavar="NAME",
        help="patterns: which of equal cost comes first: last-column-first, first-column-first, as-given or "
        "best. [last-column-first] mondrian: which of equal range is cut: fewest-values or first. "
        "[fewest-values]",
    ),
]
Cells = Annotated[
    str | None,
    typer.Option("--cells", metavar="stars|levels", help="patterns: stars, or every level too. [stars]"),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="NAME",
        help="patterns: what a level costs, precision or loss [precision]; ordered-single-dimension by the "
        "method optimal: c-dm or c-avg [c-dm].",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="patterns: greedy, exact, fixed-parameter or matching; ordered-single-dimension: greedy or "
        "optimal. [greedy]",
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="End the methods exact and optimal after so long, with a proven gap. [optimal: 60]",
    ),
]
File = Annotated[
    Path | None,
    typer.Option("--patterns", metavar="FILE", help="patterns: vectors or constraints from a TOML file."),
]


def constraints(
    pattern: list[str] | None,
    max_stars: str | None,
    never: list[str] | None,
    together: list[str] | None,
    at_most_one: list[str] | None,
    required: list[str] | None,
) -> dict[str, Any]:
    """Vectors and constraints as ``Table.recode`` takes them, None for those that were left out."""
    return {
        "pattern": pattern or None,
        "max_stars": options.whole_of("--max-stars", max_stars),
        "never": _names("--never", never),
        "together": _groups("--together", together),
        "at_most_one": _groups("--at-most-one", at_most_one),
        "required": _names("--required", required),
    }


def seconds(option: str, text: str | None) -> float | None:
    """A number of seconds as an option gives it; ``InputError`` for anything else."""
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII):
        raise InputError(f"{option} {text}", allowed="a number of seconds, such as 30")
    return float(text)


def _names(option: str, texts: list[str] | None) -> list[str] | None:
    """Names, several of them in one ``A,B`` text or in several texts."""
    return [name for text in texts or [] for name in _split(option, text, least=1)] or None


def _groups(option: str, texts: list[str] | None) -> list[tuple[str, ...]] | None:
    """``A,B`` texts as groups of names."""
    return [_split(option, text, least=2) for text in texts or []] or None


def _split(option: str, text: str, *, least: int) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if len(names) < least or not all(names):
        number = "two or more names" if least > 1 else "one name, or several"
        raise InputError(f"{option} {text}", allowed=f"{number} with commas between them")
    return names
