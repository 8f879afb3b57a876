"""Command classes: common options of all verbs, and options declared by criteria, costs, models, attacks.

Declarations are loaded when a command line names an option that is not the verb's own, since packages may
add some. Help names engines by the words in braces.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from discreet.cli import output
from discreet.model.option import Option, OptionKind
from discreet.places.address import parse_path
from discreet.printing.document import capitalize

LIMITS: ContextVar[tuple[str | None, str | None]] = ContextVar("limits", default=(None, None))
"""Texts of ``--threads`` and ``--memory-limit`` of the running verb."""


@contextmanager
def limiting(threads: str | None, memory_limit: str | None) -> Iterator[None]:
    """Use the limits of a command line within the context."""
    token = LIMITS.set((threads, memory_limit))
    try:
        yield
    finally:
        LIMITS.reset(token)


class VerbCommand(TyperCommand):
    """Command with the options of all verbs, whose help names engines through words in braces."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the verb's own parameters, and those common to all verbs."""
        return [*super().get_params(ctx), *_common_parameters()]

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; ``main`` reads ``--debug`` itself, since errors may occur before parsing ends."""
        del ctx.params["debug"]
        for value in ctx.params.values():
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, Path):
                    parse_path(each)
        limits = ctx.params.pop("threads"), ctx.params.pop("memory_limit")
        with (
            output.silence(ctx.params.pop("quiet")),
            output.printing_json(ctx.params.pop("json")),
            limiting(*limits),
        ):
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the verb's options, with the engines that are registered at this moment."""
        words, own = _engine_texts(), self.params
        self.params = [_fill_parameter(parameter, words) for parameter in own]
        try:
            super().format_options(ctx, formatter)
        finally:
            self.params = own


_JSON: Any = typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
_THREADS: Any = typer.Option("--threads", metavar="N", help="Worker threads. [every core]")
_MEMORY_LIMIT: Any = typer.Option(
    "--memory-limit", metavar="SIZE", help="Memory to use at most, such as 4GB. [half of it]"
)
_QUIET: Any = typer.Option("--quiet", "-q", help="Print only errors; with --json also its document.")
_DEBUG: Any = typer.Option("--debug", help="Add the traceback to an error.")


@cache
def _common_parameters() -> list[Any]:
    return make_parameters(
        [
            ("json", bool, _JSON),
            ("threads", str | None, _THREADS),
            ("memory_limit", str | None, _MEMORY_LIMIT),
            ("quiet", bool, _QUIET),
            ("debug", bool, _DEBUG),
        ]
    )


def expand_bundles(verb: Callable[..., object]) -> Callable[..., object]:
    """Return a verb whose parameters of a bundle type are replaced by the options of the bundle.

    A bundle is a named tuple of options (``options.RequestTexts``). Typer reads the signature that is set
    here; the verb receives the tuple.
    """
    hints = get_type_hints(verb, include_extras=True)
    parameters = inspect.signature(verb).parameters
    bundles = {name: hints[name] for name in parameters if hasattr(hints[name], "_fields")}
    if not bundles:
        return verb
    expanded: list[inspect.Parameter] = []
    for name, parameter in parameters.items():
        if name not in bundles:
            expanded.append(parameter.replace(annotation=hints[name]))
            continue
        fields = get_type_hints(bundles[name], include_extras=True)
        expanded += [
            parameter.replace(name=field, annotation=kind, default=None) for field, kind in fields.items()
        ]

    @wraps(verb)
    def run(**values: object) -> object:
        made = {
            name: bundle(*(values.pop(field) for field in bundle._fields)) for name, bundle in bundles.items()
        }
        return verb(**values, **made)

    run.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in expanded}
    return run


def make_parameters(options: Iterable[tuple[str, Any, Any]]) -> list[Any]:
    """Make command-line parameters from triples of the name in the program, the type, and the typer option.

    Typer derives them from the signature of a function. A switch that is not given is False, any other
    parameter None.
    """
    found = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[kind, help_text],
        )
        for name, kind, help_text in options
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
        "{data_addresses}": engine_descriptions.data_addresses,
        "{table_addresses}": engine_descriptions.table_addresses,
        "{table_targets}": engine_descriptions.table_targets,
        "{folder_targets}": engine_descriptions.folder_targets,
        "{dialect_choices}": engine_descriptions.dialect_choices,
    }


def _fill_parameter(parameter: Any, words: dict[str, Callable[[], str]]) -> Any:
    """Return a copy of the parameter with the words in braces filled in.

    The verb keeps its own parameter, since registered engines may change before the next help.
    """
    result = copy(parameter)
    for part in ("help", "metavar"):
        text = getattr(result, part, None)
        if text and "{" in text:
            setattr(result, part, _fill_text(text, words))
    return result


