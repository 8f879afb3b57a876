"""Linkage with errors: 30,000 records with 100,000 rows by four columns; the goal is 60 seconds.

Names of three syllables, years, postal codes and a column of two values. The records are drawn from the rows;
8 % of the first three values have a letter changed and 5 % of the rest are missing.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Benchmark, parser
from discreet.attacks.probabilistic_linkage import (
    ComparedField,
    LinkedRecords,
    RecordComparison,
    link_records,
)

RECORDS, ROWS = 30_000, 100_000
SYLLABLES = ("ka", "lo", "mi", "ren", "to", "ba", "ster", "ing", "ol", "us", "fe", "dra", "no", "sch", "wi")
LETTERS = "abcdefghij0123456789"
GOAL = 60.0
Record = list[str | None]


def files(random: np.random.Generator) -> tuple[list[Record], list[Record], list[int]]:
    """Generate the attacker's records, the rows, and the true row of each record."""
    names = ["".join(random.choice(SYLLABLES, 3)) for _ in range(20_000)]
    rows: list[Record] = [
        [
            names[random.integers(0, 20_000)],
            str(random.integers(1930, 2005)),
            str(10_000 + code),
            str(code % 2),
        ]
        for code in random.integers(0, 2_000, ROWS).tolist()
    ]
    chosen = random.permutation(ROWS)[:RECORDS].tolist()
    return [_with_errors(rows[row], random) for row in chosen], rows, chosen


def _with_errors(row: Record, random: np.random.Generator) -> Record:
    found = list(row)
    for column in range(3):
        value = str(found[column])
        if random.random() < 0.08:
            place = int(random.integers(0, len(value)))
            found[column] = value[:place] + LETTERS[random.integers(0, 20)] + value[place + 1 :]
        elif random.random() < 0.05:
            found[column] = None
    return found


def field_of(column: int, left: list[Record], right: list[Record]) -> ComparedField:
    """Return one column of both files as a field."""
    texts = [sorted({str(row[column]) for row in side if row[column] is not None}) for side in (left, right)]
    places = [{text: place for place, text in enumerate(each)} for each in texts]
    codes = [
        np.array([places[side].get(str(row[column]), -1) for row in rows])
        for side, rows in enumerate((left, right))
    ]
    return ComparedField(f"column {column}", tuple(texts[0]), tuple(texts[1]), codes[0], codes[1])


def main() -> None:
    """Time the whole linkage, including the fitting of its weights, and report."""
    chosen = parser(__doc__).parse_args()
    left, right, truth = files(np.random.default_rng(1))
    fields = tuple(field_of(column, left, right) for column in range(4))
    ones = [np.ones(number, dtype=np.int64) for number in (RECORDS, ROWS)]
    own = (np.arange(RECORDS), np.array(truth), np.ones(RECORDS))

    def run() -> LinkedRecords:
        return link_records(RecordComparison(fields, *ones), own)

    bench = Benchmark("linkage_errors", "Linkage with errors: 30,000 records with 100,000 rows")
    found = run()
    assert found.right is not None
    bench.fact("right links", round(float(found.right.sum())))
    bench.fact("records linked", int((found.chances >= 0.5).sum()))
    bench.alternate({"linkage": run}, chosen.repeats)
    bench.state("seconds of linkage", bench.timings["linkage"].median, at_most=GOAL)
    bench.report(chosen)


if __name__ == "__main__":
    main()
