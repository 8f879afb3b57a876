"""Which delivery a release gets: by where it is to go, and by the engine that has the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from discreet.engines.base import Engine
from discreet.engines.delivery import Delivery
from discreet.engines.postgres.delivery import check_schema_target, schema_delivery
from discreet.engines.spark.delivery import catalog_delivery, check_catalog_target
from discreet.engines.table_delivery import TABLE
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import TableSpec
from discreet.release.file_delivery import file_delivery
from discreet.release.target import FOLDER_FORMATS, FORMATS
from discreet.settings import Settings
from discreet.sql.dialect import POSTGRES, SPARK
from discreet.sql.names import table_parts

_INTO_TABLES: Mapping[str, Callable[..., AbstractContextManager[Delivery]]] = {
    POSTGRES.name: schema_delivery,
    SPARK.name: catalog_delivery,
}
_CHECKS: Mapping[str, Callable[..., object]] = {
    POSTGRES.name: check_schema_target,
    SPARK.name: check_catalog_target,
}
_FOLDERS: Mapping[str, Mapping[str, str]] = {SPARK.name: FOLDER_FORMATS}
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
            protected=protected_files(spec, settings),
            formats={**formats, **_FOLDERS.get(engine.dialect.name, {})},
            purposes=purposes,
        )
    _require_tables(engine, spec, place)
    into = _INTO_TABLES[engine.dialect.name]
    return into(engine, spec, place, overwrite=overwrite, purposes=purposes(TABLE))


def is_table_name(text: str) -> bool:
    """Whether a text names a schema and a table of it."""
    try:
        return len(table_parts(text)) == 2
    except InputError:
        return False


def check_table_target(engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool) -> None:
    """Raise ``InputError`` where a release could not be created as a table: rights and names, nothing else.

    It is what ``delivery_to`` checks too, for whoever wants to know before counting begins.
    """
    _require_tables(engine, spec, address)
    _CHECKS[engine.dialect.name](engine, spec, address, overwrite=overwrite)


def _require_tables(engine: Engine, spec: TableSpec, place: ReleaseAddress) -> None:
    if engine.dialect.name not in _INTO_TABLES:
        raise InputError(
            f"{place.label} as the target, while the source is {spec.source.label}",
            allowed="tables where the source is one of PostgreSQL, or is read by Spark",
            advice=_CHECKED,
        )


def protected_files(spec: TableSpec, settings: Settings) -> list[tuple[str, Path]]:
    """The files that a release must not replace."""
    files = [("the private log", settings.private_log)]
    if spec.source.path is not None:
        files.append(("the input", spec.source.path))
    if spec.path is not None:
        files.append(("the spec", spec.path))
    for attribute in spec.attributes:
        path = getattr(attribute.hierarchy, "path", None)
        if isinstance(path, Path):
            files.append((f"the hierarchy of '{attribute.name}'", path))
    return files
