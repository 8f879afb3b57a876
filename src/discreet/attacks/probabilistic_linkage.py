"""Probabilistic record linkage with typing errors and missing values (Fellegi and Sunter 1969).

Fields agree, are close or differ; a missing value has no weight. A pattern of levels weighs Σ log2(m/u); u is
estimated from random pairs, m and the share p of true pairs by EM under conditional independence. A row of
weight w is the person's with chance o 2^w / (1 + o Σ 2^w'), o = p / (1 − p). Compiled kernels compare all
pairs, or the pairs within blocks of equal values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks import finding
from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, count, number
from discreet.attacks.linkage import (
    GroundTruth,
    build_full_release_table,
    build_release_table,
    extend_hierarchies,
    find_covering_classes,
    translate_codes,
)
from discreet.attacks.outside_records import OutsideRecords, read_outside
from discreet.errors import InputError, InternalError
from discreet.kernels.numba_import import has_numba
from discreet.measures.generalized_table import GeneralizedTable, merge_equal_groups
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.option import OptionKind, option
from discreet.model.published_cells import Cells

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

MOST_FIELDS = 9
_MOST_TABLE = 1 << 20
_MOST_ALL = 1 << 27
_MOST_BLOCKED = 1 << 25
_RANDOM_PAIRS = 200_000
_MAX_ITERATIONS = 3000
_TOLERANCE = 1e-8
_INITIAL_M = 0.9
_MIN_WEIGHT = 1e-6
_LETTERS = 62


@dataclass(frozen=True, eq=False)
class ComparedField:
    """One compared field: texts of the left side, cells of the right side, and codes of both, -1 for missing.

    ``levels`` is the agreement level of each text and cell; without it cells are texts, too.
    """

    name: str
    values: tuple[str, ...]
    cells: tuple[str, ...]
    left: IntArray
    right: IntArray
    levels: NDArray[np.int8] | None = None


@dataclass(frozen=True, eq=False)
class RecordComparison:
    """Two files to compare, with the rows of each record; texts as similar as ``close`` are close."""

    fields: tuple[ComparedField, ...]
    left_rows: IntArray
    right_rows: IntArray
    close: float = 0.88

    @cached_property
    def arrays(self) -> Any:
        """Arrays of the fields in the kernels' layout.

        Each field has either a table of levels or the letters of its texts, concatenated over all fields with
        start offsets.
        """
        from discreet.kernels.record_pairs import RecordFields

        # Typed dummies at position 0 keep the concatenated arrays nonempty, so that numba sees one dtype.
        begins, widths, tables = [], [], [np.zeros(1, np.int8)]
        texts, letters = [0], [np.zeros(1, np.uint32)]
        left, right = [], []
        offset, used = 1, 1
        for field in self.fields:
            table = self._table(field)
            if table is not None:
                begins.append(offset)
                widths.append(max(table.shape[1], 1))
                tables.append(table.reshape(-1))
                offset += table.size
                left.append(field.left)
                right.append(field.right)
                continue
            every = sorted({*field.values, *field.cells})
            code_of = {text: code for code, text in enumerate(every)}
            begins.append(len(texts))
            widths.append(0)
            texts.append(used)
            for text in every:
                found = encode_text(text)
                letters.append(found)
                used += len(found)
                texts.append(used)
            left.append(_map_codes(field.left, [code_of[t] for t in field.values]))
            right.append(_map_codes(field.right, [code_of[t] for t in field.cells]))
        return RecordFields(
            np.stack(left, axis=1),
            np.stack(right, axis=1),
            np.array(begins, np.int64),
            np.array(widths, np.int64),
            np.concatenate(tables),
            np.array(texts, np.int64),
            np.concatenate(letters),
            self.close,
        )

    def _table(self, field: ComparedField) -> NDArray[np.int8] | None:
        """Return the levels of all pairs of values and cells; None where texts are compared pair by pair."""
        if field.levels is not None:
            return field.levels
        if len(field.values) * len(field.cells) > _MOST_TABLE:
            return None
        from discreet.kernels.record_pairs import jaro_winkler

        # Levels: 0 missing, 1 differ, 2 close, 3 agree.
        links = np.ones((len(field.values), len(field.cells)), np.int8)
        theirs = [encode_text(text) for text in field.cells]
        for a, value in enumerate(field.values):
            mine = encode_text(value)
            for b, cell in enumerate(field.cells):
                if value == cell:
                    links[a, b] = 3
                elif jaro_winkler(mine, theirs[b]) >= self.close:
                    links[a, b] = 2
        return links

    @cached_property
    def passes(self) -> Any:
        """Blocking passes: one with all pairs where these are few, else one per choice of equal fields."""
        from discreet.kernels.record_pairs import BlockingPasses

        left, right = len(self.left_rows), len(self.right_rows)
        chosen: list[tuple[int, ...]] = [()]
        if left * right > _MOST_ALL:
            chosen = self._blocking()
        blocks = [self._blocks(columns) for columns in chosen]
        most = max(int(b.max(initial=0)) for pair in blocks for b in pair) + 2
        starts = np.zeros((len(blocks), most), np.int64)
        members = np.zeros((len(blocks), right), np.int64)
        for index, (_, theirs) in enumerate(blocks):
            order = np.argsort(theirs, kind="stable")
            order = order[theirs[order] >= 0]
            members[index, : len(order)] = order
            starts[index] = np.searchsorted(theirs[order], np.arange(most))
        return BlockingPasses(
            np.stack([b[0] for b in blocks]), np.stack([b[1] for b in blocks]), starts, members
        )

    def _blocking(self) -> list[tuple[int, ...]]:
        """Choose the field sets whose equal values leave the fewest pairs, within ``_MOST_BLOCKED`` pairs."""
        places = [i for i, field in enumerate(self.fields) if field.levels is None]
        found = []
        for size in (1, 2, 3):
            for columns in combinations(places, size):
                left, right = self._blocks(columns)
                number = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
                mine = np.bincount(left[left >= 0], minlength=number)
                theirs = np.bincount(right[right >= 0], minlength=number)
                found.append((int((mine * theirs).sum()), columns))
        chosen: list[tuple[int, ...]] = []
        spent = 0
        for pairs, columns in sorted(found, key=lambda each: (len(each[1]), each[0])):
            if spent + pairs <= _MOST_BLOCKED and not any(set(c) <= set(columns) for c in chosen):
                chosen.append(columns)
                spent += pairs
        if not chosen:
            raise InputError(
                "the files have too many pairs to compare, whatever columns agree",
                advice="Match a column with more values, or take a part of the file.",
            )
        return chosen

    def _blocks(self, columns: tuple[int, ...]) -> tuple[IntArray, IntArray]:
        """Return the block of each record of both sides, by equal texts in some fields."""
        left, right = np.zeros(len(self.left_rows), np.int64), np.zeros(len(self.right_rows), np.int64)
        for column in columns:
            field = self.fields[column]
            every = {text: code for code, text in enumerate(sorted({*field.values, *field.cells}))}
            mine = _map_codes(field.left, [every[t] for t in field.values])
            theirs = _map_codes(field.right, [every[t] for t in field.cells])
            both = np.concatenate([left * (len(every) + 1) + mine, right * (len(every) + 1) + theirs])
            gone = np.concatenate([(left < 0) | (mine < 0), (right < 0) | (theirs < 0)])
            codes = np.unique(both, return_inverse=True)[1].reshape(-1)
            codes[gone] = -1
            left, right = codes[: len(left)], codes[len(left) :]
        return left, right


@dataclass(frozen=True, eq=False)
class PatternWeights:
    """Weight of every pattern, with its estimates; shapes ``(patterns,)`` and ``(fields, 4)``.

    ``share`` is the share of all pairs that belong to one person. Level 0, missing, weighs nothing.
    """

    weights: FloatArray
    m: FloatArray
    u: FloatArray
    share: float


def fit_weights(comparison: RecordComparison) -> PatternWeights:
    """Fit the weights of the patterns of two files."""
    from discreet.kernels.record_pairs import count_patterns

    number = len(comparison.fields)
    if number > MOST_FIELDS:
        raise InputError(f"{number} columns are compared", allowed=f"up to {MOST_FIELDS}")
    counts = np.zeros(4**number)
    count_patterns(comparison.arrays, comparison.passes, comparison.left_rows, comparison.right_rows, counts)
    total = float(comparison.left_rows.sum()) * float(comparison.right_rows.sum())
    return estimate_weights(counts, sample_levels(comparison), total, int(comparison.left_rows.sum()))


def estimate_weights(counts: FloatArray, u: FloatArray, total: float, most: int) -> PatternWeights:
    """Estimate the weights by EM from counts of pairs by pattern.

    Parameters
    ----------
    counts
        Number of pairs of each pattern, shape ``(4 ** fields,)``.
    u
        Frequency of each level among random pairs, shape ``(fields, 4)``.
    total, most
        Number of pairs, and the largest possible number of pairs of one person.

    References
    ----------
    Fellegi and Sunter (1969).
    """
    number = len(u)
    patterns = np.flatnonzero(counts)
    # A pattern is a number in base 4 with one digit (level) per field, the first field most significant.
    levels = np.stack([patterns // 4 ** (number - 1 - j) % 4 for j in range(number)], axis=1)
    m = np.full((number, 4), (1 - _INITIAL_M) / 2)
    m[:, 3] = _INITIAL_M
    m[:, 0] = 1.0
    fields = np.arange(number)
    unlikely = u[fields, levels].prod(axis=1)
    share = min(0.5, most / 2 / max(total, 1))
    for _ in range(_MAX_ITERATIONS):
        likely = m[fields, levels].prod(axis=1) * share
        one = likely / (likely + unlikely * (1 - share)) * counts[patterns]
        share = min(max(one.sum() / max(total, 1), _MIN_WEIGHT / max(total, 1)), most / max(total, 1), 0.5)
        new = np.ones_like(m)
        for j in range(number):
            found = np.bincount(levels[:, j], one, minlength=4)[1:] + _MIN_WEIGHT
            new[j, 1:] = found / found.sum()
        moved = float(np.abs(new - m).max())
        m = new
        if moved < _TOLERANCE:
            break
    every = np.arange(len(counts))
    weights = np.zeros(len(counts))
    for j in range(number):
        weights += np.log2(m[j] / u[j])[every // 4 ** (number - 1 - j) % 4]
    return PatternWeights(weights, m, u, float(share))


def sample_levels(comparison: RecordComparison) -> FloatArray:
    """Estimate the frequency of each level of each field among random pairs, without missing values."""
    from discreet.kernels.record_pairs import find_pattern

    random = np.random.default_rng(20)
    number = len(comparison.fields)
    left = random.choice(
        len(comparison.left_rows), _RANDOM_PAIRS, p=comparison.left_rows / comparison.left_rows.sum()
    )
    right = random.choice(
        len(comparison.right_rows), _RANDOM_PAIRS, p=comparison.right_rows / comparison.right_rows.sum()
    )
    patterns = np.array(
        [find_pattern(comparison.arrays, a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    )
    result = np.ones((number, 4))
    for j in range(number):
        # Add half a pair to each level, so that no frequency is 0 and no weight infinite.
        seen = np.bincount(patterns // 4 ** (number - 1 - j) % 4, minlength=4)[1:] + 0.5
        result[j, 1:] = seen / seen.sum()
    return result


def encode_text(text: str) -> NDArray[np.uint32]:
    """Return the code points of the first letters of a text, case-folded."""
    return np.array([ord(letter) for letter in text.casefold()[:_LETTERS]], np.uint32)


def _map_codes(codes: IntArray, to: Sequence[int]) -> IntArray:
    """Map codes; -1 stays -1."""
    return np.where(codes < 0, -1, np.array([*to, -1])[codes])


TrueRows = tuple[IntArray, IntArray, FloatArray]
"""Records, indices of rows on the right, and the number of the person's own rows there."""

