"""Ranges of numbers in texts: ``20 to 24``, ``[70-80)``, ``<10k``, ``90+``, ``über 80``.

A text is a band if all of it matches: a number, two numbers with a word or sign between them, or one number
with words or a sign for an open end. The unit after the numbers is kept, so that months and years are not
compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise

from discreet.hierarchy.cell_values import parse_number

_YEARS = ("year", "jahr", "an", "ans", "año", "anno", "anni", "ano", "jaar")
_THOUSANDS = {"k": 3, "tsd": 3, "mille": 3, "m": 6, "mio": 6, "mn": 6, "bn": 9, "mrd": 9}
_CURRENCY = r"(?:[$€£¥₹]|usd|eur|gbp|chf|us\$)"
_DIGITS = r"(?:\d{1,3}(?:[ ,.'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"


def _number_pattern(name: str) -> str:
    """Return the pattern of a number, whose digits are the group ``name`` and whose suffix is ``namek``."""
    return (
        rf"(?:{_CURRENCY} ?)?(?P<{name}>[-−]?{_DIGITS}) ?"
        rf"(?P<{name}k>k|tsd\.?|mille|m|mio\.?|mn|bn|mrd\.?)?(?![a-z0-9])(?: ?{_CURRENCY})?"
    )


def _unit_pattern(name: str) -> str:
    """Return the pattern of the unit after a number."""
    return rf"(?: ?(?P<{name}>%|[^\W\d_]{{1,12}}\.?(?: old| alt)?))?"


def _phrases_pattern(text: str) -> str:
    """Return a pattern of phrases that are separated by bars, over several lines."""
    return "|".join(phrase.strip() for phrase in text.split("|"))


_AND = "(?:and|or|et|y|o|e|ou|und|oder|en|of) "
_MORE = (
    rf"\+|{_AND}(?:"
    + _phrases_pattern(
        """more|over|older|above|up(?:wards)?|greater|higher|later|plus|más|mas|mayores|oltre|più|mais|mehr|älter|
    aelter|darüber|später|ouder|meer|hoger"""
    )
    + ")"
)
_LESS = (
    rf"{_AND}(?:"
    + _phrases_pattern(
        """less|under|younger|below|fewer|lower|earlier|moins|menos|menores|meno|weniger|jünger|darunter|früher|
    jonger|minder|lager"""
    )
    + ")"
)
_ABOVE = _phrases_pattern(
    """>|over|above|more than|greater than|older than|über|ueber|mehr als|älter als|plus de|más de|mas de|
    oltre|più di|mais de|meer dan|ouder dan|boven"""
)
_FROM = _phrases_pattern(
    r"""≥|>=|=>|at least|from|ab|mindestens|à partir de|a partir de|desde|vanaf|min\.?"""
)
_BELOW = _phrases_pattern(
    """<|under|below|less than|fewer than|younger than|unter|weniger als|jünger als|moins de|menos de|meno di|
    sotto|minder dan|jonger dan|onder"""
)
_UP_TO = _phrases_pattern(
    r"""≤|<=|=<|up to|at most|until|bis(?: zu)?|höchstens|hoechstens|jusqu'à|jusqu'a|hasta|fino a|até|tot|
    max\.?"""
)
_BETWEEN = r" ?(?:-|–|—|−|\.\.|…|to|bis(?: unter)?|à|a|until|and|und|tot|t/m|et|y|e) ?"


@cache
def _band_forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns of bands; compiled on first use, which takes 6 ms that few commands need."""
    patterns = (
        ("above", rf"(?:{_ABOVE}) ?{_number_pattern('n')}{_unit_pattern('u')}"),
        ("from", rf"(?:{_FROM}) ?{_number_pattern('n')}{_unit_pattern('u')}(?: on(?:wards)?)?"),
        ("from", rf"{_number_pattern('n')}{_unit_pattern('u')} ?(?:{_MORE}){_unit_pattern('v')}"),
        ("below", rf"(?:{_BELOW}) ?{_number_pattern('n')}{_unit_pattern('u')}"),
        ("up to", rf"(?:{_UP_TO}) ?{_number_pattern('n')}{_unit_pattern('u')}"),
        ("up to", rf"{_number_pattern('n')}{_unit_pattern('u')} ?(?:{_LESS})"),
        (
            "between",
            r"(?:between |from |von |zwischen |de |entre |da |van )?(?P<open>[\[\]( ]?) ?"
            rf"{_number_pattern('n')}{_unit_pattern('v')}(?:{_BETWEEN}|, ?|; ?)"
            rf"{_number_pattern('m')}{_unit_pattern('u')} ?"
            r"(?P<close>[\])\[]?)",
        ),
        ("one", rf"{_number_pattern('n')}{_unit_pattern('u')}"),
    )
    return tuple((side, re.compile(pattern, re.IGNORECASE)) for side, pattern in patterns)


