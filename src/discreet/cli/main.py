"""The command ``discreet``: one run of a verb, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import typer

from discreet.cli.application import VERBS, command_of, verb_first, verbs_of
from discreet.cli.failures import as_discreet_error
from discreet.cli.output import print_error
from discreet.cli.own_process import begin_own_process, end_own_process
from discreet.cli.signals import Signals, signals_as_interrupts
from discreet.errors import addresses_hidden

INTERRUPTED = 130
BROKEN_PIPE = 141


def run() -> NoReturn:
    """Run the command as this process, which ends with it."""
    begin_own_process()
    end_own_process(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are printed, as JSON where ``--json`` is asked."""
    arguments = verb_first(list(sys.argv[1:] if argv is None else argv))
    with signals_as_interrupts(own_process=argv is None) as signals, addresses_hidden(arguments):
        status = _run(arguments, signals)
    return 128 + signals.number if signals.number is not None and status == INTERRUPTED else status


def _run(arguments: list[str], signals: Signals) -> int:
    try:
        command = command_of(verbs_of(arguments))
        status = command.main(arguments, prog_name="discreet", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except Exception as error:
        if signals.number is not None:
            return INTERRUPTED  # A statement that was stopped on the way out fails like any other.
        found = as_discreet_error(error, _help_of(arguments))
        print_error(found, as_json="--json" in arguments, debug="--debug" in arguments)
        return found.exit_status
    return status if isinstance(status, int) else 0


def _help_of(arguments: Sequence[str]) -> str:
    """The command whose help tells what a mistaken command line could have been."""
    verb = next((a for a in arguments if not a.startswith("-")), "")
    return f"discreet {verb} --help" if verb in VERBS else "discreet --help"


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
