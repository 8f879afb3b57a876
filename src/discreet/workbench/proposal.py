"""``discreet.init``: a first spec for a table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.connect import connect
from discreet.model.table_spec import SourceSpec
from discreet.profile.propose import ProposedAttribute, SpecProposal, propose_spec
from discreet.settings import Settings
from discreet.spec.text import spec_text
from discreet.workbench.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    count,
    heading,
    warnings_of,
)
from discreet.workbench.files import check_new_file, write_text
from discreet.workbench.printed import Printed
from discreet.workbench.reporting import SILENT, Reporter

_HEADING = (
    "A first spec by `discreet init`: read it before you publish, only you know the data.",
    "In doubt the more protected role was proposed. Roles: identifier (never published),",
    "quasi-identifier (generalized), sensitive (published as it stands, protected by l), insensitive.",
)


@dataclass(frozen=True, repr=False)
class Proposal(Printed):
    """Roles and hierarchies with reasons; ``path`` is where the spec was written, None where it was not."""

    proposal: SpecProposal
    label: str
    source_path: str | None
    path: Path | None = None

    @property
    def mapping(self) -> dict[str, Any]:
        """The spec as a mapping, as ``discreet.open(data, mapping)`` takes it."""
        return self.proposal.document(self.source_path)

    @property
    def text(self) -> str:
        """The spec as TOML, the reason of each role in a comment."""
        comments = {name: _sentence(reason) for name, reason in self.proposal.reasons.items()}
        return spec_text(self.mapping, comments, heading=_HEADING)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at first."""
        return self.proposal.warnings

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet init --json``."""
        return {
            "path": None if self.path is None else str(self.path),
            "rows": self.proposal.rows,
            "nodes": self.proposal.nodes,
            "null_values": list(self.proposal.null_texts),
            "attributes": [
                {
                    "name": a.name,
                    "role": str(a.role),
                    "reason": a.reason,
                    "values": a.column.distinct,
                    "hierarchy": a.hierarchy.table if a.hierarchy is not None else None,
                }
                for a in self.proposal.attributes
            ],
            "warnings": list(self.warnings),
        }

    def document(self) -> Document:
        """A row per column, the size of the lattice, warnings, and where the spec lies."""
        columns = (
            Column("column"),
            Column("values", right=True),
            Column("role"),
            Column("hierarchy", shrinks=True),
            Column("reason", shrinks=True),
        )
        rows = tuple(_row(a) for a in self.proposal.attributes)
        lines: list[Line] = []
        if self.proposal.null_texts:
            texts = ", ".join(f"'{text}'" for text in self.proposal.null_texts)
            lines.append(Line(f"Read as NULL: {texts}."))
        lines.append(Line(f"Lattice: {count(self.proposal.nodes, 'node')}."))
        if self.path is not None:
            lines.append(Line(f"Written to {self.path}.", Tone.GOOD))
        return (
            heading(f"{self.label}: {count(self.proposal.rows, 'row')}, {count(len(rows), 'column')}"),
            Grid(columns, rows),
            BLANK,
            *lines,
            *warnings_of(self.warnings),
        )


def init(
    data: object,
    output: str | Path | None = None,
    *,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> Proposal:
    """Profile a data file, or an Arrow, pandas or polars table, and propose a spec.

    With ``output`` the spec is written there, paths relative to it. ``InputError`` where the data cannot be
    read or the spec cannot be written.
    """
    is_path = isinstance(data, str | os.PathLike)
    path = Path(os.fspath(data)) if isinstance(data, str | os.PathLike) else None
    target = None if output is None else Path(output)
    if target is not None:
        check_new_file(target, overwrite=overwrite, never=path)
    source = SourceSpec(path=path) if is_path else SourceSpec(data=data)
    with (
        connect(settings or Settings.from_environment()) as engine,
        reporter.stage("Profiling columns") as advance,
    ):
        proposal = propose_spec(engine, source, advance)
    found = Proposal(proposal, source.label, _relative(path, target), target)
    if target is not None:
        write_text(target, found.text, overwrite=overwrite)
    return found


def _relative(path: Path | None, target: Path | None) -> str | None:
    """The data's path as a spec at ``target`` names it."""
    if path is None or target is None:
        return None if path is None else path.as_posix()
    try:
        return Path(os.path.relpath(path, target.parent)).as_posix()
    except ValueError:
        return path.absolute().as_posix()


def _row(attribute: ProposedAttribute) -> tuple[str, ...]:
    hierarchy = attribute.hierarchy.words if attribute.hierarchy is not None else ""
    values = f"{attribute.column.distinct:,}"
    return attribute.name, values, str(attribute.role), hierarchy, attribute.reason


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
