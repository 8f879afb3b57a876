"""A sample of rows under differential privacy: drawn, generalized by levels, small classes left out.

The same order as of noisy counts (``tabulate``): planned, looked at, counted, paid, drawn, written. What is
counted are the classes; of each a binomial number of rows is drawn, and shown where it is at least k. Which
rows were drawn is decided nowhere, and neither their number nor that of rows left out is told.

(ε,δ) holds of levels that were given, or chosen by a private search that spends a part of the ε
(``level_search``). It is not stated of levels that another search found, as it looked at the rows: ``discreet
publish`` publishes those, without an ε. Every column that is published is generalized and counts for its
class; others are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from discreet.differential.axes import OTHER, axes_of
from discreet.differential.counting import Cells, count_cells, labels_of
from discreet.differential.ledger import Balance, Ledger
from discreet.differential.level_search import LevelSearch, choose
from discreet.differential.library import opendp
from discreet.differential.private_file import WrittenTable, private_file
from discreet.differential.safepub import Sampling, drawn_rows, sampling_for
from discreet.engines.base import Engine
from discreet.errors import InputError, InternalError
from discreet.model.closest import closest
from discreet.model.privacy_loss import PrivacyLoss, decimal_text
from discreet.model.release_kind import PRIVATE_SAMPLE
from discreet.model.table_spec import TableSpec
from discreet.release.target import FILES
from discreet.settings import Settings


@dataclass(frozen=True, eq=False)
class PrivateSample:
    """A sample that was released: where it lies, how it was drawn, and what is left to spend."""

    path: Path
    manifest_path: Path
    levels: Mapping[str, int]
    loss: PrivacyLoss
    sampling: Sampling
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
    """Release a sample of a spec's rows, its quasi-identifiers alone, into a file (``.csv``, ``.parquet``).

    Attributes that ``levels`` does not name are at the spec's least level; or, with ``search``, at levels
    that are chosen by a private search, which spends so much of the loss's ε. Raises ``InputError`` for what
    is not allowed, and where the rows cannot be counted; ``LimitReached`` where the budget does not allow it.
    """
    chosen, sampling = _levels(spec, levels), sampling_for(_left_of(loss, search))
    ledger = Ledger.of(spec, settings, engine)
    searched = None if search is None else LevelSearch.of(spec, levels)
    axes = axes_of(spec, tuple(chosen.items())) if searched is None else searched.lowest
    cells = Cells(axes, sparse=True)
    with private_file(spec, output, settings, FILES, overwrite=overwrite) as file:
        ledger.check(loss)
        # Of a subject one row counts at most: one person is one row.
        bound = None if spec.source.subject is None else 1
        (counted,) = count_cells(engine, spec, (cells,), bound).others
        # Paid before rows are drawn, as of noisy counts.
        balance = ledger.spend(loss, f"sample: {output.name}")
        if searched is not None and search is not None:
            scores = searched.scores(counted, ceil(sampling.k / sampling.beta))
            node = searched.nodes[choose(scores, search)]
            counted, chosen = searched.at(counted, node), {axis.attribute: axis.level for axis in node}
        drawn = drawn_rows(counted, sampling.beta)
        kept = {key: number for key, number in drawn.items() if number >= sampling.k}
        rows = [labels_of(key) for key in sorted(kept) for _ in range(kept[key])]
        _check(rows, sampling.k)
        columns = {name: [row[place] for row in rows] for place, name in enumerate(chosen)}
        facts = _facts(spec, chosen, sample_facts(spec, loss, sampling, search), len(rows), len(kept))
        manifest_path = file.place(WrittenTable(columns), facts)
    return PrivateSample(output, manifest_path, chosen, loss, sampling, len(rows), len(kept), balance, search)


def _left_of(loss: PrivacyLoss, search: Fraction | None) -> PrivacyLoss:
    """What drawing may spend once the search has; OpenDP must be there, which chooses."""
    if search is None:
        return loss
    opendp()
    if not 0 < search < loss.epsilon:
        raise InputError(
            f"a search that spends ε = {decimal_text(search)} of {loss}",
            allowed="a part of the ε that leaves some for the sample",
        )
    return loss - PrivacyLoss(search)


def sample_facts(
    spec: TableSpec, loss: PrivacyLoss, sampling: Sampling, search: Fraction | None = None
) -> dict[str, Any]:
    """What was spent, on what, and how."""
    levels = "that were given" if search is None else "that a private search chose"
    told = {} if search is None else {"search": {"epsilon": decimal_text(search), "mechanism": _SEARCH}}
    one = "one row" if spec.source.subject is None else "one subject, of whose rows one counts at most,"
    return {
        **loss.as_json(),
        "definition": "(ε,δ)-differential privacy",
        "neighbours": f"{one} more or less",
        "mechanism": f"sampling, generalization by levels {levels}, and suppression (SafePub)",
        **told,
        "beta": float(sampling.beta),
        "k": sampling.k,
        "seed": "none: the operating system's generator; which rows were drawn is not kept",
    }


_SEARCH = "the largest of all nodes' scores, with exponential noise (OpenDP's noisy max)"


def _levels(spec: TableSpec, levels: Mapping[str, int]) -> dict[str, int]:
    names = [attribute.name for attribute in spec.require_quasi_identifiers()]
    for name, level in levels.items():
        if name not in names:
            raise InputError(
                f"a level of '{name}', which is no quasi-identifier",
                allowed=", ".join(names),
                advice=closest(name, names) or "A sample under differential privacy has no other columns.",
            )
        if isinstance(level, bool) or not isinstance(level, int) or level < 0:
            raise InputError(f"level {level} of '{name}'", allowed="a whole number of at least 0")
    return {name: levels.get(name, spec.request.min_level.get(name, 0)) for name in names}


def _check(rows: list[tuple[str, ...]], k: int) -> None:
    """Count the rows that are about to be written once more."""
    small = [number for number in Counter(rows).values() if number < k]
    if small:
        raise InternalError(f"{len(small)} classes of a sample have fewer than {k} rows")


def _facts(
    spec: TableSpec,
    levels: Mapping[str, int],
    privacy: Mapping[str, Any],
    rows: int,
    classes: int,
) -> dict[str, Any]:
    """The manifest's facts: each follows from the spec and the request, or from the released rows."""
    return {
        "release": PRIVATE_SAMPLE,
        "privacy": dict(privacy),
        "levels": dict(levels),
        "rows": rows,
        "classes": classes,
        "nulls": str(spec.source.nulls),
        "other": f"'{OTHER}' stands for NULL, and for values that have no other label",
        "audit": {"passed": True, "k": privacy["k"]},
        "statement": (
            "Rows were drawn at random, generalized to the levels above, and left out where fewer than k of "
            "a class were drawn. The privacy loss is what one person's presence can change at most, if "
            "hierarchies, budget, and levels or their limits were chosen without a look at the rows. Losses "
            "of several releases of the same people add up. It is evidence of how the sample was made, and "
            "no promise about what else is known of anybody."
        ),
    }
