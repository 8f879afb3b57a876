"""Recount of a trial's release in plain Python, only from its rows, its manifest and the source."""

from __future__ import annotations

import hmac
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from operator import ge
from typing import Any

from tests.fuzz.audit_recount import Claims, Recount, recount
from tests.fuzz.cases import LEVELS, NEGOTIATED, SECRET, Column, Trial
from tests.fuzz.chains import TOP, Chain, shown_at
from tests.fuzz.columns import PATHS
from tests.fuzz.definitions import Texts, WholeTable, table_of
from tests.fuzz.files import STATISTICS
from tests.fuzz.node_counts import Node, PlainLattice
from tests.fuzz.publishing import Workplace
from tests.fuzz.recount import covers, demand, matched, source_texts

BY_LEVELS = (NEGOTIATED, LEVELS, "full-domain", "attribute-suppression")
"""Models that generalize all values of a column to one level."""
LEAST_LOSS = ("full-domain", "attribute-suppression")
"""Models that publish the node of least loss."""
Rows = list[dict[str, Any]]


def whole_table(trial: Trial) -> WholeTable:
    """Return the distribution of every sensitive attribute among the kept rows."""
    columns = trial.of("sensitive")
    return table_of(source_texts(trial, columns), [column.name for column in columns], PATHS)


def check_release(place: Workplace, rows: Rows, manifest: Mapping[str, Any]) -> Recount:
    """Require that rows and manifest are a release of the trial's table that meets its request."""
    trial = place.trial
    shown = trial.published
    if rows:
        demand(list(rows[0]) == [c.name for c in shown], "the published columns", list(rows[0]))
    suppressed = int(manifest["suppression"]["rows"])
    plain = _without_starred(trial, rows, suppressed)
    demand(bool(plain), "a release has rows")
    demand(len(plain) == len(trial.kept) - suppressed, "the number of rows", len(plain), suppressed)
    demand(int(manifest["data"]["rows"]) == len(rows), "the rows that a manifest states", len(rows))
    demand(suppressed <= trial.most_suppressed, "no more suppressed than allowed", suppressed, trial.limit)
    _check_stated_request(trial, manifest)
    _check_weights(trial, suppressed, manifest)
    numbered = list(matched(trial, plain))
    _check_exact_cells(trial, numbered)
    node = _check_keys(trial, numbered, manifest)
    if trial.model == "patterns":
        _check_pattern(trial, numbered)
    for column in trial.columns:
        if "pseudonymization" in column.more:
            check_way(place, column, numbered)
    check_shifts(trial, numbered)
    _check_order(trial, numbered)
    check_secrets(place)
    return _check_conditions(trial, numbered, manifest, node)


def _without_starred(trial: Trial, rows: Rows, suppressed: int) -> Rows:
    starred = [row for row in rows if trial.star and set(row.values()) == {TOP}]
    demand(len(starred) == (suppressed if trial.star else 0), "the starred rows", len(starred), suppressed)
    return [row for row in rows if row not in starred]


def _check_stated_request(trial: Trial, manifest: Mapping[str, Any]) -> None:
    stated = manifest["requirement"]
    demand((stated["k"] or 0) == trial.k, "the k that a manifest states", stated["k"], trial.k)
    names = {name for name, value in stated.items() if name not in ("k", "l") and value is not None}
    demand(
        names == {condition.name for condition in trial.further},
        "the criteria that a manifest states",
        sorted(names),
    )


def _check_weights(trial: Trial, suppressed: int, manifest: Mapping[str, Any]) -> None:
    """Require a warning if suppressed rows have survey weights."""
    weighed = trial.survey and all(cell for column in trial.of("sensitive") for cell in column.cells)
    codes = [warning["code"] for warning in manifest["warnings"]]
    if weighed and suppressed:
        demand("weights-not-recalibrated" in codes, "a warning of survey weights", codes)


def _check_exact_cells(trial: Trial, numbered: Sequence[tuple[Texts, int]]) -> None:
    exact = [
        c for c in trial.columns if c.role in ("sensitive", "insensitive") and "date_shift" not in c.more
    ]
    for row, number in numbered:
        for column in exact:
            cell = column.cells[number]
            demand(
                same_cell(trial, row[column.name], cell),
                "a cell is the source's",
                column.name,
                row[column.name],
                cell,
            )


def same_cell(trial: Trial, shown: str | None, cell: str | None) -> bool:
    """Compare a published cell with the source's; files of statistics programs contain numbers as such."""
    if shown == cell:
        return True
    number = trial.release in STATISTICS and None not in (shown, cell)
    try:
        return number and float(str(shown)) == float(str(cell))
    except ValueError:
        return False


