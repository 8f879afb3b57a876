"""δ-presence (Nergiz, Atzori and Clifton 2007): the share of matching people who are in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassPopulation, ClassValues
from discreet.model.option import OptionKind, option

PRESENCE_UNIT = 1_000_000_000
"""Scores are shares in billionths."""

FAILING_SCORE = -1
"""Score of a class that fails for every δmax."""


@dataclass(frozen=True)
class DeltaPresence(Criterion):
    """From ``least`` (δmin) to ``value`` (δmax) of the people matching a class have a row in it.

    δmax is negotiated; δmin is a fixed parameter. The score is the share of the people without a row, in
    billionths and rounded down; a class in which fewer than δmin have a row always fails.

    Suppressed rows belong to people matching no published class. The share of these people with a suppressed
    row must also be between δmin and δmax; otherwise the node must not be published. Without suppression the
    share is 0, so with a positive δmin every person must then match a class.

    The share of a union is between those of its parts, so the criterion is monotone without suppression. A
    failing class can make a passing class fail, so it is not growing.
    """

    least: float = option(
        0.0,
        kind=OptionKind.DECIMAL,
        help="δmin: at least this share of them is in it, also of the people who match no published class",
    )

    name: ClassVar[str] = "delta_presence"
    title: ClassVar[str] = "δ-presence"
    citation: ClassVar[str] = "Nergiz, Atzori and Clifton (2007)"
    parameter: ClassVar[Parameter] = Parameter(
        "at most this share of the people who match a class are in it",
        least=0,
        most=1,
        whole=False,
        stops=(0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    )
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "least", float(self.parameter.checked(f"least of {self.name}", self.least)))

    @property
    def of_population(self) -> bool:
        """True: it counts the other people matching a class."""
        return True

    @property
    def judges_suppressed_rows(self) -> bool:
        """True: suppressed rows belong to people matching no published class."""
        return True

    def suppressed_rows_fail(
        self, threshold: int, rows: NDArray[np.int64], people: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether the share of these people with a suppressed row is below δmin or above δmax."""
        many = (rows > 0) & (PRESENCE_UNIT * rows > (PRESENCE_UNIT - threshold) * people)
        few: NDArray[np.bool_] = PRESENCE_UNIT * rows < self._fewest * people
        return few | many

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Raise ``InputError``: the score requires the population."""
        del sizes, values
        raise InputError(f"{self}: {self.title} requires the population")

    def population_scores(self, sizes: NDArray[np.int64], population: ClassPopulation) -> NDArray[np.int64]:
        """Return the share of the people without a row, in billionths."""
        people = np.maximum(population.people, 1)
        shares = PRESENCE_UNIT * (people - sizes) // people
        few = PRESENCE_UNIT * sizes < self._fewest * people
        return np.where(few | (sizes > population.people), FAILING_SCORE, shares)

    @property
    def _fewest(self) -> int:
        """δmin in billionths."""
        return round(PRESENCE_UNIT * float(self.least))

    @property
    def threshold(self) -> int:
        """Share that must be without a row, in billionths."""
        return PRESENCE_UNIT - round(PRESENCE_UNIT * float(self.value))

    def value_of(self, score: int) -> float:
        """Return the share of people with a row; 1 for the score of a class that always fails."""
        return min((PRESENCE_UNIT - score) / PRESENCE_UNIT, 1.0)

    @property
    def promises(self) -> bool:
        """False for δmax = 1; otherwise it hides membership in the table, whatever is known of the people."""
        return bool(self.value < 1)

    def audit_query(self, rows: str) -> str:
        """Return SQL of the score from counts, with the share of people in no published class."""
        rest = f"CAST({PRESENCE_UNIT} AS BIGINT) * (people - number)"
        # Subtracting the remainder makes the division exact in every database.
        shares = f"CAST(({rest} - ({rest}) % people) / people AS BIGINT)"
        few = f"CAST({PRESENCE_UNIT} AS BIGINT) * number < {self._fewest} * people OR number > people"
        most = PRESENCE_UNIT - self.threshold
        gone = f"CAST({PRESENCE_UNIT} AS BIGINT) * suppressed"
        left = f"suppressed > 0 AND {gone} > {most} * unmatched OR {gone} < {self._fewest} * unmatched"
        return (
            f"SELECT class, CASE WHEN {few} OR {left} THEN {FAILING_SCORE} ELSE {shares} END AS score "
            f"FROM {rows}"
        )
