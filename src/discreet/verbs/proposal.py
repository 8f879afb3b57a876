"""``discreet.init``: propose a first spec for a table, from its values and its description.

Each column gets a role and each quasi-identifier a hierarchy, with the reason. A data package, Table Schema
or CSVW file next to the data is read first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, Unpack

from discreet.engines.connection import connect
from discreet.engines.engine_addresses import is_engine_place
from discreet.engines.process_resources import STANDARD_INPUT, is_standard_input, standard_input
from discreet.errors import InputError
from discreet.foreign.table_description import TableDescription, is_description, read_description
from discreet.hierarchy.csv_file import is_hierarchy_file
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.cell_format import DECIMAL_MARKS
from discreet.model.registry import suggest_name
from discreet.model.release_address import FileOptions
from discreet.model.table_spec import AttributeGlob, AttributeRole, NullPolicy, SourceSpec
from discreet.places.address import has_password, is_variable, parse_path, without_password
from discreet.places.file_access import matching_files
from discreet.places.protected_files import protected_files
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    Tone,
    capitalize,
    format_quantity,
    heading_line,
    make_columns,
    warning_block,
)
from discreet.printing.rendering import Printable
from discreet.profile.hierarchy_proposal import FLAT_PROPOSAL
from discreet.profile.missing_values import warn_about_unquoted_nulls
from discreet.profile.spec_inference import NO_KNOWN_COLUMNS, HierarchyFolder, KnownColumns, propose_spec
from discreet.profile.spec_proposal import (
    LATTICE_TOO_LARGE_REASON,
    LEAST_SERIES,
    ProposedAttribute,
    SpecProposal,
)
from discreet.results.request_defaults import with_keywords
from discreet.settings import Settings
from discreet.spec.attribute_globs import collapse_series, find_series_globs
from discreet.spec.toml_writer import format_spec
from discreet.verbs.arx_spec import is_arx_project
from discreet.verbs.locations import (
    address_of,
    check_output_file,
    forget_frame,
    relative_path,
    remember_frame,
    write_text,
)
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.source_reading import (
    FileKeywords,
    infer_source_form,
    infer_unquoted_nulls,
    parse_file_options,
)
from discreet.verbs.spec_editor import source_as_mapping, with_hierarchy, with_roles


@dataclass(frozen=True)
class DataDescription:
    """Description of a data file, if there is one.

    ``rows`` is the location of the data; None if the caller gives it.
    """

    description: TableDescription | None = None
    rows: Path | None = None

    def form(self, explicit_form: FileOptions) -> FileOptions:
        """Return file options: explicit ones, else the described ones; null values of both."""
        if self.description is None:
            return explicit_form
        said = self.description.table.form
        return replace(
            explicit_form,
            encoding=explicit_form.encoding or said.encoding,
            delimiter=explicit_form.delimiter or said.delimiter,
            quote=said.quote if explicit_form.quote is None else explicit_form.quote,
            null_values=tuple(dict.fromkeys((*explicit_form.null_values, *said.null_values))),
        )

    @property
    def known(self) -> KnownColumns:
        """Formats and roles of the described columns."""
        if self.description is None:
            return NO_KNOWN_COLUMNS
        columns = self.description.table.columns
        return KnownColumns(
            self.description.path.name,
            tuple(c.name for c in columns),
            {c.name: c.written for c in columns if c.written is not None},
            {c.name: (c.role, c.reason) for c in columns if c.role is not None},
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """File of the description."""
        return () if self.description is None else (self.description.path,)

    @property
    def guesses(self) -> tuple[str, ...]:
        """Sentences on the parts of the description that were used."""
        if self.description is None:
            return ()
        name, columns = self.description.path.name, self.description.table.columns
        titles = "; ".join(f"{c.name}: {c.title}" for c in columns if c.title and c.title != c.name)
        said = (f"{name}: titles of columns are {titles}.",) if titles else ()
        return (f"Read as {name} describes {len(columns)} of its columns.", *said)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the parts of the description that were not used."""
        return () if self.description is None else self.description.table.notes


def find_data_description(data: object, table: str | None, schema: str | Path | None) -> DataDescription:
    """Return the description of data: the file ``schema``, or ``data`` if it is one; else an empty one.

    Raises ``InputError`` if it cannot be read, names no local rows, or leaves the table ambiguous.
    """
    if schema is not None:
        return DataDescription(read_description(parse_path(schema, "the path of a schema"), table))
    if not is_description(data):
        return DataDescription()
    found = read_description(Path(str(data)), table)
    if found.data is None:
        raise InputError(f"{found.path} names no rows", advice=f"discreet init DATA --schema {data}")
    return DataDescription(found, found.data)


