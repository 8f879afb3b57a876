"""``discreet.init``: a first spec for a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.addresses import is_engine_place
from discreet.engines.connect import connect
from discreet.model.table_spec import SourceSpec
from discreet.places.address import has_password, path_of, without_password
from discreet.profile.propose import ProposedAttribute, SpecProposal, propose_spec
from discreet.settings import Settings
from discreet.spec.text import spec_text
from discreet.workbench.addresses import FROM_ENVIRONMENT, address_of
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

_NO_PASSWORD = "the spec holds no password: give it in the variable PGPASSWORD or in ~/.pgpass"


@dataclass(frozen=True, repr=False)
class Proposal(Printed):
    """Roles and hierarchies with reasons; ``path`` is where the spec was written, None where it was not.

    ``place`` is where the rows lie, as the spec's ``[source]`` says it.
    """

    proposal: SpecProposal
    label: str
    place: Mapping[str, str]
    path: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def mapping(self) -> dict[str, Any]:
        """The spec as a mapping, as ``discreet.open(data, mapping)`` takes it."""
        return self.proposal.document(self.place)

    @property
    def text(self) -> str:
        """The spec as TOML, the reason of each role in a comment."""
        comments = {name: _sentence(reason) for name, reason in self.proposal.reasons.items()}
        return spec_text(self.mapping, comments, heading=_HEADING)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at first."""
        return (*self.notes, *self.proposal.warnings)

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
    table: str | None = None,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> Proposal:
    """Profile a data file, a table of a database, or an Arrow, pandas, polars or Spark table; propose a spec.

    ``data`` is a path, ``postgresql://…`` (or ``env:NAME``, a variable that holds it) with a ``table`` there,
    ``spark:`` with one of Spark's catalog, ``spark:FOLDER``, or the table in memory. With
    ``output`` the spec is written there, paths relative to it, and without the password of an address.
    ``InputError`` where the data cannot be read or the spec cannot be written.
    """
    source = source_of(data, table)
    target = None if output is None else path_of(output, "the path of the spec")
    if target is not None:
        check_new_file(target, overwrite=overwrite, never=source.path)
    with (
        connect(settings or Settings.from_environment(), source) as engine,
        reporter.stage("Profiling columns") as advance,
    ):
        proposal = propose_spec(engine, source, advance)
    notes = (_NO_PASSWORD,) if source.url is not None and has_password(source.url) else ()
    found = Proposal(proposal, source.label, _place(source, target), target, notes)
    if target is not None:
        write_text(target, found.text, overwrite=overwrite)
    return found


def source_of(data: object, table: str | None) -> SourceSpec:
    """The source that data are, with a ``table`` where they are an address; ``InputError`` otherwise."""
    if not isinstance(data, str | os.PathLike):
        return SourceSpec(data=data)
    text = os.fspath(data)
    if text.startswith(FROM_ENVIRONMENT) or is_engine_place(text):
        found = address_of(text, table)
        return SourceSpec(path=found.path, url=found.url, table=found.table, engine=found.engine)
    return SourceSpec(path=path_of(text), table=table)


def _place(source: SourceSpec, target: Path | None) -> dict[str, str]:
    """The keys of ``[source]`` that say where the rows lie."""
    url = None if source.url is None else without_password(source.url)
    keys = {
        "path": _relative(source.path, target),
        "url": url,
        "table": source.table,
        "engine": source.engine,
    }
    return {key: value for key, value in keys.items() if value is not None}


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
