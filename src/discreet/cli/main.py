"""The command ``discreet``: which verbs there are, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

import typer

from discreet.cli import (
    attack,
    audit,
    demo,
    init,
    inspect,
    lattice,
    negotiate,
    publish,
    query,
    report,
    reproduce,
    search,
    serve,
)
from discreet.cli.failures import as_discreet_error
from discreet.cli.output import print_error

INTERRUPTED = 130
BROKEN_PIPE = 141

app = typer.Typer(
    name="discreet",
    help="Publish personal data discreetly: negotiate privacy, generalization and suppression, then release"
    " with evidence.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for verb in (
    init.init,
    inspect.inspect,
    lattice.lattice,
    negotiate.negotiate,
    search.search,
    publish.publish,
    audit.audit,
    query.query,
    attack.attack,
    report.report,
    serve.serve,
    reproduce.reproduce,
    demo.demo,
):
    app.command()(verb)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"discreet {version('discreet')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    _version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Shown as the command's help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are printed, as JSON where ``--json`` is asked."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with _signals_as_interrupts() as received:
        status = _run(arguments)
    return 128 + received[0] if received and status == INTERRUPTED else status


@contextmanager
def _signals_as_interrupts() -> Iterator[list[int]]:
    """Let the signals that end a process end the work as Ctrl-C does, so that temporary files are removed.

    Yields those that came. A second one ends the process at once; where the caller has other plans for a
    signal (``nohup``), these stay.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        del frame
        signal.signal(number, signal.SIG_DFL)
        received.append(number)
        raise KeyboardInterrupt

    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, interrupt)
    try:
        yield received
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _run(arguments: Sequence[str]) -> int:
    try:
        status = app(arguments, prog_name="discreet", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except Exception as error:
        found = as_discreet_error(error, _help_of(arguments))
        print_error(found, as_json="--json" in arguments, debug="--debug" in arguments)
        return found.exit_status
    return status if isinstance(status, int) else 0


def _help_of(arguments: Sequence[str]) -> str:
    """The command whose help tells what a mistaken command line could have been."""
    verb = next((a for a in arguments if not a.startswith("-")), "")
    known = [command.callback.__name__ for command in app.registered_commands if command.callback]
    return f"discreet {verb} --help" if verb in known else "discreet --help"


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
