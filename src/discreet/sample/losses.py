"""People with a capital loss that follows their age: Adult's schema, and one knob (Zhang et al. 2007).

The loss is ``PER_YEAR`` a year of age plus normal noise of a given standard deviation, rounded, 1 at least.
With deviation 0 all people of one age lose the same; a deviation far above the losses of a lifetime leaves
nothing of the correlation. All other quasi-identifiers are drawn by themselves, with Adult's cardinalities.
Cost: one pass per column.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import InputError
from discreet.sample.synthetic import SEED, Distribution, SyntheticColumn, SyntheticTable, synthetic_table

PER_YEAR = 50
YOUNGEST, OLDEST = 17, 90
MEAN_AGE, AGE_DEVIATION = 41.0, 16.0
SENSITIVE = "capital_loss"
_OTHERS = (
    ("sex", 2),
    ("race", 5),
    ("marital_status", 7),
    ("education", 16),
    ("native_country", 41),
    ("work_class", 7),
    ("occupation", 14),
)


def losses_table(rows: int, deviation: float, *, seed: int = SEED) -> SyntheticTable:
    """``rows`` people; ``deviation`` is in the loss's unit, 0 or more. Equal for equal arguments."""
    if not deviation >= 0 or not np.isfinite(deviation):
        raise InputError(f"a deviation of {deviation}", allowed="a number, 0 or more")
    ages = tuple(str(age) for age in range(YOUNGEST, OLDEST + 1))
    columns = (
        SyntheticColumn(
            "age",
            len(ages),
            Distribution.NORMAL,
            mean=MEAN_AGE - YOUNGEST,
            deviation=AGE_DEVIATION,
            labels=ages,
            hierarchy={"kind": "intervals", "widths": [5, 10, 20]},
        ),
        *(
            SyntheticColumn(name, number, Distribution.SKEWED, labels=_named(name, number))
            for name, number in _OTHERS
        ),
    )
    table = synthetic_table(columns, rows, seed=seed)
    noise = deviation * np.random.default_rng([seed, 1]).standard_normal(rows)
    losses = np.maximum(1, np.rint(PER_YEAR * (table.codes[0] + YOUNGEST) + noise)).astype(np.int64)
    values, codes = np.unique(losses, return_inverse=True)
    loss = SyntheticColumn(
        SENSITIVE, max(len(values), 1), labels=tuple(map(str, values.tolist())) or ("0",), role="sensitive"
    )
    return SyntheticTable((*columns, loss), (*table.codes, codes.astype(np.int64)))


def _named(name: str, number: int) -> tuple[str, ...]:
    return tuple(f"{name}-{code + 1:02d}" for code in range(number))
