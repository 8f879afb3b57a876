"""Which row types a node publishes under a requirement, and which it leaves out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


def kept_types(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> NDArray[np.bool_]:
    """Whether each row type's class is published, shape ``(row types,)``.

    ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one roll-up of the row types.
    """
    classes = roll_up(table, node)
    counter = FactCounter.of(table, requirement)
    found: NDArray[np.bool_] = ~suppressed(counter.bound, counter.at_node(classes))[classes.class_of]
    return found
