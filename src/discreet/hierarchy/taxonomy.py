"""Hierarchies of names: groups within groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.group_labels import MOST_MEMBERS
from discreet.hierarchy.messages import shown
from discreet.hierarchy.table import check_coverage, hierarchy_from_rows
from discreet.model.group_labels import set_label
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, Given

_ALLOWED = 'Group = ["leaf", "leaf"], Group = {Subgroup = ["leaf"]}, or a list that mixes leaves and groups'
_PLACE = " > "


@dataclass(frozen=True)
class Group:
    """A named group and what it holds: leaves (texts) and groups."""

    name: str
    members: tuple[str | Group, ...]


@dataclass(frozen=True)
class TaxonomyHierarchy:
    """Groups within groups under ``*``. A leaf that lies less deep than others is repeated upwards."""

    members: tuple[str | Group, ...]
    from_data: ClassVar[bool] = False
    """The names were given."""
    given: ClassVar[Given] = Given.HIERARCHY
    """All of it."""

    @classmethod
    def of(cls, tree: object) -> TaxonomyHierarchy:
        """From nested tables and lists.

        A table maps names of groups to what they hold. A list holds leaves, tables, and lists; a list in a
        list is a group without a name of its own, which is called by its leaves: ``{a, b}``. ``InputError``
        for anything else, and for an empty group.
        """
        return cls(_members(tree, TOP))

    @property
    def origin(self) -> str:
        """``taxonomy``."""
        return "taxonomy"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The taxonomy's hierarchy; ``InputError`` where it is wrong or misses a value."""
        paths = list(_paths(self.members, ()))
        depth = max(len(path) for path in paths) if paths else 1
        rows = []
        for *groups, leaf in paths:
            repeats = depth - len(groups) - 1
            rows.append((leaf, *[leaf] * repeats, *reversed(groups), TOP))
        hierarchy = hierarchy_from_rows(
            attribute,
            rows,
            origin=self.origin,
            where=lambda row: f"the taxonomy of {shown(attribute)}, {_PLACE.join((TOP, *paths[row]))}",
        )
        check_coverage(hierarchy, values)
        return hierarchy


def _paths(members: Sequence[str | Group], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The path to each leaf, from the outermost group to the leaf."""
    for member in members:
        if isinstance(member, Group):
            yield from _paths(member.members, (*above, member.name))
        else:
            yield (*above, member)


def _members(content: object, place: str) -> tuple[str | Group, ...]:
    found: tuple[str | Group, ...]
    if isinstance(content, Mapping):
        found = _groups(content, place)
    elif isinstance(content, Sequence) and not isinstance(content, str | bytes):
        found = tuple(member for item in content for member in _items(item, place))
    else:
        raise InputError(f"taxonomy, under {place}: {shown(content)} is no group", allowed=_ALLOWED)
    if not found:
        raise InputError(
            f"taxonomy, under {place}: an empty group", advice="Remove it, or write it as a leaf in a list."
        )
    return found


def _groups(content: Mapping[object, object], place: str) -> tuple[Group, ...]:
    return tuple(Group(str(name), _members(held, f"{place}{_PLACE}{name}")) for name, held in content.items())


def _items(item: object, place: str) -> tuple[str | Group, ...]:
    if isinstance(item, str):
        return (item,)
    if isinstance(item, Mapping):
        return _groups(item, place)
    if isinstance(item, Sequence) and not isinstance(item, bytes):
        members = _members(item, place)
        return (Group(set_label([path[-1] for path in _paths(members, ())], MOST_MEMBERS), members),)
    raise InputError(
        f"taxonomy, under {place}: {shown(item)} is no text",
        allowed=_ALLOWED,
        advice="Write numbers as texts in quotes, as cells are matched as texts.",
    )
