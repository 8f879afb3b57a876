"""A sample of rows under differential privacy: drawn, generalized by given levels, small classes left out.

The same order as of noisy counts (``tabulate``): planned, looked at, counted, paid, drawn, written. What is
counted are the classes; of each a binomial number of rows is drawn, and shown where it is at least k. Which
rows were drawn is decided nowhere, and neither their number nor that of rows left out is told.

(ε,δ) holds of levels that were given. It is not stated of levels that were searched, as the search looked at
the rows: ``discreet publish`` publishes those, without an ε. Every column that is published is generalized
and counts for its class; others are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.differential.axes import OTHER, axes_of
from discreet.differential.counting import Cells, count_cells, labels_of
from discreet.differential.ledger import Balance, Ledger
from discreet.differential.private_file import WrittenTable, private_file
from discreet.differential.safepub import Sampling, drawn_rows, sampling_for
from discreet.engines.base import Engine
from discreet.errors import InputError, InternalError
from discreet.model.closest import closest
from discreet.model.privacy_loss import PrivacyLoss
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


def release_sample(
    engine: Engine,
    spec: TableSpec,
    levels: Mapping[str, int],
    loss: PrivacyLoss,
    output: Path,
    settings: Settings,
    *,
    overwrite: bool,
) -> PrivateSample:
    """Release a sample of a spec's rows, its quasi-identifiers alone, into a file (``.csv``, ``.parquet``).

    Attributes that ``levels`` does not name are at the spec's least level. Raises ``InputError`` for what is
    not allowed, and where the rows cannot be counted; ``LimitReached`` where the budget does not allow it.
    """
    chosen, sampling, ledger = _levels(spec, levels), sampling_for(loss), Ledger.of(spec, settings)
    cells = Cells(axes_of(spec, tuple(chosen.items())), sparse=True)
    with private_file(spec, output, settings, FILES, overwrite=overwrite) as file:
        ledger.balance().check(loss)
        # Of a subject one row counts at most: one person is one row.
        bound = None if spec.source.subject is None else 1
        (counted,) = count_cells(engine, spec, (cells,), bound).others
        # Paid before rows are drawn, as of noisy counts.
        balance = ledger.spend(loss, f"sample: {output.name}")
        drawn = drawn_rows(counted, sampling.beta)
        kept = {key: number for key, number in drawn.items() if number >= sampling.k}
        rows = [labels_of(key) for key in sorted(kept) for _ in range(kept[key])]
        _check(rows, sampling.k)
        columns = {name: [row[place] for row in rows] for place, name in enumerate(chosen)}
        facts = _facts(spec, chosen, loss, sampling, len(rows), len(kept))
        manifest_path = file.place(WrittenTable(columns), facts)
    return PrivateSample(output, manifest_path, chosen, loss, sampling, len(rows), len(kept), balance)


def sample_facts(spec: TableSpec, loss: PrivacyLoss, sampling: Sampling) -> dict[str, Any]:
    """What was spent, on what, and how."""
    one = "one row" if spec.source.subject is None else "one subject, of whose rows one counts at most,"
    return {
        **loss.as_json(),
        "definition": "(ε,δ)-differential privacy",
        "neighbours": f"{one} more or less",
        "mechanism": "sampling, generalization by levels that were given, and suppression (SafePub)",
        "beta": float(sampling.beta),
        "k": sampling.k,
        "seed": "none: the operating system's generator; which rows were drawn is not kept",
    }


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
    loss: PrivacyLoss,
    sampling: Sampling,
    rows: int,
    classes: int,
) -> dict[str, Any]:
    """The manifest's facts: each follows from the spec and the request, or from the released rows."""
    return {
        "release": PRIVATE_SAMPLE,
        "privacy": sample_facts(spec, loss, sampling),
        "levels": dict(levels),
        "rows": rows,
        "classes": classes,
        "nulls": str(spec.source.nulls),
        "other": f"'{OTHER}' stands for NULL, and for values that have no other label",
        "audit": {"passed": True, "k": sampling.k},
        "statement": (
            "Rows were drawn at random, generalized to the levels above, and left out where fewer than k of "
            "a class were drawn. The privacy loss is what one person's presence can change at most, if "
            "levels, hierarchies and budget were chosen without a look at the rows. Losses of several "
            "releases of the same people add up. It is evidence of how the sample was made, and no promise "
            "about what else is known of anybody."
        ),
    }
