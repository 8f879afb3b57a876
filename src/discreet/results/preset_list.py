"""The presets as a result: requirements of rules, with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.printing.document import BLANK, Document, Line, Tone, heading_line
from discreet.printing.rendering import Printable
from discreet.spec.preset import Preset


@dataclass(frozen=True, repr=False)
class PresetList(Printable):
    """List of presets."""

    presets: tuple[Preset, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet list presets --json``."""
        return {
            "presets": [
                {
                    "name": one.name,
                    "title": one.title,
                    "citation": one.citation,
                    "as_of": one.as_of,
                    "note": one.note,
                    "requirement": {criterion.name: criterion.value for criterion in one.criteria},
                    "checks": list(one.checks),
                }
                for one in self.presets
            ]
        }

    def document(self) -> Document:
        """Return each preset by name, with its requirement."""
        lines: list[Line] = []
        for one in self.presets:
            criteria_text = ", ".join(map(str, one.criteria)) or "no criterion"
            lines += [
                heading_line(one.name),
                Line(one.title),
                Line(f"{one.citation} ({one.as_of})", Tone.HINT),
                Line(f"requires {criteria_text}; {len(one.checks)} points to check manually"),
                Line(one.note),
                BLANK,
            ]
        return tuple(lines[:-1])
