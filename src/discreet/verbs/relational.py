"""Related tables of the same people: propose a relational spec, publish all tables, audit them together.

Tables are published parents first; a row without a released person or parent row is removed before its table
is counted, so every foreign key finds its row. Then the written files are counted together. People with fewer
matching people in all tables than required are removed, and all tables are published again at the same
levels, until the requirement holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.audit.related_tables import count_views, read_released_tables
from discreet.audit.release_audit import own_release_source
from discreet.engines.column_replacement import compute_replacements
from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.errors import DiscreetError, InputError, InternalError, NoSolution
from discreet.model.relational_schema import (
    TABLES_MANIFEST_NAME,
    JointAnonymity,
    RelatedTable,
    RelationalSpec,
)
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.places.address import parse_path
from discreet.places.protected_files import TargetFile, check_outputs, protected_files
from discreet.printing.document import BLANK, Document, Grid, Line, Tone, format_quantity, make_columns
from discreet.printing.rendering import Printable
from discreet.profile.column_profile import ColumnProfile
from discreet.release.private_log import compute_file_digest
from discreet.release.related_tables import (
    RowOwners,
    assign_owners,
    build_link,
    build_tables_manifest,
    list_released_tables,
    read_key_rows,
    stage_folder,
    table_file_name,
)
from discreet.release.release_target import build_manifest_path
from discreet.results.publish_result import RelatedAudits, RelatedRelease, RelatedReleases, ReleaseResult
from discreet.results.request_defaults import build_request
from discreet.settings import Settings
from discreet.spec.relational_spec import load_relational_spec
from discreet.spec.toml_writer import format_spec
from discreet.verbs.audits import audit
from discreet.verbs.locations import PublishTarget, check_output_file, relative_path, write_text
from discreet.verbs.models.model_registry import publish_model
from discreet.verbs.models.recoding_model import RequestOptions
from discreet.verbs.proposal import Proposal, init
from discreet.verbs.release_publication import publish_levels, publish_request
from discreet.verbs.run_context import SILENT, Reporter, interruptible_engine
from discreet.verbs.table import Table

_RELATIONAL_HEADING = (
    "A first relational spec by `discreet init`: keys were guessed by names and values, so read it.",
    "Keys are replaced per release, unless pseudonymization gives another method. joint_k = N requires",
    "N indistinguishable people in all tables.",
)


@dataclass(frozen=True, repr=False)
class ProposedTables(Printable):
    """Proposed relational spec with its path, and the proposal of each table by name.

    >>> discreet.init_tables("people.csv", ["visits.csv"], "study.toml").mapping  # doctest: +SKIP
    """

    path: Path
    mapping: Mapping[str, Any]
    tables: Mapping[str, Proposal]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet init --related … --json``."""
        return {
            "path": str(self.path),
            "spec": dict(self.mapping),
            "tables": {name: each.as_json() for name, each in self.tables.items()},
        }

    def document(self) -> Document:
        """Return a row per table: its spec, its key, and its references."""
        rows = tuple(
            (
                name,
                str(self.tables[name].path),
                str(table.get("key", "")),
                ", ".join(f"{column} → {other}" for column, other in table.get("references", {}).items()),
            )
            for name, table in self.mapping["tables"].items()
        )
        return (
            Line(f"Wrote {self.path}, and the specs of {format_quantity(len(rows), 'table')}.", Tone.GOOD),
            BLANK,
            Grid(make_columns("table", "spec", "key", "~references"), rows),
        )


