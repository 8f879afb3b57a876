"""Differentially private sample of rows (SafePub: Bild, Kuhn and Prasser 2018; Li, Qardaji and Su 2012).

Each row is drawn with probability β, generalized by fixed levels, and left out if fewer than k drawn rows
share its class. This is (ε,δ)-differentially private for β ≤ 1 − e^(−ε) and δ the largest binomial tail over
class sizes from ⌈k/γ − 1⌉ on, γ = 1 − (1 − β)·e^(−ε). β is the largest multiple of 2^−53 allowed and k the
smallest with this bound (ARX's k is larger by one); tails are summed with 60 digits, rounded up, and cut by
the Chernoff–Hoeffding bound (Hoeffding 1963).

Levels are given, or chosen by report noisy max with exponential noise (McKenna and Sheldon 2020) over all
nodes: the score of a node is the number of rows beyond the first k/β − 1 of each class times the detail its
levels keep, so one row changes all scores by at most one. Cost: one sort of the row types per node. Order of
steps as in ``noisy_counts``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, comb, inf, nextafter, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.differential.ledger import Balance, Ledger
from discreet.differential.marginals import (
    OTHER,
    Axis,
    MarginalCells,
    build_axes,
    count_cells,
    decode_labels,
    encode_labels,
    find_highest_level,
)
from discreet.differential.noise import load_opendp
from discreet.differential.private_release import OutputTable, open_private_release
from discreet.engines.base import Engine
from discreet.errors import InputError, InternalError
from discreet.model.privacy_loss import PrivacyLoss, format_decimal
from discreet.model.registry import suggest_name
from discreet.model.release_kind import PRIVATE_SAMPLE
from discreet.model.table_spec import Attribute, TableSpec
from discreet.release.release_target import PLAIN_FORMATS
from discreet.settings import Settings

MAX_LEVEL_NODES = 50_000
DETAIL_UNIT = 1000
"""Unit of detail: scores are integers, rows times thousandths of detail."""
_MAX_DENSE_CELLS = 1 << 22

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AttributeLevels:
    """One attribute: axis of single values, axes of the allowed levels, height and weight."""

    lowest: Axis
    axes: tuple[Axis, ...]
    height: int
    weight: Fraction


@dataclass(frozen=True, eq=False)
class PrivateLevelChoice:
    """Nodes among which levels are chosen; they do not depend on any row."""

    attributes: tuple[AttributeLevels, ...]

    @classmethod
    def of(cls, spec: TableSpec, fixed: Mapping[str, int]) -> PrivateLevelChoice:
        """Build the spec's allowed levels and the ``fixed`` ones; raise ``InputError`` for too many."""
        result = cls(tuple(_attribute_levels(spec, each, fixed) for each in spec.require_quasi_identifiers()))
        number = prod(len(attribute_levels.axes) for attribute_levels in result.attributes)
        if number > MAX_LEVEL_NODES:
            raise InputError(
                f"a private search over {number:,} combinations of levels",
                allowed=f"up to {MAX_LEVEL_NODES:,}",
                advice="Give some levels, or limit them with max_level in [request].",
            )
        return result

    @property
    def lowest(self) -> tuple[Axis, ...]:
        """Axes of the lowest levels, counted once for all nodes."""
        return tuple(attribute_levels.lowest for attribute_levels in self.attributes)

    @cached_property
    def nodes(self) -> tuple[tuple[Axis, ...], ...]:
        """Axes of each node, one per attribute, in mixed-radix order."""
        return tuple(product(*(attribute_levels.axes for attribute_levels in self.attributes)))

    def details(self) -> IntArray:
        """Return the detail that each node keeps, from 1 to ``DETAIL_UNIT``."""
        weights = [each.weight if each.height else Fraction(0) for each in self.attributes]
        total = sum(weights, Fraction(0))
        if not total:
            return np.full(len(self.nodes), DETAIL_UNIT, np.int64)
        found = []
        for node in self.nodes:
            parts = zip(weights, self.attributes, node, strict=True)
            lost = sum((w * axis.level / max(each.height, 1) for w, each, axis in parts), Fraction(0))
            found.append(max(1, int(DETAIL_UNIT * (1 - lost / total))))
        return np.array(found, np.int64)

    def scores(self, counted: Mapping[str, int], least: int) -> IntArray:
        """Compute the score of each node from the counts of the lowest labels."""
        labels = [decode_labels(key) for key in counted]
        rows = np.fromiter(counted.values(), np.int64, len(labels))
        attributes = [
            _encode_levels(attribute_levels, [each[index] for each in labels])
            for index, attribute_levels in enumerate(self.attributes)
        ]
        classes = np.zeros(len(rows), np.int64)
        beyond = np.fromiter(_excess_rows(classes, attributes, rows, least), np.int64, len(self.nodes))
        return beyond * self.details()

    def at(self, counted: Mapping[str, int], node: Sequence[Axis]) -> dict[str, int]:
        """Aggregate the counts of the lowest labels to a node's labels."""
        found: Counter[str] = Counter()
        labels = [_LabelCache(axis) for axis in node]
        for key, number in counted.items():
            pairs = zip(labels, decode_labels(key), strict=True)
            found[encode_labels([label_of[value] for label_of, value in pairs])] += number
        return dict(found)


