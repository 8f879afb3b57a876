"""Comparison of computed and printed figures: equal, different for a known reason, or different.

``figures/*.toml`` has the printed figures, digit by digit. A reading rule needs no tolerance: ``ROUNDED``
means that the computed figure rounds to the printed one, ``CUT`` that its digits may also have been cut
off. A known deviation names the cell, both figures and the reason; it excuses this figure only.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

Figure = int | float | str | Decimal
"""A number, or a text such as a node."""

_NOISE = 1e-9


class Reading(StrEnum):
    """Rounding rule of a printed figure."""

    ROUNDED = "rounded"
    CUT = "rounded or cut"


class Verdict(StrEnum):
    """Result of a comparison; ``NONE`` if nothing is printed or the printed figure cannot be judged."""

    SAME = "same"
    KNOWN = "known"
    DIFFERENT = "different"
    NONE = "none"


@dataclass(frozen=True)
class Deviation:
    """Printed figure from which the computed one is known to differ, with the reason."""

    table: str
    cell: str
    printed: Figure
    ours: Figure
    reason: str


@dataclass(frozen=True)
class Comparison:
    """One computed figure (``ours``), the printed one (None: nothing is printed), and the verdict.

    ``cell`` names the place in its table. ``about`` marks a printed figure that was read off a chart, or that
    comes from another table, program or machine. ``of_several`` marks a figure of one of several equally good
    solutions, of which the paper may print another. Neither kind is judged.
    """

    cell: str
    ours: Figure | None
    printed: Figure | None = None
    verdict: Verdict = Verdict.NONE
    reason: str | None = None
    about: bool = False
    unit: str = ""
    of_several: bool = False

    @property
    def reads_alike(self) -> bool:
        """True if the computed figure rounds to the printed one, or is cut to it."""
        return self.printed is not None and agrees_by(self.ours, self.printed, Reading.CUT)

    @property
    def ours_text(self) -> str:
        """Computed figure as text, with the printed decimals or one more."""
        if self.ours is None:
            return "–"
        numeric = isinstance(self.printed, Decimal | int | float) and not self.about
        places = count_decimals(self.printed) if numeric and self.printed is not None else None
        return figure_text(self.ours, places) + self.unit

    @property
    def printed_text(self) -> str:
        """Printed figure as printed, or a dash; ``~`` marks ``about``, ``°`` marks ``of_several``."""
        if self.printed is None:
            return "–"
        several = "°" if self.of_several else ""
        return ("~" if self.about else "") + printed_text(self.printed) + self.unit + several

    def as_json(self) -> dict[str, Any]:
        """Return one figure of the document of ``python -m papers NAME --json``."""
        return {
            "cell": self.cell,
            "ours": json_figure(self.ours),
            "printed": json_figure(self.printed),
            "about": self.about,
            "of_several": self.of_several,
            "verdict": None if self.verdict is Verdict.NONE else str(self.verdict),
            "reason": self.reason,
        }


@dataclass
class Judge:
    """Comparison of figures that knows a paper's deviations."""

    deviations: Mapping[tuple[str, str], Deviation] = field(default_factory=dict)

    @classmethod
    def of(cls, deviations: Iterable[Deviation]) -> Judge:
        """Build a judge from known deviations."""
        return cls({(d.table, d.cell): d for d in deviations})

    def compare(
        self,
        table: str,
        cell: str,
        ours: Figure | None,
        printed: Figure | None,
        reading: Reading = Reading.ROUNDED,
    ) -> Comparison:
        """Compare a computed figure with the printed one; texts and missing figures must be equal."""
        if printed is None:
            return Comparison(cell, ours)
        if agrees_by(ours, printed, reading):
            return Comparison(cell, ours, printed, Verdict.SAME)
        known = self.deviations.get((table, cell))
        if known is not None and known.printed == printed and agrees_by(ours, known.ours, Reading.ROUNDED):
            return Comparison(cell, ours, printed, Verdict.KNOWN, known.reason)
        return Comparison(cell, ours, printed, Verdict.DIFFERENT)


def agrees_by(ours: Figure | None, printed: Figure, reading: Reading) -> bool:
    """Return whether the computed figure reads as the printed one under a rounding rule."""
    if ours is None or isinstance(ours, str) or isinstance(printed, str):
        return ours == printed
    places = count_decimals(printed)
    difference = float(ours) - float(printed)
    if abs(difference) <= 0.5 * 10.0**-places + _NOISE:
        return True
    return reading is Reading.CUT and -_NOISE <= difference < 10.0**-places


def count_decimals(printed: Figure) -> int:
    """Return the number of decimals of a printed figure."""
    if not isinstance(printed, Decimal):
        return 0
    exponent = printed.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def figure_text(figure: Figure, places: int | None = None) -> str:
    """Return a computed figure with ``places`` decimals, or one more if they hide digits (None: 3 digits)."""
    if isinstance(figure, str):
        return figure
    number = float(figure)
    if isinstance(figure, int):
        return f"{figure:,}"
    if places is None:
        return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
    exact = abs(number - round(number, places)) <= _NOISE
    return f"{number:,.{places if exact else places + 1}f}"


def printed_text(figure: Figure) -> str:
    """Return a printed figure, with commas between thousands."""
    return figure if isinstance(figure, str) else f"{figure:,}"


def json_figure(figure: Figure | None) -> int | float | str | None:
    """Return a figure as a JSON value."""
    if isinstance(figure, Decimal):
        return int(figure) if figure == figure.to_integral_value() else float(figure)
    return figure


def describe_ratios(ratios: Sequence[float], digits: int = 1) -> str:
    """Return in words the factor by which something is smaller, also if some ratios are below one."""
    least, most = (f"{end(ratios):.{digits}f}" for end in (min, max))
    if min(ratios) >= 1:
        return f"{least} to {most} times smaller"
    return f"divided by {least} to {most}, where more than 1 is smaller"


@cache
def read_figures(paper: str) -> Mapping[str, Any]:
    """Read the figures of ``figures/<paper>.toml``; ``Decimal`` keeps the printed digits."""
    text = files("papers").joinpath("figures", f"{paper}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text, parse_float=Decimal)


def known_deviations(paper: str) -> tuple[Deviation, ...]:
    """Return the known deviations of a paper's figures."""
    return tuple(Deviation(**entry) for entry in read_figures(paper).get("deviation", ()))
