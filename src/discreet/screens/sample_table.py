"""A generated table to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.sample.census import write_census
from discreet.sample.spec import census_document

SAMPLE_NAME = "census.csv"
"""The file of the generated census: 30,000 invented people."""


def write_sample_table(folder: Path, *, path: str) -> dict[str, Any]:
    """Write the generated census into ``folder`` and return its spec's mapping, whose source is ``path``.

    A census that is there already is written anew; it is always the same.
    """
    target = folder / SAMPLE_NAME
    target.unlink(missing_ok=True)
    write_census(target)
    target.chmod(0o600)
    return census_document(path)