def _check_keys(
    trial: Trial, numbered: Sequence[tuple[Texts, int]], manifest: Mapping[str, Any]
) -> Node | None:
    """Require that each quasi-identifier covers its value; return the node of a full-domain release."""
    stated = {entry["name"]: entry for entry in manifest["attributes"]}
    levels = []
    for column in trial.keys:
        chain = trial.chains()[column.name]
        cells = [(column.cells[number], row[column.name]) for row, number in numbered]
        if chain is None or trial.model not in BY_LEVELS:
            _check_covered(trial, column, chain, cells)
            levels.append(None)
            continue
        level = _level_of(trial, chain, cells, stated[column.name].get("level"))
        demand(level is not None, "a column shows one level of its hierarchy", column.name, cells[:4])
        levels.append(level)
    return None if None in levels else tuple(level for level in levels if level is not None)


def _level_of(
    trial: Trial, chain: Mapping[str, Chain], cells: Sequence[tuple[Any, Any]], stated: int | None
) -> int | None:
    height = len(next(iter(chain.values()), (None, TOP))) - 1
    allowed = range(height + 1) if stated is None else [stated]
    if trial.model == "attribute-suppression":
        allowed = [0, height]
    for level in allowed:
        if all(same_cell(trial, cell, shown_at(chain, value, level)) for value, cell in cells):
            return level
    return None


def _check_covered(
    trial: Trial, column: Column, chain: Mapping[str, Chain] | None, cells: Sequence[tuple[Any, Any]]
) -> None:
    texts = [column.cells[row] for row in trial.kept]
    rule = column.hierarchy
    for value, cell in cells:
        known = chain is not None and value is not None and cell in chain[value]
        if rule is not None and rule["kind"] == "builtin" and chain is None:
            continue
        held = known or same_cell(trial, cell, value) or covers(column, texts, value, cell)
        demand(held, "a quasi-identifier's cell stands for its value", column.name, value, cell)


def _check_pattern(trial: Trial, numbered: Sequence[tuple[Texts, int]]) -> None:
    """Require that each row shows an allowed combination of values and stars."""
    names = [column.name for column in trial.keys]
    options = trial.options
    weaker = options.get("outliers") in (None, "suppress")
    for row, number in numbered:
        starred = {c.name for c in trial.keys if row[c.name] != c.cells[number]}
        if weaker and starred == set(names):
            continue
        most = options.get("max_stars")
        demand(most is None or len(starred) <= most, "no more stars than allowed", sorted(starred), most)
        demand(not starred & set(options.get("never", ())), "an attribute is never starred", sorted(starred))
        for group in options.get("generalize_together", ()):
            demand(starred >= set(group) or not starred & set(group), "a group is starred together", starred)
        for group in options.get("at_most_one", ()):
            demand(len(starred & set(group)) <= 1, "one of a group is starred at most", sorted(starred))


def check_way(place: Workplace, column: Column, numbered: Sequence[tuple[Texts, int]]) -> None:
    """Require that the replacement of an identifier follows its method, and its key file."""
    way = column.more["pseudonymization"]
    pairs = [(column.cells[number], row[column.name]) for row, number in numbered]
    if way["method"] == "mask":
        keep = way.get("keep", 1)
        for value, cell in pairs:
            expected = f"***{value[-keep:]}" if way.get("end") == "end" else f"{value[:keep]}***"
            demand(cell == expected, "a mask keeps so many characters", value, cell)
        return
    pseudonyms: dict[Any, set[Any]] = defaultdict(set)
    for value, cell in pairs:
        pseudonyms[value].add(cell)
    known = {cell for cells in pseudonyms.values() for cell in cells}
    one_each = all(len(cells) == 1 for cells in pseudonyms.values()) and len(known) == len(pseudonyms)
    demand(one_each, "one pseudonym for each identifier", column.name, len(pseudonyms), len(known))
    if way["method"] == "pseudonym":
        listed = _listed(place, way["key"])
        demand(all(listed.get(v) == c for v, c in pairs), "pseudonyms are those of the list", column.name)
    if way["method"] == "keyed-hash":
        secret = bytes.fromhex((place.given / way["key"]).read_text(encoding="ascii").strip())
        for value, cell in pairs:
            full = hmac.new(secret, str(value).encode(), sha256).hexdigest()
            demand(
                len(cell or "") == 32 and full.startswith(cell or " "), "hashes are those of the key", cell
            )


def _listed(place: Workplace, name: str) -> Mapping[str, str]:
    found: Mapping[str, str] = json.loads((place.given / name).read_text(encoding="utf-8"))
    return found


