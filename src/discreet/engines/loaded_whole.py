"""A table that is loaded in parts, for engines that put nothing behind rows that they have."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.engines.base import Columns, Engine


class LoadedWhole:
    """The part of an ``Engine`` that loads parts together: they are held at a time."""

    def load_parts(self: Engine, name: str, parts: Iterable[Columns]) -> None:
        """Create a temporary table of arrays, part by part (see ``Engine``)."""
        held = list(parts)
        self.load_table(name, {column: np.concatenate([part[column] for part in held]) for column in held[0]})
