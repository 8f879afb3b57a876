"""Options that are declared elsewhere, as options of a verb: flags, their help, and what was given.

Typer makes a command of a function's signature when the program starts. What a criterion or a model declares
is known only when the verb is used, since packages may add some; so a verb's command asks its declarations
then, and not at all where the command line has options of the verb's own alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand

from discreet.cli.verb import Verb, parameters
from discreet.model.option import Option, OptionKind
from discreet.printing.sentence import capitalized

Section = tuple[str, list[tuple[str, str]]]
"""A heading of the help, and its lines: an option, and what it does."""

_ASKED = "discreet.declared"
"""Where a line's context keeps whether it may name what is declared."""


@dataclass(frozen=True)
class Flag:
    """One option: its name in the program, and as it is typed; a ``switch`` takes no value."""

    name: str
    flag: str
    switch: bool = False


@dataclass(frozen=True)
class Declarations:
    """The options of one kind: the ``flags``, and the ``sections`` of the help that show them.

    ``sections`` is told which flags the verb has as options of its own, which stay its own.
    """

    key: str
    flags: Callable[[], Iterable[Flag]]
    sections: Callable[[frozenset[str]], Iterable[Section]]

    def given(self, context: typer.Context) -> dict[str, list[str]]:
        """The options that were given, as texts by name; a switch's text is ``true``."""
        found: dict[str, list[str]] = context.meta.get(f"discreet.{self.key}", {})
        return found


def command_with(*kinds: Declarations) -> type[TyperCommand]:
    """The class of a verb's command that takes the options of some declarations beside the verb's own."""

    class DeclaredCommand(Verb):
        """A verb with declared options."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Read the line; what is declared is loaded only where a word may be an option of it."""
            ctx.meta[_ASKED] = ctx.resilient_parsing or _names_others(args, super().get_params(ctx))
            return super().parse_args(ctx, args)

        def get_params(self, ctx: Any) -> list[Any]:
            """The verb's own parameters, and one for each flag that the line may name.

            These are hidden from help, where ``format_options`` shows them. A shell that completes what is
            typed parses resiliently, and sees them.
            """
            found, taken = super().get_params(ctx), _taken(self)
            for kind in kinds if ctx.meta.get(_ASKED, True) else ():
                flags = tuple(each for each in kind.flags() if each.flag not in taken)
                found += _parameters(flags, hidden=not ctx.resilient_parsing)
            return found

        def format_options(self, ctx: Any, formatter: Any) -> None:
            """The verb's own options, then the declared ones, section by section."""
            super().format_options(ctx, formatter)
            for kind in kinds:
                for title, rows in kind.sections(_taken(self)):
                    with formatter.section(title):
                        formatter.write_dl(rows)

        def invoke(self, ctx: Any) -> Any:
            """Run the verb; what was given of the declared options waits for it in the context."""
            own = {parameter.name for parameter in self.params}
            for kind in kinds if ctx.meta[_ASKED] else ():
                found = {}
                for name in (each.name for each in kind.flags() if each.name not in own):
                    value = ctx.params.pop(name, None)
                    if value:
                        found[name] = ["true"] if value is True else list(value)
                ctx.meta[f"discreet.{kind.key}"] = found
            return super().invoke(ctx)

    return DeclaredCommand


def option_row(option: Option) -> tuple[str, str]:
    """An option in the help: its flag, and what it does."""
    flag = str(option.flag)
    written = flag if option.kind is OptionKind.FLAG else f"{flag} {option.placeholder}"
    listed = f": {', '.join(option.choices)}" if option.choices and option.placeholder == "NAME" else ""
    repeats = "; repeatable" if option.repeatable else ""
    default = f" [{option.told_default}]" if option.told_default else ""
    text = f"{option.help}{listed}{repeats}.{default}"
    return written, capitalized(text)


def _names_others(words: Iterable[str], own: Iterable[Any]) -> bool:
    """Whether a word of the line looks like an option, and is none of these."""
    known = {word for parameter in own for word in (*parameter.opts, *parameter.secondary_opts)}
    return any(word.startswith("-") and word.partition("=")[0] not in known for word in words)


def _taken(command: TyperCommand) -> frozenset[str]:
    """The flags of a verb's own options."""
    return frozenset(word for parameter in command.params for word in parameter.opts)


@cache
def _parameters(flags: tuple[Flag, ...], *, hidden: bool) -> list[Any]:
    """Made once for a process, since typer takes longer over them than a small table takes to publish."""
    kinds = ((each, bool if each.switch else list[str] | None) for each in flags)
    return parameters((each.name, kind, typer.Option(each.flag, hidden=hidden)) for each, kind in kinds)
