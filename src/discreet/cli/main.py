"""Entry point of ``discreet``: run one verb, classify failures, return the exit status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import typer

from discreet.cli.output import print_error
from discreet.cli.process import Signals, exit_process, signals_as_interrupts, tune_process
from discreet.cli.typer_application import (
    RENAMED_OPTIONS,
    RENAMED_VERBS,
    build_command,
    list_needed_verbs,
    move_verb_first,
    name_verb,
)
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached, hide_addresses

_PATTERN_ADVICE = (
    "Quote a pattern of several files, so that the shell does not expand it: discreet init 'data/*.csv'."
)
_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Exception that typer raises for an unknown option, a missing argument or a value of the wrong type."""


def classify_error(error: Exception, help_command: str) -> DiscreetError:
    """Return the error if it is one of the five kinds, else an error of the matching kind.

    The text of an internal error may contain values of the data, so only ``--debug`` prints it.
    """
    if isinstance(error, DiscreetError):
        return error
    if isinstance(error, UsageError):
        renamed = RENAMED_OPTIONS.get(getattr(error, "option_name", ""))
        said = _usage_text(error)
        if renamed is not None and said.startswith("No such option"):
            return _with_cause(InputError(f"{error.option_name} is now {renamed}"), error)  # type: ignore[attr-defined]
        several = "extra argument" in said and help_command.startswith("discreet init ")
        return _with_cause(
            InputError(said, advice=_PATTERN_ADVICE if several else f"See {help_command}."), error
        )
    if isinstance(error, MemoryError):
        advice = "Set --memory-limit, or give the table fewer columns."
        return _with_cause(LimitReached("memory ran out", advice=advice), error)
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        advice = "Free some space, or write elsewhere."
        return _with_cause(
            LimitReached(f"the disk is full: {error.filename or ''}".rstrip(": "), advice=advice), error
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return _with_cause(InputError(f"{error.filename}: {error.strerror.lower()}"), error)
    advice = "Run it again with --debug for the traceback, and please report it."
    return _with_cause(InternalError(f"internal error ({type(error).__name__})", advice=advice), error)


def _with_cause(cause: DiscreetError, error: Exception) -> DiscreetError:
    cause.__cause__ = error
    return cause


def _usage_text(error: Exception) -> str:
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(str(text).split()).rstrip(".")


EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def run() -> NoReturn:
    """Run the command in this process, then exit."""
    tune_process()
    exit_process(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are printed, as JSON with ``--json``."""
    arguments = move_verb_first(list(sys.argv[1:] if argv is None else argv))
    return run_command(
        arguments,
        lambda: _build_needed_command(arguments),
        program="discreet",
        help_command=_help_command(arguments),
        own_process=argv is None,
    )


def run_command(
    arguments: list[str],
    command: Callable[[], Any],
    *,
    program: str,
    help_command: str,
    own_process: bool,
) -> int:
    """Run a Typer command with the signals, errors and exit statuses of ``discreet``.

    ``command`` builds the command; its own failures are classified like those of the run. ``program`` is the
    name in usage texts, ``help_command`` the advice after a usage error. With ``own_process`` a signal may
    end the process.
    """
    with signals_as_interrupts(own_process=own_process) as signals, hide_addresses(arguments):
        status = _run(arguments, command, program, help_command, signals)
    return 128 + signals.number if signals.number is not None and status == EXIT_INTERRUPTED else status


def _run(
    arguments: list[str], command: Callable[[], Any], program: str, help_command: str, signals: Signals
) -> int:
    try:
        status = command().main(arguments, prog_name=program, standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        if signals.number is not None:
            # After a signal any failure counts as the interruption, such as that of a stopped statement.
            return EXIT_INTERRUPTED
        found = classify_error(error, help_command)
        print_error(found, as_json="--json" in arguments, debug="--debug" in arguments)
        return found.exit_status
    return status if isinstance(status, int) else 0


def _build_needed_command(arguments: list[str]) -> Any:
    """Build the command with the verbs that a command line needs; ``InputError`` for the old name of one."""
    old = arguments[0] if arguments else ""
    if old in RENAMED_VERBS:
        raise InputError(f"discreet {old} is now discreet {RENAMED_VERBS[old]}")
    return build_command(list_needed_verbs(arguments))


def _help_command(arguments: Sequence[str]) -> str:
    verb = name_verb(arguments)
    return f"discreet {verb} --help" if verb else "discreet --help"


def _silence_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter's last flush does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
