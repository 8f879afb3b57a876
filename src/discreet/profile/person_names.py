"""Recognition of personal names among values: whether the values of a column are names of persons.

A value is compared with lists of given and family names (``given_names``, ``names_by_script``,
``family_names``), with the usual forms of a name (``Anna Schmidt``, ``Schmidt, Anna``, ``A. Schmidt``, with
or without a title), and with words that no name has. One value proves little; the column is judged by the
shares of its distinct values.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from discreet.profile import names_by_script
from discreet.profile.family_names import ENDINGS, TRADES_AND_THINGS, family_names
from discreet.profile.given_names import AMBIGUOUS, given_names
from discreet.profile.words_of_things import (
    EAST_ASIAN_ENDINGS,
    PARTICLES,
    STOPS,
    STOPS_IN_FRONT,
    THINGS,
    TITLES,
)

_FEW, _SOME = 5, 12
_SHARES = {"few": 0.75, "some": 0.5, "many": 0.25}
_FAMILY_SHARE, _MANY_FAMILIES, _WEAK_SHARE = 0.6, 0.4, 0.75
_KNOWN_BY_HEADING, _SHAPED = 0.2, 0.85
_SIGNS, _MOST_OF_ONE_WORD = 0.12, 0.12
_MANY_SHAPED, _MOST_OF_A_MARK = 30, 0.4
_LONGEST, _MOST_WORDS = 60, 6
_COMPASS = frozenset("nsew")
_ALIKE = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ی": "ي", "ک": "ك"})
_ALIKE |= str.maketrans(
    {"ى": "ي", "ة": "ه", "ہ": "ه", "ھ": "ه", "ς": "σ", "ə": "a", "’": "'", "ʼ": "'", "‐": "-"}
)
_WORD = re.compile(r"[\w'.\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0e7f-]+")
_INITIALS = re.compile(r"[^\W\d_]|([^\W\d_]\.-?){1,3}[^\W\d_]?|[^\W\d_]{2}")
_HAN = re.compile(r"[\u3005\u4e00-\u9fff]{2,5}")
_KANA = re.compile(r"[\u3040-\u30ff\u3005\u4e00-\u9fff・]{2,10}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]{2,4}")
_STREET = re.compile(
    r".{3,}(strasse|str|weg|gasse|platz|allee|damm|ufer|straat|laan|gatan|gade|vej|veien|katu|utca)"
)
_PATRONYMIC = re.compile(r".{3,}(ович|евич|овна|евна|ична|ивна|івна|йович|ovich|evich|ovna|evna|ovych|ivna)")
_SEVERAL = re.compile(r"\w, [\w'-]+ (and|&|und|y|et|e|og|och|en) \w|[A-Z]/[A-Z]$")
_JOINED = re.compile(r"^([^\W\d_]{2,})[._](?=[^\W\d_]{2,}$)")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|<[^>]*>|\"[^\"]*\"")
_PREFECTURES = frozenset(["山口", "石川", "宮崎", "千葉", "福島"])
_THAI_TITLES = ("นางสาว", "นาง", "นาย", "คุณ", "เด็กชาย", "เด็กหญิง")
_EAST_ASIAN_TITLES = (
    "さん",
    "様",
    "さま",
    "君",
    "ちゃん",
    "先生",
    "女士",
    "小姐",
    "医生",
    "医师",
    "님",
    "씨",
    "선생님",
)


class Sign(StrEnum):
    """What a value shows of being a name."""

    NAME = "a given name, or a title"
    PERHAPS = "a word that is a given name and something else"
    FAMILY = "a family name"
    INITIALS = "initials with a family name"
    WEAK = "characters as a name has them"
    SHAPE = "words in capitals, two to four"
    NONE = "nothing"
    NO_NAME = "words that no name has"


@dataclass(frozen=True)
class NameShares:
    """The signs among ``values`` distinct values, and the share of the word that most have.

    ``parts`` are the words of the longest value.
    """

    values: int
    signs: Counter[Sign]
    commonest: float
    parts: int

    def share(self, *signs: Sign) -> float:
        """The share of the values that have one of some signs."""
        return sum(self.signs[sign] for sign in signs) / self.values if self.values else 0.0

    @property
    def given(self) -> float:
        """The share with a given name or a title; a word of two meanings counts half."""
        return self.share(Sign.NAME) + self.share(Sign.PERHAPS) / 2

    @property
    def told(self) -> float:
        """The share with any sign but the form alone."""
        return self.share(Sign.NAME, Sign.PERHAPS, Sign.FAMILY, Sign.INITIALS, Sign.WEAK)


def are_names(values: Iterable[str], *, of_persons: bool = False, strict: bool = False) -> bool:
    """Return whether distinct values are names of persons.

    ``of_persons`` says that the heading means persons (``beneficiary``), so fewer signs are needed;
    ``strict`` that it means something else (``city``), so more are.

    >>> are_names(["Anna Schmidt", "Peter Meier", "J. Weber"])
    True
    >>> are_names(["New York", "San Antonio", "Sales Manager"])
    False
    """
    found = name_shares(values)
    if found.values == 1:
        return bool(found.signs[Sign.NAME]) and found.parts > 1
    if not found.values or found.share(Sign.NO_NAME) > (0.25 if strict else 0.4):
        return False
    size = "few" if found.values < _FEW else "some" if found.values < _SOME else "many"
    least = max(_SHARES[size], 0.6) if strict else _SHARES[size]
    if found.given >= least and found.signs[Sign.NAME]:
        return True
    likely = found.share(Sign.NAME, Sign.FAMILY, Sign.INITIALS)
    if found.signs[Sign.NAME] > 1 and found.given >= 0.5 and likely >= _SHARES["few"]:
        return True
    if strict:
        return found.told >= _SHARES["few"] and found.signs[Sign.NAME] > 0
    return _by_form(found) or (of_persons and _by_heading(found))


def _by_form(found: NameShares) -> bool:
    """Whether family names, initials, or the form with some signs make names of persons."""
    if found.share(Sign.WEAK, Sign.NAME) >= _WEAK_SHARE:
        return True
    if found.share(Sign.INITIALS) > _FAMILY_SHARE / 2 and found.commonest > _MOST_OF_A_MARK:
        return False
    by_family = found.share(Sign.NAME, Sign.FAMILY, Sign.INITIALS) + found.share(Sign.PERHAPS) / 2
    if found.values >= _FEW and by_family >= (_FAMILY_SHARE if found.values < _SOME else _MANY_FAMILIES):
        return True
    shaped = found.share(Sign.SHAPE) + found.told
    spread = found.commonest <= _MOST_OF_ONE_WORD
    signs = found.told - found.share(Sign.PERHAPS) / 2 - found.share(Sign.WEAK)
    return found.values >= _MANY_SHAPED and shaped >= _SHAPED and signs >= _SIGNS and spread


def _by_heading(found: NameShares) -> bool:
    """Whether the signs suffice below a heading that means persons."""
    if found.told >= _KNOWN_BY_HEADING:
        return True
    shaped = found.share(Sign.SHAPE) >= _SHAPED and found.commonest <= 2 * _MOST_OF_ONE_WORD
    return shaped and found.values >= _FEW


def name_shares(values: Iterable[str]) -> NameShares:
    """Count the signs of names among distinct values; words for what is missing are left out."""
    signs: Counter[Sign] = Counter()
    words: Counter[str] = Counter()
    parts = 0
    for value in values:
        if fold(value).strip(" .-?") in _MISSING:
            continue
        signs[name_sign(value)] += 1
        words.update({part for part in fold(value).split() if part not in PARTICLES})
        parts = max(parts, len(value.split()))
    total = sum(signs.values())
    most = max(words.values(), default=0)
    return NameShares(total, signs, most / total if total else 0.0, parts)


_MISSING = frozenset(
    [
        "unknown",
        "none",
        "other",
        "self",
        "n/a",
        "na",
        "missing",
        "unbekannt",
        "keine",
        "selbst",
        "inconnu",
        "desconocido",
    ]
)


@cache
def fold(text: str) -> str:
    """Small letters without accents; letters that are written in several ways are written in one.

    >>> fold("Łukasz MÜLLER"), fold("Ιωάννης")
    ('lukasz muller', 'ιωαννησ')
    """
    plain = text.casefold()
    if plain.isascii():
        return plain
    kept = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", kept).translate(_ALIKE)


@cache
def _given() -> frozenset[str]:
    return given_names() | {fold(name) for name in names_by_script.written_names()}


@cache
def _family() -> frozenset[str]:
    return frozenset(fold(name) for name in family_names())


@cache
def _stops() -> frozenset[str]:
    return frozenset(fold(word) for word in STOPS)


@cache
def _things() -> frozenset[str]:
    return frozenset(fold(word) for word in THINGS)


@cache
def _titles() -> frozenset[str]:
    return frozenset(fold(word) for word in TITLES)


@cache
def _families_first() -> frozenset[str]:
    return frozenset(names_by_script.FAMILY_FIRST.split())


@cache
def _japanese() -> tuple[str, ...]:
    return tuple(fold(name) for name in names_by_script.JAPANESE_FAMILY.split())


def name_sign(value: str) -> Sign:
    """Return what one value shows of being a personal name.

    >>> [name_sign(text).name for text in ("Dr. Nagy Anna", "A. Schmidt", "Petrova", "张伟", "Sales Manager")]
    ['NAME', 'INITIALS', 'FAMILY', 'WEAK', 'NO_NAME']
    """
    plain = _ASIDE.sub(" ", value).strip()
    if not plain or len(plain) > _LONGEST:
        return Sign.NO_NAME if plain else Sign.NONE
    east = _east_asian(plain)
    if east is not None:
        return east
    told, words = _without_titles(_WORD.findall(_JOINED.sub(r"\1 ", plain)))
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    folded = [fold(word).strip(".") for word in words]
    names = [word for word in folded if word and word not in PARTICLES] or [word for word in folded if word]
    if not names or len(names) > _MOST_WORDS or any(c.isdigit() for word in names for c in word):
        return Sign.NO_NAME
    dotless = [word.replace(".", "") for word in names]
    if folded[0].split("-")[0] in STOPS_IN_FRONT or any(word in _stops() for word in (*names, *dotless)):
        return Sign.NO_NAME
    if any(_STREET.fullmatch(word) for word in names) or _SEVERAL.search(plain):
        return Sign.NO_NAME
    sure = any(word in _given() and word not in AMBIGUOUS for word in names)
    if not sure and any(word in _things() for word in names):
        return Sign.NO_NAME
    if told:
        return Sign.NAME
    return _sign_of_words(plain, words, names)


def _sign_of_words(plain: str, words: Sequence[str], names: Sequence[str]) -> Sign:
    """The sign of words without titles; ``names`` are those of ``words`` that are no particles, folded."""
    parts = [part for word in names for part in (word, *word.split("-")) if part]
    if len(names) > 1 and any(_PATRONYMIC.fullmatch(word) for word in names):
        return Sign.NAME
    given = [part for part in parts if part in _given()]
    if any(part not in AMBIGUOUS or len(names) > 1 for part in given) and _is_cased(words):
        return Sign.NAME
    if given:
        return Sign.PERHAPS
    if _is_family_first(names):
        return Sign.WEAK
    family = [part for part in parts if part in _family() or ENDINGS.fullmatch(part)]
    family = [part for part in family if part not in TRADES_AND_THINGS or len(names) > 1]
    capital = _is_cased(words)
    if _has_initials(words) and capital:
        return Sign.INITIALS
    if family and capital and (len(names) == 1 or (len(names) == 2 and "," not in plain)):
        return Sign.FAMILY
    shaped = 2 <= len(names) <= 4 and capital and all(word[:1].isupper() for word in words if len(word) > 3)
    return Sign.SHAPE if shaped and len(plain) <= _LONGEST // 2 else Sign.NONE


def _without_titles(words: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether a value begins with a title, and its words without titles."""
    kept = list(words)
    told = False
    while len(kept) > 1 and fold(kept[0]).strip(".") in _titles():
        told = True
        kept.pop(0)
    while len(kept) > 1 and fold(kept[-1]).strip(".") in _SUFFIXES:
        kept.pop()
    joined = next(
        (t for t in _THAI_TITLES if kept and kept[0].startswith(t) and len(kept[0]) > len(t) + 1), ""
    )
    if joined:
        told, kept[0] = len(kept) > 1, kept[0].removeprefix(joined)
    return told, kept


_SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv", "md", "phd", "msc", "bsc", "mba", "esq"])


def _is_cased(words: Sequence[str]) -> bool:
    """Whether each word begins as names are written: with a capital where the script has any.

    Words that are small throughout are taken, too: some programs write all so.
    """
    cased = [word for word in words if word[:1].isupper() or word[:1].islower()]
    small = [word for word in cased if word[:1].islower() and fold(word).strip(".") not in PARTICLES]
    return not small or len(small) == len(cased)


def _has_initials(words: Sequence[str]) -> bool:
    """``A. Schmidt``, ``Schmidt A.``, ``J. R. Ewing``, ``Schmidt AB``: one or two letters and a word."""
    marks = [word for word in words if _INITIALS.fullmatch(word) and word.isupper()]
    others = [word for word in words if word not in marks and fold(word) not in PARTICLES]
    long = [word for word in others if len(word) > 2 and word[0].isupper()]
    told = [word for word in marks if fold(word).strip(".") not in _COMPASS]
    return bool(told) and 1 <= len(long) <= 2 and len(long) == len(others)


def _is_family_first(names: Sequence[str]) -> bool:
    """``Wang Wei``, ``Nguyen Thi Lan``, ``Kim Min-jun``: a family name and one to three short words."""
    if not 2 <= len(names) <= 4 or any(len(name.replace("-", "")) > 9 for name in names):
        return False
    return names[0] in _families_first() or names[-1] in _families_first()


