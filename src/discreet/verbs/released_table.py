"""A release in memory: published, audited and compared as a file is, and handed over as frames."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.engines.connect import connect
from discreet.engines.delivery import DATA
from discreet.engines.files import frames
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError, LimitReached
from discreet.model.json_text import json_of
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone, count, heading
from discreet.results.publication import ReleaseResult
from discreet.settings import Settings

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from discreet.model.permuted_release import PermutationFacts

_NAME = "release.parquet"
_SHOWN_ROWS, _SHOWN_COLUMNS = 5, 12


@dataclass(frozen=True, repr=False)
class ReleasedTable(ReleaseResult):
    """A release in memory: ``to_pandas()``, ``to_polars()`` or ``to_arrow()`` is its table.

    It was written, audited and compared with what was decided as every release is, as Parquet in a folder
    that only its owner enters and that is gone by now; the frames are read from those very bytes. Their rows
    stand in the release's own order, which says nothing of the input's, and a pandas index counts them.
    ``manifest`` is the evidence, ``audit`` what was counted. A permuted release has more tables than one:
    ``parts`` names them.
    """

    manifest: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    first_rows: tuple[tuple[str | None, ...], ...] = ()
    _parquet: Mapping[str, bytes] = field(default_factory=dict)

    def to_pandas(self, part: str = DATA) -> pandas.DataFrame:
        """The released rows as a new pandas frame.

        ``part`` is one of ``parts``. Whole numbers and booleans with NULLs have pandas' nullable types, and
        dates are ``datetime.date``. ``InputError`` where pandas or pyarrow is not installed.
        """
        return frames.pandas_of(self._bytes(part))

    def to_polars(self, part: str = DATA) -> polars.DataFrame:
        """The released rows as a new polars frame; ``InputError`` where polars is not installed."""
        return frames.polars_of(self._bytes(part))

    def to_arrow(self, part: str = DATA) -> pyarrow.Table:
        """The released rows as an Arrow table; ``InputError`` where pyarrow is not installed."""
        return frames.arrow_of(self._bytes(part))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The released rows for what reads Arrow: DuckDB, Ibis, polars and others."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def parts(self) -> tuple[str, ...]:
        """The release's tables: ``data``, and of a permuted one ``help`` and perhaps ``sensitive``."""
        return tuple(self._parquet)

    @property
    def address(self) -> ReleaseAddress:
        """A release in memory has none: ``InputError``."""
        self._nowhere()

    @property
    def path(self) -> Path:
        """A release in memory has none: ``InputError``."""
        self._nowhere()

    @property
    def manifest_path(self) -> Path:
        """A release in memory has none: ``InputError``; ``manifest`` is the document."""
        self._nowhere()

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet publish --json``, with the manifest itself and without paths."""
        document = {**super().as_json(), "manifest": dict(self.manifest)}
        del document["path"]
        return document

    def document(self) -> Document:
        """What was asked, the levels and the audit, and the first released rows."""
        shown = self.columns[:_SHOWN_COLUMNS]
        more = len(self.columns) - len(shown)
        rows = tuple(
            tuple("NULL" if cell is None else cell for cell in row[: len(shown)]) for row in self.first_rows
        )
        released = count(self.manifest["data"]["rows"], "released row")
        beyond = f", and {count(more, 'more column')}" if more else ""
        return (
            *super().document(),
            BLANK,
            heading(f"The first {len(rows)} of {released}{beyond}"),
            Grid(tuple(Column(name, shrinks=True) for name in shown), rows),
        )

    def _published(self, done: str) -> Line:
        return Line(f"Published in memory for {done}; .manifest holds its manifest.", Tone.GOOD)

    def _files(self, facts: PermutationFacts) -> list[tuple[str, str]]:
        tables = [("data", ".to_pandas()")]
        return tables + [(f"{part} table", f'.to_pandas("{part}")') for part in facts.files]

    def _bytes(self, part: str) -> bytes:
        found = self._parquet.get(part)
        if found is None:
            raise InputError(f"the release has no part '{part}'", allowed=", ".join(self.parts))
        return found

    def _nowhere(self) -> NoReturn:
        raise InputError(
            "the release is in memory: it has no path",
            allowed="to_pandas(), to_polars(), to_arrow(), manifest, audit",
            advice="To have files, publish with a path: table.publish(answer, PATH).",
        )


def publish_in_memory(
    settings: Settings, publish: Callable[[ReleaseAddress], ReleaseResult]
) -> ReleasedTable:
    """Publish into a folder of the run's own, and keep what was audited there; the folder goes.

    ``publish`` publishes to an address. ``LimitReached`` where the bytes are not those that were audited.
    """
    with TemporaryFolder() as folder:
        place = folder / _NAME
        result = publish(ReleaseAddress(path=place, held=True))
        manifest = json_of(result.manifest_path.read_text(encoding="utf-8"))
        columns, rows = _first_rows(place, settings)
        return ReleasedTable(
            release=result.release,
            answer=result.answer,
            recoding=result.recoding,
            beside=result.beside,
            manifest=manifest,
            columns=columns,
            first_rows=rows,
            _parquet=_parts(folder, manifest),
        )


def _parts(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """The bytes of each table, which must be those that the manifest has the digests of."""
    files = {DATA: manifest["data"], **manifest.get("permutation", {}).get("files", {})}
    found = {}
    for part, entry in files.items():
        found[part] = (folder / entry["file"]).read_bytes()
        if hashlib.sha256(found[part]).hexdigest() != entry["sha256"]:
            raise LimitReached(
                f"the {part} table was changed after it was audited",
                advice="Nothing is handed over. Try again, with TMPDIR where nothing else writes.",
            )
    return found


def _first_rows(path: Path, settings: Settings) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    """The columns and some rows of what was written, as texts."""
    with connect(settings) as engine:
        table = engine.open_source(SourceSpec(path=path, format="parquet"))
        texts = ", ".join(table.text(name) for name in table.columns[:_SHOWN_COLUMNS])
        rows = engine.fetch_rows(f"SELECT {texts} FROM {table.relation} LIMIT {_SHOWN_ROWS}")
        return table.columns, tuple(rows)
