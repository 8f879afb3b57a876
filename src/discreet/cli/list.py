"""``discreet list``: built-in hierarchies, presets of requirements, and the register of releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output

_Spec = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="Only releases of the same people as this spec's table."),
]


def hierarchies() -> int:
    """List the built-in hierarchies.

    Ages, dates, diagnoses, occupations, economic activities, countries and postal codes: each with its
    levels from fine to coarse, an example, and its source. They need no data.
    """
    from discreet.verbs import builtin_hierarchies

    options.parse_settings()
    found = builtin_hierarchies.hierarchies()
    return output.print_result(found)


def presets() -> int:
    """List the requirements of rules, each with its source and reading.

    A preset requires the numbers that the rule names; a report lists the points that people must check before
    they sign (--checks of report). No preset states that a release meets the rule.
    """
    from discreet.results.preset_list import PresetList
    from discreet.spec.preset import load_presets

    found = PresetList(tuple(load_presets().values()))
    return output.print_result(found)


def releases(
    spec: _Spec = None,
) -> int:
    """List the releases that were made on this machine by this user, the latest first.

    They are read from the private log, which only its owner can read. Each entry states whether its file is
    still at its path.
    """
    from discreet.verbs.earlier_releases import read_release_register

    settings = options.parse_settings()
    of = None if spec is None else options.open_table_of_spec(spec).spec
    found = read_release_register(settings, of)
    return output.print_result(found)
