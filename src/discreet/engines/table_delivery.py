"""What a release that is a table has in common, in PostgreSQL and in Spark's catalog."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.engines.base import Engine
from discreet.model.json_text import json_of
from discreet.model.permuted_release import VIEWS
from discreet.model.release_address import MANIFEST, ReleaseAddress

W = TypeVar("W", bound=Engine)

TABLE = "table"
"""The manifest's word for a release that is a table of a database."""


@dataclass(frozen=True, eq=False)
class TableDelivery(Generic[W]):
    """Tables on their way to ``address`` (see ``Delivery``), by an engine that writes tables."""

    writer: W
    address: ReleaseAddress

    @property
    def engine(self) -> Engine:
        """The engine that holds the source."""
        return self.writer

    @property
    def manifest(self) -> ReleaseAddress:
        """The companion table of the manifest."""
        return self.address.companion(MANIFEST)

    @property
    def file_format(self) -> str:
        """``table``."""
        return TABLE

    @property
    def typed(self) -> bool:
        """A table has types."""
        return True

    def auditor(self) -> AbstractContextManager[Engine]:
        """The engine itself, which alone sees what is not in place yet."""
        return nullcontext(self.writer)


def companions_of(manifest: str | None) -> tuple[str, ...]:
    """The purposes of the companion views and tables of a release, by its manifest's text."""
    if manifest is None:
        return ()
    try:
        permuted = json_of(manifest).get("permutation")
        return (MANIFEST,) if permuted is None else (*VIEWS, *permuted["files"], MANIFEST)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()
