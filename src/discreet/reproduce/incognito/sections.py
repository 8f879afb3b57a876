"""The Incognito paper's experiments: Adult, then a table of the shape of Lands End's."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.reproduce.context import Context
from discreet.reproduce.incognito import adult, orders
from discreet.reproduce.section import Section


def sections(context: Context) -> Iterator[Section]:
    """Each section is computed when it is asked for."""
    yield from adult.sections(context)
    yield from orders.sections(context)
