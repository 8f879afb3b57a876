"""What the rows of a class have in common, so that it is hashed once per class and not once per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

LABELS = "l0"
"""The alias of the table of labels."""


@dataclass(frozen=True)
class ClassCells:
    """The cells that a row has from its class alone.

    ``cells`` are expressions over the table ``labels`` by their place in the release. ``rows`` makes the
    query of the other cells, in no order, behind one column of another relation of labels: its arguments are
    both. Where rows are ``counted``, those that are alike come once, and their number is the second column.
    ``others`` are those cells over the coded rows ``t``, and ``sums`` makes the query of the rows ``n`` of
    each class ``q0`` and of ``b``, an aggregate over those cells, which is its argument.
    """

    labels: str
    cells: dict[int, str]
    rows: Callable[[str, str], str]
    others: Sequence[str]
    sums: Callable[[str], str]
    counted: bool = False
