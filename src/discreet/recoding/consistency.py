"""Whether a recoding by classes says what its frequency set says: checked before anything is applied."""

from __future__ import annotations

import numpy as np

from discreet.errors import InputError, InternalError
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.recoding.shown_classes import splits
from discreet.recoding.stored_classes import CountedTable


def check_recoding(recoding: ClassRecoding, counted: CountedTable) -> None:
    """Raise ``InternalError`` where parts are not the table's rows, or cells do not hold their rows.

    Each row type's parts must add up to its rows, parts must ascend, each class must show a cell that there
    is, and every cell must cover the leaves of the rows that show it. O(parts · quasi-identifiers).

    ``InputError`` where subjects have several rows and equal rows are divided over classes: which rows a
    person has in which class would be a guess.
    """
    if not isinstance(counted, FrequencySet):
        raise InternalError("a recoding of row types was applied without their frequency set")
    frequency_set = counted
    several = frequency_set.subjects is not None and frequency_set.subjects.size != frequency_set.rows
    if several and splits(recoding):
        raise InputError(
            f"the {recoding.model} recoding divides equal rows over classes, which needs one row per "
            f"subject, but subjects have several of the {frequency_set.rows:,} rows",
            allowed="a table with one row per subject, or a recoding that keeps equal rows together",
            advice="Choose another model, or bring each subject's rows into one.",
        )
    if recoding.attributes != frequency_set.attributes:
        raise InputError(
            f"the recoding is of {', '.join(recoding.attributes)}",
            allowed=", ".join(frequency_set.attributes),
        )
    faults = [
        (_parts_are_off(recoding, frequency_set), "its parts are not the rows of the table"),
        (_classes_are_off(recoding), "a class shows a cell that is not there"),
    ]
    fault = next((text for wrong, text in faults if wrong), None) or _uncovered(recoding, frequency_set)
    if fault is not None:
        raise InternalError(
            f"the {recoding.model} recoding contradicts itself: {fault}",
            advice="Nothing was published. Please report this, with the spec if you may show it.",
        )


def _parts_are_off(recoding: ClassRecoding, frequency_set: FrequencySet) -> bool:
    types, classes, rows = recoding.row_types, recoding.classes, recoding.rows
    number = frequency_set.row_types
    if not len(types) == len(classes) == len(rows) or (rows < 1).any():
        return True
    if ((types < 0) | (types >= number)).any():
        return True
    steps, same = np.diff(types), np.diff(types) == 0
    if (steps < 0).any() or (np.diff(classes)[same] <= 0).any():
        return True
    counted = np.zeros(number, dtype=np.int64)
    np.add.at(counted, types, rows)
    return not np.array_equal(counted, frequency_set.counts)


def _classes_are_off(recoding: ClassRecoding) -> bool:
    shape = (recoding.class_count, len(recoding.attributes))
    if recoding.shown.shape != shape or len(recoding.cells) != len(recoding.attributes):
        return True
    if ((recoding.classes < SUPPRESSED) | (recoding.classes >= recoding.class_count)).any():
        return True
    sizes = np.array([len(cells.labels) for cells in recoding.cells], dtype=np.int64)
    return bool(((recoding.shown < 0) | (recoding.shown >= sizes)).any())


def _uncovered(recoding: ClassRecoding, frequency_set: FrequencySet) -> str | None:
    """The attribute of which a row shows a cell that does not cover its leaf; None where there is none."""
    kept = recoding.classes != SUPPRESSED
    types, classes = recoding.row_types[kept], recoding.classes[kept]
    for i, cells in enumerate(recoding.cells):
        codes = frequency_set.codes[types, i]
        if not cells.cover(recoding.shown[classes, i], codes).all():
            return f"a cell of '{recoding.attributes[i]}' does not cover a row that shows it"
    return None
