"""The sides of a table of counts: an attribute at a level, with its labels where these are public.

Nothing here looks at a row. Where the values of an attribute are public (the spec's ``domain``), so are all
labels of a level, and a table of counts has a cell for each, whether a row falls there or not. Elsewhere a
label is made of one value alone, so that no other row has a say in it. What has no label, NULL included, is
counted as ``OTHER``: whether there is such a row is then as private as any count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.errors import InputError
from discreet.hierarchy.flat import FlatHierarchy
from discreet.model.closest import closest
from discreet.model.hierarchy import GeneralizationHierarchy, Given, HierarchySource
from discreet.model.table_spec import Attribute, AttributeRole, TableSpec

OTHER = "(other)"
"""The label of NULL, and of values that have no other."""


@dataclass(frozen=True, eq=False)
class Axis:
    """An attribute at a level.

    ``hierarchy`` is the one of its public values, None where only the rows tell them; ``source`` makes labels
    of single values there.
    """

    attribute: str
    level: int
    source: HierarchySource
    hierarchy: GeneralizationHierarchy | None
    values: tuple[str, ...] = ()

    @property
    def public(self) -> bool:
        """Whether its labels are known without a look at a row."""
        return self.hierarchy is not None

    @cached_property
    def places(self) -> dict[str, int]:
        """The place in ``labels`` of each public value; ``OTHER`` has the last place."""
        assert self.hierarchy is not None
        codes = [self.hierarchy.code_of_leaf[value] for value in self.values]
        ancestors = [int(self.hierarchy.ancestors[self.level][code]) for code in codes]
        place_of = {ancestor: place for place, ancestor in enumerate(sorted(set(ancestors)))}
        return {value: place_of[ancestor] for value, ancestor in zip(self.values, ancestors, strict=True)}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The public labels in the hierarchy's order, ``OTHER`` last; ``InputError`` for one of that name."""
        assert self.hierarchy is not None
        level = self.hierarchy.ancestors[self.level]
        ancestors = {int(level[self.hierarchy.code_of_leaf[value]]) for value in self.values}
        labels = tuple(self.hierarchy.labels[self.level][ancestor] for ancestor in sorted(ancestors))
        if OTHER in labels:
            raise InputError(
                f"attribute '{self.attribute}' has the label '{OTHER}' at level {self.level}",
                allowed=f"other labels: '{OTHER}' counts NULL, and what is not in the domain",
            )
        return (*labels, OTHER)

    def label(self, value: str | None) -> str:
        """The label of one value of an axis that is not public: a function of this value alone."""
        if value is None or self.level == 0:
            return OTHER if value is None else value
        try:
            known = () if self.source.given is Given.HIERARCHY else (value,)
            hierarchy = self._whole if not known else self.source.build(self.attribute, known)
        except InputError:
            return OTHER
        code = hierarchy.code_of_leaf.get(value)
        if code is None or self.level > hierarchy.height:
            return OTHER
        return hierarchy.labels[self.level][int(hierarchy.ancestors[self.level][code])]

    @cached_property
    def _whole(self) -> GeneralizationHierarchy:
        """The hierarchy of a source that lists its leaves."""
        return self.source.build(self.attribute, ())


def axes_of(spec: TableSpec, levels: Sequence[tuple[str, int]]) -> tuple[Axis, ...]:
    """The axes of attributes at levels, in order; ``InputError`` for what the spec does not allow."""
    return tuple(_axis(spec, name, level) for name, level in levels)


def highest_level(attribute: Attribute) -> int:
    """The highest level of a quasi-identifier that has an axis; ``InputError`` for a broken hierarchy."""
    source = attribute.hierarchy or FlatHierarchy()
    if attribute.domain is not None:
        return source.build(attribute.name, attribute.domain.values or ()).height
    return source.build(attribute.name, ()).height if _tells_by_value(source) else 0


def _tells_by_value(source: HierarchySource) -> bool:
    """Whether the label of a value depends on it alone, at every level."""
    return not source.from_data and getattr(source, "given", Given.NOTHING) is not Given.NOTHING


def _axis(spec: TableSpec, name: str, level: int) -> Axis:
    attribute = next((each for each in spec.attributes if each.name == name), None)
    countable = [each.name for each in spec.attributes if each.role is not AttributeRole.IDENTIFIER]
    if attribute is None or name not in countable:
        raise InputError(
            f"'{name}' is {'an identifier' if attribute else 'no attribute of ' + spec.label}",
            allowed=", ".join(countable),
            advice=closest(name, countable),
        )
    source = attribute.hierarchy or FlatHierarchy()
    if level and attribute.hierarchy is None and attribute.role is not AttributeRole.QUASI_IDENTIFIER:
        raise InputError(f"level {level} of '{name}'", allowed="level 0: the attribute has no hierarchy")
    if attribute.domain is None:
        return _of_rows(attribute, level, source)
    values = attribute.domain.values
    hierarchy = source.build(name, () if values is None else values)
    _check_level(name, level, hierarchy.height)
    return Axis(name, level, source, hierarchy, hierarchy.leaves if values is None else values)


def _of_rows(attribute: Attribute, level: int, source: HierarchySource) -> Axis:
    """An axis whose values only the rows tell; at a level above 0 where labels depend on one value alone."""
    if level and not _tells_by_value(source):
        raise InputError(
            f"level {level} of '{attribute.name}': its hierarchy ({source.origin}) is made of all values, so "
            "that each row has a say in the labels of the others",
            allowed="level 0, a hierarchy that was there before the data, or a public domain",
            advice=f'Give [attributes.{attribute.name}] a domain, such as domain = ["…", "…"].',
        )
    if level:
        # How many levels there are was given, so that a hierarchy of no value tells.
        _check_level(attribute.name, level, source.build(attribute.name, ()).height)
    return Axis(attribute.name, level, source, None)


def _check_level(name: str, level: int, height: int) -> None:
    if level > height:
        raise InputError(f"level {level} of '{name}'", allowed=f"0 to {height}")
