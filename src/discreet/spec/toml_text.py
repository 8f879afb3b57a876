"""The reader of TOML that users write: specs, workloads, options, words for reports."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

MOST_PARTS = 100
"""The parts of a dotted key; the time and memory of the standard library's reader grow by their square."""
_LONG_KEY = re.compile(rf"(?:[\w\"'-]+\.){{{MOST_PARTS}}}")


def toml_of(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the document of a TOML text; ``parse_float`` makes its decimal numbers.

    Raises:
        ValueError: no TOML (``tomllib.TOMLDecodeError``, with the place), values that are nested too deeply,
            a number of thousands of digits, or a key of more than ``MOST_PARTS`` parts.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("values are nested too deeply") from None
