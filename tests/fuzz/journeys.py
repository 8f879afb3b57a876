"""Journeys of a trial: publish and audit it, and the additional steps of each further journey."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import discreet
from discreet.model.requirement import Requirement
from discreet.results.publish_result import count_suppressed_rows
from tests.fuzz.audit_recount import Claims, Recount, check_audit, presence_between, recount
from tests.fuzz.columns import PATHS
from tests.fuzz.conditions import condition_of, every_condition
from tests.fuzz.definitions import UNJUDGED, WholeTable
from tests.fuzz.later_journeys import after, applied, locked
from tests.fuzz.mutations import Columns, changed, forged, signed
from tests.fuzz.node_counts import Box, PlainLattice, answers, relaxed_k
from tests.fuzz.notes import Notes
from tests.fuzz.other_journeys import related_tables, sampled, tabulated
from tests.fuzz.publishing import (
    Workplace,
    publish,
    publish_by_command,
    released_rows,
    requested_of,
)
from tests.fuzz.recount import demand
from tests.fuzz.recount_permuted import check_permuted
from tests.fuzz.refusing_journeys import faulty, protected
from tests.fuzz.release_recount import BY_LEVELS, Rows, check_release, check_secrets, whole_table
from tests.fuzz.tables import FRAMES, MEMORY, is_rewritable, published_columns, write_release
from tests.fuzz.trial import Condition, Trial

Journey = Callable[[Workplace, Notes], None]


def published(place: Workplace, notes: Notes) -> None:
    """Publish, recount, audit, and audit changed releases."""
    trial = place.trial
    table = place.opened()
    _check_lattice(place, table, notes)
    if trial.command:
        publish_by_command(place, place.path)
        released = None
    else:
        released = publish(place, table, place.path)
    notes.releases += 1
    if trial.model == "permutation":
        check_permuted(trial, place.path)
        check_secrets(place)
        _audit_permuted(place, notes)
    else:
        rows, manifest = released_rows(place, released, place.path)
        check_release(place, rows, manifest)
        _audit_all(place, rows, manifest, notes)
    place.check_inputs()


def _check_lattice(place: Workplace, table: Any, notes: Notes) -> None:
    """Compare every node's suppressed rows, and the answers to a request, with their enumeration."""
    trial = place.trial
    lattice = PlainLattice.of(trial, whole_table(trial))
    if lattice is None or not trial.kept:
        return
    random = Random(trial.seed)
    names = [None, *(column.name for column in trial.of("sensitive"))]
    probes = every_condition(random, people=bool(trial.people)) if not trial.counts_people else []
    probes = [condition for condition in probes if condition.attribute in names]
    at_once = table.lattice(criteria=[c.criterion for c in probes]) if not trial.kernels else None
    requests = [[c] for c in (probes if at_once else random.sample(probes, min(len(probes), 6)))]
    requests += [[Condition("k", 2), Condition("l", 2)], [Condition("k", 2), Condition("l", 3)]]
    for conditions in requests:
        _check_nodes(at_once or _lattice_of(table, conditions), lattice, conditions)
    if trial.conditions:
        _check_nodes(_lattice_of(table, trial.conditions), lattice, trial.conditions)
    _check_single_nodes(table, lattice, random)
    notes.nodes += (len(requests) + 1) * len(lattice.nodes())
    if trial.conditions and trial.model in BY_LEVELS:
        _check_answers(table, trial, lattice)


def _check_single_nodes(table: Any, lattice: PlainLattice, random: Random) -> None:
    """Compare nodes that are counted separately, without the lattice, as in publishing by levels."""
    nodes = lattice.nodes()
    for node in random.sample(nodes, min(len(nodes), 6)):
        for l in (2, 3, 4):
            found = count_suppressed_rows(table.frequency_set, node, Requirement.of(2, l))
            mine = lattice.suppressed(node, [Condition("k", 2), Condition("l", l)])
            demand(found == mine, "the rows that a single node suppresses", node, l, found, mine)


def _lattice_of(table: Any, conditions: Sequence[Condition]) -> Any:
    return table.lattice(criteria=[c.criterion for c in conditions if c.name not in ("k", "l")])


def _check_nodes(found: Any, lattice: PlainLattice, conditions: Sequence[Condition]) -> None:
    """Compare the suppressed rows of every node for a request."""
    by_name = {c.name: c.value for c in conditions if c.name in ("k", "l")}
    others = [c.criterion for c in conditions if c.name not in by_name]
    values = found.suppression(**by_name, criteria=others).values.tolist()
    demand(list(found.lattice.nodes()) == lattice.nodes(), "the nodes of a lattice", len(values))
    for node, value in zip(lattice.nodes(), values, strict=True):
        mine = lattice.suppressed(node, conditions)
        right = mine is None or value == mine
        demand(right, "the rows that a node suppresses", [str(c) for c in conditions], node, value, mine)