def _east_asian(value: str) -> Sign | None:
    """The sign of a value in Chinese, Japanese or Korean characters; None for other values."""
    joined = re.sub(r"[\s・,、]+", "", value)
    title = next((t for t in _EAST_ASIAN_TITLES if joined.endswith(t) and len(joined) > len(t) + 1), "")
    bare = joined.removesuffix(title)
    if not (_HAN.fullmatch(bare) or _KANA.fullmatch(bare) or _HANGUL.fullmatch(bare)):
        return Sign.NO_NAME if re.search(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]", value) else None
    folded = fold(bare)
    if bare.endswith(EAST_ASIAN_ENDINGS):
        return Sign.NO_NAME
    if title or any(fold(part) in _given() for part in (bare, *value.split())):
        return Sign.NAME
    if any(folded.startswith(name) and len(folded) > max(len(name), 2) for name in _japanese()):
        return Sign.NAME
    if folded in _japanese():
        return Sign.NONE if bare in _PREFECTURES else Sign.FAMILY
    family = bare[0]
    if _HANGUL.fullmatch(bare):
        given = len(bare) == 3 and family in names_by_script.KOREAN_FAMILY
        return Sign.WEAK if given or folded[1:] in _given() else Sign.NONE
    if family in names_by_script.CHINESE_FAMILY and 2 <= len(bare) <= 3:
        return Sign.NAME if folded[1:] in _given() else Sign.WEAK
    return Sign.NONE
