"""``discreet.hierarchies``: the built-in hierarchies that need no data.

No engine is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.hierarchy.builtin.builder import BUILTINS
from discreet.hierarchy.builtin.catalog import BuiltinDeclaration
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    heading_line,
    make_columns,
)
from discreet.printing.rendering import Printable


@dataclass(frozen=True, repr=False)
class BuiltinHierarchies(Printable):
    """List of the built-in hierarchies: name, levels from fine to coarse, an example, and the source."""

    builtins: tuple[BuiltinDeclaration, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet list hierarchies --json``."""
        return {
            "hierarchies": [
                {
                    "name": builtin.name,
                    "title": builtin.title,
                    "levels": list(builtin.levels),
                    "example": list(_example_labels(builtin)),
                    "source": builtin.source,
                }
                for builtin in self.builtins
            ]
        }

    def document(self) -> Document:
        """Return one row per hierarchy, the sources, and the line that a spec needs."""
        columns = make_columns("name", "~values", "~levels", "~an example")
        rows = tuple(
            (b.name, b.title, ", ".join(b.levels), " → ".join(_example_labels(b))) for b in self.builtins
        )
        sources = dict.fromkeys(builtin.source for builtin in self.builtins)
        return (
            heading_line(format_quantity(len(rows), "built-in hierarchy", "built-in hierarchies")),
            Grid(columns, rows),
            BLANK,
            Line("From:"),
            *(Line(f"{source}.") for source in sources),
            BLANK,
            Line("In the spec, below the attribute:"),
            Line('hierarchy = {kind = "builtin", name = "icd10"}', Tone.HINT, verbatim=True),
        )


def hierarchies() -> BuiltinHierarchies:
    """List the built-in hierarchies, which are independent of the data.

    >>> [each.name for each in discreet.hierarchies().builtins]  # doctest: +SKIP
    """
    return BuiltinHierarchies(tuple(BUILTINS.values()))


def _example_labels(builtin: BuiltinDeclaration) -> tuple[str, ...]:
    labels = builtin.labels(builtin.example) or ()
    return builtin.example, *labels