def _check_answers(table: Any, trial: Trial, lattice: PlainLattice) -> None:
    """Compare answers with their enumeration: to the trial's request, and to stricter ones."""
    names, random = list(lattice.chains), Random(trial.seed + 3)
    least = tuple(least_level(trial, name) for name in names)
    low = tuple(trial.levels[0].get(name, level) for name, level in zip(names, least, strict=True))
    high = tuple(trial.levels[1].get(name, top) for name, top in zip(names, lattice.heights, strict=True))
    counts = {node: lattice.suppressed(node, trial.conditions) for node in lattice.nodes()}
    known = {node: rows for node, rows in counts.items() if rows is not None}
    if len(known) < len(counts):
        return
    for limit in dict.fromkeys((int(trial.limit), 0, len(trial.kept) // 5)):
        _check_answer(table, trial, lattice, Box(known, limit, low, high))
        low, high = least, tuple(random.randint(a, b) for a, b in zip(least, lattice.heights, strict=True))


def _check_answer(table: Any, trial: Trial, lattice: PlainLattice, box: Box) -> None:
    names = list(lattice.chains)
    bounds = {
        "min_level": dict(zip(names, box.low, strict=True)),
        "max_level": dict(zip(names, box.high, strict=True)),
    }
    wish = table.negotiate(**requested_of(trial) | {"max_suppressed": box.limit}, **bounds)
    found = {answer.relaxed: (answer.height, answer.suppressed) for answer in wish.answers}
    for part, mine in answers(lattice, box).items():
        demand(found.get(part) == mine, f"the answer by {part or 'no relaxation'}", found.get(part), mine)
    only_growing = all(c.name in ("k", "l") for c in trial.conditions)
    if wish.exact is None and trial.k and only_growing:
        k = relaxed_k(lattice, trial.conditions, box)
        answer = next((each for each in wish.answers if each.relaxed == "k"), None)
        demand((answer.k if answer else None) == k, "the k that a request would have to accept", answer, k)


def least_level(trial: Trial, name: str) -> int:
    """Return the least level of a column if the request gives none: 1 for a date of birth."""
    column = next(each for each in trial.keys if each.name == name)
    return int(column.hierarchy is not None and column.hierarchy["kind"] == "age")


def _audit_all(place: Workplace, rows: Rows, manifest: Mapping[str, Any], notes: Notes) -> None:
    """Audit a release for its requirements and for every criterion, and then changed releases."""
    trial = place.trial
    if trial.release == MEMORY:
        return
    claims = Claims.of(manifest, trial.conditions)
    table = _with_people(place, whole_table(trial), manifest)
    spec = None if trial.source in FRAMES else place.given / "discreet.toml"
    expected = recount(rows, claims, table if spec else None, PATHS)
    audit_with(place, place.path, claims, expected, spec, intact=True, what="the release")
    notes.audits += 1
    if rows:
        _audit_every(place, list(rows), claims, table, spec, Random(trial.seed + 4))
        notes.audits += 1
    if is_rewritable(place.path) and rows and trial.mutations:
        _audit_changed(place, rows, dict(manifest), table, spec, notes)


def audit_with(
    place: Workplace,
    path: Path,
    claims: Claims,
    expected: Recount,
    spec: Path | None,
    *,
    intact: bool,
    what: str,
) -> None:
    """Audit the requirements of a manifest, and compare."""
    unknown = any(finding.worst is UNJUDGED for finding in expected.findings)
    if spec is None and any(_asks_publisher(c) for c in claims.conditions):
        return
    if unknown and any(c.criterion.of_population for c in claims.conditions):
        return
    report = discreet.audit(path, spec=spec, settings=place.settings).report
    check_audit(report, expected, claims, intact=intact, what=what)


def _asks_publisher(condition: Condition) -> bool:
    criterion = condition.criterion
    return criterion.of_population or str(criterion.asks) in ("order", "hierarchy")


def _with_people(place: Workplace, table: WholeTable, manifest: Mapping[str, Any]) -> WholeTable:
    """Return the whole table with the population at the levels of a release."""
    trial = place.trial
    lattice = PlainLattice.of(trial, table)
    told = {entry["name"]: entry.get("level") for entry in manifest["attributes"]}
    levels = [told[column.name] for column in trial.keys]
    if not trial.people:
        return table
    if lattice is None or None in levels:
        return replace(table, people_unknown=True)
    return replace(table, people=lattice.people(tuple(levels)))


def _audit_changed(
    place: Workplace, rows: Rows, manifest: dict[str, Any], table: WholeTable, spec: Path | None, notes: Notes
) -> None:
    """Change the file and its manifest in several ways; each audit must then report the actual content."""
    trial = place.trial
    path, beside = place.path, place.path.with_name(f"{place.path.name}.manifest.json")
    data, text = path.read_bytes(), beside.read_text(encoding="utf-8")
    names = [column.name for column in published_columns(trial.columns)]
    claims = Claims.of(manifest, trial.conditions)
    columns = Columns(tuple(names), claims.keys, claims.sensitive, claims.starred)
    random = Random(trial.seed + 1)
    for mutation in trial.mutations:
        changes, _, forgery = mutation.partition("+")
        other = changed(random, [changes], rows, columns)
        write_release(path, other, names)
        told = forged(random, [forgery or "honest"], manifest)
        intact = random.random() < 0.7
        told = signed(told, path, len(other)) if intact else told
        intact = signed(told, path, len(other)) == told
        beside.write_text(json.dumps(told), encoding="utf-8")
        conditions = _required(trial, told)
        mine = replace(Claims.of(told, conditions), subject=claims.subject)
        known = table if mine.keys == claims.keys else replace(table, people_unknown=bool(trial.people))
        expected = recount(other, mine, known if spec else None, PATHS)
        audit_with(place, path, mine, expected, spec, intact=intact, what=mutation)
        _audit_every(place, other, mine, known, spec, random)
        notes.mutated += 2
        notes.covered += [f"mutation {changes}", f"forgery {forgery or 'honest'}"]
    path.write_bytes(data)
    beside.write_text(text, encoding="utf-8")


def _required(trial: Trial, manifest: Mapping[str, Any]) -> list[Condition]:
    """Return the trial's conditions that a manifest, possibly forged, requires."""
    stated = manifest["requirement"]
    found = [Condition(name, stated[name]) for name in ("k", "l") if stated[name]]
    return found + [c for c in trial.further if c.name in stated]


def _audit_every(
    place: Workplace, rows: Rows, claims: Claims, table: WholeTable, spec: Path | None, random: Random
) -> None:
    """Audit a changed file for every criterion, whatever was published."""
    trial = place.trial
    people = table.people is not None and not table.people_unknown and spec is not None
    asked = every_condition(random, people=people)
    asked = (
        [] if claims.subject or trial.counts_people else [c for c in asked if spec or not _asks_publisher(c)]
    )
    asked = [c for c in asked if not c.attribute or c.attribute in claims.sensitive]
    telling = presence_between(rows, claims, table) if people else None
    if telling is not None and any(c.name == telling.name for c in asked):
        asked = [telling if c.name == telling.name else c for c in asked]
    first = [Condition("k", random.choice((2, 3)))]
    first += [condition_of(random, "l")] if claims.sensitive else []
    every = replace(claims, conditions=(*first, *asked))
    expected = recount(rows, every, table if spec else None, PATHS)
    if random.random() < 0.3:
        # One more than the published value: the weakest request that fails.
        asked = []
        first = [Condition("k", min(expected.sizes, default=1) + 1)]
        every = replace(claims, conditions=(*first, *asked))
        expected = recount(rows, every, table if spec else None, PATHS)
    by_name = {c.name: c.value for c in first}
    report = discreet.audit(
        place.path, **by_name, criteria=[c.criterion for c in asked], spec=spec, settings=place.settings
    ).report
    beside = place.path.with_name(f"{place.path.name}.manifest.json")
    told = json.loads(beside.read_text(encoding="utf-8"))
    intact = signed(told, place.path, len(rows)) == told
    check_audit(report, expected, every, intact=intact, what="every criterion")


def _audit_permuted(place: Workplace, notes: Notes) -> None:
    """Audit groups and help table; a row that changes its group, or another value, must fail."""
    report = discreet.audit(place.path, settings=place.settings)
    demand(report.passed, "the audit of a permuted release")
    notes.audits += 1
    help_path = place.path.with_name(f"{place.path.stem}.help{place.path.suffix}")
    if place.path.suffix == ".csv" and help_path.exists():
        text = help_path.read_text(encoding="utf-8")
        lines = text.splitlines()
        help_path.write_text("\n".join([*lines[:-1], ""]), encoding="utf-8")
        demand(
            not discreet.audit(place.path, settings=place.settings).passed,
            "a help table without its last line",
        )
        help_path.write_text(text, encoding="utf-8")
        notes.mutated += 1


JOURNEYS: Mapping[str, Journey] = {
    "publish": published,
    "protected": protected,
    "faulty": faulty,
    "apply": applied,
    "lock": locked,
    "after": after,
    "tabulate": tabulated,
    "safepub": sampled,
    "related": related_tables,
}
"""All journeys of a trial."""
OWN_TABLES = ("related", "tabulate", "safepub")
"""Journeys that create their own table; of the trial they use only the seed."""
