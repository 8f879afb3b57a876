"""Figures that Pilalidou and Vassiliadis print for Adult with 30,162 rows; see ``docs/negotiation.md``.

They are read from the package's data, their only copy (``python -m papers negotiation`` prints them next to
ours). Levels are strings of digits in the paper's attribute order. Figures are as printed, including
misprints; ``DEVIATIONS`` lists the known differences from ours.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from papers import negotiation_study
from papers.comparison import known_deviations

PrintedRequest = negotiation_study.PrintedRequest


def numbers(value: Any) -> Any:
    """Return the value with tuples for lists, number keys for digit texts, and floats for decimals."""
    if isinstance(value, dict):
        return {int(key) if key.isdigit() else key: numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return tuple(numbers(part) for part in value)
    return float(value) if isinstance(value, Decimal) else value


ATTRIBUTES = dict(negotiation_study.NEGOTIATION_QUASI_IDENTIFIERS)
SENSITIVE = negotiation_study.NEGOTIATION_SENSITIVE
MAX_SUPPRESSED = negotiation_study.MAX_SUPPRESSED

AVERAGES_K3 = numbers(negotiation_study.NEGOTIATION_FIGURES["averages_k3"])
AVERAGE_PERCENTAGES_K3 = numbers(negotiation_study.NEGOTIATION_FIGURES["average_percentages_k3"])
MINIMA_K3 = numbers(negotiation_study.NEGOTIATION_FIGURES["minima_k3"])
EFFECT_OF_K = numbers(negotiation_study.NEGOTIATION_FIGURES["effect_of_k"])
MIN_AVERAGE_MAX = {
    size: tuple((*line, None)[:5] for line in lines)
    for size, lines in numbers(negotiation_study.NEGOTIATION_FIGURES["min_average_max"]).items()
}
RATIOS_OF_MINIMA = numbers(negotiation_study.NEGOTIATION_FIGURES["ratios_of_minima"])
GROUPING_POWER = numbers(negotiation_study.NEGOTIATION_FIGURES["grouping_power"]["levels"])

REQUESTS = negotiation_study.printed_requests()
K_REQUESTS = tuple(request for request in REQUESTS if request.privacy == "k")
L_REQUESTS = tuple(request for request in REQUESTS if request.privacy == "l")


def known(table: str) -> dict[str, tuple[float, float]]:
    """Return the known deviations of a table: the printed and our figure, by cell."""
    return {
        d.cell: (float(d.printed), float(d.ours)) for d in known_deviations("negotiation") if d.table == table
    }