def _fill_text(text: str, words: dict[str, Callable[[], str]]) -> str:
    for word, replacement in words.items():
        if word in text:
            text = text.replace(word, replacement())
    return text


HelpSection = tuple[str, list[tuple[str, str]]]
"""Heading of a help section, and its rows: an option and its description."""

_GIVEN: ContextVar[dict[str, dict[str, list[str]]]] = ContextVar("declared options")
"""Texts of the declared options of the running verb, by kind and name."""

_NAMES_DECLARED = "discreet.declared"
"""Key of the context entry that records if a command line may name declared options."""


@dataclass(frozen=True)
class DeclaredFlag:
    """One option: its name in the program, and the flag as typed; a ``switch`` takes no value."""

    name: str
    flag: str
    switch: bool = False


@dataclass(frozen=True)
class DeclaredOptions:
    """Options of one kind: their ``flags``, and a function that returns the ``sections`` of their help.

    ``sections`` takes the flags of the verb's own options, which it leaves out.
    """

    key: str
    flags: Callable[[], Iterable[DeclaredFlag]]
    sections: Callable[[frozenset[str]], Iterable[HelpSection]]

    def arguments(self) -> dict[str, list[str]]:
        """Return the options of the command line as texts by name; the text of a switch is ``true``."""
        return _GIVEN.get({}).get(self.key, {})


def make_command_class(*kinds: DeclaredOptions) -> type[TyperCommand]:
    """Make a command class that takes declared options in addition to the verb's own."""

    class DeclaredCommand(VerbCommand):
        """Verb with declared options."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Parse the line; declarations are loaded only if a word may be one of their options."""
            ctx.meta[_NAMES_DECLARED] = ctx.resilient_parsing or _names_unknown_options(
                args, super().get_params(ctx)
            )
            return super().parse_args(ctx, args)

        def get_params(self, ctx: Any) -> list[Any]:
            """Return the verb's own parameters, and one for each declared flag that the line may name.

            Declared parameters are hidden from help, since ``format_options`` lists them in sections. Shell
            completion parses resiliently and gets them unhidden.
            """
            result, reserved_flags = super().get_params(ctx), _own_flags(self)
            for kind in kinds if ctx.meta.get(_NAMES_DECLARED, True) else ():
                flags = tuple(each for each in kind.flags() if each.flag not in reserved_flags)
                result += _declared_parameters(flags, hidden=not ctx.resilient_parsing)
            return result

        def format_options(self, ctx: Any, formatter: Any) -> None:
            """Write the verb's own options, then the declared ones, section by section."""
            super().format_options(ctx, formatter)
            for kind in kinds:
                for title, rows in kind.sections(_own_flags(self)):
                    with formatter.section(title):
                        formatter.write_dl(rows)

        def invoke(self, ctx: Any) -> Any:
            """Run the verb with the given declared options."""
            given: dict[str, dict[str, list[str]]] = {}
            known_parameters = {parameter.name for parameter in self.params}
            for kind in kinds if ctx.meta[_NAMES_DECLARED] else ():
                found = {}
                for name in (each.name for each in kind.flags() if each.name not in known_parameters):
                    value = ctx.params.pop(name, None)
                    if value:
                        found[name] = ["true"] if value is True else list(value)
                given[kind.key] = found
            token = _GIVEN.set(given)
            try:
                return super().invoke(ctx)
            finally:
                _GIVEN.reset(token)

    return DeclaredCommand


def help_row(option: Option) -> tuple[str, str]:
    """Return the help of an option: its flag and its description."""
    flag = str(option.flag)
    written = flag if option.kind is OptionKind.FLAG else f"{flag} {option.placeholder}"
    listed = f": {', '.join(option.choices)}" if option.choices and option.placeholder == "NAME" else ""
    repeats = "; repeatable" if option.repeatable else ""
    default = f" [{option.default_text}]" if option.default_text else ""
    text = f"{option.help}{listed}{repeats}.{default}"
    return written, capitalize(text)


def _names_unknown_options(words: Iterable[str], known_parameters: Iterable[Any]) -> bool:
    """Return whether a word of the line looks like an option that is not known."""
    known = {word for parameter in known_parameters for word in (*parameter.opts, *parameter.secondary_opts)}
    return any(word.startswith("-") and word.partition("=")[0] not in known for word in words)


def _own_flags(command: TyperCommand) -> frozenset[str]:
    return frozenset(word for parameter in command.params for word in parameter.opts)


@cache
def _declared_parameters(flags: tuple[DeclaredFlag, ...], *, hidden: bool) -> list[Any]:
    """Make hidden or visible parameters of declared flags.

    They are cached for the process, since typer takes longer for them than publishing a small table takes.
    """
    kinds = ((each, bool if each.switch else list[str] | None) for each in flags)
    return make_parameters((each.name, kind, typer.Option(each.flag, hidden=hidden)) for each, kind in kinds)
