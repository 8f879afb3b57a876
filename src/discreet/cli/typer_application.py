"""Typer application and its verbs: a process that runs one verb imports no other."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from discreet.cli.command import VerbCommand

_CRITERIA = "declared_options.CRITERION_OPTIONS"
_COSTS = "declared_options.COST_OPTIONS"
_VERBS: dict[str, tuple[str, ...]] = {
    "init": (),
    "hierarchies": (),
    "inspect": (),
    "lattice": (_CRITERIA,),
    "negotiate": (_CRITERIA, _COSTS),
    "search": (_CRITERIA, _COSTS),
    "publish": (_CRITERIA, "declared_options.MODEL_OPTIONS"),
    "apply": (),
    "audit": (_CRITERIA,),
    "check": (_CRITERIA,),
    "compare": (_CRITERIA,),
    "query": (),
    "attack": ("declared_options.ATTACK_OPTIONS",),
    "tabulate": (),
    "safepub": (),
    "budget": (),
    "releases": (),
    "report": ("declared_options.REPORT_OPTIONS",),
    "serve": (),
    "schema": (),
    "presets": (),
    "demo": (),
}
"""Verbs, each a function in the module of its name, with the declarations of its further options."""

_COMMON_OPTIONS = ("--debug", "--quiet", "-q", "--json")

VERBS = tuple(_VERBS)
"""Names of the verbs, in the order of the help."""


def build_application(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """Build the application ``discreet`` with some of its verbs."""
    app = typer.Typer(
        name="discreet",
        help="Publish personal data discreetly: negotiate privacy, generalization and suppression, then"
        " release with evidence.",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in verbs:
        app.command(cls=_command_class(name))(_import_name(f"{name}.{name}"))
    return app


@cache
def build_command(verbs: tuple[str, ...]) -> Any:
    """Build the command of some verbs; it is cached, since building takes longer than many verbs."""
    return typer.main.get_command(build_application(verbs))


def move_verb_first(arguments: list[str]) -> list[str]:
    """Move options that every verb takes from before the verb to after it.

    >>> move_verb_first(["--debug", "publish", "discreet.toml"])
    ['publish', '--debug', 'discreet.toml']
    """
    verb_index = next((i for i, word in enumerate(arguments) if word not in _COMMON_OPTIONS), len(arguments))
    if arguments[verb_index : verb_index + 1] and arguments[verb_index] in _VERBS:
        return [arguments[verb_index], *arguments[:verb_index], *arguments[verb_index + 1 :]]
    return arguments


def list_needed_verbs(arguments: list[str]) -> tuple[str, ...]:
    """Return the verbs that a command line needs: its own, none to print the version, or all of them."""
    first = arguments[0] if arguments else ""
    return (first,) if first in _VERBS else () if first in ("--version", "-V") else VERBS


def _command_class(name: str) -> type[TyperCommand]:
    if not _VERBS[name]:
        return VerbCommand
    from discreet.cli.command import make_command_class

    return make_command_class(*(_import_name(kind) for kind in _VERBS[name]))


def _import_name(path: str) -> Any:
    """Import a name from a module of this package, given as ``module.name``."""
    file, _, name = path.partition(".")
    return getattr(import_module(f"discreet.cli.{file}"), name)


def _print_version(requested: bool) -> None:
    if requested:
        from discreet.model.json_documents import program_version

        typer.echo(f"discreet {program_version()}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _version: bool = typer.Option(
        False, "--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Print the help if no verb is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
