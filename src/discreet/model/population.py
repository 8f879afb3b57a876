"""The population beside a table: the people among whom those of the table are.

It lives apart from the table's row types, with row types of its own. Whoever reads a frequency set counts on
rows in each row type (kernels, searches, models, measures), and none of them may take somebody for a row of
the table who is not in it. What asks for the population has it here: at one node by ``frequency.population``,
at all of them by ``joined_population``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Population:
    """Distinct combinations of quasi-identifier values in a population, with their people.

    ``codes`` has shape ``(row types, quasi-identifiers)`` and holds leaf codes of the frequency set's
    hierarchies, which are built of its values too; ``counts`` holds people, at least as many in each
    combination as the table has rows. ``dropped`` are those that the NULL policy left out.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    dropped: int = 0

    @property
    def people(self) -> int:
        """How many there are, after the NULL policy."""
        return int(self.counts.sum())
