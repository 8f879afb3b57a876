"""The population of a spec: the table that the source is a subset of, or one of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.table_spec import SourceSpec, Subset
from discreet.places.address import path_of
from discreet.spec.document import PopulationTable, SubsetTable
from discreet.spec.hierarchies import HierarchyReader
from discreet.spec.problems import located, validated

_KEY = ("population",)


def subset_of(content: object, label: str) -> Subset | None:
    """``subset`` of ``[source]``; None where there is none."""
    if content is None:
        return None
    table = validated(SubsetTable, content, label=label, key=("source", "subset"))
    return Subset(table.column, tuple(dict.fromkeys(table.values)))


def population_of(source: SourceSpec, content: object, reader: HierarchyReader) -> SourceSpec | None:
    """Where the population of a source lies; None where the spec names none.

    It is the table that ``source`` is a subset of, or that of ``[population]``, which is read as the source
    is where nothing else is said. ``InputError`` for both, for a subject (people are counted, so each row is
    to be one), and for a place that another engine would read.
    """
    label = reader.label
    if content is None and source.subset is None:
        return None
    if source.subject is not None:
        raise InputError(
            f"{label}: a population beside source.subject = {shown(source.subject)}",
            allowed="a population of tables with one row per person",
            advice="Bring the table to one row per person first, and remove source.subject.",
        )
    if content is None:
        return replace(source, subset=None)
    if isinstance(content, Mapping) and isinstance(content.get("path"), os.PathLike):
        content = {**content, "path": os.fspath(content["path"])}
    table = validated(PopulationTable, content, label=label, key=_KEY)
    if source.subset is not None:
        raise InputError(
            f"{label}: population beside source.subset",
            allowed="one of them: a source is a subset of its own table, or of another one",
        )
    if table.path is None and table.table is None:
        raise InputError(
            f"{label}: population names no table", allowed='path, such as "register.csv", or table'
        )
    if table.path is not None and source.path is None and source.data is None:
        raise InputError(
            f"{label}: population.path beside a source that is no file",
            allowed="population.table, of the source's own database",
        )
    given = {
        name: value
        for name in ("format", "encoding", "delimiter", "quote")
        if (value := getattr(table, name)) is not None
    }
    path = source.path if table.path is None else _path(table.path, reader)
    if path != source.path:
        given = {"format": None, "delimiter": None, "version": None, **given}
    return replace(source, path=path, table=table.table, data=None, **given)


def _path(text: str, reader: HierarchyReader) -> Path:
    try:
        return reader.base / path_of(text)
    except InputError as error:
        raise located(error, label=reader.label, key=(*_KEY, "path")) from None