_LEVELS = ("differ", "close", "agree")


@dataclass(frozen=True, eq=False)
class LinkedRecords:
    """Links on one table by record of the file: chance of the best row, and expected right links."""

    weights: PatternWeights
    chances: FloatArray
    right: FloatArray | None


@dataclass(frozen=True)
class LinkageWithErrors(Attack):
    """Attack by probabilistic linkage."""

    name: ClassVar[str] = "linkage-with-errors"
    title: ClassVar[str] = "Linkage with typing errors and missing values"
    text: ClassVar[str] = (
        "An attacker compares a file field by field, forgives errors, and takes the best match."
    )
    source: ClassVar[str] = "Fellegi and Sunter 1969; Winkler 1990"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (AttackRequirement.OUTSIDE,)

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

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement; only compiled kernels compare pairs."""
        if not has_numba():
            return "numba is not installed", "Install numba: only compiled kernels compare pairs of records."
        return super().missing_requirement(attack_input)

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the links of both sides; raise ``InputError`` for a file that does not fit."""
        if attack_input.outside is None:
            raise InternalError("linkage with errors without a file")
        records = read_outside(
            attack_input.engine,
            attack_input.outside,
            attack_input.published.attributes,
            attack_input.match,
            attack_input.settings,
            key=None if attack_input.key is None else attack_input.key[0],
            null_values=attack_input.ground.null_values,
        )
        hierarchies = extend_hierarchies(attack_input.published, attack_input.ground, records)
        truth = None
        if attack_input.key is not None and attack_input.ground.original is not None:
            truth = GroundTruth.of(
                attack_input.engine,
                attack_input.ground.original,
                records,
                attack_input.key[1],
                attack_input.settings,
            )
        found = []
        if attack_input.ground.original is not None:
            counted = attack_input.ground.original.frequency_set
            found.append(("before", "original", self._before(counted, records, hierarchies, truth)))
        found.append(("after", "release", self._after(attack_input, records, hierarchies, truth)))
        figures = [count("records", "records of the file", records.total)]
        if truth is not None:
            figures.append(count("known", "records of people in the original", truth.known))
        for name, title, linked in found:
            figures += _figures(name, title, linked, records.rows, self.sure)
        tables = tuple(_table(title, linked, records.attributes) for _, title, linked in found)
        return self.build_finding(attack_input, tuple(figures), tables)

    def _before(
        self,
        counted: FrequencySet,
        records: OutsideRecords,
        hierarchies: tuple[GeneralizationHierarchy, ...],
        truth: GroundTruth | None,
    ) -> LinkedRecords:
        codes = translate_codes(counted.codes, counted, records.attributes, hierarchies)
        cell_codes, rows = merge_equal_groups(codes, counted.counts)
        fields = tuple(
            ComparedField(
                name,
                records.texts[i],
                h.leaves,
                _record_codes(records, i),
                _mask_null(cell_codes[:, i], h.null_code),
            )
            for i, (name, h) in enumerate(zip(records.attributes, hierarchies, strict=True))
        )
        own = None
        if truth is not None:
            theirs = translate_codes(truth.codes, counted, records.attributes, hierarchies)
            index_of = {tuple(row): at for at, row in enumerate(cell_codes.tolist())}
            at = np.array([index_of[tuple(row)] for row in theirs[truth.pairs.row_types].tolist()], np.int64)
            own = (truth.pairs.records, at, truth.pairs.rows.astype(np.float64))
        return link_records(RecordComparison(fields, records.rows, rows, self.close), own)

    def _after(
        self,
        attack_input: AttackInput,
        records: OutsideRecords,
        hierarchies: tuple[GeneralizationHierarchy, ...],
        truth: GroundTruth | None,
    ) -> LinkedRecords:
        release = build_release_table(
            attack_input.published, records.attributes, hierarchies, attack_input.ground
        )
        fields = tuple(
            ComparedField(
                name,
                records.texts[i],
                (),
                _record_codes(records, i),
                _without_null(release, i),
                compare_texts_with_cells(records.texts[i], h, release.cells[i], self.close),
            )
            for i, (name, h) in enumerate(zip(records.attributes, hierarchies, strict=True))
        )
        own = None
        if truth is not None and attack_input.ground.original is not None:
            full_table, all_hierarchies = build_full_release_table(
                attack_input.published, attack_input.ground.original, hierarchies
            )
            counted = attack_input.ground.original.frequency_set
            codes = translate_codes(truth.codes, counted, attack_input.published.attributes, all_hierarchies)
            own = _true_rows_by_class(truth, full_table, codes)
        return link_records(RecordComparison(fields, records.rows, release.rows, self.close), own)


