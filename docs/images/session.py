"""Draws ``session.svg``: three commands on the generated census, as a terminal that moves.

``python docs/images/session.py`` runs the commands in a pseudo-terminal, as ``terminal.py`` does, and draws a
scene of what each printed: the command is typed, its words appear, and what is longer than the window
scrolls. The movement is CSS alone, without a script, a font or an address; whoever asks for less motion sees
the negotiation stand still. The colours follow a light or a dark screen. A test draws it again and compares
the words.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.text import Text

from discreet.sample.census import write_census
from docs.images.terminal import COLUMNS, PAPER, REQUEST, printed

WISH = " ".join(REQUEST[1:])
SESSION = (
    "discreet init patients.csv",
    f"discreet negotiate {WISH}",
    f"discreet publish {WISH} --accept-relaxation height --output release.csv",
)
STILL = 1  # the scene for whoever asks for less motion
ROWS = 21  # of the window
SECONDS = 7.0  # for each scene
TYPED = 1.2  # when the answer appears
CELL, LINE, MARGIN = 12.2, 24.4, 18.0  # rich's, in the drawing's units
DARK = {
    "#fbfaf7": "#12181c",
    "#1d2b33": "#dfe6e4",
    "#26578f": "#86b4ea",
    "#2e703e": "#7fc792",
    "#aa2e25": "#f0867c",
    "#96680a": "#dfb55c",
    "#7a3e82": "#cf9bd8",
    "#16707a": "#71c6d0",
    "#706a5e": "#a8a294",
}
TITLE = "Three commands: init proposes a spec, negotiate shows what each way out costs, publish audits"


def outputs() -> list[str]:
    """What each command of ``SESSION`` prints, in one folder, one after the other."""
    program = str(Path(sys.executable).parent / "discreet")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_census(folder / "patients.csv")
        return [printed([program, *command.split()[1:]], folder) for command in SESSION]


def scene(number: int, command: str, text: str) -> tuple[str, list[str], int]:
    """The colours of a scene as CSS, its words as SVG, and how many rows it has."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold blue"), (command, "bold")))
    console.print(Text.from_ansi(text.rstrip("\n")))
    rows = len(console.export_text(clear=False).rstrip("\n").splitlines())
    drawn = console.export_svg(
        title="", theme=PAPER, code_format="{styles}@@{matrix}", unique_id=f"s{number}"
    )
    styles, matrix = drawn.split("@@")
    texts = re.findall(r"<text ([^>]*)>(.*?)</text>", matrix, re.DOTALL)
    kept = [(tag, word) for tag, word in texts if word.replace("&#160;", "").strip()]
    lines = [f"<text {re.sub(' (textLength|clip-path)=[^ ]*', '', tag)}>{word}</text>" for tag, word in kept]
    return styles, lines, rows


def movement(number: int, count: int, asked: int, rows: int) -> str:
    """The CSS of a scene: when it is there, when its cover leaves the command, how far it scrolls."""
    whole = SECONDS * count

    def at(seconds: float) -> str:
        return f"{100 * (number * SECONDS + seconds) / whole:.2f}%"

    over = max(0, rows - ROWS) * LINE
    end = f"{100 * (number + 1) / count - 0.01:.2f}%"
    last = "" if number + 1 == count else f"{100 * (number + 1) / count:.2f}%, 100% {{ visibility: hidden; }}"
    return f"""
    #scene{number} {{ animation: there{number} {whole}s step-end infinite; }}
    @keyframes there{number} {{ 0% {{ visibility: hidden; }} {at(0)} {{ visibility: visible; }} {last} }}
    #cover{number} {{ animation: typed{number} {whole}s infinite; }}
    @keyframes typed{number} {{
      0%, {at(0.2)} {{ transform: none; animation-timing-function: steps({asked}); }}
      {at(TYPED)}, 100% {{ transform: translateX({COLUMNS * CELL:.0f}px); }} }}
    #answer{number} {{ animation: answer{number} {whole}s step-end infinite; }}
    @keyframes answer{number} {{ 0% {{ opacity: 0; }} {at(TYPED + 0.2)}, 100% {{ opacity: 1; }} }}
    #roll{number} {{ animation: roll{number} {whole}s infinite; }}
    @keyframes roll{number} {{ 0%, {at(SECONDS * 0.55)} {{ transform: none; }}
      {at(SECONDS * 0.7)}, {end} {{ transform: translateY(-{over:.1f}px); }} 100% {{ transform: none; }} }}"""


def group(number: int, lines: list[str], typed_rows: int) -> str:
    """A scene's words: those of the command under a cover that moves away, and those of the answer."""
    edge = typed_rows * LINE
    heights = [float(line.partition(' y="')[2].partition('"')[0]) for line in lines]
    asked = [line for line, height in zip(lines, heights, strict=True) if height < edge]
    answer = [line for line, height in zip(lines, heights, strict=True) if height >= edge]
    size = f'width="{COLUMNS * CELL:.0f}" height="{edge:.1f}"'
    cover = f'<rect id="cover{number}" class="paper cover" x="26" y="0" {size}/>'
    parts = [f'<g id="scene{number}"><g id="roll{number}">', *asked, cover]
    return "\n".join([*parts, f'<g id="answer{number}">', *answer, "</g></g></g>"])


def drawing(texts: list[str]) -> str:
    """The session as SVG text."""
    width, height = COLUMNS * CELL + 2 * MARGIN, ROWS * LINE + 2 * MARGIN
    styles, moves, groups = [], [], []
    for number, (command, text) in enumerate(zip(SESSION, texts, strict=True)):
        colours, lines, rows = scene(number, command, text)
        styles.append(colours)
        moves.append(movement(number, len(SESSION), len(command), rows))
        groups.append(group(number, lines, -(-(len(command) + 2) // COLUMNS)))
    light = "\n".join(f"--c{name[1:]}: {name};" for name in DARK)
    dark = "\n".join(f"--c{name[1:]}: {other};" for name, other in DARK.items())
    css = re.sub(r"#([0-9a-f]{6})\b", r"var(--c\1, #\1)", "\n".join(styles))
    hidden = ", ".join(f"#scene{number}" for number in range(len(SESSION)) if number != STILL)
    return f"""<svg viewBox="0 0 {width:.0f} {height:.0f}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>{escape(TITLE)}</title>
<style>
svg {{ {light} }}
@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}
text {{ font: 20px/{LINE}px DejaVu Sans Mono, Menlo, Consolas, monospace; white-space: pre; }}
.paper {{ fill: var(--cfbfaf7); }}
.cover {{ opacity: 0; }}
.edge {{ fill: none; stroke: var(--c706a5e); stroke-opacity: 0.5; }}
{css}
{hidden} {{ visibility: hidden; }}
@media (prefers-reduced-motion: no-preference) {{
.cover {{ opacity: 1; }}{"".join(moves)}
}}
</style>
<clipPath id="window"><rect width="{COLUMNS * CELL:.0f}" height="{ROWS * LINE + 4:.0f}"/></clipPath>
<rect class="paper" width="{width:.0f}" height="{height:.0f}" rx="12"/>
<g transform="translate({MARGIN:.0f} {MARGIN:.0f})" clip-path="url(#window)">
{chr(10).join(groups)}
</g>
<rect class="edge" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="12"/>
</svg>
"""


def main() -> None:
    """Write the drawing beside this file."""
    Path(__file__).with_name("session.svg").write_text(drawing(outputs()), encoding="utf-8")


if __name__ == "__main__":
    main()
