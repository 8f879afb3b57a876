"""Write docs/discreet.1, the manual page, from the command's own help: ``python docs/man_page.py``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import typer.main

from discreet.cli.typer_application import build_application
from docs.commands_page import in_words, verbs

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path(__file__).with_name("discreet.1")
_STATUS = {
    "0": "done",
    "1": "a requirement is not met: a release or file fails",
    "2": "the request, the spec, a hierarchy or the data is wrong",
    "3": "everything is right, yet nothing satisfies the request",
    "4": "memory, time, disk or the size of the lattice ran out",
    "70": "a fault of the program",
    "130": "interrupted",
}
_FILES = {
    "discreet.toml": "the spec: where the rows lie, the role and hierarchy of each column, the request",
    "RELEASE.manifest.json": "what was decided, beside each release",
    "~/.cache/discreet": "compiled kernels; may be removed",
}


def page() -> str:
    """The page as roff text (man macros)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    command: Any = typer.main.get_command(build_application())
    lines = [
        f'.TH DISCREET 1 "" "discreet {project["version"]}" "User Commands"',
        ".SH NAME",
        _text(f"discreet - {project['description'][0].lower()}{project['description'][1:].rstrip('.')}"),
        ".SH SYNOPSIS",
        r".B discreet",
        r".I VERB",
        r"[\fIOPTION\fR]...",
        ".SH DESCRIPTION",
        _text(command.help),
    ]
    for name, verb in verbs(command):
        lines += _verb(name, verb)
    lines += _listed("EXIT STATUS", _STATUS) + _listed("FILES", _FILES)
    return "\n".join(lines) + "\n"


def _verb(name: str, verb: Any) -> list[str]:
    """A section: how the verb is called, what it does, its options."""
    context = typer.Context(verb, info_name=name)
    words = " ".join(verb.collect_usage_pieces(context))
    lines = [f".SH discreet {name}".upper(), rf".B discreet {_text(name)}", _text(words), ".PP"]
    lines += [line for part in (verb.help or "").split("\n\n") for line in (_text(part), ".PP")][:-1]
    for each in verb.get_params(context):
        if each.param_type_name == "option" and not each.hidden:
            flags, told = each.get_help_record(context)
            lines += [".TP", rf"\fB{_text(flags)}\fR", _text(told)]
    return lines


def _listed(title: str, entries: dict[str, str]) -> list[str]:
    return [
        f".SH {title}",
        *(line for name, text in entries.items() for line in (".TP", _text(name), _text(text))),
    ]


def _text(text: str) -> str:
    """A text in one line, with what roff would take for its own."""
    one = re.sub(r"\s+", " ", in_words(text)).strip().replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{one}" if one.startswith((".", "'")) else one


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
