"""Whether the classes that a node publishes under one requirement meet another one."""

from __future__ import annotations

import numpy as np

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


def published_classes_meet(
    table: FrequencySet, node: LatticeNode, published: Requirement, asked: Requirement
) -> bool | None:
    """Return whether every class that a node publishes under one requirement meets another.

    Args:
        table: The frequency set.
        node: The levels.
        published: The requirement whose failing classes are suppressed.
        asked: The requirement to check on the others.

    Returns:
        None where ``asked`` counts a population, which is not known of a part of the classes.

    Raises:
        InputError: A criterion is of an attribute that is not sensitive.
    """
    if asked == published:
        return True
    classes = roll_up(table, node)
    own, other = FactCounter.of(table, published), FactCounter.of(table, asked)
    if other.of_population:
        return None
    kept = ~suppressed(own.bound, own.at_node(classes))
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    fails = other.suppressed(number[classes.class_of], int(kept.sum()), cells=classes.codes[kept])
    return not bool(fails.any())