def init_tables(
    data: str | Path,
    related: Sequence[str | Path],
    output: str | Path,
    *,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> ProposedTables:
    """Profile several files and propose a relational spec: ``output``, and one spec per file next to it.

    ``data`` has one row per person; ``related`` are the other tables. Raises ``InputError`` if no key of the
    people is found, or if a table has no reference.

    >>> discreet.init_tables("people.csv", ["visits.csv"], "study.toml")  # doctest: +SKIP
    """
    target = parse_path(output, "the path of the spec")
    files = [parse_path(each, "the path of a table") for each in (data, *related)]
    names = [each.stem for each in files]
    if len({*names, target.stem}) <= len(names):
        raise InputError(
            f"two of {', '.join(f'{name}.toml' for name in (*names, target.stem))} are one file",
            allowed="files of different names, whose specs are named after them",
        )
    specs = [target.with_name(f"{name}.toml") for name in names]
    check_outputs(
        [TargetFile("a spec", path) for path in (target, *specs)], protected_files("the input", files)
    )
    for path in (target, *specs):
        check_output_file(path, overwrite=overwrite)
    found = {
        name: _with_relative_source(init(file, settings=settings, reporter=reporter), file, spec)
        for name, file, spec in zip(names, files, specs, strict=True)
    }
    profiles = {name: [a.column for a in each.proposal.attributes] for name, each in found.items()}
    tables = guess_keys(profiles)
    for name, table in tables.items():
        found[name] = _with_keys(found[name], {**table.get("references", {}), table.get("key"): name})
        write_text(target.with_name(f"{name}.toml"), found[name].text, overwrite=overwrite)
    document = {
        "subjects": names[0],
        "tables": {name: {"spec": f"{name}.toml", **table} for name, table in tables.items()},
    }
    write_text(target, format_spec(document, heading=_RELATIONAL_HEADING), overwrite=overwrite)
    return ProposedTables(target, document, found)


def _with_relative_source(proposal: Proposal, file: Path, spec: Path) -> Proposal:
    """Return the proposal with a source path relative to its spec."""
    location = {**proposal.location, "path": relative_path(file, spec.parent)}
    return replace(proposal, location=location, path=spec)


def guess_keys(tables: Mapping[str, Sequence[ColumnProfile]]) -> dict[str, dict[str, Any]]:
    """Guess the key and the references of each table; the first table contains the subjects.

    Raises ``InputError`` if the first table has no key, or another has no reference.
    """
    people, *others = tables
    columns = {name: [column.name for column in each] for name, each in tables.items()}
    keys: dict[str, str] = {}
    for name in tables:
        elsewhere = {column for other in tables if other != name for column in columns[other]}
        taken = set(keys.values())
        fitting = (c.name for c in tables[name] if _is_unique(c) and c.name in elsewhere - taken)
        key = next(fitting, None)
        if key is not None:
            keys[name] = key
    if people not in keys:
        raise InputError(
            f"no column of {people} is unique and also a column of another table",
            advice="Write the relational spec by hand: docs/related-tables.md.",
        )
    result: dict[str, dict[str, Any]] = {people: {"key": keys[people]}}
    for name in others:
        references = dict(_guess_references(name, people, keys, columns[name]))
        if not references:
            raise InputError(
                f"no column of {name} is named like the key of another table",
                allowed=", ".join(f"{key} of {other}" for other, key in keys.items() if other != name),
                advice="Leave it out, or write the relational spec by hand: docs/related-tables.md.",
            )
        result[name] = {**({"key": keys[name]} if name in keys else {}), "references": references}
    return result


def _guess_references(
    name: str, people: str, keys: Mapping[str, str], columns: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the reference to the people's table, if there is one, and one other reference."""
    above = [(key, other) for other, key in keys.items() if other not in (name, people) and key in columns]
    yield from ((keys[people], people) for _ in range(keys[people] in columns))
    yield from above[:1]


def _is_unique(column: ColumnProfile) -> bool:
    return column.nulls == 0 and column.distinct == column.rows > 0


def _with_keys(proposal: Proposal, keys: Mapping[str | None, str]) -> Proposal:
    attributes = tuple(
        replace(
            each,
            role=AttributeRole.IDENTIFIER,
            reason=f"a key: it names rows of {keys[each.name]}",
            hierarchy=None,
            form=None,
        )
        if each.name in keys
        else each
        for each in proposal.proposal.attributes
    )
    return replace(proposal, proposal=replace(proposal.proposal, attributes=attributes))


_OwnerByKey = Mapping[str, str]
"""Person of each released row, by the row's key."""


class RelatedTables:
    """Related tables of the same people, by a relational spec; no row is read yet.

    >>> discreet.open_tables("study.toml").publish("release")  # doctest: +SKIP
    """

    def __init__(self, spec: RelationalSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec, self.settings, self._reporter = spec, settings, reporter

    def check(self) -> dict[str, RowOwners]:
        """Assign an owner to each row of each table; raise ``InputError`` for inconsistent keys.

        >>> discreet.open_tables("study.toml").check()  # doctest: +SKIP
        """
        read = {}
        for table in self.spec.tables:
            with (
                connect(self.settings, table.spec.source) as engine,
                interruptible_engine(engine),
                self._reporter.stage(f"Reading the keys of {table.name}"),
            ):
                read[table.name] = read_key_rows(engine, self.spec, table)
        return assign_owners(self.spec, read)

    def publish(self, output: str | Path, *, overwrite: bool = False) -> RelatedReleases:
        """Publish all tables into a new folder: a file and a manifest for each, and a manifest for all.

        Raises as ``Table.publish`` for each table, ``InputError`` also for inconsistent keys, and
        ``NoSolution`` if a table would have no rows. ``output`` does not exist after an error.

        >>> discreet.open_tables("study.toml").publish("release").together.fewest  # doctest: +SKIP
        """
        folder = parse_path(output, "the path of the output")
        with stage_folder(folder, self.spec, self.settings, overwrite=overwrite) as stage:
            owned = self.check()
            people: _OwnerByKey = owned[self.spec.subjects].owner
            levels: dict[str, Mapping[str, int]] | None = None
            # Removing people changes the classes of every table, so all tables are published and counted
            # again at the same levels until the joint requirement holds.
            while True:
                made = self._published(stage, folder, owned, people, levels)
                found = self._together(stage)
                least = self.spec.joint_k
                if least is None or found.fewest >= least:
                    break
                if not found.safe:
                    raise NoSolution(
                        f"no class common to all tables has {least:,} people, so no row would be left",
                        advice="Raise levels (min_level), publish fewer columns, or lower together. Nothing "
                        "was written.",
                    )
                levels = {name: each.release.levels for name, each in made.items()}
                people = self._originals(self.spec.table(self.spec.subjects), people, set(found.safe))
            text = build_tables_manifest(
                self.spec, {name: _manifest_counts(each, stage) for name, each in made.items()}, found
            )
            (stage / TABLES_MANIFEST_NAME).write_text(text, "utf-8")
            (stage / TABLES_MANIFEST_NAME).chmod(0o600)
        return RelatedReleases(folder, tuple(made.values()), found, self.spec.joint_k)

    def _published(
        self,
        stage: Path,
        folder: Path,
        owned: Mapping[str, RowOwners],
        people: _OwnerByKey,
        levels: Mapping[str, Mapping[str, int]] | None,
    ) -> dict[str, RelatedRelease]:
        """Publish every table once, parents first; at given levels if there are any."""
        owners_by_key: dict[str, _OwnerByKey] = {}
        made = {}
        for table in self.spec.tables:
            rows, column = owned[table.name], self.spec.under(table)
            above = people if column is None else owners_by_key[table.references[column]]
            mine = {key: who for key, who in rows.owner.items() if rows.parents.get(key, key) in above}
            left = sum(number for key, number in rows.rows.items() if key not in mine)
            if not mine:
                todo = "Suppress fewer rows of the tables above it."
                if levels is not None:
                    todo = (
                        "No person in a large enough joint class has a row here: raise levels, or lower "
                        "together."
                    )
                raise NoSolution(
                    f"{table.name}: none of its rows belongs to a row that is released",
                    advice=f"{todo} Nothing was written.",
                )
            spec = replace(
                table.spec, source=replace(table.spec.source, link=build_link(self.spec, table, above))
            )
            name = table_file_name(self.spec, table.name)
            address = ReleaseAddress(path=stage / name, placed=folder / name)
            with _name_table(table):
                result = self._one(table, spec, address, None if levels is None else levels[table.name])
            if table.key is not None:
                owners_by_key[table.name] = self._originals(table, mine, self._keys_in(stage / name, table))
            made[table.name] = RelatedRelease(
                table.name, _with_final_addresses(result, folder / name), rows.dropped, left
            )
        return made

    def _one(
        self,
        table: RelatedTable,
        spec: TableSpec,
        address: ReleaseAddress,
        levels: Mapping[str, int] | None,
    ) -> ReleaseResult:
        """Publish one table by its model, by levels, or by the answer to its request."""
        opened_table = Table(spec, self.settings, self._reporter)
        target = PublishTarget(address, overwrite=True)
        if table.model is not None:
            return publish_model(opened_table, self._reporter, table.model, RequestOptions(), target)
        if levels is not None:
            return publish_levels(opened_table, levels, build_request(spec, max_suppressed="100%"), target)
        return publish_request(
            opened_table, build_request(spec), target, accept_relaxation=table.accept_relaxation
        )

    def _keys_in(self, path: Path, table: RelatedTable) -> set[str]:
        """Return the values that replace a table's keys in its written file."""
        assert table.key is not None
        written = own_release_source(ReleaseAddress(path=path))
        with connect(self.settings) as engine, open_source_table(engine, written) as release:
            text = release.text(table.key)
            rows = engine.fetch_rows(
                f"SELECT DISTINCT {text} FROM {release.relation} WHERE {text} IS NOT NULL"
            )
        return {str(row[0]) for row in rows}

    def _originals(self, table: RelatedTable, keys: _OwnerByKey, released: set[str]) -> dict[str, str]:
        """Return the keys with released replacements; raise ``InputError`` for keys added since."""
        assert table.key is not None
        texts = list(keys)
        replacements = compute_replacements(table.pseudonymization, texts, table.key)
        result = {key: keys[key] for key, new in zip(texts, replacements, strict=True) if new in released}
        if len(result) != len(released):
            raise InputError(
                f"{table.name} has changed: {len(released) - len(result):,} of its keys were added after "
                "keys were read",
                advice="Publish while nothing writes to it. Nothing was published.",
            )
        return result

    def _together(self, stage: Path) -> JointAnonymity:
        """Count the joint anonymity of the written tables; raise ``InternalError`` for inconsistent keys."""
        with (
            connect(self.settings) as engine,
            interruptible_engine(engine),
            self._reporter.stage("All tables together"),
        ):
            result = count_views(engine, list_released_tables(self.spec, stage), self.spec.joint_k)
        if result.problems:
            raise InternalError(
                f"the released keys do not fit: {'; '.join(result.problems)}",
                advice="Nothing was published. Please report this.",
            )
        return result


def open_tables(
    spec: str | Path, *, settings: Settings | None = None, reporter: Reporter = SILENT
) -> RelatedTables:
    """Open several tables of the same people by a relational spec (``docs/related-tables.md``).

    Raises ``InputError`` for an invalid spec. No row is read yet.

    >>> tables = discreet.open_tables("study.toml")  # doctest: +SKIP
    """
    known = settings or Settings.from_environment()
    return RelatedTables(load_relational_spec(parse_path(spec, "the path of a spec"), known), known, reporter)


def audit_tables(
    release: str | Path, *, settings: Settings | None = None, reporter: Reporter = SILENT
) -> RelatedAudits:
    """Audit a folder of related tables: each table separately, the keys, and all tables together.

    Raises ``InputError`` if the folder has no manifest of several tables, or if a file cannot be read.

    >>> discreet.audit_tables("release").passed  # doctest: +SKIP
    """
    known = settings or Settings.from_environment()
    folder = parse_path(release, "the path of a release")
    tables = read_released_tables(folder)
    found = {each.name: audit(each.path, settings=known, reporter=reporter) for each in tables.tables}
    with connect(known) as engine, interruptible_engine(engine), reporter.stage("All tables together"):
        together = count_views(engine, tables)
    return RelatedAudits(folder, found, together, tables.joint_k)


@contextmanager
def _name_table(table: RelatedTable) -> Iterator[None]:
    """Prefix the errors of a block with the name of the table."""
    try:
        yield
    except DiscreetError as error:
        message = f"{table.name}: {error.message}"
        raise type(error)(message, allowed=error.allowed, advice=error.advice) from error


def _with_final_addresses(result: ReleaseResult, path: Path) -> ReleaseResult:
    release = replace(
        result.release,
        address=ReleaseAddress(path=path),
        manifest_address=ReleaseAddress(path=build_manifest_path(path)),
    )
    return replace(result, release=release)


def _manifest_counts(table: RelatedRelease, stage: Path) -> dict[str, Any]:
    release = table.release.release
    return {
        "sha256": compute_file_digest(stage / release.path.name),
        "rows": release.rows - release.suppressed,
        "suppressed": release.suppressed,
        "left_out_with_their_person": table.with_person,
        "orphans": table.orphans,
    }
