"""Precision: how far below their tops the attributes stay (Sweeney's Prec; science 1f)."""

from __future__ import annotations

from discreet.model.lattice import Lattice, LatticeNode


def precision_of_node(lattice: Lattice, node: LatticeNode) -> float:
    """1 minus the mean share of its hierarchy that each attribute has climbed: 1 at the bottom, 0 at the top.

    It looks at levels alone, not at the data. An attribute of height 0 has nothing to climb and counts as 0.
    """
    shares = [level / height if height else 0.0 for level, height in zip(node, lattice.heights, strict=True)]
    return 1.0 - sum(shares) / max(len(shares), 1)
