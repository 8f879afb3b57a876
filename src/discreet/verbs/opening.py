"""``discreet.open``: from a spec, or from data and roles, to a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from discreet.engines.addresses import is_database_address
from discreet.engines.files.python_table import cheap_columns
from discreet.engines.files.sources import FORMATS
from discreet.errors import InputError
from discreet.model.closest import closest
from discreet.model.table_spec import TableSpec
from discreet.places.address import path_of
from discreet.settings import Settings
from discreet.spec.load import load_spec, spec_from_mapping, spec_mapping
from discreet.spec.place import with_place
from discreet.spec.stanza_patterns import columns_read
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.session_frames import frame_of
from discreet.verbs.table import Table

if TYPE_CHECKING:
    from discreet.verbs.proposal import Proposal


def open(  # noqa: A001
    source: object,
    spec: Mapping[str, Any] | Proposal | str | os.PathLike[str] | None = None,
    *,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> Table:
    """A table from its spec file, or from data and a spec.

    ``source`` is the path of a spec (``discreet.toml``); with a ``spec`` it is the path of a data
    file, the address of a database, an Arrow, pandas, polars or Spark table, an Arrow dataset, or a stream of
    record batches, which is read once (``engines.files.stream``). ``spec`` is a proposal of
    ``discreet.init``, the path of a spec, or a mapping of the form of the TOML file, without a source:
    ``{"attributes": {"age": {"role": "quasi-identifier"}, …}}``, but for ``{"source": {"table": …}}`` of a
    database; relative paths in a mapping are relative to the working folder. A path or an address as
    ``source`` replaces the one that the spec names.
    ``InputError`` where anything is wrong with either, an attribute that is no column of the data included.
    No row is read yet; the names of columns are, where data and a spec are given, and where attributes are
    given by pattern (``{"q*": …}``). Of a database and of a stream they are read when rows first are.
    """
    known = settings or Settings.from_environment()
    found = _load(source, known) if spec is None else _combined(source, spec, known)
    return Table(found, known, reporter)


def _load(source: object, settings: Settings) -> TableSpec:
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"a {type(source).__name__} without a spec",
            allowed="the path of a spec, or data together with a spec",
            advice='Give roles, such as discreet.open(data, {"attributes": {"age": {"role": '
            '"quasi-identifier"}}}); discreet.init(data) proposes some.',
        )
    if is_database_address(os.fspath(source)):
        raise InputError(
            "the address of a database without a spec",
            allowed="the path of a spec, or an address together with a spec",
            advice="discreet init ADDRESS --table NAME writes a spec for a table.",
        )
    path = path_of(source, "the path of a spec")
    if path.suffix.lower().removeprefix(".") in FORMATS:
        raise InputError(
            f"{path} is data, not a spec",
            allowed="a spec such as discreet.toml",
            advice=f"discreet init {path} writes a spec for it.",
        )
    data = frame_of(path)
    if data is not None and not _names_rows(spec_mapping(path)):
        return _checked(load_spec(path, settings, data=data), settings)
    return load_spec(path, settings)


def _combined(
    source: object, spec: Mapping[str, Any] | Proposal | str | os.PathLike[str], settings: Settings
) -> TableSpec:
    """The spec of data that are given with it; its attributes are columns of theirs."""
    given = getattr(spec, "mapping", spec)
    in_memory = not isinstance(source, str | os.PathLike)
    place = None if in_memory else _place(os.fspath(cast("str | os.PathLike[str]", source)))
    data = source if in_memory else None
    if isinstance(given, str | os.PathLike):
        path = path_of(given, "the path of a spec")
        return _checked(load_spec(path, settings, data=data, place=place), settings)
    if not isinstance(given, Mapping):
        raise InputError(
            f"a {type(spec).__name__} in place of a spec",
            allowed="a mapping, the path of a spec, or a proposal of discreet.init",
        )
    document = given if place is None else with_place(given, place)
    return _checked(
        spec_from_mapping(document, base=Path(), label="the spec", data=data, settings=settings), settings
    )


def _place(text: str) -> dict[str, str]:
    """The keys of ``[source]`` for a path or an address; a path is absolute."""
    return {"url": text} if is_database_address(text) else {"path": str(path_of(text).absolute())}


def _names_rows(document: Mapping[str, Any]) -> bool:
    source = document.get("source", {})
    return isinstance(source, Mapping) and bool({"path", "url", "table"} & set(source))


def _checked(spec: TableSpec, settings: Settings) -> TableSpec:
    """The spec, each attribute of which is a column; ``InputError`` that names one that is none.

    Only names that are at hand without a connection or a stream are compared; the others are when rows are
    counted.
    """
    source = spec.source
    if source.data is not None:
        columns = cheap_columns(source.data)
    elif source.path is not None and source.path.is_file():
        columns = tuple(columns_read(settings)(source))
    else:
        columns = None
    if columns is None:
        return spec
    names = {name.strip() for name in columns} if source.strip else set(columns)
    for attribute in spec.attributes:
        if attribute.name not in names and attribute.name not in columns:
            raise InputError(
                f"{source.label} has no column '{attribute.name}'",
                allowed=", ".join(f"'{column}'" for column in columns),
                advice=closest(attribute.name, columns),
            )
    return spec
