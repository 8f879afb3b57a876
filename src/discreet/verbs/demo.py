"""Material of ``discreet demo``: a spec on real or generated data, and the commands to run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.sample.census import census_spec, write_census
from discreet.spec.toml_writer import format_spec
from discreet.verbs.locations import relative_path, write_text

DEMO_MARKER = ".discreet-demo"
_SPEC, _CENSUS, _RELEASE = "discreet.toml", "census.csv", "release.csv"
_HEADING = ("The spec of `discreet demo`; its folder may be removed at any time.",)
_ADULT_ATTRIBUTES = ("age", "education", "marital_status", "occupation", "race", "work_class")
_ADULT_WISHES = ({"age": 1, "education": 1, "marital_status": 1}, {"age": 2})
_CENSUS_WISHES = ({"age": 1, "municipality": 2, "occupation": 1}, {"age": 2, "municipality": 2})


@dataclass(frozen=True)
class DemoStep:
    """One command of the tour, and its title."""

    title: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Demo:
    """Folder, data and steps of the demonstration; ``next_commands`` are suggestions for afterwards."""

    folder: Path
    data: str
    steps: tuple[DemoStep, ...]
    next_commands: tuple[tuple[str, ...], ...]


def prepare_demo(folder: Path) -> Demo:
    """Write the spec into ``folder``, and the generated census if the Adult data are missing.

    Raises ``InputError`` unless the folder is new, empty, or one of an earlier demonstration.
    """
    _claim_folder(folder)
    adult = adult_folder()
    if adult is not None:
        document, data = adult_document(adult, folder), "Adult (US census 1994, 30,162 people)"
    else:
        (folder / _CENSUS).unlink(missing_ok=True)
        write_census(folder / _CENSUS)
        document, data = census_spec(_CENSUS), "a generated census (30,000 invented people)"
    write_text(folder / _SPEC, format_spec(document, heading=_HEADING), overwrite=True)
    return _make_demo(folder, data, _ADULT_WISHES if adult is not None else _CENSUS_WISHES)


def adult_folder() -> Path | None:
    """Return the folder of Adult in ``DISCREET_DATA``, else in ``../shared/data``; None if it is missing."""
    folder = Path(os.environ.get("DISCREET_DATA") or Path("..", "shared", "data")) / "adult"
    here = (folder / "adult_30162.csv").is_file() and (folder / "hierarchies_negotiation").is_dir()
    return folder if here else None


def adult_document(adult: Path, folder: Path) -> dict[str, Any]:
    """Return the spec of Adult with the negotiation paper's quasi-identifiers, relative to ``folder``."""
    attributes: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": relative_path(adult / "hierarchies_negotiation" / f"{name}.csv", folder),
        }
        for name in _ADULT_ATTRIBUTES
    }
    attributes["hours_per_week"] = {"role": "sensitive"}
    source = {"path": relative_path(adult / "adult_30162.csv", folder)}
    return {"source": source, "attributes": attributes, "request": {"l": 2}}


def _make_demo(folder: Path, data: str, wishes: tuple[Mapping[str, int], Mapping[str, int]]) -> Demo:
    """Build the steps; the first of ``wishes`` (highest levels) has no exact answer, the second has one."""
    spec, release = str(folder / _SPEC), str(folder / _RELEASE)
    requirement = ("--k", "10", "--l", "3", "--max-suppressed", "1%")
    tight, wide = (
        (*requirement, *(part for name, level in wish.items() for part in ("--max-level", f"{name}={level}")))
        for wish in wishes
    )
    steps = (
        DemoStep("The table before recoding", ("inspect", spec)),
        DemoStep("A request without an exact answer, and its relaxations", ("negotiate", spec, *tight)),
        DemoStep("A request with an exact answer", ("negotiate", spec, *wide)),
        DemoStep(
            "Its release: recoded, written, audited, and then moved to its target",
            ("publish", spec, *wide, "--output", release, "--overwrite"),
        ),
        DemoStep("The independent check, from the published file", ("audit", release)),
    )
    next_commands = (
        ("report", release, "--spec", spec),
        ("publish", spec, *tight, "--accept-relaxation", "k", "--output", str(folder / "relaxed.csv")),
        ("negotiate", spec, *wide, "--frontier"),
        ("lattice", spec, "--k", "10"),
        ("serve", spec),
        ("init", "your-table.csv"),
    )
    return Demo(folder, data, steps, next_commands)


def _claim_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
        entries = {entry.name for entry in folder.iterdir()}
        if entries and DEMO_MARKER not in entries:
            raise InputError(
                f"the folder {folder} holds files that are not the demonstration's",
                advice="Choose a new or an empty one with --output.",
            )
        (folder / DEMO_MARKER).touch()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"the folder {folder} cannot be used: {reason}", advice="Choose another one with --output."
        ) from error
