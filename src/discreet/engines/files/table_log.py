"""What the logs of table formats have in common: versions, and files that lie on this machine's disks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from discreet.errors import DiscreetError, InputError


class TableLog(Protocol):
    """The log of a table; ``InputError`` where it, or a version of it, cannot be read."""

    @property
    def label(self) -> str:
        """The table's name for messages."""

    @property
    def version(self) -> int:
        """The newest version."""

    @property
    def identity(self) -> str:
        """What the table is known by in whatever place and version."""

    def rows(self, version: int) -> Any:
        """The rows of a version: a dataset, which is scanned where it lies, or a record-batch reader."""


def check_files(places: Iterable[str], label: str, version: int) -> None:
    """Raise ``InputError`` where a file lies on another machine, or is there no more."""
    for place in places:
        path = local_path(place)
        if path is None:
            raise InputError(
                f"{label}: a file of it does not lie on this machine",
                allowed="tables whose files lie on this machine's disks",
                advice="Read it through Spark's catalog, or copy it here.",
            )
        if not path.is_file():
            raise InputError(
                f"{label}: a file of version {version} is gone",
                advice="Old versions go when a table is cleaned up (VACUUM, expire_snapshots): name a later "
                "version, or none for the newest.",
            )


def local_path(place: str) -> Path | None:
    """The path of a file on this machine; None for an address elsewhere.

    Some libraries percent-encode a path, others do not, and names of folders may hold such codes themselves.
    """
    if "://" in place and not place.startswith("file:///"):
        return None
    exact = Path(place.removeprefix("file://").removeprefix("file:"))
    return exact if exact.exists() else Path(unquote(str(exact)))


def no_version(log: TableLog, version: int, allowed: str) -> InputError:
    """The error for a version that a table has not, or has no more."""
    return InputError(
        f"{log.label} has no version {version}",
        allowed=allowed,
        advice="Leave version out for the newest one.",
    )


@contextmanager
def library(label: str, kind: str, package: str, extra: str) -> Iterator[None]:
    """Say what to install where an import fails."""
    try:
        yield
    except ImportError:
        raise InputError(
            f"{label} is a table of {kind}: its log says which of its files count, and reading it needs the "
            f"package {package}, which is not installed",
            advice=f"Install it: pip install 'discreet[{extra}]'. Or read the table through Spark's catalog "
            '(engine = "spark" and table = "…" in [source]), or export it to plain Parquet.',
        ) from None


@contextmanager
def as_input_error(label: str, kind: str, package: str) -> Iterator[None]:
    """What a library cannot read; its own message may quote the table's statistics, so it is dropped."""
    try:
        yield
    except (DiscreetError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"{label} is a table of {kind}, and cannot be read by {package} ({type(error).__name__})",
            allowed="a whole table, of features that this version of the package knows",
            advice="Read it through Spark's catalog, export it to plain Parquet, or let its owner rewrite "
            "its files so that no deletions stand beside them (compaction).",
        ) from None
