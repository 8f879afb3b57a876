"""What a spec, or the Python API, gives as an attribute's hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.levels import LevelsHierarchy
from discreet.model.closest import closest
from discreet.model.hierarchy import HierarchySource
from discreet.places.address import path_of
from discreet.spec.problems import (
    KeyPath,
    key_text,
    located,
    validated,
    value_text,
)

if TYPE_CHECKING:
    from discreet.spec.hierarchy_kinds import KindTable


def _kinds() -> Mapping[str, type[KindTable]]:
    """The tables of a spec that tell a hierarchy, by kind: a file needs none of them."""
    from discreet.spec.hierarchy_kinds import KINDS

    return KINDS


class HierarchyReader:
    """Turns what is given as a hierarchy into its source.

    ``objects`` also admits what only Python can pass: a ``HierarchySource``, a path object, a mapping from
    each leaf to its levels, and a list of rows.
    """

    def __init__(self, base: Path, label: str, *, objects: bool) -> None:
        self.base = base
        self.label = label
        self.objects = objects

    def read(self, value: object, key: KeyPath) -> HierarchySource:
        """The source; ``InputError`` names the spec, the key and what is allowed."""
        if isinstance(value, str) and value:
            return FileHierarchy(self.base / self._path(value, key))
        if isinstance(value, Mapping) and (isinstance(value.get("kind"), str) or not self.objects):
            return self._of_kind(value, key)
        found = self._of_object(value, key) if self.objects else None
        if found is None:
            allowed = 'the path of a CSV file in quotes, or a table such as {kind = "mask"}; kinds: '
            raise InputError(
                f"{self.label}: {key_text(key)} = {value_text(value)}", allowed=allowed + ", ".join(_kinds())
            )
        return found

    def _of_kind(self, value: Mapping[str, Any], key: KeyPath) -> HierarchySource:
        kind, kinds = value.get("kind"), _kinds()
        if "kind" not in value:
            raise InputError(f"{self.label}: {key_text((*key, 'kind'))} is missing", allowed=", ".join(kinds))
        if not isinstance(kind, str) or kind not in kinds:
            raise InputError(
                f"{self.label}: {key_text((*key, 'kind'))} = {value_text(kind)}",
                allowed=", ".join(kinds),
                advice=closest(kind, kinds),
            )
        table = validated(kinds[kind], value, label=self.label, key=key)
        try:
            source = table.source()
        except InputError as error:
            raise located(error, label=self.label, key=key) from None
        if not isinstance(source, FileHierarchy):
            return source
        return replace(source, path=self.base / self._path(value["path"], (*key, "path")))

    def _path(self, text: str, key: KeyPath) -> Path:
        try:
            return path_of(text, "the path of a hierarchy file")
        except InputError as error:
            raise located(error, label=self.label, key=key) from None

    def _of_object(self, value: Any, key: KeyPath) -> HierarchySource | None:
        if isinstance(value, Path):
            return FileHierarchy(self.base / value)
        if isinstance(value, Mapping | list | tuple):
            try:
                return LevelsHierarchy.of(value)
            except InputError as error:
                raise located(error, label=self.label, key=key) from None
        is_source = callable(getattr(value, "build", None)) and not isinstance(value, type)
        source: HierarchySource | None = value if is_source else None
        return source
