"""``discreet.open_tables`` and ``discreet.audit_tables``: several tables of the same people, one release.

Tables are published one after the other, those first that others reference. A row whose person, or whose row
above it, is not released is taken out of its table before the table is counted: so no key of somebody who is
suppressed is released anywhere, and every foreign key finds its row. Each table is counted by people, recoded
and audited by itself. Then the written files are counted together, and where more people must look alike in
all tables than do, those who do not are taken out of every table, and all is published again at the same
levels; until it holds. (Whoever looks alike in all tables has company in every class of each: taking out
others makes nobody's class smaller than that.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.audit.related_tables import count_together, read_tables
from discreet.audit.release import as_written
from discreet.engines.connect import connect
from discreet.engines.scratch import opened
from discreet.engines.treated import replacements
from discreet.errors import DiscreetError, InputError, InternalError, NoSolution
from discreet.model.relations import MANIFEST_NAME, RelatedTable, RelationalSpec, Together
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import TableSpec
from discreet.places.address import path_of
from discreet.release.keys import OwnedRows, link_of, owned_rows, read_keys
from discreet.release.private_log import file_digest
from discreet.release.tables_manifest import file_name, manifest_text, released_tables, staged
from discreet.release.target import manifest_path_of
from discreet.results.publication import ReleaseResult
from discreet.results.related_tables import PublishedTable, RelatedAudits, RelatedReleases
from discreet.results.requests import request_of
from discreet.settings import Settings
from discreet.spec.relations import load_relations
from discreet.verbs.addresses import Place
from discreet.verbs.auditing import audit
from discreet.verbs.interruption import interruptible
from discreet.verbs.models.base import Asked
from discreet.verbs.models.registry import publish_model
from discreet.verbs.publishing import publish_levels, publish_request
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.table import Table

Kept = Mapping[str, str]
"""Keys of released rows, each with its person."""


class RelatedTables:
    """Several tables of the same people, by a relational spec; no row is read yet."""

    def __init__(self, spec: RelationalSpec, settings: Settings, reporter: Reporter = SILENT) -> None:
        self.spec, self.settings, self._reporter = spec, settings, reporter

    def check(self) -> dict[str, OwnedRows]:
        """Whose each row is, table by table; ``InputError`` where a key does not fit."""
        read = {}
        for table in self.spec.tables:
            with (
                connect(self.settings, table.spec.source) as engine,
                interruptible(engine),
                self._reporter.stage(f"Reading the keys of {table.name}"),
            ):
                read[table.name] = read_keys(engine, self.spec, table)
        return owned_rows(self.spec, read)

    def publish(self, output: str | Path, *, overwrite: bool = False) -> RelatedReleases:
        """Publish all tables into a new folder: a file and a manifest each, and one of the whole.

        Raises as ``Table.publish`` does of each table, ``InputError`` also for keys that do not fit, and
        ``NoSolution`` where a table would have no row left. Nothing is left at ``output`` then.
        """
        folder = path_of(output, "the path of the output")
        with staged(folder, self.spec, self.settings, overwrite=overwrite) as stage:
            owned = self.check()
            people: Kept = owned[self.spec.subjects].owner
            levels: dict[str, Mapping[str, int]] | None = None
            while True:
                made = self._published(stage, folder, owned, people, levels)
                found = self._together(stage)
                least = self.spec.together
                if least is None or found.fewest >= least:
                    break
                if not found.safe:
                    raise NoSolution(
                        f"no {least:,} people look alike in all tables together, and nobody would be left",
                        advice="Raise levels (min_level), publish fewer columns, or lower together. Nothing "
                        "was written.",
                    )
                levels = {name: each.release.levels for name, each in made.items()}
                people = self._originals(self.spec.table(self.spec.subjects), people, set(found.safe))
            text = manifest_text(
                self.spec, {name: _counts(each, stage) for name, each in made.items()}, found
            )
            (stage / MANIFEST_NAME).write_text(text, "utf-8")
            (stage / MANIFEST_NAME).chmod(0o600)
        return RelatedReleases(folder, tuple(made.values()), found, self.spec.together)

    def _published(
        self,
        stage: Path,
        folder: Path,
        owned: Mapping[str, OwnedRows],
        people: Kept,
        levels: Mapping[str, Mapping[str, int]] | None,
    ) -> dict[str, PublishedTable]:
        """Every table once, parents first; at given levels where there are any."""
        kept: dict[str, Kept] = {}
        made = {}
        for table in self.spec.tables:
            rows, column = owned[table.name], self.spec.under(table)
            above = people if column is None else kept[table.references[column]]
            mine = {key: who for key, who in rows.owner.items() if rows.parents.get(key, key) in above}
            left = sum(number for key, number in rows.rows.items() if key not in mine)
            if not mine:
                todo = "Suppress fewer rows of the tables above it."
                if levels is not None:
                    todo = "Nobody who looks like enough others has one: raise levels, or lower together."
                raise NoSolution(
                    f"{table.name}: none of its rows belongs to a row that is released",
                    advice=f"{todo} Nothing was written.",
                )
            spec = replace(
                table.spec, source=replace(table.spec.source, link=link_of(self.spec, table, above))
            )
            name = file_name(self.spec, table.name)
            address = ReleaseAddress(path=stage / name, placed=folder / name)
            with _naming(table):
                result = self._one(table, spec, address, None if levels is None else levels[table.name])
            if table.key is not None:
                kept[table.name] = self._originals(table, mine, self._keys_in(stage / name, table))
            made[table.name] = PublishedTable(table.name, _placed(result, folder / name), rows.dropped, left)
        return made

    def _one(
        self,
        table: RelatedTable,
        spec: TableSpec,
        address: ReleaseAddress,
        levels: Mapping[str, int] | None,
    ) -> ReleaseResult:
        """One table, by its model, by levels, or by what its request is answered with."""
        opened_table = Table(spec, self.settings, self._reporter)
        place = Place(address, overwrite=True)
        if table.model is not None:
            return publish_model(opened_table, self._reporter, table.model, Asked(), place)
        if levels is not None:
            return publish_levels(opened_table, levels, request_of(spec, max_suppressed="100%"), place)
        return publish_request(opened_table, request_of(spec), place, accept=table.accept)

    def _keys_in(self, path: Path, table: RelatedTable) -> set[str]:
        """What stands in the place of a table's keys in its written file."""
        assert table.key is not None
        written = as_written(ReleaseAddress(path=path))
        with connect(self.settings) as engine, opened(engine, written) as release:
            text = release.text(table.key)
            rows = engine.fetch_rows(
                f"SELECT DISTINCT {text} FROM {release.relation} WHERE {text} IS NOT NULL"
            )
        return {str(row[0]) for row in rows}

    def _originals(self, table: RelatedTable, keys: Kept, released: set[str]) -> dict[str, str]:
        """The keys whose replacements were released; ``InputError`` where there are others, which are new."""
        assert table.key is not None
        texts = list(keys)
        shown = replacements(table.way, texts, table.key)
        found = {key: keys[key] for key, new in zip(texts, shown, strict=True) if new in released}
        if len(found) != len(released):
            raise InputError(
                f"{table.name} has changed: {len(released) - len(found):,} of its keys were not there when "
                "keys were read",
                advice="Publish while nothing writes to it. Nothing was published.",
            )
        return found

    def _together(self, stage: Path) -> Together:
        """What the written tables tell together; ``InternalError`` where their keys do not fit."""
        with (
            connect(self.settings) as engine,
            interruptible(engine),
            self._reporter.stage("All tables together"),
        ):
            found = count_together(engine, released_tables(self.spec, stage), self.spec.together)
        if found.problems:
            raise InternalError(
                f"the released keys do not fit: {'; '.join(found.problems)}",
                advice="Nothing was published. Please report this.",
            )
        return found


