"""Words that have an order of their own: levels of education, as tables in common use write them.

The levels are those of UNESCO's International Standard Classification of Education (ISCED 2011): early
childhood, primary, lower and upper secondary, post-secondary, short tertiary, bachelor's, master's, doctoral.
Single grades and years of school are between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_WORDS = 14
_FEWEST_LEVELS = 3
_GRADE = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)? ?[-–] ?)?(\d{1,2})(?:st|nd|rd|th)(?: grade)?|grade (\d{1,2})"
)
_EDUCATION: tuple[tuple[float, str], ...] = (
    (4.0, "past high school|beyond high school"),
    (13.6, "without (?:earning|a degree)|some (?:college|university)|no degree"),
    (0.0, "none|no|never attended|illiterate|without education|keine?|ohne|aucune?|ninguna?"),
    (0.5, "pre ?school|kindergarten|early childhood|nursery"),
    (21.0, r"doctora\w*|ph\.?d|promotion|promoviert|doctorado|dottorato|habilitation"),
    (19.0, "prof(?:essional)? (?:school|degree|doctorate)|juris doctor|md|jd"),
    (18.0, "master'?s?|msc|mba|diplom|magister|maestr[ií]a|laurea magistrale|postgraduate|graduate degree"),
    (
        16.0,
        r"bachelor'?s?|bsc|ba|licence|licenciatura|laurea|undergraduate|grado|universit\w+|college degree",
    ),
    (15.0, "tertiary|higher education|hochschule|superior"),
    (14.0, "assoc(?:iate)?'?s?(?: (?:voc|degree))?|short cycle tertiary"),
    (13.5, "college"),
    (13.0, "vocational|apprenticeship|trade school|technical|lehre|ausbildung|berufsschule|post secondary"),
    (11.5, "some high school|less than high school"),
    (12.5, "hs grad|high ?school|ged|upper secondary|abitur|matura|fachhochschulreife|bachillerato|lyc[ée]e"),
    (12.4, "baccalaur[ée]at|cap|bep"),
    (10.0, "realschule|mittlere reife|brevet"),
    (9.0, "lower secondary|middle school|junior high|hauptschule|coll[è]ge|secundaria"),
    (11.0, "secondary"),
    (6.0, "primary|elementary|grundschule|volksschule|primaire|primaria|basic"),
)
"""Levels by the words of which one is in a text, in the order in which they are looked for."""

_PATTERNS = tuple((rank, re.compile(rf"\b(?:{words})\b")) for rank, words in _EDUCATION)


def education_order(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Return levels of education from the lowest to the highest; None unless all texts are such levels.

    >>> education_order(["Masters", "HS-grad", "9th", "Doctorate", "Bachelors", "5th-6th"])
    ('5th-6th', '9th', 'HS-grad', 'Bachelors', 'Masters', 'Doctorate')
    >>> education_order(["Ulm", "Kiel", "Bonn"])
    """
    ranks: dict[str, float] = {}
    for text in texts:
        rank = _rank(text)
        if rank is None:
            return None
        ranks[text] = rank
    if len(set(ranks.values())) < _FEWEST_LEVELS:
        return None
    return tuple(sorted(ranks, key=lambda text: (ranks[text], text)))


def _rank(text: str) -> float | None:
    clean = " ".join(text.casefold().replace("’", "'").replace("_", " ").split())
    if not clean or len(clean.split()) > _MOST_WORDS:
        return None
    grade = _GRADE.fullmatch(clean)
    if grade is not None:
        return float(grade[2] or grade[3])
    words = clean.replace("-", " ")
    if words == "assoc acdm":
        return 14.5
    return next((rank for rank, pattern in _PATTERNS if pattern.search(words)), None)
