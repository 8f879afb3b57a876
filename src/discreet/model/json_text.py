"""The reader of JSON that others wrote: manifests, ledgers, locks, lists of pseudonyms, descriptions, logs.

The standard library's reader raises other errors where a text is nested deeply or does not fit the memory.
Here each of these is a ``ValueError``, which every caller turns into an error that names the file. What is
read is never nested so deeply that a later walk over it fails.
"""

from __future__ import annotations

import json
from typing import Any

MOST_LEVELS = 100
"""The levels of arrays and objects that a text may have; those that discreet writes have about ten."""
_DEEP = f"arrays and objects are nested more than {MOST_LEVELS} levels deep"


def json_of(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: no JSON, more than ``MOST_LEVELS`` levels, a number of thousands of digits, or more than
            the memory holds.
    """
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(_DEEP) from None
    except MemoryError:
        raise ValueError("it does not fit into memory") from None
    _check_levels(found)
    return found


def _check_levels(value: object) -> None:
    """Check the depth level by level, so that the check itself needs no recursion."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            each
            for item in level
            if isinstance(item, dict | list)
            for each in (item.values() if isinstance(item, dict) else item)
            if isinstance(each, dict | list)
        ]
        if not level:
            return
    raise ValueError(_DEEP)
