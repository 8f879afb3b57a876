"""Files that DuckDB does not write itself: its rows go through a library of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.engines.files.statistics_kinds import WRITTEN, Codebook

Run = Callable[[str, Callable[[Any], Any]], Any]

OTHER_FORMATS = ("sqlite", *WRITTEN)


def write_other(
    run: Run, query: str, path: Path, file_format: str, columns: Sequence[str] | None, codebook: Codebook
) -> None:
    """Write a query's result, in its order, to the empty file that is there; ``run`` runs a statement.

    The order of rows must be kept until it ends: those of DESCRIBE are the columns.
    """
    described = run(f"DESCRIBE {query}", lambda result: result.fetchall())
    if file_format == "sqlite":
        from discreet.engines.files import sqlite_file

        release = sqlite_file.release_of(query, described, columns)
        run(release.query, lambda result: sqlite_file.write_release(path, release, result.fetchmany))
        return
    from discreet.engines.files import statistics_release

    names = [str(row[0]) for row in described] if columns is None else columns
    typed = list(zip(names, (str(row[1]) for row in described), strict=True))
    texts = run(statistics_release.texts_of(query, len(typed)), lambda result: result.fetchnumpy())
    statistics_release.write_release(path, file_format, typed, texts, codebook)
