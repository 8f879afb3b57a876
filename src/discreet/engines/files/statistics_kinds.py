"""The kinds of files of SPSS, Stata and SAS, and what such a file says of its columns.

What reads and writes them is loaded where there is one (``statistics_file``, ``statistics_release``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

KINDS = {"sav": "SPSS", "zsav": "SPSS", "dta": "Stata", "sas7bdat": "SAS", "xpt": "SAS"}
"""The endings, which are the formats' names, and the programs whose files they are."""

WRITTEN = ("sav", "zsav", "dta", "xpt")
"""The formats that are written."""


@dataclass(frozen=True)
class Codebook:
    """What a file says of its columns: what it calls them, and the labels of values by the text of the code.

    ``coded`` says that the codes are the values that are read.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    coded: bool = False

    def of_values_in(self, columns: frozenset[str]) -> Codebook:
        """The same with the labels of values in some columns alone."""
        return replace(self, labels={name: self.labels[name] for name in self.labels if name in columns})
