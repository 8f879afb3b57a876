"""Journeys of several releases: new rows by an old decision, a lock, and a release after an earlier one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import discreet
from discreet.verbs.locations import PublishTarget
from discreet.verbs.recorded_decisions import publish_and_lock, publish_locked
from tests.fuzz.cases import LEVELS, ROW, Trial
from tests.fuzz.conditions import WEIGHT
from tests.fuzz.definitions import classes_of, expanded, holds, measure
from tests.fuzz.files import write_table
from tests.fuzz.node_counts import Node, PlainLattice
from tests.fuzz.publishing import (
    Notes,
    Workplace,
    publish,
    publish_command,
    read_manifest,
    released_rows,
    request_of,
    requested_of,
    run_command,
)
from tests.fuzz.recount import demand
from tests.fuzz.release_recount import check_release, whole_table


def other_rows(trial: Trial) -> Trial:
    """Return a table of the same kind: each column's own values in other rows."""
    random = Random(trial.seed + 2)
    columns = []
    for column in trial.columns:
        drawn = tuple(random.choice(column.cells) for _ in column.cells)
        columns.append(column if column.name == ROW else replace(column, cells=drawn))
    return replace(trial, columns=tuple(columns))


def _lattice_of(trial: Trial) -> PlainLattice:
    found = PlainLattice.of(trial, whole_table(trial))
    assert found is not None
    return found


def _node_of(lattice: PlainLattice, levels: Mapping[str, int]) -> Node:
    return tuple(levels[name] for name in lattice.chains)


def _expected_at_levels(trial: Trial) -> tuple[int | None, bool]:
    """Return the rows that the trial's levels suppress, and whether a release may suppress them."""
    lattice = _lattice_of(trial)
    rows = lattice.suppressed(_node_of(lattice, trial.more["levels"]), trial.conditions)
    return rows, rows is not None and rows <= int(trial.limit) and rows < len(trial.kept)


def applied(place: Workplace, notes: Notes) -> None:
    """Publish by levels, then other rows at these levels by ``apply``."""
    trial, table = place.trial, place.opened()
    publish(place, table, place.path)
    notes.releases += 1
    first = read_manifest(place.path)
    later = other_rows(trial)
    folder = place.given / "later"
    folder.mkdir()
    data, path = write_table(later, folder), place.out / f"applied.{trial.release}"
    expected, may = _expected_at_levels(later)
    try:
        discreet.apply(
            place.path,
            data,
            path,
            spec=place.given / "discreet.toml",
            max_suppressed=trial.limit,
            settings=place.settings,
        )
    except discreet.NoSolution:
        demand(not may, "apply refuses what it may publish", expected)
        return
    notes.releases += 1
    second = Workplace(later, place.given, place.out)
    rows, manifest = released_rows(second, None, path)
    levels = [{e["name"]: e.get("level") for e in m["attributes"]} for m in (first, manifest)]
    demand(levels[0] == levels[1], "apply publishes at the release's levels", levels)
    check_release(second, rows, manifest)
    place.check_inputs()


def locked(place: Workplace, notes: Notes) -> None:
    """Publish and lock, then other rows under the lock, and refuse a spec with differing content."""
    trial, table = place.trial, place.opened()
    lock, request = place.out / "decision.lock", request_of(trial)
    target = PublishTarget(place.path, trial.policy)
    publish_and_lock(table, request, target, lock, levels=trial.more["levels"])
    notes.releases += 1
    text = lock.read_bytes()
    rows, manifest = released_rows(place, None, place.path)
    check_release(place, rows, manifest)
    later = other_rows(trial)
    second = Workplace(later, place.given, place.out)
    opened = second.opened()
    expected, may = _expected_at_levels(later)
    path = place.out / f"next.{trial.release}"
    try:
        publish_locked(opened, lock, path)
        demand(may, "a lock's limit holds", expected, trial.limit)
        found, later_manifest = released_rows(second, None, path)
        check_release(second, found, later_manifest)
        notes.releases += 1
    except discreet.NoSolution:
        demand(not may, "a lock refuses what it may publish", expected, trial.limit)
    _check_other_spec(place, lock)
    demand(lock.read_bytes() == text, "a lock stays as it is")


def _check_other_spec(place: Workplace, lock: Any) -> None:
    """Require that a lock refuses its rows under a spec with another role."""
    columns = tuple(replace(c, role="insensitive") if c.name == WEIGHT else c for c in place.trial.columns)
    other = Workplace(replace(place.trial, columns=columns), place.given, place.out)
    try:
        publish_locked(other.opened(), lock, place.out / "other.csv")
    except discreet.InputError:
        return
    demand(False, "a lock refuses another spec")


