"""Journeys that must end in a refusal: a release that replaces a given file, and a faulty engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from tests.fuzz.cases import ROW
from tests.fuzz.notes import Notes
from tests.fuzz.publishing import Workplace, publish
from tests.fuzz.recount import demand
from tests.oracle.plain_release import read_csv, write_csv

_ENDINGS = (".csv", ".parquet")


def protected(place: Workplace, notes: Notes) -> None:
    """Publish over each given file, with permission to overwrite; none may be replaced."""
    trial, table = place.trial, place.opened()
    publish(place, table, place.path)
    notes.releases += 1
    for path in sorted(place.given.iterdir()):
        if path.suffix not in _ENDINGS:
            continue
        before = path.read_bytes()
        try:
            publish(place, table, path, overwrite=True)
        except discreet.InputError:
            demand(path.read_bytes() == before, "a refusal changes no given file", path.name)
            continue
        demand(False, "a release replaces a given file", path.name, trial.source)
    place.check_inputs()


def faulty(place: Workplace, notes: Notes) -> None:
    """Publish by an engine that writes a wrong cell; nothing may be published."""
    table, random = place.opened(), Random(place.trial.seed)
    with patch.object(DuckdbEngine, "write_file", _erring(DuckdbEngine.write_file, random)):
        try:
            publish(place, table, place.path)
        except discreet.LimitReached:
            left = [path.name for path in place.out.iterdir() if "release" in path.name]
            demand(not left, "an engine's error leaves nothing", left)
            return
        except discreet.NoSolution:
            return
    notes.releases += 1
    demand(False, "what is written is compared with what was decided")


def _erring(write: Callable[..., None], random: Random) -> Callable[..., None]:
    """Write a file, and then another row's cells into one row."""

    def written(engine: Any, query: str, path: Path, file_format: str, *more: Any, **named: Any) -> None:
        write(engine, query, path, file_format, *more, **named)
        if file_format != "csv":
            return
        header, rows = read_csv(path)
        names = [str(name) for name in header]
        records = [dict(zip(names, row, strict=True)) for row in rows]
        if len(records) > 1 and ROW in names:
            one, other = random.sample(records, 2)
            one[ROW], other[ROW] = f"{other[ROW]}0", one[ROW]
            path.chmod(0o600)
            write_csv(path, records, names)

    return written
