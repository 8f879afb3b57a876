"""What the command line prints: documents in colour on a terminal, JSON alone on stdout, errors on stderr."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from discreet.errors import DiscreetError, without_given, without_secrets

if TYPE_CHECKING:
    from discreet.printing.document import Document

NARROWEST = 20
WIDTH_ELSEWHERE = 100
_IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
_STYLES = {"heading": "bold", "good": "green", "bad": "red", "warning": "yellow", "hint": "cyan"}


def width() -> int:
    """The terminal's width (``COLUMNS`` wins), or a hundred where there is no terminal."""
    return max(shutil.get_terminal_size((WIDTH_ELSEWHERE, 24)).columns, NARROWEST)


@contextmanager
def quiet(asked: bool) -> Iterator[None]:
    """Within the context nothing is printed but errors and the documents of ``--json``, if so asked.

    A command that runs others (``discreet demo``) is asked once for all of them.
    """
    token = _IS_QUIET.set(asked or _IS_QUIET.get())
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def is_quiet() -> bool:
    """Whether results, notices and progress are left out."""
    return _IS_QUIET.get()


def show(document: Document) -> None:
    """Print a document on stdout, in colour where stdout is a terminal that wants it."""
    if is_quiet():
        return
    from discreet.printing.plain_text import toned_lines

    lines = [(without_given(text), _STYLES.get(tone, "")) for text, tone in toned_lines(document, width())]
    _print_lines(lines, sys.stdout)


def print_text(text: str) -> None:
    """Print a text as it is on stdout, for another program to read."""
    sys.stdout.write(without_given(text))


def print_json(document: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Print the one JSON document of a run on stdout."""
    utf_8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(document, indent=indent, ensure_ascii=not utf_8, allow_nan=False)
    # A name of a file that is not UTF-8 has halves of surrogate pairs, which only an escape can hold.
    text = text.encode("utf-8", "backslashreplace").decode()
    sys.stdout.write(without_given(text) + "\n")


def print_error(error: DiscreetError, *, as_json: bool, debug: bool) -> None:
    """Print what is wrong, allowed and to be done on stderr, or as JSON on stdout.

    ``debug`` adds the traceback, on stderr.
    """
    from discreet.printing.plain_text import toned_lines

    if debug:
        told = "".join(traceback.format_exception(error)).replace(str(error), error.as_typed)
        sys.stderr.write(without_secrets(told))
    if as_json:
        print_json(error.as_json())
        return
    lines = [(f"Error: {error.message}", "bold red")]
    lines += [(f"Allowed: {without_given(error.allowed)}", "")] if error.allowed else []
    lines += [(without_given(error.advice), "")] if error.advice else []
    wrapped = [(text, style) for line, style in lines for text, _ in toned_lines((_line(line),), width())]
    _print_lines(wrapped, sys.stderr)


def _line(text: str) -> Any:
    from discreet.printing.document import Line

    return Line(text)


def _print_lines(lines: list[tuple[str, str]], stream: TextIO) -> None:
    if not in_colour(stream):
        encoding = stream.encoding or "utf-8"
        for text, _ in lines:
            stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for text, style in lines:
        console.print(Text(text, style=style), soft_wrap=True)


def in_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that takes colour (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_commands(title: str, *commands: str) -> None:
    """Print commands to try next, each on a line of its own."""
    from discreet.printing.document import BLANK, Line, Tone

    lines = (Line(f"  {command}", Tone.HINT, verbatim=True) for command in commands)
    show((BLANK, Line(title), *lines))


def quoted(path: Path | str) -> str:
    """A path or another word as a shell takes it."""
    return shlex.quote(str(path))
