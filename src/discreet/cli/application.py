"""The command's verbs as one application, or some of them: a process that runs one loads no other."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from discreet.cli.verb import Verb

_CRITERIA = "criterion_options.CRITERION_OPTIONS"
_COSTS = "cost_options.COST_OPTIONS"
_VERBS: dict[str, tuple[str, ...]] = {
    "init": (),
    "hierarchies": (),
    "inspect": (),
    "lattice": (_CRITERIA,),
    "negotiate": (_CRITERIA, _COSTS),
    "search": (_CRITERIA, _COSTS),
    "publish": (_CRITERIA, "model_options.MODEL_OPTIONS"),
    "apply": (),
    "audit": (_CRITERIA,),
    "check": (_CRITERIA,),
    "compare": (_CRITERIA,),
    "query": (),
    "attack": ("attack_options.ATTACK_OPTIONS",),
    "tabulate": (),
    "safepub": (),
    "budget": (),
    "releases": (),
    "report": ("attack_options.REPORT_OPTIONS",),
    "serve": (),
    "schema": (),
    "presets": (),
    "reproduce": (),
    "demo": (),
}
"""Each verb, which is a function in the file of its name, and the declarations whose options it takes."""

_OF_EVERY_VERB = ("--debug", "--quiet", "-q", "--json")

VERBS = tuple(_VERBS)
"""Their names, in the order of the help."""


def application(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The application ``discreet`` with some of its verbs."""
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
        app.command(cls=_class_of(name))(_found(f"{name}.{name}"))
    return app


@cache
def command_of(verbs: tuple[str, ...]) -> Any:
    """Some verbs as one command: made once, since it takes longer than many a verb does."""
    return typer.main.get_command(application(verbs))


def verb_first(arguments: list[str]) -> list[str]:
    """A command line with what every verb takes behind the verb, where it stands before.

    >>> verb_first(["--debug", "publish", "discreet.toml"])
    ['publish', '--debug', 'discreet.toml']
    """
    place = next((i for i, word in enumerate(arguments) if word not in _OF_EVERY_VERB), len(arguments))
    if arguments[place : place + 1] and arguments[place] in _VERBS:
        return [arguments[place], *arguments[:place], *arguments[place + 1 :]]
    return arguments


def verbs_of(arguments: list[str]) -> tuple[str, ...]:
    """The verbs that a command line needs: its own, none to print the version, or all of them."""
    first = arguments[0] if arguments else ""
    return (first,) if first in _VERBS else () if first in ("--version", "-V") else VERBS


def _class_of(name: str) -> type[TyperCommand]:
    if not _VERBS[name]:
        return Verb
    from discreet.cli.declared import command_with

    return command_with(*(_found(kind) for kind in _VERBS[name]))


def _found(path: str) -> Any:
    """What stands under a name in a file of this folder."""
    file, _, name = path.partition(".")
    return getattr(import_module(f"discreet.cli.{file}"), name)


def _print_version(asked: bool) -> None:
    if asked:
        from discreet.model.own_version import own_version

        typer.echo(f"discreet {own_version()}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _version: bool = typer.Option(
        False, "--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Shown as the command's help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
