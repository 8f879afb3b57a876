"""Output of the command line: documents and JSON on stdout, errors and progress on stderr.

Colour and progress bars appear only on a terminal.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from discreet.errors import DiscreetError, redact_hidden_words, redact_secrets

if TYPE_CHECKING:
    from discreet.printing.document import Document


class Result(Protocol):
    """Result of a verb."""

    def as_json(self) -> Mapping[str, Any]:
        """Return the document of ``--json``."""

    def document(self) -> Document:
        """Return the document of a terminal."""


MIN_WIDTH = 20
DEFAULT_OUTPUT_WIDTH = 100
_SILENT: ContextVar[bool] = ContextVar("is_quiet", default=False)
_AS_JSON: ContextVar[bool] = ContextVar("as_json", default=False)
_STYLES = {"heading": "bold", "good": "green", "bad": "red", "warning": "yellow", "hint": "cyan"}


def output_width() -> int:
    """Return the terminal's width (``COLUMNS`` takes precedence), or 100 without a terminal."""
    return max(shutil.get_terminal_size((DEFAULT_OUTPUT_WIDTH, 24)).columns, MIN_WIDTH)


@contextmanager
def printing_json(enabled: bool) -> Iterator[None]:
    """Print results as JSON within the context, if ``enabled``, else as documents."""
    token = _AS_JSON.set(enabled)
    try:
        yield
    finally:
        _AS_JSON.reset(token)


def prints_json() -> bool:
    """Return whether results are printed as JSON."""
    return _AS_JSON.get()


def print_result(result: Result, status: int = 0) -> int:
    """Print a result as a document, or with ``--json`` as JSON; return the exit status."""
    if prints_json():
        print_json(result.as_json())
    else:
        print_document(result.document())
    return status


@contextmanager
def silence(enabled: bool) -> Iterator[None]:
    """Print only errors and ``--json`` documents within the context, if ``enabled``.

    An inner context cannot enable printing again: a command that runs others (``discreet demo``) silences
    all of them.
    """
    token = _SILENT.set(enabled or _SILENT.get())
    try:
        yield
    finally:
        _SILENT.reset(token)


def is_silent() -> bool:
    """Return whether results, notices and progress are suppressed."""
    return _SILENT.get()


def print_document(document: Document) -> None:
    """Print a document on stdout, in colour if stdout is a terminal that supports it."""
    if is_silent():
        return
    from discreet.printing.rendering import render_lines

    lines = [
        (redact_hidden_words(text), _STYLES.get(tone, ""))
        for text, tone in render_lines(document, output_width())
    ]
    _print_lines(lines, sys.stdout)


def print_line(text: str) -> None:
    """Print a sentence as a document."""
    print_document((_make_line(text),))


def print_text(text: str) -> None:
    """Print a text unchanged on stdout, for another program to read."""
    sys.stdout.write(redact_hidden_words(text))


def print_json(document: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Print the only JSON document of a run on stdout."""
    utf_8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(document, indent=indent, ensure_ascii=not utf_8, allow_nan=False)
    # A file name that is not UTF-8 contains lone surrogates, which can be written only as escapes.
    text = text.encode("utf-8", "backslashreplace").decode()
    sys.stdout.write(redact_hidden_words(text) + "\n")


def print_error(error: DiscreetError, *, as_json: bool, debug: bool) -> None:
    """Print message, allowed values and advice of an error on stderr, or as JSON on stdout.

    ``debug`` adds the traceback, on stderr.
    """
    from discreet.printing.rendering import render_lines

    if debug:
        traceback_text = "".join(traceback.format_exception(error)).replace(str(error), error.as_typed)
        sys.stderr.write(redact_secrets(traceback_text))
    if as_json:
        print_json(error.as_json())
        return
    lines = [(f"Error: {error.message}", "bold red")]
    lines += [(f"Allowed: {redact_hidden_words(error.allowed)}", "")] if error.allowed else []
    lines += [(redact_hidden_words(error.advice), "")] if error.advice else []
    wrapped = [
        (text, style)
        for line, style in lines
        for text, _ in render_lines((_make_line(line),), output_width())
    ]
    _print_lines(wrapped, sys.stderr)


def _make_line(text: str) -> Any:
    from discreet.printing.document import Line

    return Line(text)


def _print_lines(lines: list[tuple[str, str]], stream: TextIO) -> None:
    if not uses_colour(stream):
        encoding = stream.encoding or "utf-8"
        for text, _ in lines:
            stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for text, style in lines:
        console.print(Text(text, style=style), soft_wrap=True)


def uses_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that supports colour (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_commands(title: str, *commands: str) -> None:
    """Print suggested commands, each on its own line; nothing with ``--json``."""
    if prints_json():
        return
    from discreet.printing.document import BLANK, Line, Tone

    lines = (Line(f"  {command}", Tone.HINT, verbatim=True) for command in commands)
    print_document((BLANK, Line(title), *lines))


def quote_for_shell(path: Path | str) -> str:
    """Quote a path or another word for the shell."""
    return shlex.quote(str(path))


PROGRESS_DELAY_SECONDS = 1.0


class TerminalReporter:
    """Reporter that shows a stage's progress after one second; notices are separate lines."""

    def __init__(self) -> None:
        self._print: Callable[[str], None] = _write_notice

    @contextmanager
    def stage(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Show a progress bar after a delay, and remove it at the end."""
        if is_silent() or not sys.stderr.isatty():
            yield lambda _done, _total: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        task = progress.add_task(title, total=None)
        # Short stages end before the timer starts the bar, so that they print nothing.
        timer = Timer(PROGRESS_DELAY_SECONDS, progress.start)
        timer.daemon = True
        timer.start()
        self._print = partial(progress.console.print, markup=False, highlight=False)
        try:
            yield lambda done, total: progress.update(task, completed=done, total=total)
        finally:
            self._print = _write_notice
            timer.cancel()
            timer.join()
            progress.stop()

    def notice(self, text: str) -> None:
        """Print one line on stderr, terminal or not."""
        if not is_silent():
            self._print(text)


def _write_notice(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
