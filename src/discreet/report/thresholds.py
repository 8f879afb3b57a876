"""Thresholds that regulators and practice name, each with its source, read strictly.

A threshold of the highest chance τ asks for classes of at least the least n with 1/n ≤ τ. The reading
matters: 0.09 is commonly equated with classes of 11, but 1/11 = 0.0909… is above 0.09, so strictly it asks
for 12. Rules are shown beside what the release has; whether one applies, and in which version, is for its
publisher to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Rule:
    """A rule: whose, what it asks, the least class that meets it strictly read, and how it is often read."""

    source: str
    asks: str
    least: int
    note: str = ""


def least_class(threshold: Fraction) -> int:
    """The least number of people n whose chance 1/n does not exceed a threshold."""
    return -(-threshold.denominator // threshold.numerator)


RULES: tuple[Rule, ...] = (
    Rule(
        "EMA Policy 0070 and Health Canada, public release of clinical data",
        "highest risk 0.09",
        least_class(Fraction("0.09")),
        "practice reads 11",
    ),
    Rule("CMS cell size suppression policy", "no cell of 1 to 10", 11, "for microdata, by analogy"),
    Rule(
        "Five Safes practice, public release",
        "highest risk 0.05",
        least_class(Fraction("0.05")),
        "0.05 to 0.09 are seen; check the local policy",
    ),
    Rule(
        "Five Safes practice, data use agreement",
        "highest risk 0.1",
        least_class(Fraction("0.1")),
        "0.1 to 0.2 are seen; check the local policy",
    ),
    Rule(
        "Five Safes practice, secure enclave",
        "highest risk 0.33",
        least_class(Fraction("0.33")),
        "practice reads 3; check the local policy",
    ),
    Rule("Statistics offices (StatCan, ONS), tables", "3 to 10 people a cell", 10, "check the office's own"),
)

THREE_TESTS = "Article 29 Working Party, Opinion 05/2014 (WP216)"
HIPAA = (
    "HIPAA's expert determination (45 CFR 164.514(b)(1)) names no number: a qualified person must find "
    "the risk "
    "very small and document methods and results. This report documents results; it is not that finding."
)
CONTEXT = (
    "ISO/IEC 27559:2022 asks for the context too: who gets the data, what they could attempt, and what "
    "keeps them "
    "from it. The chances above hold for an attempt that is made; sections 1 and 3 are where the context "
    "is stated."
)
