"""The names of a source's columns as its spec reads them: with ``strip``, without the blanks around them."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.files.delimited_text import check_names
from discreet.model.starred_cells import BLANKS
from discreet.model.table_spec import SourceSpec


def read_names(source: SourceSpec, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a source's columns in order.

    ``InputError`` where ``strip`` of the source makes two names alike.

    >>> read_names(SourceSpec(strip=True), ("age", " sex", "zip\\u200b"))
    ('age', 'sex', 'zip')
    """
    if not source.strip:
        return tuple(names)
    stripped = tuple(name.strip(BLANKS) for name in names)
    check_names(stripped, source.label)
    return stripped


def padded_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that have blanks around them, no-break and zero-width ones too."""
    return tuple(name for name in names if name != name.strip(BLANKS))