def link_records(comparison: RecordComparison, own: TrueRows | None) -> LinkedRecords:
    """Fit the weights and take the best rows of each record."""
    from discreet.kernels.record_pairs import find_best_partners, find_pattern

    fitted = fit_weights(comparison)
    records = len(comparison.left_rows)
    best, tied, odds = np.full(records, -np.inf), np.zeros(records), np.zeros(records)
    find_best_partners(
        comparison.arrays, comparison.passes, comparison.right_rows, fitted.weights, best, tied, odds
    )
    prior = fitted.share / (1 - fitted.share)
    some = tied > 0
    chances = np.zeros(records)
    chances[some] = prior * 2 ** best[some] / (1 + prior * odds[some])
    if own is None:
        return LinkedRecords(fitted, chances, None)
    mine = [
        fitted.weights[find_pattern(comparison.arrays, record, position)]
        for record, position in zip(own[0].tolist(), own[1].tolist(), strict=True)
    ]
    is_best = np.array(mine) == best[own[0]] if mine else np.empty(0, np.bool_)
    right = np.bincount(own[0], own[2] * is_best, minlength=records)
    return LinkedRecords(fitted, chances, np.divide(right, tied, out=np.zeros(records), where=some))


def compare_texts_with_cells(
    texts: tuple[str, ...], hierarchy: GeneralizationHierarchy, cells: Cells, close: float
) -> NDArray[np.int8]:
    """Return the agreement level of each text with each cell, shape ``(texts, cells)``."""
    from discreet.kernels.record_pairs import jaro_winkler

    number = len(cells.labels)
    every = np.arange(number)
    everything = cells.sizes() == cells.leaves
    leaves = [encode_text(leaf) for leaf in hierarchy.leaves]
    result = np.ones((len(texts), max(number, 1)), np.int8)
    for index, text in enumerate(texts):
        code = hierarchy.code_of_leaf.get(text)
        if code is not None:
            result[index, :number][cells.cover(every, np.full(number, code))] = 3
            continue
        mine = encode_text(text)
        for leaf, theirs in enumerate(leaves):
            if jaro_winkler(mine, theirs) >= close:
                result[index, :number][cells.cover(every, np.full(number, leaf))] = 2
        result[index, :number][everything] = 3
    return result


