"""Values that stay as they are below the top, beside those that a builder generalizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.hierarchy.table import hierarchy_from_columns
from discreet.hierarchy.value_order import in_order
from discreet.model.hierarchy import TOP, GeneralizationHierarchy


def hierarchy_with_others(
    attribute: str,
    columns: Sequence[Sequence[str]],
    others: Iterable[str],
    *,
    origin: str,
    like: Sequence[str],
    advice: str,
    from_data: bool = False,
) -> GeneralizationHierarchy:
    """The hierarchy of columns (leaves first, without the top), with others below, each as it is up to ``*``.

    ``like`` says what a value of each level above the leaves is; ``InputError``, with the advice, where one
    of the others reads like one.
    """
    apart = in_order(set(others))
    for level, what in zip(columns[1:], like, strict=True):
        clash = set(apart).intersection(level)
        if clash:
            raise InputError(
                f"attribute {shown(attribute)}: {shown(min(clash))} under others reads like {what}",
                advice=advice,
            )
    whole = [[*column, *apart] for column in columns]
    return hierarchy_from_columns(
        attribute, [*whole, [TOP] * len(whole[0])], origin=origin, from_data=from_data
    )
