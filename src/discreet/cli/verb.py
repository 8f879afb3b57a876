"""A verb's command: the options that every verb has, and help that names engines.

What is registered is asked for where help is shown, and not as a verb starts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from copy import copy
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from discreet.cli import output
from discreet.places.address import path_of


class Verb(TyperCommand):
    """A verb with ``--quiet`` and ``--debug``, whose help names engines by the words in braces."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The verb's own parameters, and those that every verb has."""
        return [*super().get_params(ctx), *_everywhere()]

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; ``main`` reads ``--debug`` itself, as errors may come before parsing ends."""
        del ctx.params["debug"]
        for value in ctx.params.values():
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, Path):
                    path_of(each)
        with output.quiet(ctx.params.pop("quiet")):
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The verb's options, with the words of the engines that there are now."""
        words, own = _words(), self.params
        self.params = [_worded(parameter, words) for parameter in own]
        try:
            super().format_options(ctx, formatter)
        finally:
            self.params = own


_QUIET: Any = typer.Option("--quiet", "-q", help="Print errors alone; with --json its document, too.")
_DEBUG: Any = typer.Option("--debug", help="Add the traceback to an error.")


@cache
def _everywhere() -> list[Any]:
    return parameters([("quiet", bool, _QUIET), ("debug", bool, _DEBUG)])


def parameters(options: Iterable[tuple[str, Any, Any]]) -> list[Any]:
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


def _words() -> dict[str, Callable[[], str]]:
    from discreet.verbs import engine_words

    return {
        "{data_places}": engine_words.data_places,
        "{table_places}": engine_words.table_places,
        "{table_targets}": engine_words.table_targets,
        "{folder_targets}": engine_words.folder_targets,
        "{dialects}": engine_words.dialects,
    }


def _worded(parameter: Any, words: dict[str, Callable[[], str]]) -> Any:
    """The parameter with each word in braces filled in; the verb keeps its own, to be asked again."""
    found = copy(parameter)
    for part in ("help", "metavar"):
        text = getattr(found, part, None)
        if text and "{" in text:
            setattr(found, part, _filled(text, words))
    return found


def _filled(text: str, words: dict[str, Callable[[], str]]) -> str:
    for word, told in words.items():
        if word in text:
            text = text.replace(word, told())
    return text