class _LabelCache(dict[str, str]):
    """Cache of the label of each lowest label on an axis."""

    def __init__(self, axis: Axis) -> None:
        super().__init__()
        self._axis = axis

    def __missing__(self, value: str) -> str:
        axis = self._axis
        if value == OTHER:
            label = OTHER
        elif axis.public:
            label = axis.labels[axis.places[value]] if value in axis.places else OTHER
        else:
            label = axis.label(value)
        self[value] = label
        return label


def _attribute_levels(spec: TableSpec, attribute: Attribute, fixed: Mapping[str, int]) -> AttributeLevels:
    name, height = attribute.name, find_highest_level(attribute)
    limits = spec.request
    low, high = limits.min_level.get(name, 0), min(limits.max_level.get(name, height), height)
    if name in fixed:
        low = high = fixed[name]
    # The loop keeps at least one level, so that build_axes reports a level that does not exist.
    axes = build_axes(spec, [(name, level) for level in range(low, max(low, high) + 1)])
    return AttributeLevels(build_axes(spec, ((name, 0),))[0], axes, height, Fraction(attribute.weight))


def _encode_levels(attribute_levels: AttributeLevels, values: Sequence[str]) -> list[IntArray]:
    """Return the labels of the row types at each level, numbered from 0."""
    distinct, inverse = np.unique(np.array(values, dtype=object), return_inverse=True)
    result = []
    for axis in attribute_levels.axes:
        label_cache = _LabelCache(axis)
        numbers: dict[str, int] = {}
        of_value = np.array(
            [numbers.setdefault(label_cache[value], len(numbers)) for value in distinct], np.int64
        )
        result.append(of_value[inverse] if len(distinct) else np.zeros(0, np.int64))
    return result


def _excess_rows(
    classes: IntArray, attributes: Sequence[Sequence[IntArray]], rows: IntArray, least: int
) -> Iterator[int]:
    """Yield the rows beyond the first ``least`` - 1 of every class, per node in mixed-radix order.

    ``classes`` is the class of each row type by the attributes before.
    """
    if not attributes:
        # Renumber sparse keys: bincount allocates up to the largest key.
        if int(classes.max(initial=0)) >= _MAX_DENSE_CELLS:
            classes = np.unique(classes, return_inverse=True)[1]
        sizes = np.bincount(classes, rows)
        yield int(np.maximum(sizes - (least - 1), 0).sum())
        return
    for codes in attributes[0]:
        both = classes * (int(codes.max(initial=0)) + 1) + codes
        if len(attributes) > 1:
            # Renumber the keys of all but the last attribute, which would overflow otherwise.
            both = np.unique(both, return_inverse=True)[1]
        yield from _excess_rows(both, attributes[1:], rows, least)


