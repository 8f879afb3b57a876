"""Help that names engines: what is registered is asked for where help is shown, and not as a verb starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand


class EngineCommand(TyperCommand):
    """A verb whose help names engines by the words in braces of ``_words``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The verb's options, with the engines' own words."""
        words = _words()
        for parameter in self.params:
            for part in ("help", "metavar"):
                text = getattr(parameter, part, None)
                if text and "{" in text:
                    setattr(parameter, part, _filled(text, words))
        super().format_options(ctx, formatter)


def _words() -> dict[str, Callable[[], str]]:
    from discreet.workbench import engine_words

    return {
        "{data_places}": engine_words.data_places,
        "{table_places}": engine_words.table_places,
        "{table_targets}": engine_words.table_targets,
        "{folder_targets}": engine_words.folder_targets,
        "{dialects}": engine_words.dialects,
    }


def _filled(text: str, words: dict[str, Callable[[], str]]) -> str:
    for word, told in words.items():
        if word in text:
            text = text.replace(word, told())
    return text