def open_tables(
    spec: str | Path, *, settings: Settings | None = None, reporter: Reporter = SILENT
) -> RelatedTables:
    """Several tables of the same people, from a relational spec (``docs/related-tables.md``).

    ``InputError`` where anything is wrong with it or a table's spec. No row is read yet.
    """
    known = settings or Settings.from_environment()
    return RelatedTables(load_relations(path_of(spec, "the path of a spec"), known), known, reporter)


def audit_tables(
    release: str | Path, *, settings: Settings | None = None, reporter: Reporter = SILENT
) -> RelatedAudits:
    """Audit a folder of tables that were published together: each by itself, its keys, and all together.

    ``InputError`` where the folder has no manifest of several tables, or a file cannot be read.
    """
    known = settings or Settings.from_environment()
    folder = path_of(release, "the path of a release")
    tables = read_tables(folder)
    found = {each.name: audit(each.path, settings=known, reporter=reporter) for each in tables.tables}
    with connect(known) as engine, interruptible(engine), reporter.stage("All tables together"):
        together = count_together(engine, tables)
    return RelatedAudits(folder, found, together, tables.together)


@contextmanager
def _naming(table: RelatedTable) -> Iterator[None]:
    """Name the table first in what is wrong with it."""
    try:
        yield
    except DiscreetError as error:
        told = f"{table.name}: {error.message}"
        raise type(error)(told, allowed=error.allowed, advice=error.advice) from error


def _placed(result: ReleaseResult, path: Path) -> ReleaseResult:
    """A table's result with the places where its files are put at last."""
    release = replace(
        result.release,
        address=ReleaseAddress(path=path),
        manifest_address=ReleaseAddress(path=manifest_path_of(path)),
    )
    return replace(result, release=release)


def _counts(table: PublishedTable, stage: Path) -> dict[str, Any]:
    """What the manifest of the whole says of a table."""
    release = table.release.release
    return {
        "sha256": file_digest(stage / release.path.name),
        "rows": release.rows - release.suppressed,
        "suppressed": release.suppressed,
        "left_out_with_their_person": table.with_person,
        "orphans": table.orphans,
    }
