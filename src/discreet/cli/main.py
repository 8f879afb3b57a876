"""The command ``discreet``: which verbs there are, and what becomes of errors."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

import typer

from discreet.cli import audit, demo, init, inspect, lattice, negotiate, publish
from discreet.cli.output import print_error
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached

INTERRUPTED = 130
BROKEN_PIPE = 141

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""What typer raises for an unknown option, a missing argument or a value of the wrong type."""

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
    publish.publish,
    audit.audit,
    demo.demo,
):
    app.command()(verb)


def _print_version(asked: bool) -> None:
    if asked:
        from discreet import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Shown as the command's help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are printed, as JSON where ``--json`` is asked."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = app(arguments, prog_name="discreet", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except Exception as error:
        found = as_discreet_error(error, arguments)
        print_error(found, as_json="--json" in arguments, debug="--debug" in arguments)
        return found.exit_status
    return status if isinstance(status, int) else 0


def as_discreet_error(error: Exception, arguments: Sequence[str]) -> DiscreetError:
    """The error itself where it is one of the five kinds, else the kind that it belongs to.

    A bug's own text may hold values of the data, so it is shown with ``--debug`` alone.
    """
    if isinstance(error, DiscreetError):
        return error
    if isinstance(error, UsageError):
        verb = next((a for a in arguments if not a.startswith("-")), "")
        known = verb in {command.callback.__name__ for command in app.registered_commands if command.callback}
        help_of = f"discreet {verb} --help" if known else "discreet --help"
        return _caused(InputError(_sentence(error), advice=f"See {help_of}."), error)
    if isinstance(error, MemoryError):
        advice = "Set --memory-limit, or give the table fewer columns."
        return _caused(LimitReached("memory ran out", advice=advice), error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = "Free some space, or write elsewhere."
        return _caused(LimitReached(f"the disk is full: {error.filename or ''}".rstrip(": "), advice=advice), error)
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


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        pass
