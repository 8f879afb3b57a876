"""Lists of words for headings and values, read from TOML files of this package on first use.

The files are data: ``heading_words.toml`` has words of column headings, ``name_words.toml`` names of persons
and words that occur in no name, each list of names with its source.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read_word_lists(file: str) -> dict[str, Any]:
    """Read the tables of a file of this package."""
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


@cache
def words_of_headings(table: str, key: str) -> dict[str, None]:
    """Return the words of a list in ``heading_words.toml``, in order."""
    return dict.fromkeys(read_word_lists("heading_words.toml")[table][key].split())
