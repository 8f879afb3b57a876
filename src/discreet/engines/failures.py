"""Translation of DuckDB's and the operating system's exceptions to the five kinds of ``errors``.

Messages of an engine quote data and statements, so they are never passed on: each error is recognized and
gets a new message. Only errors before the first row is read keep the engine's text.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import DiscreetError, InputError, InternalError, LimitReached

_NO_SPACE = ("No space left on device", "Disk quota exceeded", "max_temp_directory_size", "File too large")
_FILE_FAULT = re.compile("parquet|snappy|zstd|gzip|thrift|json|unicode|utf-?8|failed to read", re.IGNORECASE)
_PACKAGE = re.compile(r"required (?:package|module) '([\w.-]+)'", re.IGNORECASE)
_STATEMENT_FAULTS = {"BinderException", "CatalogException", "ParserException", "SyntaxException"}


@contextmanager
def translate_interrupt() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` for an interrupt that the engine turned into a ``RuntimeError``."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def out_of_memory(limit: int) -> LimitReached:
    """Return the error for a run that exceeds its memory limit."""
    return LimitReached(
        f"the memory limit of {limit:,} bytes is not enough",
        advice="Raise DISCREET_MEMORY_LIMIT, use fewer threads, or name fewer quasi-identifiers.",
    )


def out_of_disk(location: str) -> LimitReached:
    """Return the error for a full disk, of temporary files or of the output."""
    return LimitReached(
        f"no space is left for {location}",
        advice="Free space there, or set TMPDIR to a larger disk for temporary files.",
    )


def from_os_error(error: OSError, path: Path) -> DiscreetError:
    """Translate an operating-system error on a file to be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return out_of_disk(str(path))
    if isinstance(error, FileExistsError):
        return InputError(f"{path} already exists", advice="Choose another name.")
    if not path.parent.is_dir():
        return InputError(f"the folder {path.parent} is missing", advice="Make the folder first.")
    reason = error.strerror or "input/output error"
    return InputError(f"{path} cannot be written: {reason}", advice="Check the folder and its permissions.")


def from_start_error(error: Exception, *, limit: int) -> DiscreetError:
    """Translate the error of an engine that cannot start; its text is kept because no row was read yet."""
    known = _without_data(error, limit)
    if known is not None:
        return known
    reason = " ".join(str(error).split())
    return InputError(
        f"the engine cannot start: {reason[:1000]}",
        advice="Correct the setting that the message names, and try again.",
    )


def from_engine_error(error: Exception, *, limit: int, label: str) -> DiscreetError:
    """Translate an engine's exception that concerns no file of delimited text.

    ``limit`` is the memory limit in bytes, ``label`` the source for messages.
    """
    kind, text = type(error).__name__, str(error)
    known = _without_data(error, limit)
    if known is not None:
        return known
    if kind in ("InvalidInputException", "IOException", "SerializationException") and _FILE_FAULT.search(
        text
    ):
        return InputError(
            f"{label} cannot be read",
            allowed="a whole file of its format",
            advice="Check that the file's extension, or format in [source], is right; copy it again.",
        )
    if kind in ("IOException", "PermissionException"):
        return InputError(f"{label} cannot be read or written", advice="Check the path and its permissions.")
    if kind == "NotImplementedException":
        return InputError(
            f"{label} has a column of a type that cannot be read",
            advice="Convert the column to text, numbers or dates first.",
        )
    detail = f": {text.splitlines()[0][:200]}" if kind in _STATEMENT_FAULTS and text else ""
    return InternalError(f"the engine failed with {kind}{detail}", advice="Please report this.")


def _without_data(error: Exception, limit: int) -> DiscreetError | None:
    """Return the error for disk, memory or a missing package; None for errors that concern a source."""
    kind, text = type(error).__name__, str(error)
    if any(sign in text for sign in _NO_SPACE):
        return out_of_disk("temporary files or the output")
    if kind == "OutOfMemoryException":
        return out_of_memory(limit)
    package = _PACKAGE.search(text) if kind == "InvalidInputException" else None
    if package is None:
        return None
    return InputError(
        f"the engine needs the package {package.group(1)}, which is not installed",
        advice=f"Install it: pip install {package.group(1)}.",
    )
