"""Linkage with a file that has typing errors and missing values (Fellegi and Sunter 1969).

Every record of the attacker's file is compared with every row, field by field: the values agree, are close,
or differ; a value that one side lacks says nothing (``attacks.agreement`` tells the weights, and blocks). In
the original a field is close by the similarity of its text; in the release a cell agrees with what it covers,
and is close to a value that no leaf has where it covers a leaf that is close. The attacker takes a row of the
highest weight, any of those that have it.

With the share p of pairs of one person, a row of weight w is the person's with the chance o 2^w / (1 + o Σ
2^w'), o = p / (1 − p), the sum over all rows that were compared. A record is *linked* where that of its best
row reaches a limit. Where a key tells who is who, right links are those expected by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.agreement import Comparison, FieldPair, Weights, fit, letters_of
from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import Figure, Finding, FoundTable, Value, ValueKind, columns, count, number
from discreet.attacks.grounds import Grounds
from discreet.attacks.linkage import classes_of
from discreet.attacks.linking import Truth, hierarchies_of, recoded, release_table, whole_release
from discreet.attacks.outside import OutsideRecords, read_outside
from discreet.errors import InternalError
from discreet.kernels.compiler import has_compiler
from discreet.measures.generalized_table import GeneralizedTable, merged
from discreet.model.cells import Cells
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.option import OptionKind, option

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Own = tuple[Whole, Whole, Real]
"""Records, places of rows on the right, and how many rows of the person's own are there."""

_LEVELS = ("differ", "close", "agree")


@dataclass(frozen=True, eq=False)
class Linked:
    """What came of one table, by record of the file: the best row's chance, and right links expected."""

    weights: Weights
    chances: Real
    right: Real | None


@dataclass(frozen=True)
class LinkageWithErrors(Attack):
    """Probabilistic linkage."""

    name: ClassVar[str] = "linkage-with-errors"
    title: ClassVar[str] = "Linkage with typing errors and missing values"
    text: ClassVar[str] = (
        "An attacker compares a file field by field, forgives errors, and takes the best match."
    )
    source: ClassVar[str] = "Fellegi and Sunter 1969; Winkler 1990"
    needs: ClassVar[tuple[Need, ...]] = (Need.OUTSIDE,)

    close: float = option(
        0.88,
        kind=OptionKind.DECIMAL,
        least=0.5,
        most=1,
        metavar="P",
        help="texts of this similarity are close",
        label="Texts are close from a similarity of",
    )
    sure: float = option(
        0.5,
        kind=OptionKind.DECIMAL,
        least=0,
        most=1,
        metavar="P",
        help="a record is linked from this chance on",
        label="Linked from a chance of",
    )

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """Pairs are compared by compiled kernels alone."""
        if not has_compiler():
            return "numba is not installed", "Install it: it compiles what compares pairs of records."
        return super().lacks(grounds)

    def run(self, grounds: Grounds) -> Finding:
        """The links of both sides; ``InputError`` for a file that does not fit."""
        if grounds.outside is None:
            raise InternalError("linkage with errors without a file")
        records = read_outside(
            grounds.engine,
            grounds.outside,
            grounds.published.attributes,
            grounds.match,
            grounds.settings,
            key=None if grounds.key is None else grounds.key[0],
            null_values=grounds.ground.null_values,
        )
        hierarchies = hierarchies_of(grounds.published, grounds.ground, records)
        truth = None
        if grounds.key is not None and grounds.ground.original is not None:
            truth = Truth.of(
                grounds.engine, grounds.ground.original, records, grounds.key[1], grounds.settings
            )
        found = []
        if grounds.ground.original is not None:
            counted = grounds.ground.original.frequency_set
            found.append(("before", "original", self._before(counted, records, hierarchies, truth)))
        found.append(("after", "release", self._after(grounds, records, hierarchies, truth)))
        figures: list[Figure] = [count("records", "records of the file", records.total)]
        if truth is not None:
            figures.append(count("known", "records of people in the original", truth.known))
        for name, title, linked in found:
            figures += _figures(name, title, linked, records.rows, self.sure)
        tables = tuple(_table(title, linked, records.attributes) for _, title, linked in found)
        return self.found(grounds, tuple(figures), tables)

    def _before(
        self,
        counted: FrequencySet,
        records: OutsideRecords,
        hierarchies: tuple[GeneralizationHierarchy, ...],
        truth: Truth | None,
    ) -> Linked:
        codes = recoded(counted.codes, counted, records.attributes, hierarchies)
        shown, rows = merged(codes, counted.counts)
        fields = tuple(
            FieldPair(name, records.texts[i], h.leaves, _left(records, i), _known(shown[:, i], h.null_code))
            for i, (name, h) in enumerate(zip(records.attributes, hierarchies, strict=True))
        )
        own = None
        if truth is not None:
            theirs = recoded(truth.codes, counted, records.attributes, hierarchies)
            place = {tuple(row): at for at, row in enumerate(shown.tolist())}
            at = np.array([place[tuple(row)] for row in theirs[truth.pairs.row_types].tolist()], np.int64)
            own = (truth.pairs.records, at, truth.pairs.rows.astype(np.float64))
        return link_records(Comparison(fields, records.rows, rows, self.close), own)

    def _after(
        self,
        grounds: Grounds,
        records: OutsideRecords,
        hierarchies: tuple[GeneralizationHierarchy, ...],
        truth: Truth | None,
    ) -> Linked:
        release = release_table(grounds.published, records.attributes, hierarchies, grounds.ground)
        fields = tuple(
            FieldPair(
                name,
                records.texts[i],
                (),
                _left(records, i),
                _without_null(release, i),
                levels_of(records.texts[i], h, release.cells[i], self.close),
            )
            for i, (name, h) in enumerate(zip(records.attributes, hierarchies, strict=True))
        )
        own = None
        if truth is not None and grounds.ground.original is not None:
            whole, all_hierarchies = whole_release(grounds.published, grounds.ground.original, hierarchies)
            counted = grounds.ground.original.frequency_set
            codes = recoded(truth.codes, counted, grounds.published.attributes, all_hierarchies)
            own = _own_classes(truth, whole, codes)
        return link_records(Comparison(fields, records.rows, release.rows, self.close), own)