CHOSEN_BY_USER = "chosen by you"
"""Reason of a role that the user edited."""

_MAX_REASONS = 3
_MIN_ALIKE_COLUMNS = 4


def apply_edit(attribute: ProposedAttribute, entry: Any) -> ProposedAttribute:
    """Return a column with the role of the spec's ``entry`` after edits; None: the spec omits it."""
    if entry is None:
        return replace(attribute, role=AttributeRole.IDENTIFIER, reason="not listed, so left out", form=None)
    role = entry.get("role") if isinstance(entry, Mapping) else None
    if role == attribute.role:
        return attribute
    known = AttributeRole(role) if role in list(AttributeRole) else AttributeRole.IDENTIFIER
    return replace(attribute, role=known, reason=CHOSEN_BY_USER, form=None)


def hierarchy_as_json(entry: Any) -> dict[str, Any] | str | None:
    """Return the hierarchy of a spec's ``entry`` for JSON; Python objects become text."""
    hierarchy = entry.get("hierarchy") if isinstance(entry, Mapping) else None
    if isinstance(hierarchy, Mapping):
        return {str(key): value for key, value in hierarchy.items()}
    return None if hierarchy is None else str(hierarchy)


def _column_rows(
    attributes: Sequence[ProposedAttribute], entries: Mapping[str, Any]
) -> Iterator[tuple[str, ...]]:
    """Yield a row per column, and one row for a series of equal neighbouring columns."""
    for _, some in groupby(attributes, lambda a: _column_row(a, entries)[2:]):
        alike = list(some)
        if len(alike) >= LEAST_SERIES or (
            len(alike) >= _MIN_ALIKE_COLUMNS and alike[0].reason == LATTICE_TOO_LARGE_REASON
        ):
            _, _, role, hierarchy, reason = _column_row(alike[0], entries)
            name = f"{alike[0].name} … {alike[-1].name}"
            yield name, "", role, hierarchy, f"{format_quantity(len(alike), 'column')}, {reason}"
        else:
            yield from (_column_row(a, entries) for a in alike)


def _column_row(attribute: ProposedAttribute, entries: Mapping[str, Any]) -> tuple[str, ...]:
    hierarchy = _describe_hierarchy(attribute, entries.get(attribute.name))
    values = f"{attribute.column.distinct:,}"
    return attribute.name or "(no name)", values, str(attribute.role), hierarchy, attribute.reason


def list_pattern_reasons(pattern: AttributeGlob, reasons: Mapping[str, str]) -> list[str]:
    """Return the columns of a glob, and the different reasons for their role."""
    sentences = dict.fromkeys(as_sentence(reasons[name]) for name in pattern.columns)
    columns = (
        f"{format_quantity(len(pattern.columns), 'column')}, {pattern.columns[0]} to {pattern.columns[-1]}."
    )
    return [columns, *list(sentences)[:_MAX_REASONS]]


def as_sentence(text: str) -> str:
    """Return a reason as a sentence."""
    return f"{capitalize(text)}."


def _describe_hierarchy(attribute: ProposedAttribute, entry: Any) -> str:
    document = hierarchy_as_json(entry)
    proposed = attribute.hierarchy
    if attribute.role is not AttributeRole.QUASI_IDENTIFIER:
        return ""
    if document is None:
        return FLAT_PROPOSAL.words
    return proposed.words if proposed is not None and proposed.table == document else "given by you"


_HEADING = (
    "A first spec by `discreet init`: read it before you publish, only you know the data.",
    "In doubt the more protected role was proposed. Roles: identifier (never published),",
    "quasi-identifier (generalized), sensitive (published unchanged, protected by l), insensitive.",
)

_IN_MEMORY_NOTE = (
    "The rows are a table in memory: discreet.open(table, PATH OF THIS SPEC) gives them in Python."
)

_NO_PASSWORD_NOTE = "the spec holds no password: give it in the variable PGPASSWORD or in ~/.pgpass"