@dataclass(frozen=True)
class Band:
    """A range of numbers; None is an open side, ``unit`` the word after its numbers.

    A bound belongs to the range if it is ``closed``. The text ``20-30`` leaves open whether 30 belongs to it.
    """

    low: Decimal | None
    high: Decimal | None
    unit: str = ""
    low_closed: bool = True
    high_closed: bool = True

    @property
    def is_open(self) -> bool:
        """True if the range has exactly one bound."""
        return (self.low is None) != (self.high is None)


def parse_band(text: str) -> Band | None:
    """Return the range that a text names, or None.

    >>> parse_band("20 to 24").high, parse_band("über 80 Jahre").low, parse_band("<10k").high
    (Decimal('24'), Decimal('80'), Decimal('10000'))
    >>> parse_band("Ulm"), parse_band("2020-01-05")
    (None, None)
    """
    clean = " ".join(text.replace("\u00a0", " ").replace("\u202f", " ").split())
    for side, pattern in _band_forms():
        found = pattern.fullmatch(clean)
        if found is not None:
            return _band_of_match(side, found)
    return None


def parse_bands(texts: Iterable[str]) -> dict[str, Band] | None:
    """Return the band of each text; None unless all are bands of one unit.

    Numbers without a unit are read as years if others are years: ``under 1 year`` is below 1, but ``3
    months`` is not comparable.
    """
    found: dict[str, Band] = {}
    for text in texts:
        band = parse_band(text)
        if band is None:
            return None
        found[text] = band
    units = {"" if band.unit in _YEARS else band.unit for band in found.values()}
    return found if len(units) <= 1 else None


def order_bands(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Return texts that are bands in the order of their numbers; None if one is not a band or two overlap.

    >>> order_bands(["100k+", "<10k", "10k-20k", "20k-100k"])
    ('<10k', '10k-20k', '20k-100k', '100k+')
    """
    bands = parse_bands(texts)
    if bands is None or len(bands) < 2:
        return None
    ordered = sorted(bands, key=lambda text: _band_sort_key(bands[text]))
    for before, text in pairwise(ordered):
        high, low = bands[before].high, bands[text].low
        if high is None or low is None or low < high:
            return None
    return tuple(ordered)


def _band_sort_key(band: Band) -> tuple[bool, Decimal, bool, Decimal]:
    """Return a sort key by lower bound, then upper bound; a range without a lower bound comes first."""
    low, high = band.low, band.high
    return low is not None, low or Decimal(0), high is None, high or Decimal(0)


def _band_of_match(side: str, match: re.Match[str]) -> Band | None:
    number, unit = _group_number(match, "n"), _band_unit(match)
    if number is None or unit is None:
        return None
    if side == "one":
        return Band(number, number, unit)
    if side in ("above", "from"):
        return Band(number, None, unit, low_closed=side == "from")
    if side in ("below", "up to"):
        return Band(None, number, unit, high_closed=side == "up to")
    other = _group_number(match, "m")
    if other is None or other < number:
        return None
    open_, close = match["open"].strip(), match["close"]
    if bool(open_) != bool(close):
        return None
    if not match["nk"] and match["mk"] and number < other / 10 ** _THOUSANDS[match["mk"].rstrip(".").lower()]:
        number = number * 10 ** _THOUSANDS[match["mk"].rstrip(".").lower()]  # 10-20k means 10k-20k
    return Band(number, other, unit, low_closed=open_ in ("", "["), high_closed=close in ("", "]"))


def _band_unit(match: re.Match[str]) -> str | None:
    """Return the unit of a band, singular and in lower case; None if it has two different units."""
    groups = match.groupdict()
    units = {_singular_unit(groups[name]) for name in ("u", "v") if groups.get(name)}
    return None if len(units) > 1 else next(iter(units), "")


def _singular_unit(unit: str) -> str:
    word = unit.lower().rstrip(".").removesuffix(" old").removesuffix(" alt")
    return {"years": "year", "yrs": "year", "yr": "year", "y": "year", "jahre": "jahr", "jahren": "jahr"}.get(
        word, word.removesuffix("s") if len(word) > 3 else word
    )


def _group_number(match: re.Match[str], name: str) -> Decimal | None:
    """Return the number of a group, without thousands separators."""
    text = match[name].replace("−", "-")
    if re.fullmatch(r"-?\d{1,3}(?:([ ,.'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?", text):
        mark = re.sub(r"[-\d]", "", text)[0]
        text = text.replace(mark, "")
    number = parse_number(text.replace(",", "."))
    suffix = match[f"{name}k"]
    if number is None or suffix is None:
        return number
    return number * Decimal(10) ** _THOUSANDS[suffix.rstrip(".").lower()]
