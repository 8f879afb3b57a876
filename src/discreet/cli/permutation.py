"""The options of ``publish --model permutation``, each declared once."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from discreet.errors import InputError

MODEL = "permutation"

Range = Annotated[
    str | None,
    typer.Option(
        "--e", metavar="WIDTH", help="permutation: each group's values range over WIDTH or more. [0]"
    ),
]
Attribute = Annotated[
    str | None,
    typer.Option(
        "--sensitive", metavar="ATTR", help="permutation: the attribute to permute, where there are several."
    ),
]
Partition = Annotated[
    str | None,
    typer.Option(
        "--partition",
        metavar="NAME",
        help="permutation: min-sum, weighted-min-sum, min-max, contiguous-min-max, random, qi-aware or "
        "recoding. [min-sum]",
    ),
]
Recoding = Annotated[
    str | None,
    typer.Option(
        "--recoding",
        metavar="MODEL",
        help="permutation: with --partition recoding, the model whose classes are the groups. [--level's]",
    ),
]
Near = Annotated[
    list[str] | None,
    typer.Option(
        "--near",
        metavar="ATTR",
        help="permutation: with --partition qi-aware, cut along ATTR, which questions are asked of; "
        "repeatable. [all]",
    ),
]
MergeFailing = Annotated[
    bool,
    typer.Option("--merge-failing", help="permutation: join classes that do not meet k and e into groups."),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--form",
        metavar="one-table|two-tables",
        help="permutation: sensitive values beside the others, or in a table of their own. [one-table]",
    ),
]
FirstGroup = Annotated[
    str | None,
    typer.Option(
        "--first-group", metavar="K,E", help="permutation: k and e of the group with the smallest value."
    ),
]


def chosen(
    e: str | None,
    sensitive: str | None,
    partition: str | None,
    recoding: str | None,
    near: list[str] | None,
    merge_failing: bool,
    form: str | None,
    first_group: str | None,
) -> dict[str, Any]:
    """What was given, by the names of ``workbench.permuting.PermutationOptions``; None where nothing was."""
    return {
        "e": e,
        "sensitive": sensitive,
        "partition": partition,
        "recoding": recoding,
        "near": near or None,
        "merge_failing": merge_failing or None,
        "form": form,
        "first_group": first_group_of(first_group),
    }


def first_group_of(text: str | None) -> tuple[int, str] | None:
    """``--first-group K,E`` as numbers; ``InputError`` for another form."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,18})\s*,\s*([^,]+)", text, re.ASCII)
    if match is None:
        raise InputError(f"--first-group {text}", allowed="K,E, such as 10,500")
    return int(match.group(1)), match.group(2)