def choose_noisy_max(scores: IntArray, epsilon: Fraction) -> int:
    """Return the index of a large score, with OpenDP's noise of the least scale that keeps ε."""
    library = load_opendp()
    scale = max(float(DETAIL_UNIT / epsilon), 1e-3)
    # The privacy map rounds up, so increase the scale by single doubles until the map accepts ε.
    while Fraction(_noisy_max(library, scale).map(DETAIL_UNIT)) > epsilon:
        scale = nextafter(scale, inf)
    return int(_noisy_max(library, scale)([int(score) for score in scores]))


def _noisy_max(library: Any, scale: float) -> Any:
    domain = library.domains.vector_domain(library.domains.atom_domain(T="i64"))
    metric = library.metrics.linf_distance(T="i64", monotonic=True)
    return library.measurements.make_noisy_max(domain, metric, library.measures.max_divergence(), scale)


RANDOM_BITS = 53
MIN_SAMPLE_EPSILON, MAX_SAMPLE_EPSILON = Fraction(1, 100), Fraction(10)
_PRECISION = 60
_MARGIN = Decimal("1e-40")
"""Margin far above the rounding error of 60 digits in any formula here, and far below any effect."""
_NEGLIGIBLE = Decimal("1e-45")
_BATCH_ROWS = 1 << 20


@dataclass(frozen=True)
class SamplingParameters:
    """Chance ``beta`` of drawing a row, and the least number ``k`` of drawn rows of a published class."""

    beta: Fraction
    k: int


def compute_sampling(loss: PrivacyLoss) -> SamplingParameters:
    """Return the largest β, and the least k by the theorem's bound.

    Raise ``InputError`` for an ε or δ outside the supported range.
    """
    if not MIN_SAMPLE_EPSILON <= loss.epsilon <= MAX_SAMPLE_EPSILON or not loss.delta:
        raise InputError(
            f"{loss} of a sample",
            allowed=f"ε from {float(MIN_SAMPLE_EPSILON):g} to {float(MAX_SAMPLE_EPSILON):g}, and a δ above 0",
        )
    with localcontext(Context(prec=_PRECISION, Emin=-(10**9), Emax=10**9)):
        shrink = (-_decimal(loss.epsilon)).exp() * (1 + _MARGIN)
        drawn = int(((1 - shrink) * 2**RANDOM_BITS).to_integral_value(ROUND_FLOOR))
        beta = Fraction(drawn, 2**RANDOM_BITS)
        gamma = 1 - _decimal(1 - beta) * shrink  # rounded down: a smaller share makes a larger tail
        largest = _largest_failing(gamma, beta, _decimal(loss.delta))
        bound = (gamma + _MARGIN) * (1 + 3 * _MARGIN) * (largest + 1)
        return SamplingParameters(beta, int(bound.to_integral_value(ROUND_FLOOR)) + 1)


def compute_binomial_tail(size: int, gamma: Decimal, beta: Fraction) -> Decimal:
    """Return an upper bound of the chance that more than ``gamma`` · ``size`` of ``size`` rows are drawn."""
    first = int((gamma * size).to_integral_value(ROUND_FLOOR)) + 1
    if first > size:
        return Decimal(0)
    chance, rest = _decimal(beta), _decimal(1 - beta)
    term = Decimal(comb(size, first)) * chance**first * rest ** (size - first)
    total, odds = term, chance / rest
    for number in range(first, size):
        ratio = odds * (size - number) / (number + 1)
        term *= ratio
        total += term
        if ratio < 1 and term < _NEGLIGIBLE * total:
            # The remaining terms fall by at least this ratio: bound them by a geometric series.
            total += term * ratio / (1 - ratio)
            break
    return total * (1 + _MARGIN)


