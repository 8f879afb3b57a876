"""``discreet.open``: from a spec, or from data and roles, to a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.engines.addresses import is_database_address
from discreet.engines.files.sources import FORMATS
from discreet.errors import InputError
from discreet.model.table_spec import TableSpec
from discreet.places.address import path_of
from discreet.settings import Settings
from discreet.spec.load import load_spec, spec_from_mapping
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.table import Table


def open(  # noqa: A001
    source: object,
    spec: Mapping[str, Any] | None = None,
    *,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> Table:
    """A table from its spec file, or from data and a spec as a mapping.

    ``source`` is the path of a spec (``discreet.toml``); with a mapping ``spec`` it is the path of a data
    file, the address of a database, an Arrow, pandas, polars or Spark table, an Arrow dataset, or a stream of
    record batches, which is read once (``engines.files.stream``). The mapping has the form of the TOML file,
    without a source: ``{"attributes": {"age": {"role": "quasi-identifier"}, …}}``, but for
    ``{"source": {"table": …}}`` of a database; its relative paths are relative to the working folder.
    ``InputError`` where anything is wrong with either. No row is read yet; the names of columns are where
    attributes are given by pattern (``{"q*": …}``).
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
    return load_spec(path, settings)


def _combined(source: object, spec: Mapping[str, Any], settings: Settings) -> TableSpec:
    if not isinstance(source, str | os.PathLike):
        return spec_from_mapping(spec, base=Path(), label="the spec", data=source, settings=settings)
    given = spec.get("source", {})
    text = os.fspath(source)
    place = {"url": text} if is_database_address(text) else {"path": path_of(text)}
    document = {**spec, "source": {**given, **place} if isinstance(given, Mapping) else given}
    return spec_from_mapping(document, base=Path(), label="the spec", settings=settings)
