"""Compiled comparison of record pairs: agreement patterns (Jaro 1989, Winkler 1990) and best partners.

Pairs are visited by blocking passes; a pair of an earlier pass is skipped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]


class RecordFields(NamedTuple):
    """Fields of both sides.

    ``left`` and ``right`` are codes, shape ``(records, fields)``, -1 for missing. Field j has a table with
    the entry ``[a, b]`` at ``tables[begins[j] + a * widths[j] + b]`` if ``widths[j]`` is not 0. Else both
    sides share codes of texts; text c is ``letters[texts[begins[j] + c]:texts[begins[j] + c + 1]]``.
    """

    left: Array
    right: Array
    begins: Array
    widths: Array
    tables: Array
    texts: Array
    letters: Array
    close: float


class BlockingPasses(NamedTuple):
    """Blocks by pass of both sides' records, shape ``(passes, records)``, -1 for none.

    The right side's records of block b are ``members[pass, starts[pass, b]:starts[pass, b + 1]]``.
    """

    left: Array
    right: Array
    starts: Array
    members: Array


@compiled
def jaro_winkler(a: Array, b: Array) -> float:
    """Return the similarity of two texts as arrays of up to 62 letters, from 0 to 1."""
    long_a, long_b = len(a), len(b)
    if long_a == 0 or long_b == 0:
        return 1.0 if long_a == long_b else 0.0
    window = max(max(long_a, long_b) // 2 - 1, 0)
    # Used letters are bits of one integer, hence at most 62 letters.
    used_a, used_b, matches = np.int64(0), np.int64(0), 0
    for i in range(long_a):
        for j in range(max(0, i - window), min(long_b, i + window + 1)):
            if a[i] == b[j] and used_b >> j & 1 == 0:
                used_a |= np.int64(1) << i
                used_b |= np.int64(1) << j
                matches += 1
                break
    if matches == 0:
        return 0.0
    moved, j = 0, 0
    for i in range(long_a):
        if used_a >> i & 1:
            while used_b >> j & 1 == 0:
                j += 1
            if a[i] != b[j]:
                moved += 1
            j += 1
    found = (matches / long_a + matches / long_b + (matches - moved / 2) / matches) / 3
    same = 0
    while same < min(4, long_a, long_b) and a[same] == b[same]:
        same += 1
    return found + same * 0.1 * (1 - found)


@compiled
def find_pattern(fields: RecordFields, left: int, right: int) -> int:
    """Return the agreement pattern of a pair: a digit to base 4 per field."""
    result = 0
    for j in range(fields.left.shape[1]):
        a, b = fields.left[left, j], fields.right[right, j]
        level = 0
        if a >= 0 and b >= 0:
            if fields.widths[j] > 0:
                level = fields.tables[fields.begins[j] + a * fields.widths[j] + b]
            elif a == b:
                level = 3
            else:
                first, other = fields.begins[j] + a, fields.begins[j] + b
                near = jaro_winkler(
                    fields.letters[fields.texts[first] : fields.texts[first + 1]],
                    fields.letters[fields.texts[other] : fields.texts[other + 1]],
                )
                level = 2 if near >= fields.close else 1
        result = 4 * result + level
    return result


@compiled
def _seen_before(passes: BlockingPasses, number: int, left: int, right: int) -> bool:
    """Return whether an earlier pass compared the pair."""
    for earlier in range(number):
        if passes.left[earlier, left] >= 0 and passes.left[earlier, left] == passes.right[earlier, right]:
            return True
    return False


@compiled
def count_patterns(
    fields: RecordFields, passes: BlockingPasses, left_rows: Array, right_rows: Array, counts: Array
) -> None:
    """Add the pairs of rows to ``counts``, by pattern."""
    for number in range(len(passes.left)):
        for left in range(len(left_rows)):
            block = passes.left[number, left]
            if block < 0:
                continue
            for at in range(passes.starts[number, block], passes.starts[number, block + 1]):
                right = passes.members[number, at]
                if not _seen_before(passes, number, left, right):
                    counts[find_pattern(fields, left, right)] += left_rows[left] * right_rows[right]


@compiled
def find_best_partners(
    fields: RecordFields,
    passes: BlockingPasses,
    right_rows: Array,
    weights: Array,
    best: Array,
    tied: Array,
    odds: Array,
) -> None:
    """Find for each left record its best weight, the rows with that weight, and the sum of 2^weight."""
    for number in range(len(passes.left)):
        for left in range(len(best)):
            block = passes.left[number, left]
            if block < 0:
                continue
            for at in range(passes.starts[number, block], passes.starts[number, block + 1]):
                right = passes.members[number, at]
                if _seen_before(passes, number, left, right):
                    continue
                weight = weights[find_pattern(fields, left, right)]
                odds[left] += right_rows[right] * 2.0**weight
                if weight > best[left]:
                    best[left], tied[left] = weight, right_rows[right]
                elif weight == best[left]:
                    tied[left] += right_rows[right]