def after(place: Workplace, notes: Notes) -> None:
    """Publish twice, the second time after the first: k and l hold for every part that both define."""
    trial, table = place.trial, place.opened()
    levels: Mapping[str, int] = trial.more["levels"]
    publish(place, table, place.path)
    notes.releases += 1
    lattice = _lattice_of(trial)
    first = _shown_at(lattice, _node_of(lattice, levels), trial)
    path = place.out / f"second.{trial.release}"
    limit = min(int(trial.limit), len(trial.kept) - 1)
    safe = {
        node: rows
        for node in lattice.nodes()
        if (rows := lattice.suppressed(node, trial.conditions)) is not None
        and rows <= limit
        and _parts_hold(lattice, [first, _shown_at(lattice, node, trial)])
    }
    _check_levels_after(place, table, safe)
    least = min(((sum(node), rows) for node, rows in safe.items()), default=None)
    try:
        levels = _published_after(place, path)
    except (discreet.NoSolution, discreet.RequirementNotMet):
        demand(least is None, "a release after another is refused, though one is safe", least)
        return
    notes.releases += 1
    node = _node_of(lattice, levels)
    lowest = (sum(node), safe.get(node)) == least
    demand(
        lowest or trial.seed % 2 == 0, "the lowest levels that are safe after another release", node, least
    )
    demand(node in safe, "the parts of two releases meet k and l", node, sorted(safe)[:3])
    second = Workplace(replace(trial, model=LEVELS), place.given, place.out)
    rows, manifest = released_rows(second, None, path)
    check_release(second, rows, manifest)
    place.check_inputs()


def _check_levels_after(place: Workplace, table: Any, safe: Mapping[Node, int]) -> None:
    """Publish given levels after the first release: refused unless every part is safe."""
    trial, random = place.trial, Random(place.trial.seed + 5)
    heights = [len(next(iter(chain.values()))) - 1 for chain in trial.chains().values() if chain]
    nodes = [tuple(random.randint(0, height) for height in heights) for _ in range(3)]
    for place_of, node in enumerate(nodes):
        levels = dict(zip([column.name for column in trial.keys], node, strict=True))
        path = place.out / f"levels{place_of}.csv"
        try:
            table.publish(levels, path, previous_releases=[place.path], **requested_of(trial))
        except (discreet.NoSolution, discreet.RequirementNotMet):
            demand(node not in safe, "levels that are safe after a release are refused", node)
            continue
        demand(node in safe, "levels after a release are published only where parts are safe", node)


def _published_after(place: Workplace, path: Path) -> Mapping[str, int]:
    """Publish after the first release: the lowest levels or those of least loss."""
    command = [*publish_command(place, path), "--previous-release", str(place.path)]
    run_command(place, command if place.trial.seed % 2 else [*command, "--model", "full-domain"])
    manifest = read_manifest(path)
    return {entry["name"]: entry["level"] for entry in manifest["attributes"] if "level" in entry}


def _shown_at(lattice: PlainLattice, node: Node, trial: Trial) -> list[Any]:
    """Return the class of each kept row in a release at a node, or None if it is suppressed."""
    gone = set()
    conditions = expanded(trial.conditions, [c.name for c in trial.of("sensitive")])
    for one in lattice.classes(node):
        if not all(holds(c, measure(c, one, lattice.table)) for c in conditions):
            gone.add(one.cells)
    names = list(lattice.chains)
    cells = [tuple(lattice.shown(row, node)[name] for name in names) for row in lattice.rows]
    return [None if each in gone else each for each in cells]


def _parts_hold(lattice: PlainLattice, releases: Sequence[Sequence[Any]]) -> bool:
    """Test whether k and l hold for the rows that are together in both releases.

    Rows that both suppress are not a part.
    """
    parts: dict[Any, list[Any]] = defaultdict(list)
    for row, seen in zip(lattice.rows, zip(*releases, strict=True), strict=True):
        if any(cells is not None for cells in seen):
            parts[seen].append(row)
    conditions = [c for c in lattice.trial.conditions if c.name in ("k", "l")]
    conditions = expanded(conditions, [c.name for c in lattice.trial.of("sensitive")])
    made = [classes_of(rows, [])[0] for rows in parts.values()]
    return all(holds(c, measure(c, one, lattice.table)) for one in made for c in conditions)
