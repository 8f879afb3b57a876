"""What a reproduction runs with: where the data lies, how much is asked, who is told of progress."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.opening import open as open_table
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.table import Table


@dataclass(frozen=True)
class Context:
    """``data`` is the folder of real tables; ``quick`` asks for fewer rows, sizes and repetitions."""

    data: Path
    settings: Settings
    quick: bool = False
    reporter: Reporter = field(default=SILENT)
    scratch: Path = field(default_factory=Path)

    def file(self, *parts: str) -> Path:
        """A file or folder of the data; ``InputError`` where it is missing."""
        path = self.data.joinpath(*parts)
        if not path.exists():
            raise InputError(
                f"{'/'.join(parts)} is not in the data folder {self.data}",
                allowed="the folder that holds adult/adult_30162.csv and its hierarchies",
                advice="Name it by --data, or by the environment variable DISCREET_DATA.",
            )
        return path

    def adult(
        self, rows: str, hierarchies: str, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()
    ) -> Table:
        """Adult with ``rows`` rows (``30162``, ``45222``) and one of its folders of hierarchies."""
        folder = self.file("adult", f"hierarchies_{hierarchies}")
        attributes: dict[str, Any] = {
            name: {"role": "quasi-identifier", "hierarchy": str((folder / f"{name}.csv").absolute())}
            for name in quasi_identifiers
        }
        attributes |= {name: {"role": "sensitive"} for name in sensitive}
        return self.table(self.file("adult", f"adult_{rows}.csv"), attributes)

    def values(self, rows: str, names: Sequence[str]) -> dict[str, int]:
        """The number of distinct values of columns of Adult with ``rows`` rows."""
        attributes = {name: {"role": "quasi-identifier"} for name in names}
        table = self.table(self.file("adult", f"adult_{rows}.csv"), attributes).frequency_set
        return {hierarchy.attribute: len(hierarchy.leaves) for hierarchy in table.hierarchies}

    def table(self, path: Path, attributes: dict[str, Any]) -> Table:
        """Any table, whose attributes are given as in a spec."""
        document = {"attributes": attributes}
        return open_table(path.absolute(), document, settings=self.settings, reporter=self.reporter)


def data_folder(given: Path | None) -> Path:
    """The folder of real data: what was given, else ``DISCREET_DATA``, else ``../shared/data``."""
    return given or Path(os.environ.get("DISCREET_DATA") or Path("..", "shared", "data"))
