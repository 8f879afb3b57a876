"""Loss: the share of each attribute's detail that a recoding removes (ARX's Loss, its default cost).

For one attribute let *m* be the leaves of the hierarchy under a row's published value and *D* all leaves;
then ``x = (mean over the rows of m/D - 1/D) / (1 - 1/D)``: 0 where every row keeps its leaf, 1 where every
row shows the top. A weight, as a share of the largest one, multiplies an attribute's x, and with d attributes
``Loss = (product of (1 + x)) ** (1/d) - 1``.

Without suppression x depends only on the attribute's level. A table of a few numbers per attribute, computed
once from the frequency set, therefore gives every node's loss: a product over tables and one final root. It
is a lower bound of the loss with suppression, which counts m/D = 1 for each suppressed row.

NULL below the top is a value of its own (m = 1) and is part of the top value there. A hierarchy of one leaf
loses nothing (x = 0), nor does a table without rows.

Cost: one pass over the row types per attribute, then one product per node, vectorised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode


@dataclass(frozen=True, eq=False)
class LossTables:
    """Weighted x of every attribute by level: ``tables[i][level]``, in the lattice's attribute order."""

    attributes: tuple[str, ...]
    tables: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, frequency_set: FrequencySet, weights: Mapping[str, float] | None = None) -> LossTables:
        """Build the tables of a frequency set.

        An attribute without a weight has weight 1; the largest weight counts as 1.

        Raises ``InputError`` for a weight that is negative or not finite, or of an attribute that is not a
        quasi-identifier.
        """
        factors = relative_weights(weights, frequency_set.attributes)
        return cls(
            attributes=frequency_set.attributes,
            tables=tuple(
                level_losses(hierarchy, rows) * factor
                for hierarchy, rows, factor in zip(
                    frequency_set.hierarchies, frequency_set.rows_by_code, factors, strict=True
                )
            ),
        )

    def loss_of_node(self, node: LatticeNode) -> float:
        """Return the loss of one node, with no row suppressed."""
        factors = (1.0 + float(table[level]) for table, level in zip(self.tables, node, strict=True))
        return float(prod(factors) ** (1.0 / max(len(self.tables), 1))) - 1.0

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """Loss of every node with no row suppressed, shape ``(nodes,)``, mixed-radix order, read-only."""
        products: NDArray[np.float64] = np.ones(1)
        for table in self.tables:
            products = np.multiply.outer(products, 1.0 + table).ravel()
        losses = products ** (1.0 / max(len(self.tables), 1)) - 1.0
        losses.flags.writeable = False
        return losses


def level_losses(hierarchy: GeneralizationHierarchy, rows_by_code: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the unweighted x of one attribute at each level, shape ``(height + 1,)``.

    ``rows_by_code`` contains the rows of each leaf code, NULL last. With n rows, x = (sum of m - n) /
    (n (D - 1)): integers until one division, so equal recodings have losses that are equal to the last bit.
    """
    leaves, rows = len(hierarchy.leaves), int(rows_by_code.sum())
    if leaves <= 1 or rows == 0:
        return np.zeros(hierarchy.height + 1)
    covered = [int((leaf_counts(hierarchy, h) * rows_by_code).sum()) for h in range(hierarchy.height + 1)]
    return np.array([(each - rows) / (rows * (leaves - 1)) for each in covered])


def leaf_counts(hierarchy: GeneralizationHierarchy, level: int) -> NDArray[np.int64]:
    """Count the leaves under each leaf code's value at a level, NULL last, shape ``(leaves + 1,)``.

    NULL is a value of its own below the top level and part of the top value there.
    """
    leaves = len(hierarchy.leaves)
    if level == hierarchy.height:
        return np.full(leaves + 1, leaves, dtype=np.int64)
    ancestors = hierarchy.ancestors[level]
    return np.append(np.bincount(ancestors)[ancestors], 1).astype(np.int64)


def relative_weights(weights: Mapping[str, float] | None, attributes: tuple[str, ...]) -> tuple[float, ...]:
    """Return each attribute's weight divided by the largest, or 1 for each if all are 0 (as in ARX).

    Proportional weights therefore have the same effect, and no cost leaves its bounds. An attribute without a
    weight has weight 1 before the division. Raises ``InputError`` as ``check_weights`` does.
    """
    factors = dict(weights or {})
    check_weights(factors, attributes)
    found = [float(factors.get(name, 1.0)) for name in attributes]
    largest = max(found, default=0.0)
    return tuple(weight / largest for weight in found) if largest else tuple(1.0 for _ in found)


def check_weights(weights: Mapping[str, float], attributes: tuple[str, ...]) -> None:
    """Raise ``InputError`` for a weight that is negative or not finite, or not of one of ``attributes``."""
    for name, weight in weights.items():
        if name not in attributes:
            raise InputError(
                f"a weight was given for '{name}', which is not a quasi-identifier",
                allowed=", ".join(attributes),
            )
        if not isfinite(weight) or weight < 0:
            raise InputError(f"weight {weight} of '{name}'", allowed="a number of at least 0")
