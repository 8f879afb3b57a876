"""Journeys of a trial: publish and audit it, and the additional steps of each further journey."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.model.requirement import Requirement
from discreet.results.publish_result import count_suppressed_rows
from tests.fuzz.audit_recount import Claims, Recount, check_audit, presence_between, recount
from tests.fuzz.cases import HOSTILE, PERMUTATION, ROW, Condition, Trial
from tests.fuzz.columns import PATHS
from tests.fuzz.conditions import condition_of, every_condition
from tests.fuzz.definitions import UNJUDGED, WholeTable
from tests.fuzz.files import FRAMES, MEMORY, is_rewritable, read_release, write_release
from tests.fuzz.later_journeys import after, applied, locked
from tests.fuzz.mutations import Columns, changed, forged, signed
from tests.fuzz.node_counts import Box, PlainLattice, answers, relaxed_k
from tests.fuzz.other_journeys import related_tables, sampled, tabulated
from tests.fuzz.publishing import (
    Notes,
    Workplace,
    publish,
    publish_by_command,
    read_manifest,
    released_rows,
    requested_of,
)
from tests.fuzz.recount import check_recoded, demand
from tests.fuzz.recount_permuted import check_permuted
from tests.fuzz.release_recount import BY_LEVELS, Rows, check_release, check_secrets, whole_table
from tests.oracle.plain_release import read_csv, write_csv

Journey = Callable[[Workplace, Notes], None]


def published(place: Workplace, notes: Notes) -> None:
    """Publish, recount, audit, and audit changed releases."""
    trial = place.trial
    table = place.opened()
    _check_lattice(place, table, notes)
    released = None
    if trial.command:
        publish_by_command(place, place.path)
    else:
        released = publish(place, table, place.path)
    notes.releases += 1
    if trial.model == PERMUTATION:
        check_permuted(trial, place.path)
        check_secrets(place)
        _audit_permuted(place, notes)
    else:
        rows, manifest = released_rows(place, released, place.path)
        check_release(place, rows, manifest)
        if trial.release != MEMORY:
            _audit_all(place, rows, manifest, notes)
    place.check_inputs()


def hostile(place: Workplace, notes: Notes) -> None:
    """Publish a hostile table, recount the release, and audit it."""
    trial = place.trial
    if trial.command:
        place.written()
        publish_by_command(place, place.path)
    else:
        publish(place, place.opened(), place.path)
    notes.releases += 1
    check_secrets(place)
    if trial.model == PERMUTATION:
        check_permuted(trial, place.path)
    else:
        suppressed = read_manifest(place.path)["suppression"]["rows"]
        check_recoded(trial, read_release(place.path), suppressed)
    demand(discreet.audit(place.path, settings=place.settings).passed, "the release's own audit")


def _check_lattice(place: Workplace, table: Any, notes: Notes) -> None:
    """Compare every node's suppressed rows, and the answers to a request, with their enumeration."""
    trial = place.trial
    lattice = PlainLattice.of(trial, whole_table(trial))
    if lattice is None or not trial.kept:
        return
    random = Random(trial.seed)
    names = [None, *(column.name for column in trial.of("sensitive"))]
    probes = every_condition(random, people=bool(trial.people)) if trial.subject is None else []
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
    least = tuple(int(column.has_age) for column in trial.keys)
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
    result = table.negotiate(**requested_of(trial) | {"max_suppressed": box.limit}, **bounds)
    found = {answer.relaxed: (answer.height, answer.suppressed) for answer in result.answers}
    for part, mine in answers(lattice, box).items():
        demand(found.get(part) == mine, f"the answer by {part or 'no relaxation'}", found.get(part), mine)
    only_growing = all(c.name in ("k", "l") for c in trial.conditions)
    if result.exact is None and trial.k and only_growing:
        k = relaxed_k(lattice, trial.conditions, box)
        answer = next((each for each in result.answers if each.relaxed == "k"), None)
        demand((answer.k if answer else None) == k, "the k that a request would have to accept", answer, k)


@dataclass(frozen=True)
class _Audits:
    """The audits of a file: its publisher's whole table, and the spec if the publisher has one."""

    place: Workplace
    table: WholeTable
    spec: Path | None

    def of_claims(self, rows: Rows, claims: Claims, *, intact: bool, subject: str) -> None:
        """Audit the requirements of a manifest, and compare."""
        expected = self.recount(rows, claims)
        unknown = any(finding.worst is UNJUDGED for finding in expected.findings)
        if self.spec is None and any(map(_needs_publisher, claims.conditions)):
            return
        if unknown and any(c.criterion.of_population for c in claims.conditions):
            return
        report = discreet.audit(self.place.path, spec=self.spec, settings=self.place.settings).report
        check_audit(report, expected, claims, intact=intact, subject=subject)

    def of_every_criterion(self, rows: Rows, claims: Claims, random: Random) -> None:
        """Audit a file for every criterion, whatever was published."""
        conditions = self._conditions(rows, claims, random)
        first = [Condition("k", random.choice((2, 3)))]
        first += [condition_of(random, "l")] if claims.sensitive else []
        every = replace(claims, conditions=(*first, *conditions))
        expected = self.recount(rows, every)
        if random.random() < 0.3:
            # One more than the published value: the weakest request that fails.
            conditions = []
            first = [Condition("k", min(expected.sizes, default=1) + 1)]
            every = replace(claims, conditions=tuple(first))
            expected = self.recount(rows, every)
        path = self.place.path
        report = discreet.audit(
            path,
            **{c.name: c.value for c in first},
            criteria=[c.criterion for c in conditions],
            spec=self.spec,
            settings=self.place.settings,
        ).report
        stated = read_manifest(path)
        intact = signed(stated, path, len(rows)) == stated
        check_audit(report, expected, every, intact=intact, subject="every criterion")

    def recount(self, rows: Rows, claims: Claims) -> Recount:
        """Recount a file as this publisher, or as anybody."""
        return recount(rows, claims, self.table if self.spec else None, PATHS)

    def _conditions(self, rows: Rows, claims: Claims, random: Random) -> list[Condition]:
        """Draw the conditions that the audit can evaluate; δ-presence by a value that tells rows apart."""
        people = self.table.people is not None and not self.table.people_unknown and self.spec is not None
        found = every_condition(random, people=people)
        if claims.subject or self.place.trial.subject is not None:
            found = []
        found = [c for c in found if self.spec or not _needs_publisher(c)]
        found = [c for c in found if not c.attribute or c.attribute in claims.sensitive]
        presence = presence_between(rows, claims, self.table) if people else None
        return [presence if presence is not None and c.name == presence.name else c for c in found]


