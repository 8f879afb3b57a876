"""Generalization hierarchies: read from files or built from values.

Each source is a frozen value that yields a ``GeneralizationHierarchy`` once the data's values are known. Its
module is imported when its name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.hierarchy.ages import AgeHierarchy
    from discreet.hierarchy.automatic import AutoHierarchy
    from discreet.hierarchy.builtin.builder import BuiltinHierarchy
    from discreet.hierarchy.character_mask import MaskHierarchy
    from discreet.hierarchy.csv_file import FileHierarchy, write_hierarchy_csv
    from discreet.hierarchy.dates import DateHierarchy
    from discreet.hierarchy.intervals import IntervalHierarchy
    from discreet.hierarchy.level_table import FlatHierarchy, LevelsHierarchy
    from discreet.hierarchy.nested_groups import TaxonomyHierarchy
    from discreet.hierarchy.ordered_values import OrderHierarchy

_MODULES = {
    "AgeHierarchy": "ages",
    "AutoHierarchy": "automatic",
    "BuiltinHierarchy": "builtin.builder",
    "FileHierarchy": "csv_file",
    "write_hierarchy_csv": "csv_file",
    "DateHierarchy": "dates",
    "FlatHierarchy": "level_table",
    "IntervalHierarchy": "intervals",
    "LevelsHierarchy": "level_table",
    "MaskHierarchy": "character_mask",
    "OrderHierarchy": "ordered_values",
    "TaxonomyHierarchy": "nested_groups",
}

__all__ = [
    "AgeHierarchy",
    "AutoHierarchy",
    "BuiltinHierarchy",
    "DateHierarchy",
    "FileHierarchy",
    "FlatHierarchy",
    "IntervalHierarchy",
    "LevelsHierarchy",
    "MaskHierarchy",
    "OrderHierarchy",
    "TaxonomyHierarchy",
    "write_hierarchy_csv",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'discreet.hierarchy' has no attribute '{name}'")
    return getattr(import_module(f"discreet.hierarchy.{_MODULES[name]}"), name)