def _true_rows_by_class(truth: GroundTruth, release: GeneralizedTable, codes: IntArray) -> TrueRows:
    """Return the person's own rows by class, divided among covering classes in proportion to their rows."""
    types, classes = find_covering_classes(release, codes)
    rows = release.rows[classes].astype(np.float64)
    type_rows = np.bincount(types, rows, minlength=len(codes))
    by_type: dict[int, list[tuple[int, float]]] = {}
    for kind, position, share in zip(
        types.tolist(), classes.tolist(), (rows / type_rows[types]).tolist(), strict=True
    ):
        by_type.setdefault(kind, []).append((position, share))
    found = [
        (record, position, share * number)
        for record, kind, number in zip(
            truth.pairs.records.tolist(),
            truth.pairs.row_types.tolist(),
            truth.pairs.rows.tolist(),
            strict=True,
        )
        for position, share in by_type.get(kind, [])
    ]
    return (
        np.array([each[0] for each in found], np.int64),
        np.array([each[1] for each in found], np.int64),
        np.array([each[2] for each in found], np.float64),
    )


def _record_codes(records: OutsideRecords, column: int) -> IntArray:
    return _mask_null(records.codes[:, column], len(records.texts[column]))


def _mask_null(codes: IntArray, null: int) -> IntArray:
    return np.where(codes == null, -1, codes)