def _largest_failing(gamma: Decimal, beta: Fraction, delta: Decimal) -> int:
    """Return the largest class size whose tail exceeds δ; 0 where none does."""
    # Chernoff–Hoeffding: beyond this size the tail is below δ, so search downwards from it.
    chance, rest = _decimal(beta), _decimal(1 - beta)
    divergence = gamma * (gamma / chance).ln() + (1 - gamma) * ((1 - gamma) / rest).ln()
    size = int((-delta.ln() / divergence * (1 + _MARGIN)).to_integral_value(ROUND_CEILING)) + 1
    while size and compute_binomial_tail(size, gamma, beta) <= delta:
        size -= 1
    return size


def draw_class_rows(counts: Mapping[str, int], beta: Fraction) -> dict[str, int]:
    """Draw each row independently with the operating system's generator; return the drawn rows per class.

    Rows of a class look alike in the release, so drawing reveals only their number; no step decides which
    rows they are.
    """
    limit, result = int(beta * 2**RANDOM_BITS), {}
    for key, number in counts.items():
        drawn = 0
        for start in range(0, number, _BATCH_ROWS):
            rows = min(_BATCH_ROWS, number - start)
            bits = np.frombuffer(os.urandom(8 * rows), dtype=np.uint64) >> np.uint64(64 - RANDOM_BITS)
            drawn += int(np.count_nonzero(bits < np.uint64(limit)))
        result[key] = drawn
    return result


def _decimal(number: Fraction | int) -> Decimal:
    number = Fraction(number)
    return Decimal(number.numerator) / Decimal(number.denominator)


@dataclass(frozen=True, eq=False)
class PrivateSample:
    """Released sample: paths, levels, sampling parameters, and remaining budget."""

    path: Path
    manifest_path: Path
    levels: Mapping[str, int]
    loss: PrivacyLoss
    sampling: SamplingParameters
    rows: int
    classes: int
    balance: Balance
    search: Fraction | None = None


def release_sample(
    engine: Engine,
    spec: TableSpec,
    levels: Mapping[str, int],
    loss: PrivacyLoss,
    output: Path,
    settings: Settings,
    *,
    search: Fraction | None = None,
    overwrite: bool,
) -> PrivateSample:
    """Release a sample of a spec's rows, with only the quasi-identifiers, into a file.

    Parameters
    ----------
    levels
        Level of each attribute; others are at the spec's least level or, with ``search``, at levels that a
        private search chooses.
    output
        A file with the suffix ``.csv`` or ``.parquet``.
    search
        The part of the loss's ε that the private search of levels spends.

    Raises
    ------
    InputError
        For a request that is not allowed, and where the rows cannot be counted.
    LimitReached
        Where the remaining budget does not allow the loss.

    References
    ----------
    Bild, Kuhn and Prasser (2018); Li, Qardaji and Su (2012).
    """
    chosen, sampling = _complete_levels(spec, levels), compute_sampling(_loss_for_sampling(loss, search))
    ledger = Ledger.of(spec, settings, engine)
    searched = None if search is None else PrivateLevelChoice.of(spec, levels)
    axes = build_axes(spec, tuple(chosen.items())) if searched is None else searched.lowest
    cells = MarginalCells(axes, sparse=True)
    with open_private_release(spec, output, settings, PLAIN_FORMATS, overwrite=overwrite) as file:
        ledger.check(loss)
        # At most one row of a subject counts: one person is one row.
        bound = None if spec.source.subject is None else 1
        (counted,) = count_cells(engine, spec, (cells,), bound).others
        # Spend before drawing, as for noisy counts.
        balance = ledger.spend(loss, f"sample: {output.name}")
        if searched is not None and search is not None:
            scores = searched.scores(counted, ceil(sampling.k / sampling.beta))
            node = searched.nodes[choose_noisy_max(scores, search)]
            counted, chosen = searched.at(counted, node), {axis.attribute: axis.level for axis in node}
        drawn = draw_class_rows(counted, sampling.beta)
        retained = {key: number for key, number in drawn.items() if number >= sampling.k}
        rows = [decode_labels(key) for key in sorted(retained) for _ in range(retained[key])]
        _check_class_sizes(rows, sampling.k)
        columns = {name: [row[index] for row in rows] for index, name in enumerate(chosen)}
        facts = _manifest_facts(
            spec, chosen, describe_sampling(spec, loss, sampling, search), len(rows), len(retained)
        )
        manifest_path = file.publish(OutputTable(columns), facts)
    return PrivateSample(
        output, manifest_path, chosen, loss, sampling, len(rows), len(retained), balance, search
    )


