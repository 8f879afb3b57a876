"""Running the blocks of a page in order in a folder: commands in process, Python in one namespace."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from discreet.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"\s+# exit (\d+)$")


def run_page(page: Path, *, csv_to: str | None = None) -> int:
    """Run the blocks of a page and return their number; commands exit with 0 or as noted (``# exit 3``).

    ``csv_to`` is the file that the page's csv block is saved as.
    """
    names: dict[str, object] = {}
    count = 0
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "console":
            for line in text.splitlines():
                run_line(line, page)
        elif language == "python":
            exec(compile(text, str(page), "exec"), names)
        elif language == "csv" and csv_to is not None:
            Path(csv_to).write_text(text, encoding="utf-8")
        else:
            raise AssertionError(f"{page}: a block of '{language}' has no runner")
        count += 1
    return count


def run_line(line: str, page: Path) -> None:
    exit_note = _EXIT.search(line)
    assert line.startswith("$ discreet "), f"{page}: '{line}' is not a discreet command"
    words = shlex.split(_EXIT.sub("", line))[2:]
    assert main(words) == (int(exit_note[1]) if exit_note else 0), f"{page}: {line}"
