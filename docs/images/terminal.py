"""Draws ``negotiate.svg``: a command on the generated census, and what it really printed, as a terminal.

``python docs/images/terminal.py`` makes the census and its spec in a temporary folder, runs the command in a
pseudo-terminal, so that it prints as it does for a person, and keeps its colours. The drawing holds no font
or script of others. A test draws it again and compares the words.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from discreet.sample.census import write_census

COLUMNS = 100
REQUEST = (
    *("negotiate", "discreet.toml", "--k", "10", "--max-suppressed", "1%"),
    *("--max-level", "age=1", "--max-level", "municipality=1", "--max-level", "occupation=2"),
)
PAPER = TerminalTheme(
    (251, 250, 247),
    (29, 43, 51),
    [
        *((29, 43, 51), (170, 46, 37), (46, 112, 62), (150, 104, 10)),
        *((38, 87, 143), (122, 62, 130), (22, 112, 122), (112, 106, 94)),
    ],
    [
        *((86, 96, 102), (200, 60, 48), (56, 138, 76), (176, 125, 18)),
        *((61, 90, 108), (148, 84, 156), (34, 138, 150), (29, 43, 51)),
    ],
)
DRAWING = """\
<svg viewBox="0 0 {width} {terminal_height}" xmlns="http://www.w3.org/2000/svg" role="img">
  <title>@TITLE@</title>
  <style>
    .{unique_id}-matrix {{ font-family: DejaVu Sans Mono, Menlo, Consolas, monospace;
      font-size: {char_height}px; line-height: {line_height}px; }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
  </defs>
  <rect width="{width}" height="{terminal_height}" rx="10" fill="#fbfaf7"/>
  <g transform="translate({terminal_x}, 20)" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
  </g>
</svg>
"""


def printed(command: list[str], folder: Path) -> str:
    """What a command prints to a terminal of ``COLUMNS`` columns, colours included, progress left out."""
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(COLUMNS), "LINES": "60", "TERM": "xterm-256color"}
    # A log of its own: that of whoever draws may know of earlier releases, which publish would tell.
    log = str(folder / "private" / "log.jsonl")
    environment = {**os.environ, **size, "DISCREET_COMPILE": "never", "DISCREET_LOG": log}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    chunks = []
    try:
        while chunk := os.read(ours, 65536):
            chunks.append(chunk)
    except OSError:
        pass  # Linux says so when the other end is closed
    process.wait()
    os.close(ours)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def negotiation() -> str:
    """The answer to ``REQUEST`` on the generated census, under the spec that ``init`` proposes."""
    program = str(Path(sys.executable).parent / "discreet")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_census(folder / "patients.csv")
        subprocess.run([program, "init", "patients.csv"], cwd=folder, check=True, capture_output=True)
        return printed([program, *REQUEST], folder)


def drawing(command: str, text: str) -> str:
    """The command and its output as SVG text."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold blue"), (command, "bold")))
    console.print(Text.from_ansi(text))
    drawn = console.export_svg(title=command, theme=PAPER, code_format=DRAWING, unique_id="terminal")
    return "\n".join(line.rstrip() for line in drawn.replace("@TITLE@", escape(command)).splitlines()) + "\n"


def main() -> None:
    """Write the drawing beside this file."""
    target = Path(__file__).with_name("negotiate.svg")
    target.write_text(drawing(" ".join(["discreet", *REQUEST]), negotiation()), encoding="utf-8")


if __name__ == "__main__":
    main()