def _needs_publisher(condition: Condition) -> bool:
    criterion = condition.criterion
    return criterion.of_population or str(criterion.required_feature) in ("order", "hierarchy")


def _audit_all(place: Workplace, rows: Rows, manifest: Mapping[str, Any], notes: Notes) -> None:
    """Audit a release for its requirements and for every criterion, and then changed releases."""
    trial = place.trial
    claims = Claims.of(manifest, trial.conditions)
    spec = None if trial.source in FRAMES else place.given / "discreet.toml"
    audits = _Audits(place, _with_people(place, whole_table(trial), manifest), spec)
    audits.of_claims(rows, claims, intact=True, subject="the release")
    notes.audits += 1
    if rows:
        audits.of_every_criterion(rows, claims, Random(trial.seed + 4))
        notes.audits += 1
    if is_rewritable(place.path) and rows and trial.mutations:
        _audit_changed(audits, rows, dict(manifest), notes)


def _with_people(place: Workplace, table: WholeTable, manifest: Mapping[str, Any]) -> WholeTable:
    """Return the whole table with the population at the levels of a release."""
    trial = place.trial
    lattice = PlainLattice.of(trial, table)
    stated = {entry["name"]: entry.get("level") for entry in manifest["attributes"]}
    levels = [stated[column.name] for column in trial.keys]
    if not trial.people:
        return table
    if lattice is None or None in levels:
        return replace(table, people_unknown=True)
    return replace(table, people=lattice.people(tuple(levels)))


def _audit_changed(audits: _Audits, rows: Rows, manifest: dict[str, Any], notes: Notes) -> None:
    """Change the file and its manifest in several ways; each audit must then report the actual content."""
    place, trial, table = audits.place, audits.place.trial, audits.table
    data, text = place.path.read_bytes(), place.manifest.read_text(encoding="utf-8")
    names = tuple(column.name for column in trial.published)
    claims = Claims.of(manifest, trial.conditions)
    columns = Columns(names, claims.keys, claims.sensitive, claims.starred)
    random = Random(trial.seed + 1)
    for mutation in trial.mutations:
        changes, _, forgery = mutation.partition("+")
        other = changed(random, [changes], rows, columns)
        write_release(place.path, other, names)
        stated = forged(random, [forgery or "honest"], manifest)
        intact = random.random() < 0.7
        stated = signed(stated, place.path, len(other)) if intact else stated
        intact = signed(stated, place.path, len(other)) == stated
        place.manifest.write_text(json.dumps(stated), encoding="utf-8")
        mine = replace(Claims.of(stated, _required(trial, stated)), subject=claims.subject)
        known = table if mine.keys == claims.keys else replace(table, people_unknown=bool(trial.people))
        again = replace(audits, table=known)
        again.of_claims(other, mine, intact=intact, subject=mutation)
        again.of_every_criterion(other, mine, random)
        notes.mutated += 2
        notes.covered += [f"mutation {changes}", f"forgery {forgery or 'honest'}"]
    place.path.write_bytes(data)
    place.manifest.write_text(text, encoding="utf-8")


def _required(trial: Trial, manifest: Mapping[str, Any]) -> list[Condition]:
    """Return the trial's conditions that a manifest, possibly forged, requires."""
    stated = manifest["requirement"]
    found = [Condition(name, stated[name]) for name in ("k", "l") if stated[name]]
    return found + [c for c in trial.further if c.name in stated]


def _audit_permuted(place: Workplace, notes: Notes) -> None:
    """Audit groups and help table; a help table without a line must fail."""

    def passed() -> bool:
        return bool(discreet.audit(place.path, settings=place.settings).passed)

    demand(passed(), "the audit of a permuted release")
    notes.audits += 1
    help_path = place.path.with_name(f"{place.path.stem}.help{place.path.suffix}")
    if place.path.suffix == ".csv" and help_path.exists():
        text = help_path.read_text(encoding="utf-8")
        help_path.write_text("\n".join([*text.splitlines()[:-1], ""]), encoding="utf-8")
        demand(not passed(), "a help table without its last line")
        help_path.write_text(text, encoding="utf-8")
        notes.mutated += 1


def protected(place: Workplace, notes: Notes) -> None:
    """Publish over each given file, with permission to overwrite; none may be replaced."""
    trial, table = place.trial, place.opened()
    publish(place, table, place.path)
    notes.releases += 1
    for path in sorted(place.given.iterdir()):
        if path.suffix not in (".csv", ".parquet"):
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


JOURNEYS: Mapping[str, Journey] = {
    "publish": published,
    HOSTILE: hostile,
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
