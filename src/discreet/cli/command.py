"""Command classes: common options of all verbs, and options declared by criteria, costs, models, attacks.

Declarations are loaded when a command line names an option that is not the verb's own, since packages may
add some. Help names engines by the words in braces.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from discreet.cli import output
from discreet.model.option import Option, OptionKind
from discreet.places.address import parse_path
from discreet.printing.document import capitalize


class VerbCommand(TyperCommand):
    """A verb with ``--quiet`` and ``--debug``, whose help names engines by the words in braces."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The verb's own parameters, and those that every verb has."""
        return [*super().get_params(ctx), *_common_parameters()]

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; ``main`` reads ``--debug`` itself, as errors may come before parsing ends."""
        del ctx.params["debug"]
        for value in ctx.params.values():
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, Path):
                    parse_path(each)
        with output.silence(ctx.params.pop("quiet")):
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The verb's options, with the words of the engines that there are now."""
        words, own = _engine_texts(), self.params
        self.params = [_fill_parameter(parameter, words) for parameter in own]
        try:
            super().format_options(ctx, formatter)
        finally:
            self.params = own


_QUIET: Any = typer.Option("--quiet", "-q", help="Print errors alone; with --json its document, too.")
_DEBUG: Any = typer.Option("--debug", help="Add the traceback to an error.")


@cache
def _common_parameters() -> list[Any]:
    return make_parameters([("quiet", bool, _QUIET), ("debug", bool, _DEBUG)])


def make_parameters(options: Iterable[tuple[str, Any, Any]]) -> list[Any]:
    """Parameters of the command line: each option's name in the program, its type, and what it is to typer.

    Typer makes them, of a function with this signature; a switch is False and any other None if not given.
    """
    found = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[kind, told],
        )
        for name, kind, told in options
    ]

    def verb(**options: object) -> None:
        del options

    verb.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    verb.__annotations__ = {each.name: each.annotation for each in found}
    app = typer.Typer(add_completion=False)
    app.command()(verb)
    return list(typer.main.get_command(app).params)


def _engine_texts() -> dict[str, Callable[[], str]]:
    from discreet.verbs import engine_descriptions

    return {
        "{data_places}": engine_descriptions.data_addresses,
        "{table_places}": engine_descriptions.table_addresses,
        "{table_targets}": engine_descriptions.table_targets,
        "{folder_targets}": engine_descriptions.folder_targets,
        "{dialects}": engine_descriptions.dialect_choices,
    }


def _fill_parameter(parameter: Any, words: dict[str, Callable[[], str]]) -> Any:
    """The parameter with each word in braces filled in; the verb keeps its own, to be asked again."""
    found = copy(parameter)
    for part in ("help", "metavar"):
        text = getattr(found, part, None)
        if text and "{" in text:
            setattr(found, part, _fill_text(text, words))
    return found


def _fill_text(text: str, words: dict[str, Callable[[], str]]) -> str:
    for word, told in words.items():
        if word in text:
            text = text.replace(word, told())
    return text


HelpSection = tuple[str, list[tuple[str, str]]]
"""A heading of the help, and its lines: an option, and what it does."""

_NAMES_DECLARED = "discreet.declared"
"""Where a line's context keeps whether it may name what is declared."""


@dataclass(frozen=True)
class DeclaredFlag:
    """One option: its name in the program, and as it is typed; a ``switch`` takes no value."""

    name: str
    flag: str
    switch: bool = False


@dataclass(frozen=True)
class DeclaredOptions:
    """The options of one kind: the ``flags``, and the ``sections`` of the help that show them.

    ``sections`` is told which flags the verb has as options of its own, which stay its own.
    """

    key: str
    flags: Callable[[], Iterable[DeclaredFlag]]
    sections: Callable[[frozenset[str]], Iterable[HelpSection]]

    def arguments(self, context: typer.Context) -> dict[str, list[str]]:
        """The options that were given, as texts by name; a switch's text is ``true``."""
        found: dict[str, list[str]] = context.meta.get(f"discreet.{self.key}", {})
        return found


def make_command_class(*kinds: DeclaredOptions) -> type[TyperCommand]:
    """The class of a verb's command that takes the options of some declarations beside the verb's own."""

    class DeclaredCommand(VerbCommand):
        """A verb with declared options."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Read the line; what is declared is loaded only where a word may be an option of it."""
            ctx.meta[_NAMES_DECLARED] = ctx.resilient_parsing or _names_unknown_options(
                args, super().get_params(ctx)
            )
            return super().parse_args(ctx, args)

        def get_params(self, ctx: Any) -> list[Any]:
            """The verb's own parameters, and one for each flag that the line may name.

            These are hidden from help, where ``format_options`` shows them. A shell that completes what is
            typed parses resiliently, and sees them.
            """
            found, reserved_flags = super().get_params(ctx), _own_flags(self)
            for kind in kinds if ctx.meta.get(_NAMES_DECLARED, True) else ():
                flags = tuple(each for each in kind.flags() if each.flag not in reserved_flags)
                found += _declared_parameters(flags, hidden=not ctx.resilient_parsing)
            return found

        def format_options(self, ctx: Any, formatter: Any) -> None:
            """The verb's own options, then the declared ones, section by section."""
            super().format_options(ctx, formatter)
            for kind in kinds:
                for title, rows in kind.sections(_own_flags(self)):
                    with formatter.section(title):
                        formatter.write_dl(rows)

        def invoke(self, ctx: Any) -> Any:
            """Run the verb; what was given of the declared options waits for it in the context."""
            known_parameters = {parameter.name for parameter in self.params}
            for kind in kinds if ctx.meta[_NAMES_DECLARED] else ():
                found = {}
                for name in (each.name for each in kind.flags() if each.name not in known_parameters):
                    value = ctx.params.pop(name, None)
                    if value:
                        found[name] = ["true"] if value is True else list(value)
                ctx.meta[f"discreet.{kind.key}"] = found
            return super().invoke(ctx)

    return DeclaredCommand


def help_row(option: Option) -> tuple[str, str]:
    """An option in the help: its flag, and what it does."""
    flag = str(option.flag)
    written = flag if option.kind is OptionKind.FLAG else f"{flag} {option.placeholder}"
    listed = f": {', '.join(option.choices)}" if option.choices and option.placeholder == "NAME" else ""
    repeats = "; repeatable" if option.repeatable else ""
    default = f" [{option.told_default}]" if option.told_default else ""
    text = f"{option.help}{listed}{repeats}.{default}"
    return written, capitalize(text)


def _names_unknown_options(words: Iterable[str], known_parameters: Iterable[Any]) -> bool:
    """Whether a word of the line looks like an option, and is none of these."""
    known = {word for parameter in known_parameters for word in (*parameter.opts, *parameter.secondary_opts)}
    return any(word.startswith("-") and word.partition("=")[0] not in known for word in words)


def _own_flags(command: TyperCommand) -> frozenset[str]:
    """The flags of a verb's own options."""
    return frozenset(word for parameter in command.params for word in parameter.opts)


@cache
def _declared_parameters(flags: tuple[DeclaredFlag, ...], *, hidden: bool) -> list[Any]:
    """Made once for a process, since typer takes longer over them than a small table takes to publish."""
    kinds = ((each, bool if each.switch else list[str] | None) for each in flags)
    return make_parameters((each.name, kind, typer.Option(each.flag, hidden=hidden)) for each, kind in kinds)
