"""Generalization hierarchies: read from files or built from values.

Each source is a frozen value that yields a ``GeneralizationHierarchy`` once the data's values are known.
"""

from discreet.hierarchy.ages import AgeHierarchy
from discreet.hierarchy.auto import AutoHierarchy
from discreet.hierarchy.builtin.hierarchy import BuiltinHierarchy
from discreet.hierarchy.csv_file import FileHierarchy, write_hierarchy_csv
from discreet.hierarchy.dates import DateHierarchy
from discreet.hierarchy.flat import FlatHierarchy
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.levels import LevelsHierarchy
from discreet.hierarchy.mask import MaskHierarchy
from discreet.hierarchy.order import OrderHierarchy
from discreet.hierarchy.taxonomy import TaxonomyHierarchy

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
