"""``discreet.hierarchies``: the built-in hierarchies that need no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.hierarchy.builtin.declaration import Builtin
from discreet.hierarchy.builtin.hierarchy import BUILTINS
from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone, count, heading
from discreet.printing.printed import Printed


@dataclass(frozen=True, repr=False)
class EverydayHierarchies(Printed):
    """Every built-in hierarchy: its name, levels from fine to coarse, an example, and where it comes from."""

    builtins: tuple[Builtin, ...]

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet hierarchies --json``."""
        return {
            "hierarchies": [
                {
                    "name": builtin.name,
                    "title": builtin.title,
                    "levels": list(builtin.levels),
                    "example": list(_example(builtin)),
                    "source": builtin.source,
                }
                for builtin in self.builtins
            ]
        }

    def document(self) -> Document:
        """A row per hierarchy, their sources, and how the spec names one."""
        columns = (
            Column("name"),
            Column("values", shrinks=True),
            Column("levels", shrinks=True),
            Column("an example", shrinks=True),
        )
        rows = tuple((b.name, b.title, ", ".join(b.levels), " → ".join(_example(b))) for b in self.builtins)
        sources = dict.fromkeys(builtin.source for builtin in self.builtins)
        return (
            heading(count(len(rows), "built-in hierarchy", "built-in hierarchies")),
            Grid(columns, rows),
            BLANK,
            Line("From:"),
            *(Line(f"{source}.") for source in sources),
            BLANK,
            Line("In the spec, below the attribute:"),
            Line('hierarchy = {kind = "builtin", name = "icd10"}', Tone.HINT, verbatim=True),
        )


def hierarchies() -> EverydayHierarchies:
    """Every hierarchy that is built in, each known before any data."""
    return EverydayHierarchies(tuple(BUILTINS.values()))


def _example(builtin: Builtin) -> tuple[str, ...]:
    """The example and its labels."""
    labels = builtin.labels(builtin.example) or ()
    return builtin.example, *labels
