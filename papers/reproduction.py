"""Reproductions by name, their context (data folder, settings, progress), and the run of one of them.

A new reproduction is a module with a function ``sections(context)`` and an entry in ``REPRODUCTIONS``.
Modules are imported on demand. A run yields sections as they are computed, then writes the page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.errors import InputError
from discreet.printing.document import Document, Line, Tone, heading_line
from discreet.settings import Settings
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from papers.charts import require_matplotlib
from papers.comparison import Verdict
from papers.section import Section, count_verdicts, prepare_folder, verdict_lines, write_page, write_plots


@dataclass(frozen=True)
class Context:
    """Context of a run: ``data`` is the folder of real tables; ``quick`` reduces rows and repetitions."""

    data: Path
    settings: Settings
    quick: bool = False
    reporter: Reporter = field(default=SILENT)
    scratch: Path = field(default_factory=Path)

    def file(self, *parts: str) -> Path:
        """Return a file or folder of the data; ``InputError`` if it is missing."""
        path = self.data.joinpath(*parts)
        if not path.exists():
            raise InputError(
                f"{'/'.join(parts)} is not in the data folder {self.data}",
                allowed="the folder that holds adult/adult_30162.csv and its hierarchies",
                advice="Name it by --data, or by the environment variable DISCREET_DATA.",
            )
        return path

    def adult(
        self, rows: str, hierarchies: str, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()
    ) -> Table:
        """Open Adult with ``rows`` rows (``30162``, ``45222``) and one of its folders of hierarchies."""
        folder = self.file("adult", f"hierarchies_{hierarchies}")
        attributes: dict[str, Any] = {
            name: {"role": "quasi-identifier", "hierarchy": str((folder / f"{name}.csv").absolute())}
            for name in quasi_identifiers
        }
        attributes |= {name: {"role": "sensitive"} for name in sensitive}
        return self.table(self.file("adult", f"adult_{rows}.csv"), attributes)

    def values(self, rows: str, names: Sequence[str]) -> dict[str, int]:
        """Count the distinct values of columns of Adult with ``rows`` rows."""
        attributes = {name: {"role": "quasi-identifier"} for name in names}
        table = self.table(self.file("adult", f"adult_{rows}.csv"), attributes).frequency_set
        return {hierarchy.attribute: len(hierarchy.leaves) for hierarchy in table.hierarchies}

    def table(self, path: Path, attributes: dict[str, Any]) -> Table:
        """Open a table, with attributes in the form of a spec."""
        document = {"attributes": attributes}
        return open_table(path.absolute(), document, settings=self.settings, reporter=self.reporter)


def data_folder(given: Path | None) -> Path:
    """Return the folder of real data: ``given``, else ``DISCREET_DATA``, else ``../shared/data``."""
    return given or Path(os.environ.get("DISCREET_DATA") or Path("..", "shared", "data"))


@dataclass(frozen=True)
class Reproduction:
    """Experiments of a paper: the name on the command line, the title, the source, and the module."""

    name: str
    title: str
    source: str
    module: str

    def sections(self, context: Context) -> Iterator[Section]:
        """Import the module and return its sections; each is computed when it is requested."""
        run: Callable[[Context], Iterator[Section]] = import_module(self.module).sections
        return run(context)


_NEGOTIATION_PAPER = (
    "A. Pilalidou and P. Vassiliadis: Online negotiation for privacy preserving data publishing (slides)."
)
_INCOGNITO_PAPER = (
    "K. LeFevre, D. J. DeWitt, R. Ramakrishnan: Incognito: Efficient Full-Domain K-Anonymity. SIGMOD 2005."
)
_MONDRIAN_PAPER = (
    "K. LeFevre, D. J. DeWitt, R. Ramakrishnan: Mondrian Multidimensional K-Anonymity. ICDE 2006 (slides)."
)
_PATTERNS_PAPER = (
    "R. Bredereck, A. Nichterlein, R. Niedermeier: Pattern-Guided k-Anonymity. Algorithms 6(4), 2013."
)
_PERMUTATION_PAPER = (
    "Q. Zhang, N. Koudas, D. Srivastava, T. Yu, ICDE 2007: aggregate queries, permutation, (k,e)-anonymity."
)

REPRODUCTIONS = {
    reproduction.name: reproduction
    for reproduction in (
        Reproduction(
            "negotiation",
            "Negotiation: suppression, generalization and privacy on Adult",
            _NEGOTIATION_PAPER,
            "papers.negotiation",
        ),
        Reproduction(
            "partial-lattice",
            "Partial lattices against the full one",
            _NEGOTIATION_PAPER,
            "papers.partial_lattice",
        ),
        Reproduction(
            "incognito",
            "Incognito and the searches before it",
            _INCOGNITO_PAPER,
            "papers.incognito",
        ),
        Reproduction(
            "mondrian",
            "Mondrian: multidimensional against single-dimensional",
            _MONDRIAN_PAPER,
            "papers.mondrian",
        ),
        Reproduction(
            "patterns",
            "Patterns: the heuristic, the proven optimum, and Mondrian on the same rows",
            _PATTERNS_PAPER,
            "papers.patterns",
        ),
        Reproduction(
            "permutation",
            "Permutation: bounds of aggregate queries, by permutation and by generalization",
            _PERMUTATION_PAPER,
            "papers.permutation",
        ),
    )
}


def find_reproduction(name: str) -> Reproduction:
    """Return the reproduction of a name; the ``InputError`` for an unknown name lists the known ones."""
    if name not in REPRODUCTIONS:
        raise InputError(f"there is no reproduction '{name}'", allowed=", ".join(REPRODUCTIONS))
    return REPRODUCTIONS[name]


class ReproductionRun:
    """Reproduction with the context it runs in and its output folder."""

    def __init__(self, reproduction: Reproduction, context: Context, folder: Path) -> None:
        self.reproduction = reproduction
        self.context = context
        self.folder = folder
        self.page: Path | None = None
        self._done: list[Section] = []

    def sections(self) -> Iterator[Section]:
        """Yield each section after it is computed and its plots are written; write the page after the last.

        Raises ``InputError`` if the data is missing, or if plots cannot be drawn.
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
        """True if a figure of the sections so far differs without a known reason."""
        return count_verdicts(self._done)[Verdict.DIFFERENT] > 0

    def heading(self) -> Document:
        """Return the title and the paper."""
        return (heading_line(self.reproduction.title), Line(self.reproduction.source))

    def summary(self) -> Document:
        """Return the tally, and the path of the page."""
        return (*verdict_lines(self._done), Line(f"The page and its plots: {self.page}", Tone.HINT))

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``python -m papers NAME --json``."""
        found = count_verdicts(self._done)
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
) -> ReproductionRun:
    """Prepare a run of a reproduction; nothing is computed yet.

    ``folder`` is the output folder (default ``out/reproduce/NAME``), ``data`` the folder of real tables
    (default ``DISCREET_DATA``, else ``../shared/data``). Raises ``InputError`` for an unknown name.
    """
    reproduction = find_reproduction(name)
    context = Context(data_folder(data), settings or Settings.from_environment(), quick, reporter)
    return ReproductionRun(reproduction, context, folder or Path("out", "reproduce", name))
