"""Published classes in which everyone has the same sensitive value: who finds a person's class learns it."""

from __future__ import annotations

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


def homogeneous_classes(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> dict[str, int]:
    """Count the classes of a node that are published with at most one value of a sensitive attribute.

    Args:
        table: The frequency set, with the values of its sensitive attributes.
        node: The levels.
        requirement: What a class must meet to be published.

    Returns:
        The number of such classes by sensitive attribute. NULL is no value: a class of ``flu`` and NULL has
        one, and a class of NULL only has none.

    Raises:
        InputError: The requirement has a criterion of an attribute that is not sensitive.

    Cost: one roll-up of the row types, and one pass over the sensitive values.
    """
    classes = roll_up(table, node)
    counter = FactCounter.of(table, requirement, exact=True)
    facts = counter.at_node(classes)
    published = ~suppressed(counter.bound, facts) & (facts.sizes > 0)
    return {
        name: int((published & (values.distinct <= 1)).sum())
        for name, values in zip(table.sensitive_attributes, facts.values, strict=True)
        if values is not None
    }
