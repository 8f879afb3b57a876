"""The digest of what an audit reads: a file's, a folder's files', or a table's rows in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from discreet.engines.base import Engine
from discreet.engines.distinct_rows import table_digest
from discreet.engines.files.folder import folder_digest
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress


def digest_of(engine: Engine, place: ReleaseAddress, first: Sequence[str] = ()) -> str:
    """SHA-256 of what lies at an address; ``InputError`` where it cannot be read.

    Where the rows of a table lie in the order of the columns ``first``, they are sorted faster.
    """
    path = place.path
    if path is None:
        return table_digest(engine, place.source(), first)
    if path.is_dir():
        return folder_digest(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
