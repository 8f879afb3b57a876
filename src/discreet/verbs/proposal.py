"""``discreet.init``: a first spec for a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from discreet.engines.addresses import is_engine_place
from discreet.engines.connect import connect
from discreet.engines.standard_input import STANDARD_INPUT, is_standard_input, standard_input
from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.model.closest import closest
from discreet.model.file_form import FileForm
from discreet.model.table_spec import AttributeRole, NullPolicy, SourceSpec
from discreet.model.written_form import DECIMAL_MARKS
from discreet.places.address import has_password, is_variable, path_of, without_password
from discreet.places.file_pattern import files_of
from discreet.places.kept_files import several
from discreet.printing.document import (
    Document,
)
from discreet.printing.printed import Printed
from discreet.profile.lattice_size import SERIES
from discreet.profile.propose import HierarchyFolder, propose_spec
from discreet.profile.proposed import ProposedAttribute, SpecProposal
from discreet.profile.unquoted_nulls import told_unquoted
from discreet.settings import Settings
from discreet.spec.series import folded, series_patterns
from discreet.spec.text import spec_text
from discreet.verbs.addresses import address_of
from discreet.verbs.arx_project import is_arx_project
from discreet.verbs.described import description_of
from discreet.verbs.file_reading import read_so, with_unquoted_nulls
from discreet.verbs.files import check_new_file, write_text
from discreet.verbs.proposal_document import (
    CHOSEN,
    edited_attribute,
    plain_hierarchy,
    proposal_document,
    reasons_of,
    sentence,
)
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.session_frames import forget_frame, remember_frame
from discreet.verbs.spec_edits import source_table, with_hierarchy, with_roles

_HEADING = (
    "A first spec by `discreet init`: read it before you publish, only you know the data.",
    "In doubt the more protected role was proposed. Roles: identifier (never published),",
    "quasi-identifier (generalized), sensitive (published as it stands, protected by l), insensitive.",
)

_IN_MEMORY = "The rows are a table in memory: discreet.open(table, PATH OF THIS SPEC) gives them in Python."

_NO_PASSWORD = "the spec holds no password: give it in the variable PGPASSWORD or in ~/.pgpass"


@dataclass(frozen=True, repr=False)
class Proposal(Printed):
    """Roles and hierarchies with reasons; ``path`` is where the spec was written, None where it was not.

    ``place`` is where the rows lie and how they are read, as the spec's ``[source]`` says it; ``told`` are
    sentences on what of it was guessed, and from what.

    ``mapping`` may be edited in place; ``with_role`` and ``with_hierarchy`` return an edited copy. ``text``
    and ``discreet.open(data, proposal)`` follow the edits. A file that was written before does not.
    """

    proposal: SpecProposal
    label: str
    place: Mapping[str, Any]
    path: Path | None = None
    notes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    edited: Mapping[str, Any] | None = None

    @cached_property
    def mapping(self) -> dict[str, Any]:
        """The spec as a mapping, as ``discreet.open(data, mapping)`` takes it; edits of it take effect."""
        return deepcopy(dict(self.edited)) if self.edited is not None else self._proposed

    @property
    def _proposed(self) -> dict[str, Any]:
        """The spec as it was proposed, a new one each time."""
        return deepcopy(self.proposal.document(self.place))

    def with_role(self, name: str, role: str) -> Proposal:
        """Return a proposal in which a column has another role.

        A column that becomes a quasi-identifier has the hierarchy that was proposed for it, if one was, else
        none: from value to ``*``. ``InputError`` for a name that no column has, or that is no role.

        >>> proposal.with_role("name", "identifier")  # doctest: +SKIP
        """
        self._check_column(name)
        if role not in list(AttributeRole):
            raise InputError(
                f"role {role!r}", allowed=", ".join(AttributeRole), advice=closest(role, AttributeRole)
            )
        proposed = {name: self._proposed["attributes"][name].get("hierarchy")}
        return replace(
            self, edited=with_roles(self.mapping, {name: AttributeRole(role)}, hierarchies=proposed)
        )

    def with_hierarchy(self, name: str, hierarchy: object) -> Proposal:
        """Return a proposal in which a quasi-identifier has another hierarchy.

        ``hierarchy`` is what the spec takes: a builder's table such as ``{"kind": "intervals", "widths":
        [10]}``, the path of a file, a mapping from each leaf to its levels; None for none, from value to
        ``*``. ``InputError`` for a name that no column has, or for a column of another role.

        >>> proposal.with_hierarchy("age", {"kind": "intervals", "widths": [10, 20]})  # doctest: +SKIP
        """
        self._check_column(name)
        return replace(self, edited=with_hierarchy(self.mapping, name, hierarchy))

    def _check_column(self, name: str) -> None:
        names = [attribute.name for attribute in self.proposal.attributes]
        if name not in names:
            raise InputError(
                f"{self.label} has no column {shown(name)}",
                allowed=listed(names, 20),
                advice=closest(name, names),
            )

    @property
    def columns(self) -> tuple[ProposedAttribute, ...]:
        """The columns with the roles that they have after edits, and the reasons."""
        entries = self.mapping["attributes"]
        return tuple(edited_attribute(a, entries.get(a.name)) for a in self.proposal.attributes)

    @property
    def is_edited(self) -> bool:
        """Whether the mapping is another than the proposed one."""
        return self.mapping != self._proposed

    @property
    def text(self) -> str:
        """The spec as TOML, the reason of each role in a comment; columns of a series in one stanza."""
        document, reasons = deepcopy(self.mapping), self._reasons
        comments: dict[str, str | Sequence[str]] = {name: sentence(reasons[name]) for name in reasons}
        patterns = series_patterns(document["attributes"], SERIES)
        document["attributes"] = folded(document["attributes"], patterns)
        comments |= {pattern.pattern: reasons_of(pattern, reasons) for pattern in patterns}
        place = document.get("source", {})
        heading = _HEADING if {"path", "url", "table"} & set(place) else (*_HEADING, _IN_MEMORY)
        told = self.proposal.key_comments
        return spec_text(document, comments, heading=heading, of_keys=told)

    @property
    def _reasons(self) -> dict[str, str]:
        """The reasons of the columns that the spec lists, each once."""
        told = replace(self.proposal, attributes=self.columns).reasons
        return {name: told.get(name, CHOSEN) for name in self.mapping["attributes"]}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at first."""
        return (*self.notes, *self.proposal.warnings)

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet init --json``."""
        return {
            "path": None if self.path is None else str(self.path),
            "rows": self.proposal.rows,
            "nodes": None if self.is_edited else self.proposal.nodes,
            "source": dict(self.place),
            "guessed": list(self.told),
            "null_values": list(self.proposal.null_texts),
            "attributes": [
                {
                    "name": a.name,
                    "role": str(a.role),
                    "reason": a.reason,
                    "way": None if a.form is None else dict(a.form.way),
                    "values": a.column.distinct,
                    "hierarchy": plain_hierarchy(self.mapping["attributes"].get(a.name)),
                    "written": a.written.as_json() if a.written is not None else None,
                }
                for a in self.columns
            ],
            "hierarchy_files": [
                {"path": str(match.path), "attributes": list(match.columns), "reason": match.reason}
                for match in self.proposal.files
            ],
            "sums": [{"total": s.total, "parts": list(s.parts), "rows": s.rows} for s in self.proposal.sums],
            "warnings": list(self.warnings),
        }

    def document(self) -> Document:
        """A row per column, the size of the lattice, warnings, and where the spec lies."""
        return proposal_document(self)


def init(
    data: object,
    output: str | Path | None = None,
    *,
    table: str | None = None,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: Literal[",", "."] | None = None,
    strip: bool = False,
    null_values: Sequence[str] = (),
    nulls: Literal["value", "drop"] = "value",
    subject: str | None = None,
    hierarchies: str | Path | None = None,
    schema: str | Path | None = None,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> Proposal:
    """Profile a data file, a table of a database, or an Arrow, pandas, polars or Spark table; propose a spec.

    ``data`` is a path, ``postgresql://…`` (or ``env:NAME``, a variable that holds it) with a ``table`` there,
    ``spark:`` with one of Spark's catalog, ``spark:FOLDER``, or the table in memory; of a spreadsheet with
    several sheets ``table`` is the sheet. With
    ``output`` the spec is written there, paths relative to it, and without the password of an address.
    How a file is read (``format``, ``encoding``, ``delimiter``, ``quote``) is told from its name and its
    bytes where it is not given; ``told`` of the proposal says from what. ``decimal``, ``strip``,
    ``null_values``, ``nulls`` and ``subject`` are those of the spec's ``[source]``.
    ``hierarchies`` is a folder of hierarchy files, each taken for the columns that it fits by name or values.
    ``schema`` is a file that describes the columns: a Frictionless data package or Table Schema, or CSVW; a
    package or CSVW may be ``data``, too, and names its rows itself (``table`` is one of several).
    ``InputError`` where the data cannot be read or the spec cannot be written.
    """
    if is_arx_project(data):
        raise InputError(
            "a project of ARX, which is read as it is",
            advice="discreet.coming_from.arx(PROJECT, OUTPUT) writes its spec; so does the command.",
        )
    about = description_of(data, table, schema)
    source = source_of(data, table) if about.rows is None else SourceSpec(path=about.rows, whole=True)
    form = about.form(FileForm(format, encoding, delimiter, quote, tuple(null_values)))
    reading = read_so(_with_cells(source, decimal, nulls, subject, strip=strip), form)
    source = with_unquoted_nulls(reading.source)
    target = None if output is None else path_of(output, "the path of the spec")
    if target is not None:
        kept = (
            *several("the input", () if source.path is None else files_of(source.path)),
            *several("the description of the data", about.files),
            *several("a hierarchy file", _hierarchy_files(hierarchies)),
        )
        check_new_file(target, overwrite=overwrite, name="a spec", kept=kept)
    with (
        connect(settings or Settings.from_environment(), source) as engine,
        reporter.stage("Profiling columns") as advance,
    ):
        proposal = propose_spec(engine, source, advance, _folder(hierarchies, target), about.known)
        told = (*about.told, *reading.told, *told_unquoted(engine, source))
    hidden = (_NO_PASSWORD,) if source.url is not None and has_password(source.url) else ()
    place = {**_place(source, target), **source_table(source)}
    found = Proposal(proposal, source.label, place, target, (*hidden, *about.notes), told)
    if target is not None:
        write_text(target, found.text, overwrite=overwrite)
        if source.data is None:
            forget_frame(target)
        else:
            remember_frame(target, source.data)
    return found


def source_of(data: object, table: str | None) -> SourceSpec:
    """The source that data are, with a ``table`` where they are an address; ``InputError`` otherwise."""
    if not isinstance(data, str | os.PathLike):
        return SourceSpec(data=data, whole=True)
    text = os.fspath(data)
    if is_variable(text) or is_engine_place(text):
        found = address_of(text, table)
        if found.url is not None and is_variable(text):
            # The spec names the variable: what it holds, a password too, is read where it is connected to.
            return SourceSpec(url=text, table=found.table, whole=True)
        return SourceSpec(path=found.path, url=found.url, table=found.table, engine=found.engine, whole=True)
    path = standard_input() if text == STANDARD_INPUT else path_of(text)
    return SourceSpec(path=path, table=table, whole=True)


def _with_cells(
    source: SourceSpec, decimal: str | None, nulls: str, subject: str | None, *, strip: bool
) -> SourceSpec:
    """A source with what holds for all its cells; ``InputError`` for what is not allowed."""
    if decimal not in (None, *DECIMAL_MARKS):
        raise InputError(f"decimal mark '{decimal}'", allowed='"," or "."')
    if nulls not in list(NullPolicy):
        raise InputError(f"nulls '{nulls}'", allowed=", ".join(NullPolicy))
    return replace(source, decimal=decimal, nulls=NullPolicy(nulls), subject=subject, strip=strip)


def _folder(path: str | Path | None, target: Path | None) -> HierarchyFolder | None:
    """A folder of hierarchy files, whose paths are written as a spec at ``target`` names them."""
    if path is None:
        return None
    folder = path_of(path, "the path of a folder of hierarchies")
    return HierarchyFolder(folder, lambda file: str(_relative(file, target)))


def _hierarchy_files(folder: str | Path | None) -> tuple[Path, ...]:
    """The files of a folder of hierarchies; none where there is no such folder, as its reader reports."""
    path = None if folder is None else Path(folder)
    return (
        () if path is None or not path.is_dir() else tuple(each for each in path.iterdir() if each.is_file())
    )


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
    if is_standard_input(path):
        return STANDARD_INPUT
    if path is None or target is None:
        return None if path is None else path.as_posix()
    try:
        return Path(os.path.relpath(path, target.parent)).as_posix()
    except ValueError:
        return path.absolute().as_posix()
