"""Draws a command and what it really printed as an SVG of a terminal, with no font or script of others.

``python docs/images/terminal.py OUT.svg COMMAND…`` runs the command in a pseudo-terminal, so that it prints
as it does for a person, and keeps its colours.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS = 100
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


def printed(command: list[str]) -> str:
    """What a command prints to a terminal of ``COLUMNS`` columns, colours included."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "60", "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
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


def main() -> None:
    """Run the command and write the drawing."""
    target, *command = sys.argv[1:]
    text = printed(command)
    shown = " ".join([Path(command[0]).name, *command[1:]])
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold blue"), (shown, "bold")))
    console.print(Text.from_ansi(text))
    drawing = console.export_svg(title=shown, theme=PAPER, code_format=DRAWING, unique_id="terminal")
    Path(target).write_text(drawing.replace("@TITLE@", escape(shown)), encoding="utf-8")


if __name__ == "__main__":
    main()
