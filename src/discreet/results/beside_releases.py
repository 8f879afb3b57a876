"""Earlier releases of the same people beside a new one, as parts of its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone


@dataclass(frozen=True)
class BesideRelease:
    """What a new release tells together with an earlier one, as the intersection attack counts it.

    ``k`` is the size of the smallest part that they share; ``failing`` are the parts that do not meet the new
    release's requirement, ``rows`` the rows in them, ``alone`` the rows alone in their part. ``reason`` says
    why nobody can tell, and then there are no numbers.
    """

    name: str
    time: str
    k: int | None = None
    failing: int = 0
    rows: int = 0
    alone: int = 0
    reason: str | None = None

    @property
    def safe(self) -> bool:
        """Whether it was counted, and no part fails."""
        return self.reason is None and not self.failing

    def as_json(self) -> dict[str, Any]:
        """The entry under ``beside``."""
        if self.reason is not None:
            return {"release": self.name, "time": self.time, "reason": self.reason}
        return {
            "release": self.name,
            "time": self.time,
            "k": self.k,
            "failing_parts": self.failing,
            "rows": self.rows,
            "alone": self.alone,
        }


def beside_document(beside: tuple[BesideRelease, ...]) -> Document:
    """The earlier releases, and what each gives away together with the new one."""
    if not beside:
        return ()
    told = [one for one in beside if one.reason is None]
    untold = _by_reason(beside)
    numbers = ("smallest part", "parts that fail", "rows in them", "rows alone")
    grid = Grid(
        (Column("together with"), *(Column(name, right=True) for name in numbers)),
        tuple(
            (
                one.name,
                "–" if one.k is None else f"{one.k:,}",
                f"{one.failing:,}",
                f"{one.rows:,}",
                f"{one.alone:,}",
            )
            for one in told
        ),
    )
    bad = [one.name for one in told if not one.safe]
    warning = Line(
        f"Do not hand it over beside {', '.join(bad)}: together they do not meet what was required. "
        "Publish with --after RELEASE to find what does.",
        Tone.BAD,
    )
    return (
        BLANK,
        Line("Earlier releases of the same people are in the register.", Tone.HINT),
        *((grid,) if told else ()),
        *((warning,) if bad else ()),
        *(
            Line(f"Not counted beside {names}: {reason.rstrip('.')}.", Tone.WARNING)
            for reason, names in untold.items()
        ),
    )


def _by_reason(releases: Iterable[BesideRelease]) -> dict[str, str]:
    """The names of releases that nobody laid beside, by the reason; of one name how often it stands there."""
    found: dict[str, Counter[str]] = {}
    for one in releases:
        if one.reason is not None:
            found.setdefault(one.reason, Counter())[one.name] += 1
    return {
        reason: ", ".join(f"{name} ({n} times)" if n > 1 else name for name, n in names.items())
        for reason, names in found.items()
    }
