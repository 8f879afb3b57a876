"""``discreet schema``: the JSON Schema of the spec, or a release's description for other tools."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from discreet.cli import output
from discreet.errors import InputError

_Release = Annotated[
    str | None,
    typer.Argument(metavar="[RELEASE]", help="A release in a file. [the spec's schema is printed]"),
]
_Standard = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="frictionless (a data package) or csvw. [frictionless]"),
]


def schema(release: _Release = None, standard: _Standard = None) -> int:
    """Print the JSON Schema of the spec; or a release's, for other tools.

    Without RELEASE: every key of the spec with its meaning, allowed values and an example; criteria of
    installed packages are among them. With RELEASE: its columns and files as a Frictionless data package,
    or as the metadata of CSV on the web (CSVW).
    """
    if release is None:
        if standard is not None:
            raise InputError("--as without a release", allowed="discreet schema RELEASE --as csvw")
        from discreet.spec.json_schema import build_spec_schema

        output.print_json(build_spec_schema())
        return 0
    from discreet.verbs.release_facts import DescriptionForm, describe

    output.print_json(describe(release, cast("DescriptionForm", standard or "frictionless")))
    return 0
