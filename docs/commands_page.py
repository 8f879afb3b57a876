"""Write docs/commands.md, every verb's options, from the command's help: ``python docs/commands_page.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from discreet.cli.typer_application import build_application
from discreet.verbs import engine_descriptions

PAGE = Path(__file__).with_name("commands.md")
_BEGIN = """# Commands, option by option

`python docs/commands_page.py` writes this page from the command's own help. For the purpose of a verb, its
JSON and its exit status, see [the command line](cli.md). Square brackets contain the default of an option.
"""


def page() -> str:
    """The page's text."""
    command: Any = typer.main.get_command(build_application())
    return "\n".join([_BEGIN, *(_verb(name, verb) for name, verb in verbs(command))])


def verbs(command: Any) -> Iterator[tuple[str, Any]]:
    """Yield each verb with its name; the verbs of a group have its name as their first word."""
    for name, verb in command.commands.items():
        if hasattr(verb, "commands"):
            yield from ((f"{name} {member}", each) for member, each in verb.commands.items())
        else:
            yield name, verb


def _verb(name: str, verb: Any) -> str:
    """A section: how the verb is called, what it does, its options."""
    context = typer.Context(verb, info_name=name)
    description = "\n\n".join(_one_line(part) for part in (verb.help or "").split("\n\n"))
    usage = " ".join(["discreet", name, *verb.collect_usage_pieces(context)])
    records = [each.get_help_record(context) for each in verb.get_params(context) if not _is_hidden(each)]
    rows = [
        f"| `{_bars(in_words(flags))}` | {_cell(text)} |\n"
        for flags, text in (record for record in records if record)
    ]
    table = "| | |\n|---|---|\n" + "".join(rows) if rows else ""
    return f"## `{name}`\n\n{description}\n\n```text\n{usage}\n```\n\n{table}"


def _bars(text: str) -> str:
    """A cell of a table, bars and all."""
    return text.replace("|", r"\|")


def _is_hidden(parameter: Any) -> bool:
    return bool(getattr(parameter, "hidden", False))


_PLACES = re.compile(r"\{(data_addresses|table_addresses|table_targets|folder_targets|dialect_choices)\}")
"""Words of the help that stand for the engines that there are."""


def in_words(text: str) -> str:
    """A text of the help with the words of the engines that there are."""
    return _PLACES.sub(lambda found: getattr(engine_descriptions, found[1])(), text)


def _one_line(text: str) -> str:
    text = in_words(text)
    return re.sub(r"\s+", " ", text).strip().replace("<", "&lt;").replace("*", r"\*")


def _cell(text: str) -> str:
    return _bars(_one_line(text)).replace("[", r"\[")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
