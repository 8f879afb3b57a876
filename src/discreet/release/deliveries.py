"""Which delivery a release gets: by where it is to go, and by the engine that has the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from discreet.engines.base import Engine
from discreet.engines.declaration import TableTarget
from discreet.engines.delivery import Delivery
from discreet.engines.files.sources import codebook
from discreet.engines.registry import ENGINES, known_engines
from discreet.engines.table_delivery import TABLE
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import TableSpec
from discreet.release.file_delivery import file_delivery
from discreet.release.kept_files import kept_files
from discreet.release.target import FOLDER_FORMATS, FORMATS
from discreet.settings import Settings

_CHECKED = "Publish to a file: --output PATH."


def delivery_to(
    engine: Engine,
    spec: TableSpec,
    output: Path | ReleaseAddress,
    settings: Settings,
    *,
    overwrite: bool,
    formats: Mapping[str, str] = FORMATS,
    purposes: Callable[[str], Sequence[str]] = lambda _: (),
) -> AbstractContextManager[Delivery]:
    """The delivery of a release to a path, or to a table of the database that has the source.

    ``formats`` are the endings of files that may be written, ``purposes`` the companions of the data by its
    format. ``InputError`` where the target may not be written, as the context is entered; in a database
    rights are checked too.
    """
    place = ReleaseAddress.of(output)
    if place.path is not None:
        return file_delivery(
            engine,
            place.path,
            settings,
            overwrite=overwrite,
            protected=kept_files(spec, settings),
            formats={**formats, **(FOLDER_FORMATS if ENGINES.named(engine.name).folders else {})},
            purposes=purposes,
            held=place.held,
            placed=place.placed,
            labels=partial(codebook, spec.source),
        )
    target = _table_target(engine, spec, place)
    return target.deliver(engine, spec, place, overwrite=overwrite, purposes=purposes(TABLE))


def check_table_target(engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool) -> None:
    """Raise ``InputError`` where a release could not be created as a table: rights and names, nothing else.

    It is what ``delivery_to`` checks too, for whoever wants to know before counting begins.
    """
    _table_target(engine, spec, address).check(engine, spec, address, overwrite=overwrite)


def _table_target(engine: Engine, spec: TableSpec, place: ReleaseAddress) -> TableTarget:
    tables = ENGINES.named(engine.name).tables
    if tables is None:
        where = ", or ".join(engine.tables_where for engine in known_engines() if engine.tables is not None)
        raise InputError(
            f"{place.label} as the target, while the source is {spec.source.label}",
            allowed=f"tables where the source {where}",
            advice=_CHECKED,
        )
    return tables()