@dataclass(frozen=True, repr=False)
class Proposal(Printable):
    """Proposed roles and hierarchies with reasons; ``path`` is the written spec, or None.

    ``location`` is the location and form of the rows, as in the spec's ``[source]``; ``guesses`` are
    sentences on the guesses behind it.

    ``mapping`` may be edited in place; ``with_role`` and ``with_hierarchy`` return an edited copy. ``text``
    and ``discreet.open(data, proposal)`` follow the edits; a file that was written before does not.

    >>> proposal = discreet.init("people.csv")  # doctest: +SKIP
    >>> table = discreet.open("people.csv", proposal.with_role("name", "identifier"))  # doctest: +SKIP
    """

    proposal: SpecProposal
    label: str
    location: Mapping[str, Any]
    path: Path | None = None
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    edited: Mapping[str, Any] | None = None

    @cached_property
    def mapping(self) -> dict[str, Any]:
        """Spec as an editable mapping for ``discreet.open(data, mapping)``."""
        return deepcopy(dict(self.edited)) if self.edited is not None else self._proposed

    @property
    def _proposed(self) -> dict[str, Any]:
        """New copy of the spec before edits."""
        return deepcopy(self.proposal.document(self.location))

    def with_role(self, name: str, role: str) -> Proposal:
        """Return a proposal in which a column has another role.

        A column that becomes a quasi-identifier gets its proposed hierarchy if there is one, else the flat
        one from value to ``*``. Raises ``InputError`` for an unknown column or role.

        >>> proposal.with_role("name", "identifier")  # doctest: +SKIP
        """
        self._check_column(name)
        if role not in list(AttributeRole):
            raise InputError(
                f"role {role!r}", allowed=", ".join(AttributeRole), advice=suggest_name(role, AttributeRole)
            )
        proposed = {name: self._proposed["attributes"][name].get("hierarchy")}
        return replace(
            self, edited=with_roles(self.mapping, {name: AttributeRole(role)}, hierarchies=proposed)
        )

    def with_hierarchy(self, name: str, hierarchy: object) -> Proposal:
        """Return a proposal in which a quasi-identifier has another hierarchy.

        ``hierarchy`` is a value of the spec: a builder's table such as ``{"kind": "intervals", "widths":
        [10]}``, the path of a file, a mapping from each leaf to its levels, or None for the flat hierarchy
        from value to ``*``. Raises ``InputError`` for an unknown column, or for a column of another role.

        >>> proposal.with_hierarchy("age", {"kind": "intervals", "widths": [10, 20]})  # doctest: +SKIP
        """
        self._check_column(name)
        return replace(self, edited=with_hierarchy(self.mapping, name, hierarchy))

    def _check_column(self, name: str) -> None:
        names = [attribute.name for attribute in self.proposal.attributes]
        if name not in names:
            raise InputError(
                f"{self.label} has no column {quote_value(name)}",
                allowed=quote_values(names, 20),
                advice=suggest_name(name, names),
            )

    @property
    def columns(self) -> tuple[ProposedAttribute, ...]:
        """Columns with their roles after edits, and the reasons."""
        entries = self.mapping["attributes"]
        return tuple(apply_edit(a, entries.get(a.name)) for a in self.proposal.attributes)

    @property
    def is_edited(self) -> bool:
        """True if the mapping differs from the proposed one."""
        return self.mapping != self._proposed

    @property
    def text(self) -> str:
        """Spec as TOML, with the reason of each role in a comment; a series of columns is one stanza."""
        document, reasons = deepcopy(self.mapping), self._reasons
        comments: dict[str, str | Sequence[str]] = {name: as_sentence(reasons[name]) for name in reasons}
        patterns = find_series_globs(document["attributes"], LEAST_SERIES)
        document["attributes"] = collapse_series(document["attributes"], patterns)
        comments |= {pattern.pattern: list_pattern_reasons(pattern, reasons) for pattern in patterns}
        location = document.get("source", {})
        heading = _HEADING if {"path", "url", "table"} & set(location) else (*_HEADING, _IN_MEMORY_NOTE)
        key_comments = self.proposal.key_comments
        return format_spec(document, comments, heading=heading, comments_by_key=key_comments)

    @property
    def _reasons(self) -> dict[str, str]:
        """Reason of each column that the spec lists."""
        reasons = replace(self.proposal, attributes=self.columns).reasons
        return {name: reasons.get(name, CHOSEN_BY_USER) for name in self.mapping["attributes"]}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read first."""
        return (*self.notes, *self.proposal.warnings)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet init --json``."""
        return {
            "path": None if self.path is None else str(self.path),
            "rows": self.proposal.rows,
            "nodes": None if self.is_edited else self.proposal.nodes,
            "source": dict(self.location),
            "guessed": list(self.guesses),
            "null_values": list(self.proposal.null_texts),
            "attributes": [
                {
                    "name": a.name,
                    "role": str(a.role),
                    "reason": a.reason,
                    "pseudonymization": None if a.form is None else dict(a.form.pseudonymization),
                    "values": a.column.distinct,
                    "hierarchy": hierarchy_as_json(self.mapping["attributes"].get(a.name)),
                    "format": a.format.as_json() if a.format is not None else None,
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
        """Return a row per column, the size of the lattice, warnings, and the path of the spec."""
        columns = make_columns("column", ">values", "role", "~hierarchy", "~reason")
        rows = tuple(_column_rows(self.columns, self.mapping["attributes"]))
        columns_in_all = format_quantity(len(self.proposal.attributes), "column")
        lines = [Line(sentence) for sentence in self.guesses]
        if self.proposal.null_texts:
            texts = ", ".join(f"'{text}'" for text in self.proposal.null_texts)
            lines.append(Line(f"Read as NULL: {texts}."))
        if self.proposal.padded:
            names = ", ".join(f"'{name}'" for name in self.proposal.padded)
            lines.append(Line(f"Blanks around cells were stripped in {names}."))
        if self.proposal.padded_names:
            names = ", ".join(f"'{name}'" for name in self.proposal.padded_names)
            lines.append(Line(f"Blanks around cells and around names of columns were stripped: {names}."))
        lines += [
            Line(f"'{a.name}' was read as {a.written_reason}.")
            for a in self.proposal.attributes
            if a.written_reason
        ]
        lines += [
            Line(f"'{a.name}' was read with {a.hierarchy.note}.")
            for a in self.columns
            if a.hierarchy is not None and a.hierarchy.note
        ]
        lines += [
            Line(f"'{a.name}' is left out; instead, {a.form}.") for a in self.columns if a.form is not None
        ]
        lines += [
            Line(str(match), Tone.GOOD if match.columns else Tone.WARNING) for match in self.proposal.files
        ]
        if not self.is_edited:
            lines.append(Line(f"Lattice: {format_quantity(self.proposal.nodes, 'node')}."))
        if self.path is not None:
            edits = " before it was edited: write .text there to keep the edits" if self.is_edited else ""
            lines.append(Line(f"Written to {self.path}{edits}.", Tone.WARNING if edits else Tone.GOOD))
        return (
            heading_line(f"{self.label}: {format_quantity(self.proposal.rows, 'row')}, {columns_in_all}"),
            Grid(columns, rows),
            BLANK,
            *lines,
            *warning_block(self.warnings),
        )


@with_keywords(FileKeywords)
def init(
    data: object,
    output: str | Path | None = None,
    *,
    table: str | None = None,
    decimal: Literal[",", "."] | None = None,
    strip: bool = False,
    null_policy: Literal["value", "drop"] = "value",
    subject: str | None = None,
    hierarchies: str | Path | None = None,
    schema: str | Path | None = None,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
    **form_options: Unpack[FileKeywords],
) -> Proposal:
    """Profile a data file, a table of a database, or a table in memory, and propose a spec.

    ``data`` is a path, ``postgresql://…`` (or ``env:NAME``, a variable with the address) with a ``table``,
    ``spark:`` with a ``table`` of Spark's catalog, ``spark:FOLDER``, or an Arrow, pandas, polars or Spark
    table. For a spreadsheet with several sheets ``table`` is the sheet. With ``output`` the spec is written
    there, with paths relative to it and without the password of an address.

    ``format``, ``encoding``, ``delimiter`` and ``quote`` are detected from the file's name and bytes if they
    are not given; ``guesses`` of the proposal has the reasons. ``decimal``, ``strip``, ``null_values``,
    ``null_policy`` and ``subject`` are those of the spec's ``[source]``. ``hierarchies`` is a folder of
    hierarchy files; each is used for the columns that match it. ``schema`` describes the columns: a
    Frictionless data package, a Table Schema, or CSVW. A package or CSVW may also be ``data``, since it names
    its rows (``table`` selects one of several).

    Raises ``InputError`` if the data cannot be read or the spec cannot be written.

    >>> proposal = discreet.init("people.csv", "discreet.toml")  # doctest: +SKIP
    >>> print(proposal.text)  # doctest: +SKIP
    """
    if is_arx_project(data):
        raise InputError(
            "an ARX project, which has its own spec",
            advice="Write its spec with discreet.coming_from.arx(PROJECT, OUTPUT) or with the command.",
        )
    about = find_data_description(data, table, schema)
    source = (
        parse_source(data, table)
        if about.rows is None
        else SourceSpec(path=about.rows, floats_as_integers=True)
    )
    form = about.form(parse_file_options(form_options))
    reading = infer_source_form(_with_cell_options(source, decimal, null_policy, subject, strip=strip), form)
    source = infer_unquoted_nulls(reading.source)
    target = None if output is None else parse_path(output, "the path of the spec")
    if target is not None:
        protected = (
            *protected_files("the input", () if source.path is None else matching_files(source.path)),
            *protected_files("the description of the data", about.files),
            *protected_files("a hierarchy file", _hierarchy_files(hierarchies)),
        )
        check_output_file(target, overwrite=overwrite, name="a spec", protected=protected)
    with (
        connect(settings or Settings.from_environment(), source) as engine,
        reporter.stage("Profiling columns") as advance,
    ):
        proposal = propose_spec(engine, source, advance, _hierarchy_folder(hierarchies, target), about.known)
        notes = (*about.guesses, *reading.notes, *warn_about_unquoted_nulls(engine, source))
    hidden = (_NO_PASSWORD_NOTE,) if source.url is not None and has_password(source.url) else ()
    location = {**_source_keys(source, target), **source_as_mapping(source)}
    result = Proposal(proposal, source.label, location, target, (*hidden, *about.notes), notes)
    if target is not None:
        write_text(target, result.text, overwrite=overwrite)
        if source.data is None:
            forget_frame(target)
        else:
            remember_frame(target, source.data)
    return result


def parse_source(data: object, table: str | None) -> SourceSpec:
    """Return the source of ``data``, with ``table`` for an address; raise ``InputError`` otherwise."""
    if not isinstance(data, str | os.PathLike):
        return SourceSpec(data=data, floats_as_integers=True)
    text = os.fspath(data)
    if is_variable(text) or is_engine_place(text):
        found = address_of(text, table)
        if found.url is not None and is_variable(text):
            # The spec names the variable: its value, which may include a password, is read when the engine
            # connects.
            return SourceSpec(url=text, table=found.table, floats_as_integers=True)
        return SourceSpec(
            path=found.path, url=found.url, table=found.table, engine=found.engine, floats_as_integers=True
        )
    path = standard_input() if text == STANDARD_INPUT else parse_path(text)
    return SourceSpec(path=path, table=table, floats_as_integers=True)


def _with_cell_options(
    source: SourceSpec, decimal: str | None, null_policy: str, subject: str | None, *, strip: bool
) -> SourceSpec:
    """Return a source with the options for all its cells; raise ``InputError`` for an invalid value."""
    if decimal not in (None, *DECIMAL_MARKS):
        raise InputError(f"decimal mark '{decimal}'", allowed='"," or "."')
    if null_policy not in list(NullPolicy):
        raise InputError(f"null_policy '{null_policy}'", allowed=", ".join(NullPolicy))
    return replace(source, decimal=decimal, null_policy=NullPolicy(null_policy), subject=subject, strip=strip)


def _hierarchy_folder(path: str | Path | None, target: Path | None) -> HierarchyFolder | None:
    """Return a folder of hierarchy files with paths relative to a spec at ``target``."""
    if path is None:
        return None
    folder = parse_path(path, "the path of a folder of hierarchies")
    return HierarchyFolder(folder, lambda file: str(_relative_path(file, target)))


def _hierarchy_files(folder: str | Path | None) -> tuple[Path, ...]:
    """Return the hierarchy files of a folder; empty if it is missing, which its reader reports.

    The folder may also contain the spec that is replaced.
    """
    path = None if folder is None else Path(folder)
    if path is None or not path.is_dir():
        return ()
    return tuple(each for each in path.iterdir() if is_hierarchy_file(each) and each.is_file())


def _source_keys(source: SourceSpec, target: Path | None) -> dict[str, str]:
    """Return the keys of ``[source]`` with the location of the rows."""
    url = None if source.url is None else without_password(source.url)
    keys = {
        "path": _relative_path(source.path, target),
        "url": url,
        "table": source.table,
        "engine": source.engine,
    }
    return {key: value for key, value in keys.items() if value is not None}


def _relative_path(path: Path | None, target: Path | None) -> str | None:
    """Return the data's path as a spec at ``target`` names it."""
    if is_standard_input(path):
        return STANDARD_INPUT
    if path is None or target is None:
        return None if path is None else path.as_posix()
    return relative_path(path, target.parent)
