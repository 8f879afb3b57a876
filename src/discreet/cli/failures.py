"""Which of the five kinds of error a failure is."""

from __future__ import annotations

import errno

import typer

from discreet.errors import DiscreetError, InputError, InternalError, LimitReached

_SEVERAL = (
    "Several files are one table by a pattern in quotes, which the shell then leaves alone: "
    "discreet init 'data/*.csv'."
)
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""What typer raises for an unknown option, a missing argument or a value of the wrong type."""


def as_discreet_error(error: Exception, help_command: str) -> DiscreetError:
    """The error itself where it is one of the five kinds, else the kind that it belongs to.

    A bug's own text may hold values of the data, so it is shown with ``--debug`` alone.
    """
    if isinstance(error, DiscreetError):
        return error
    if isinstance(error, UsageError):
        said = _sentence(error)
        several = "extra argument" in said and help_command.startswith("discreet init ")
        return _caused(InputError(said, advice=_SEVERAL if several else f"See {help_command}."), error)
    if isinstance(error, MemoryError):
        advice = "Set --memory-limit, or give the table fewer columns."
        return _caused(LimitReached("memory ran out", advice=advice), error)
    if isinstance(error, OSError) and error.errno in _FULL:
        advice = "Free some space, or write elsewhere."
        return _caused(
            LimitReached(f"the disk is full: {error.filename or ''}".rstrip(": "), advice=advice), error
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return _caused(InputError(f"{error.filename}: {error.strerror.lower()}"), error)
    advice = "Run it again with --debug for the traceback, and please report it."
    return _caused(InternalError(f"a bug of discreet's own ({type(error).__name__})", advice=advice), error)


def _caused(found: DiscreetError, error: Exception) -> DiscreetError:
    found.__cause__ = error
    return found


def _sentence(error: Exception) -> str:
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(str(text).split()).rstrip(".")