def link_records(comparison: Comparison, own: Own | None) -> Linked:
    """Fit the weights, and take the best rows of each record."""
    from discreet.kernels.record_pairs import best_partners, pattern_of

    fitted = fit(comparison)
    records = len(comparison.left_rows)
    best, tied, odds = np.full(records, -np.inf), np.zeros(records), np.zeros(records)
    best_partners(
        comparison.arrays, comparison.passes, comparison.right_rows, fitted.weights, best, tied, odds
    )
    prior = fitted.share / (1 - fitted.share)
    some = tied > 0
    chances = np.zeros(records)
    chances[some] = prior * 2 ** best[some] / (1 + prior * odds[some])
    if own is None:
        return Linked(fitted, chances, None)
    mine = [
        fitted.weights[pattern_of(comparison.arrays, record, place)]
        for record, place in zip(own[0].tolist(), own[1].tolist(), strict=True)
    ]
    is_best = np.array(mine) == best[own[0]] if mine else np.empty(0, np.bool_)
    right = np.bincount(own[0], own[2] * is_best, minlength=records)
    return Linked(fitted, chances, np.divide(right, tied, out=np.zeros(records), where=some))


def levels_of(
    texts: tuple[str, ...], hierarchy: GeneralizationHierarchy, cells: Cells, close: float
) -> NDArray[np.int8]:
    """How far each text agrees with each cell, shape ``(texts, cells)``."""
    from discreet.kernels.record_pairs import similarity

    number = len(cells.labels)
    every = np.arange(number)
    everything = cells.sizes() == cells.leaves
    leaves = [letters_of(leaf) for leaf in hierarchy.leaves]
    found = np.ones((len(texts), max(number, 1)), np.int8)
    for place, text in enumerate(texts):
        code = hierarchy.code_of_leaf.get(text)
        if code is not None:
            found[place, :number][cells.cover(every, np.full(number, code))] = 3
            continue
        mine = letters_of(text)
        for leaf, theirs in enumerate(leaves):
            if similarity(mine, theirs) >= close:
                found[place, :number][cells.cover(every, np.full(number, leaf))] = 2
        found[place, :number][everything] = 3
    return found


def _own_classes(truth: Truth, release: GeneralizedTable, codes: Whole) -> Own:
    """The person's own rows by class, in proportion to their rows where several cover a row type."""
    types, classes = classes_of(release, codes)
    rows = release.rows[classes].astype(np.float64)
    whole = np.bincount(types, rows, minlength=len(codes))
    by_type: dict[int, list[tuple[int, float]]] = {}
    for kind, place, share in zip(
        types.tolist(), classes.tolist(), (rows / whole[types]).tolist(), strict=True
    ):
        by_type.setdefault(kind, []).append((place, share))
    found = [
        (record, place, share * number)
        for record, kind, number in zip(
            truth.pairs.records.tolist(),
            truth.pairs.row_types.tolist(),
            truth.pairs.rows.tolist(),
            strict=True,
        )
        for place, share in by_type.get(kind, [])
    ]
    return (
        np.array([each[0] for each in found], np.int64),
        np.array([each[1] for each in found], np.int64),
        np.array([each[2] for each in found], np.float64),
    )


def _left(records: OutsideRecords, place: int) -> Whole:
    return _known(records.codes[:, place], len(records.texts[place]))


def _known(codes: Whole, null: int) -> Whole:
    return np.where(codes == null, -1, codes)


def _without_null(release: GeneralizedTable, place: int) -> Whole:
    """Cells by group; a NULL says nothing."""
    shown = release.shown[:, place]
    unknown = np.array([label is None for label in release.cells[place].labels])
    return np.where(unknown[shown], -1, shown)


def _figures(name: str, title: str, found: Linked, rows: Whole, sure: float) -> list[Figure]:
    linked = found.chances >= sure
    figures = [
        count(f"linked_{name}", f"records linked, {title}", int(rows[linked].sum())),
        number(
            f"expected_{name}", f"right links by the weights, {title}", float((found.chances * rows).sum())
        ),
    ]
    if found.right is not None:
        right = float((found.right * rows).sum())
        of_linked = float((found.right * rows)[linked].sum())
        figures += [
            number(f"right_{name}", f"right links by the key, {title}", right),
            number(f"right_linked_{name}", f"right links among the linked, {title}", of_linked),
        ]
    return figures


def _table(title: str, found: Linked, names: tuple[str, ...]) -> FoundTable:
    rows: list[tuple[Value, ...]] = [
        (
            f"{name}: {level}",
            float(found.weights.m[i, j + 1]),
            float(found.weights.u[i, j + 1]),
            float(np.log2(found.weights.m[i, j + 1] / found.weights.u[i, j + 1])),
        )
        for i, name in enumerate(names)
        for j, level in enumerate(_LEVELS)
    ]
    return FoundTable(
        f"Weights of fields beside the {title}",
        columns(
            "field",
            ("among pairs of one person", ValueKind.CHANCE),
            ("among others", ValueKind.CHANCE),
            ("weight", ValueKind.NUMBER),
        ),
        tuple(rows),
    )