def _loss_for_sampling(loss: PrivacyLoss, search: Fraction | None) -> PrivacyLoss:
    """Return the loss that drawing may spend after the search; a search requires OpenDP."""
    if search is None:
        return loss
    load_opendp()
    if not 0 < search < loss.epsilon:
        raise InputError(
            f"a search that spends ε = {format_decimal(search)} of {loss}",
            allowed="a part of the ε that leaves some for the sample",
        )
    return loss - PrivacyLoss(search)


def describe_sampling(
    spec: TableSpec, loss: PrivacyLoss, sampling: SamplingParameters, search: Fraction | None = None
) -> dict[str, Any]:
    """Return the privacy section of the manifest: loss, definition and mechanism."""
    levels = "that were given" if search is None else "that a private search chose"
    search_json = (
        {}
        if search is None
        else {"search": {"epsilon": format_decimal(search), "mechanism": _SEARCH_MECHANISM}}
    )
    one = "one row" if spec.source.subject is None else "one subject (at most one row counts)"
    return {
        **loss.as_json(),
        "definition": "(ε,δ)-differential privacy",
        "neighbours": f"{one} more or less",
        "mechanism": f"sampling, generalization by levels {levels}, and suppression (SafePub)",
        **search_json,
        "beta": float(sampling.beta),
        "k": sampling.k,
        "seed": "none: the operating system's generator; which rows were drawn is not kept",
    }


_SEARCH_MECHANISM = "the largest of all nodes' scores, with exponential noise (OpenDP's noisy max)"


def _complete_levels(spec: TableSpec, levels: Mapping[str, int]) -> dict[str, int]:
    names = [attribute.name for attribute in spec.require_quasi_identifiers()]
    for name, level in levels.items():
        if name not in names:
            raise InputError(
                f"a level of '{name}', which is no quasi-identifier",
                allowed=", ".join(names),
                advice=suggest_name(name, names)
                or "A sample under differential privacy has no other columns.",
            )
        if isinstance(level, bool) or not isinstance(level, int) or level < 0:
            raise InputError(f"level {level} of '{name}'", allowed="a whole number of at least 0")
    return {name: levels.get(name, spec.request.min_level.get(name, 0)) for name in names}


def _check_class_sizes(rows: list[tuple[str, ...]], k: int) -> None:
    """Check the sizes of the classes about to be written; raise ``InternalError`` for one below k."""
    small = [number for number in Counter(rows).values() if number < k]
    if small:
        raise InternalError(f"{len(small)} classes of a sample have fewer than {k} rows")


def _manifest_facts(
    spec: TableSpec, levels: Mapping[str, int], privacy: Mapping[str, Any], rows: int, classes: int
) -> dict[str, Any]:
    """Return the manifest's facts, which follow from the spec, the request or the released rows."""
    return {
        "release": PRIVATE_SAMPLE,
        "privacy": dict(privacy),
        "levels": dict(levels),
        "rows": rows,
        "classes": classes,
        "null_policy": str(spec.source.null_policy),
        "other": f"'{OTHER}' is NULL, and values that have no other label",
        "audit": {"passed": True, "k": privacy["k"]},
        "statement": (
            "Rows were drawn at random, generalized to the levels above, and left out where fewer than k "
            "of a class were drawn. The privacy loss is what one person's presence can change at most, if "
            "hierarchies, budget, and levels or their limits were chosen without looking at the rows. "
            "Losses of several releases of the same people add up. It is evidence of how the sample was "
            "made, and does not protect against other knowledge about a person."
        ),
    }