def _without_null(release: GeneralizedTable, column: int) -> IntArray:
    """Return the cells by group; NULL is missing."""
    cell_codes = release.shown[:, column]
    unknown = np.array([label is None for label in release.cells[column].labels])
    return np.where(unknown[cell_codes], -1, cell_codes)


def _figures(name: str, title: str, links: LinkedRecords, rows: IntArray, sure: float) -> list[Figure]:
    linked = links.chances >= sure
    figures = [
        count(f"linked_{name}", f"records linked, {title}", int(rows[linked].sum())),
        number(
            f"expected_{name}", f"right links by the weights, {title}", float((links.chances * rows).sum())
        ),
    ]
    if links.right is not None:
        right = float((links.right * rows).sum())
        of_linked = float((links.right * rows)[linked].sum())
        figures += [
            number(f"right_{name}", f"right links by the key, {title}", right),
            number(f"right_linked_{name}", f"right links among the linked, {title}", of_linked),
        ]
    return figures


def _table(title: str, links: LinkedRecords, names: tuple[str, ...]) -> FoundTable:
    rows = [
        (
            f"{name}: {level}",
            float(links.weights.m[i, j + 1]),
            float(links.weights.u[i, j + 1]),
            float(np.log2(links.weights.m[i, j + 1] / links.weights.u[i, j + 1])),
        )
        for i, name in enumerate(names)
        for j, level in enumerate(_LEVELS)
    ]
    return FoundTable(
        f"Weights of fields, {title}",
        finding.columns(
            "field",
            ("among pairs of one person", ValueKind.CHANCE),
            ("among others", ValueKind.CHANCE),
            ("weight", ValueKind.NUMBER),
        ),
        tuple(rows),
    )
