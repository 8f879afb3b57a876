"""The reproductions by name. A new one is a module with ``sections(context)``, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

from discreet.errors import InputError
from discreet.reproduce.context import Context
from discreet.reproduce.section import Section


@dataclass(frozen=True)
class Reproduction:
    """A paper's experiments: their name on the command line, a title, the source, and the module."""

    name: str
    title: str
    source: str
    module: str

    def sections(self, context: Context) -> Iterator[Section]:
        """The sections, each computed when it is asked for."""
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
            "discreet.reproduce.negotiation.sections",
        ),
        Reproduction(
            "partial-lattice",
            "Partial lattices against the full one",
            _NEGOTIATION_PAPER,
            "discreet.reproduce.partial_lattice.sections",
        ),
        Reproduction(
            "incognito",
            "Incognito and the searches before it",
            _INCOGNITO_PAPER,
            "discreet.reproduce.incognito.sections",
        ),
        Reproduction(
            "mondrian",
            "Mondrian: multidimensional against single-dimensional",
            _MONDRIAN_PAPER,
            "discreet.reproduce.mondrian.sections",
        ),
        Reproduction(
            "patterns",
            "Patterns: the heuristic, the proven optimum, and Mondrian on the same rows",
            _PATTERNS_PAPER,
            "discreet.reproduce.patterns.sections",
        ),
        Reproduction(
            "permutation",
            "Permutation: bounds of aggregate queries, by permutation and by generalization",
            _PERMUTATION_PAPER,
            "discreet.reproduce.permutation.sections",
        ),
    )
}


def reproduction_named(name: str) -> Reproduction:
    """The reproduction of a name; ``InputError`` names those that there are."""
    if name not in REPRODUCTIONS:
        raise InputError(f"there is no reproduction '{name}'", allowed=", ".join(REPRODUCTIONS))
    return REPRODUCTIONS[name]
