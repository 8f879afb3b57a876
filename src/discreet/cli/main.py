"""The command ``discreet``: which verbs there are, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand

from discreet.cli import (
    apply,
    attack,
    audit,
    budget,
    check,
    compare,
    demo,
    hierarchies,
    init,
    inspect,
    lattice,
    negotiate,
    presets,
    publish,
    query,
    releases,
    report,
    reproduce,
    safepub,
    schema,
    search,
    serve,
    tabulate,
)
from discreet.cli.attack_options import ATTACK_OPTIONS, REPORT_OPTIONS
from discreet.cli.cost_options import COST_OPTIONS
from discreet.cli.criterion_options import CRITERION_OPTIONS
from discreet.cli.declared import command_with
from discreet.cli.failures import as_discreet_error
from discreet.cli.model_options import MODEL_OPTIONS
from discreet.cli.output import print_error
from discreet.cli.signals import Signals, signals_as_interrupts
from discreet.cli.verb import Verb

INTERRUPTED = 130
BROKEN_PIPE = 141

app = typer.Typer(
    name="discreet",
    help="Publish personal data discreetly: negotiate privacy, generalization and suppression, then release"
    " with evidence.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
_COMMANDS: dict[object, type[TyperCommand]] = {
    lattice.lattice: command_with(CRITERION_OPTIONS),
    compare.compare: command_with(CRITERION_OPTIONS),
    negotiate.negotiate: command_with(CRITERION_OPTIONS, COST_OPTIONS),
    search.search: command_with(CRITERION_OPTIONS, COST_OPTIONS),
    publish.publish: command_with(CRITERION_OPTIONS, MODEL_OPTIONS),
    audit.audit: command_with(CRITERION_OPTIONS),
    check.check: command_with(CRITERION_OPTIONS),
    attack.attack: command_with(ATTACK_OPTIONS),
    report.report: command_with(REPORT_OPTIONS),
}
for verb in (
    init.init,
    hierarchies.hierarchies,
    inspect.inspect,
    lattice.lattice,
    negotiate.negotiate,
    search.search,
    publish.publish,
    apply.apply,
    audit.audit,
    check.check,
    compare.compare,
    query.query,
    attack.attack,
    tabulate.tabulate,
    safepub.safepub,
    budget.budget,
    releases.releases,
    report.report,
    serve.serve,
    schema.schema,
    presets.presets,
    reproduce.reproduce,
    demo.demo,
):
    app.command(cls=_COMMANDS.get(verb, Verb))(verb)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"discreet {version('discreet')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    _version: bool = typer.Option(
        False, "--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Shown as the command's help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are printed, as JSON where ``--json`` is asked."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with signals_as_interrupts(own_process=argv is None) as signals:
        status = _run(arguments, signals)
    return 128 + signals.number if signals.number is not None and status == INTERRUPTED else status


def _run(arguments: Sequence[str], signals: Signals) -> int:
    try:
        status = _command().main(arguments, prog_name="discreet", standalone_mode=False)
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


@cache
def _command() -> Any:
    """All verbs as one command: made once, since it takes longer than many a verb does."""
    return typer.main.get_command(app)


def _help_of(arguments: Sequence[str]) -> str:
    """The command whose help tells what a mistaken command line could have been."""
    verb = next((a for a in arguments if not a.startswith("-")), "")
    known = [command.callback.__name__ for command in app.registered_commands if command.callback]
    return f"discreet {verb} --help" if verb in known else "discreet --help"


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
