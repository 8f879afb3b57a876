"""What a search asks of a class: is it good enough to be published?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class ClassTest(Protocol):
    """A requirement that is monotone under merging: where two classes meet it, their union does.

    A requirement of monotone criteria is one (``model.validity``); a search may be given any other.
    """

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether a class of ``rows`` rows meets it.

        ``values[i]`` holds the class's rows by code of the frequency set's i-th sensitive attribute, NULL
        left out; shape ``(size,)`` of its ``ValueSets``.
        """