def check_shifts(trial: Trial, numbered: Sequence[tuple[Texts, int]]) -> None:
    """Require that a subject's dates move by one number of days, within the bounds, and not all alike."""
    subject = trial.subject
    for column in trial.columns:
        if "date_shift" not in column.more or subject is None:
            continue
        days: dict[Any, set[int]] = defaultdict(set)
        for row, number in numbered:
            before, after = column.cells[number], row[column.name]
            moved = (date.fromisoformat(str(after)[:10]) - date.fromisoformat(before)).days
            days[subject.cells[number]].add(moved)
        most = column.more["date_shift"]["days"]
        every = [next(iter(found)) for found in days.values()]
        demand(all(len(found) == 1 for found in days.values()), "one shift for each subject", column.name)
        demand(all(1 <= abs(moved) <= most for moved in every), "a shift within its bounds", every)
        demand(len(every) < 5 or len(set(every)) > 1, "subjects have shifts of their own", every)


def _check_order(trial: Trial, numbered: Sequence[tuple[Texts, int]]) -> None:
    """Require that rows of a class are adjacent, or that a drawn order is not the source's."""
    keys = [tuple(row[c.name] for c in trial.keys) for row, _ in numbered]
    numbers = [number for _, number in numbered]
    if trial.order == "random":
        demand(len(numbers) < 10 or numbers != sorted(numbers), "a drawn order is not the source's")
        return
    if trial.star:
        return
    runs = 1 + sum(a != b for a, b in pairwise(keys))
    demand(runs == len(set(keys)), "rows of a class lie together", runs, len(set(keys)))


def check_secrets(place: Workplace) -> None:
    """Require that no published file contains an identifier, and that no manifest describes a row."""
    for path in place.out.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            wide = SECRET.encode("utf-16-le")
            demand(SECRET.encode() not in data and wide not in data, "no identifier is written", path.name)
            if path.name.endswith("manifest.json"):
                demand(b"row-" not in data, "a manifest without values", path.name)


def _check_conditions(
    trial: Trial,
    numbered: Sequence[tuple[Texts, int]],
    manifest: Mapping[str, Any],
    node: Node | None,
) -> Recount:
    """Require that every class meets every condition; people are counted by the source's rows."""
    table = replace(whole_table(trial), people_unknown=bool(trial.people))
    lattice = None if node is None else PlainLattice.of(trial, table)
    if lattice is not None and node is not None:
        table = replace(lattice.at(node), people_unknown=False)
        if trial.model in LEAST_LOSS and not trial.people:
            _check_optimum(lattice, node)
        found = lattice.suppressed(node, trial.conditions)
        stated = int(manifest["suppression"]["rows"])
        demand(found in (None, stated), "the rows that fail are suppressed, and no others", stated, found)
    claims = Claims.of(manifest, trial.conditions)
    claims = replace(claims, starred=False, subject=None)
    rows: list[dict[str, str | None]] = []
    for row, number in numbered:
        exact = {c.name: c.cells[number] for c in trial.of("sensitive")}
        person = {} if trial.subject is None else {"the person": trial.subject.cells[number]}
        rows.append(dict(row) | exact | person)
    if trial.subject is not None:
        claims = replace(claims, subject="the person")
    counted = recount(rows, claims, table, PATHS)
    for finding in counted.findings:
        demand(
            finding.passed, f"a release meets {finding.condition.name}", str(finding.condition), finding.worst
        )
    _check_stated_counts(counted, manifest)
    return counted


def _check_optimum(lattice: PlainLattice, node: Node) -> None:
    """Require that no node within the limit loses less detail than the published one."""
    trial = lattice.trial
    flat = trial.model == "attribute-suppression"
    losses: dict[Node, Fraction] = {}
    for other in lattice.nodes():
        pairs = list(zip(other, lattice.heights, strict=True))
        if flat and any(level not in (0, height) for level, height in pairs):
            continue
        least = [column.has_age for column in trial.keys]
        gone = lattice.gone(other, trial.conditions)
        if gone is None:
            return
        rows = sum(len(one.rows) for one in gone)
        if rows <= trial.most_suppressed and rows < len(trial.kept) and all(map(ge, other, least)):
            losses[other] = lattice.detail_lost(other, gone)
    best = min(losses.values())
    demand(losses[node] == best, "the node that loses least detail", node, float(losses[node]), float(best))


def _check_stated_counts(counted: Recount, manifest: Mapping[str, Any]) -> None:
    stated = manifest["audit"]
    mine = (counted.rows, counted.sizes.total(), min(counted.sizes))
    demand(
        (stated["rows"], stated["classes"], stated["k"]) == mine, "the counts that a manifest states", mine
    )
    for finding in counted.findings:
        if finding.condition.name == "l":
            published = stated["l"][str(finding.condition.attribute)]
            demand(published == finding.worst, "the l that a manifest states", published, finding.worst)
