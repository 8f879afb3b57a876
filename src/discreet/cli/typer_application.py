"""Typer application and its verbs: a process that runs one verb imports no other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from discreet.cli.command import VerbCommand, expand_bundles

_CRITERIA = "declared_options.CRITERION_OPTIONS"
_COSTS = "declared_options.COST_OPTIONS"
_VERBS: dict[str, tuple[str, ...]] = {
    "init": (),
    "inspect": (),
    "lattice": (_CRITERIA,),
    "negotiate": (_CRITERIA, _COSTS),
    "search": (_CRITERIA, _COSTS),
    "publish": (_CRITERIA, "declared_options.MODEL_OPTIONS"),
    "apply": (),
    "audit": (_CRITERIA,),
    "compare": (_CRITERIA,),
    "query": (),
    "attack": ("declared_options.ATTACK_OPTIONS",),
    "report": ("declared_options.REPORT_OPTIONS",),
    "serve": (),
    "schema": (),
    "demo": (),
    "dp histogram": (),
    "dp sample": (),
    "dp budget": (),
    "list hierarchies": (),
    "list presets": (),
    "list releases": (),
}
"""Verbs with the declarations of their further options; each is a function in the module of its first word.

The verbs of a group, such as ``dp``, are functions of one module.
"""

_GROUPS = {
    "dp": "Release counts or rows under differential privacy.",
    "list": "List built-in hierarchies, presets or earlier releases.",
}
"""Help of each group of verbs."""

RENAMED_VERBS = {
    "budget": "dp budget",
    "check": "audit",
    "hierarchies": "list hierarchies",
    "presets": "list presets",
    "releases": "list releases",
    "safepub": "dp sample",
    "tabulate": "dp histogram",
}
"""New names of verbs that had another name."""

RENAMED_OPTIONS = {
    "--accept": "--accept-relaxation",
    "--after": "--previous-release",
    "--at-most-one": "--exclusive",
    "--near": "--cut-along",
    "--never": "--keep",
    "--nulls": "--null-policy",
    "--order": "--row-order",
    "--required": "--always-generalize",
    "--suppressed": "--suppressed-rows",
    "--together": "--generalize-together",
}
"""New names of options that had another name."""

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
    groups: dict[str, typer.Typer] = {}
    for verb in verbs:
        group, _, name = verb.rpartition(" ")
        if group and group not in groups:
            groups[group] = typer.Typer(rich_markup_mode=None)
            groups[group].callback(invoke_without_command=True)(_print_help)
            app.add_typer(groups[group], name=group, help=_GROUPS[group])
        function = expand_bundles(_import_name(f"{group or name}.{name}"))
        groups.get(group, app).command(cls=_command_class(verb))(function)
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
    common, words = [], list(arguments)
    for length in range(2):
        while words[length : length + 1] and words[length] in _COMMON_OPTIONS:
            common.append(words.pop(length))
        verb = " ".join(words[: length + 1])
        if verb in _VERBS:
            return [*words[: length + 1], *common, *words[length + 1 :]]
        if verb not in _GROUPS:
            break
    return arguments


def name_verb(arguments: Sequence[str]) -> str:
    """Return the verb or the group of verbs that a command line begins with; empty for another word."""
    words = " ".join(arguments[:2])
    first = words.partition(" ")[0]
    return words if words in _VERBS else first if first in _VERBS or first in _GROUPS else ""


def list_needed_verbs(arguments: list[str]) -> tuple[str, ...]:
    """Return the verbs that a command line needs: its own, none to print the version, or all of them."""
    if arguments[:1] in (["--version"], ["-V"]):
        return ()
    verb = name_verb(arguments)
    return tuple(each for each in _VERBS if each == verb or each.startswith(f"{verb} ")) or VERBS


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
    _print_help(context)


def _print_help(context: typer.Context) -> None:
    """Print the help of a group if no verb is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
