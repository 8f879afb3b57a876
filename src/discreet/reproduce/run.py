"""One run of a reproduction: sections as they come, then the page, the tally and the JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.plots.draw import require_matplotlib
from discreet.printing.document import Document, Line, Tone, heading
from discreet.reproduce.comparison import Verdict
from discreet.reproduce.context import Context, data_folder
from discreet.reproduce.page import prepare_folder, write_page, write_plots
from discreet.reproduce.registry import Reproduction, reproduction_named
from discreet.reproduce.section import Section, tally, tally_lines
from discreet.settings import Settings
from discreet.verbs.reporting import SILENT, Reporter


class Run:
    """A reproduction, the context it runs in, and the folder it writes to."""

    def __init__(self, reproduction: Reproduction, context: Context, folder: Path) -> None:
        self.reproduction = reproduction
        self.context = context
        self.folder = folder
        self.page: Path | None = None
        self._done: list[Section] = []

    def sections(self) -> Iterator[Section]:
        """Each section once it is computed and its plots are written; after the last, the page.

        ``InputError`` where the data is missing, or where plots cannot be drawn.
        """
        require_matplotlib()
        prepare_folder(self.folder)
        with TemporaryDirectory(prefix="discreet-reproduce-") as scratch:
            context = replace(self.context, scratch=Path(scratch))
            for section in self.reproduction.sections(context):
                write_plots(self.folder, section)
                self._done.append(section)
                yield section
        self.page = write_page(self.folder, self.reproduction.title, self.reproduction.source, self._done)

    @property
    def differs(self) -> bool:
        """Whether a figure of the sections so far differs and no reason is known."""
        return tally(self._done)[Verdict.DIFFERENT] > 0

    def heading(self) -> Document:
        """The title and the paper."""
        return (heading(self.reproduction.title), Line(self.reproduction.source))

    def summary(self) -> Document:
        """The tally, and where the page lies."""
        return (*tally_lines(self._done), Line(f"The page and its plots: {self.page}", Tone.HINT))

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet reproduce --json``."""
        found = tally(self._done)
        return {
            "name": self.reproduction.name,
            "title": self.reproduction.title,
            "source": self.reproduction.source,
            "quick": self.context.quick,
            "figures": {
                "same": found[Verdict.SAME],
                "known": found[Verdict.KNOWN],
                "different": found[Verdict.DIFFERENT],
                "unjudged": found[Verdict.NONE],
            },
            "sections": [section.as_json() for section in self._done],
            "page": str(self.page),
        }


def prepare_run(
    name: str,
    *,
    folder: Path | None = None,
    data: Path | None = None,
    settings: Settings | None = None,
    quick: bool = False,
    reporter: Reporter = SILENT,
) -> Run:
    """A run of the reproduction of a name; nothing is computed yet.

    ``folder`` is the output folder (``out/reproduce/NAME``), ``data`` the folder of real tables
    (``DISCREET_DATA``, else ``../shared/data``). ``InputError`` for a name that there is not.
    """
    reproduction = reproduction_named(name)
    context = Context(data_folder(data), settings or Settings.from_environment(), quick, reporter)
    return Run(reproduction, context, folder or Path("out", "reproduce", name))
