"""The engine of a run: where the rows of its source live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.engines.base import Engine
from discreet.engines.registry import engine_of
from discreet.model.table_spec import SourceSpec
from discreet.places.address import address_said
from discreet.settings import Settings


def connect(settings: Settings, source: SourceSpec | None = None) -> Engine:
    """The engine of a source within ``settings``; close it, or use it as a context.

    A table of a database is worked on there, what lies in no other engine by the embedded one, as is none.
    Raises ``InputError`` where the engine cannot be reached, or where what it needs is not installed.
    """
    return engine_of(source).connect(settings, source)


@contextmanager
def engine_for(engine: Engine, settings: Settings, source: SourceSpec) -> Iterator[Engine]:
    """An engine that reads a source: ``engine`` where it does, else a further one while the context lasts.

    A table and its release, or an attacker's file, may lie in different places.
    """
    url = None if source.url is None else address_said(source.url)
    if engine_of(source).name == engine.name and engine.url == url:
        yield engine
        return
    with connect(settings, source) as found:
        yield found
