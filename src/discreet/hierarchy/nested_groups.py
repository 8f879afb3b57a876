"""Taxonomies: hierarchies of named groups within groups, from nested tables and lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.level_table import check_coverage, hierarchy_from_rows
from discreet.hierarchy.messages import quote_value
from discreet.hierarchy.ordered_values import MOST_MEMBERS
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, PublicPart
from discreet.model.published_cells import set_label

_ALLOWED = 'Group = ["leaf", "leaf"], Group = {Subgroup = ["leaf"]}, or a list that mixes leaves and groups'
_PATH_SEPARATOR = " > "


@dataclass(frozen=True)
class TaxonomyGroup:
    """A named group and its members: leaves (texts) and groups."""

    name: str
    members: tuple[str | TaxonomyGroup, ...]


@dataclass(frozen=True)
class TaxonomyHierarchy:
    """Groups within groups under ``*``. A leaf that is less deep than others is repeated upwards."""

    members: tuple[str | TaxonomyGroup, ...]
    from_data: ClassVar[bool] = False
    """False: the names are given."""
    public_part: ClassVar[PublicPart] = PublicPart.HIERARCHY
    """The whole hierarchy is public."""

    @classmethod
    def of(cls, tree: object) -> TaxonomyHierarchy:
        """Build from nested tables and lists.

        A table maps names of groups to their members. A list contains leaves, tables, and lists; a list in a
        list is a group without a name of its own, which is named by its leaves: ``{a, b}``. Raises
        ``InputError`` for anything else, and for an empty group.
        """
        return cls(_parse_members(tree, TOP))

    @property
    def origin(self) -> str:
        """Short description: ``taxonomy``."""
        return "taxonomy"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the taxonomy's hierarchy; raise ``InputError`` if it is wrong or misses a value."""
        paths = list(_leaf_paths(self.members, ()))
        depth = max(len(path) for path in paths) if paths else 1
        rows = []
        for *groups, leaf in paths:
            repeats = depth - len(groups) - 1
            rows.append((leaf, *[leaf] * repeats, *reversed(groups), TOP))
        hierarchy = hierarchy_from_rows(
            attribute,
            rows,
            origin=self.origin,
            where=lambda row: (
                f"the taxonomy of {quote_value(attribute)}, {_PATH_SEPARATOR.join((TOP, *paths[row]))}"
            ),
        )
        check_coverage(hierarchy, values)
        return hierarchy


def _leaf_paths(members: Sequence[str | TaxonomyGroup], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path to each leaf, from the outermost group to the leaf."""
    for member in members:
        if isinstance(member, TaxonomyGroup):
            yield from _leaf_paths(member.members, (*above, member.name))
        else:
            yield (*above, member)


def _parse_members(content: object, group_path: str) -> tuple[str | TaxonomyGroup, ...]:
    result: tuple[str | TaxonomyGroup, ...]
    if isinstance(content, Mapping):
        result = _parse_groups(content, group_path)
    elif isinstance(content, Sequence) and not isinstance(content, str | bytes):
        result = tuple(member for item in content for member in _parse_item(item, group_path))
    else:
        raise InputError(
            f"taxonomy, under {group_path}: {quote_value(content)} is not a group", allowed=_ALLOWED
        )
    if not result:
        raise InputError(
            f"taxonomy, under {group_path}: an empty group",
            advice="Remove it, or write it as a leaf in a list.",
        )
    return result


def _parse_groups(content: Mapping[object, object], group_path: str) -> tuple[TaxonomyGroup, ...]:
    return tuple(
        TaxonomyGroup(str(name), _parse_members(children, f"{group_path}{_PATH_SEPARATOR}{name}"))
        for name, children in content.items()
    )


def _parse_item(item: object, group_path: str) -> tuple[str | TaxonomyGroup, ...]:
    if isinstance(item, str):
        return (item,)
    if isinstance(item, Mapping):
        return _parse_groups(item, group_path)
    if isinstance(item, Sequence) and not isinstance(item, bytes):
        members = _parse_members(item, group_path)
        return (
            TaxonomyGroup(set_label([path[-1] for path in _leaf_paths(members, ())], MOST_MEMBERS), members),
        )
    raise InputError(
        f"taxonomy, under {group_path}: {quote_value(item)} is not a text",
        allowed=_ALLOWED,
        advice="Write numbers as texts in quotes, as cells are matched as texts.",
    )
