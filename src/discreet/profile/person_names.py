"""Recognition of personal names in a column's values, and of free text that may contain names.

A value is compared with lists of given and family names, with forms of names (``Anna Schmidt``, ``Schmidt,
A.``), and with words that occur in no name. A column is judged by the shares of its distinct values; up to
400 of the most frequent are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from discreet.engines.base import Engine, SourceTable
from discreet.model.table_spec import AttributeRole
from discreet.profile.column_profile import ColumnProfile, column_batch_size, grouped_texts_sql, is_readable
from discreet.profile.heading_hints import (
    PERSON_TYPES,
    RoleHint,
    hint_role,
    person_name_words,
    record_path,
    refers_to_thing,
)
from discreet.profile.heading_words import may_mean_person
from discreet.profile.word_lists import read_word_lists
from discreet.sql.cell_expressions import batched
from discreet.sql.quoting import literal

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
_FAMILY_NAME_ENDINGS = re.compile(
    r".{3,}(?:sson|ssen|rsen|nsen|lsen|dottir|ovic|evic|ovich|evich|owski|ewski|inski|ynski|owska|ewska|inska"
    r"|ynska|owicz|ewicz|czyk|czak|ovsky|evsky|ovskiy|evskiy|ovskaya|enko|chuk|ovska|opoulos"
    r"|opoulou|ogiannis|idis|iadis|akis|adakis|escu|oglu|shvili|adze|idze|ainen|oinen|inen|anyan|osyan|aryan"
    r"|ov|ova|ev|eva"
    r"|ов|ова|ев|ева|енко|чук|щук|швили|дзе|евић|овић"
    r"|οπουλος|οπουλου|ιδης|ιδου|ακης|ακη|ογλου|ιαδης|ιαδου|σκακος)"
)


class NameSign(StrEnum):
    """Sign of a personal name that a value shows."""

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
    """Counts of the signs among ``values`` distinct values, and the share of the most common word.

    ``parts`` is the largest number of words in a value.
    """

    values: int
    signs: Counter[NameSign]
    commonest: float
    parts: int

    def share(self, *signs: NameSign) -> float:
        """Return the share of the values that have one of the given signs."""
        return sum(self.signs[sign] for sign in signs) / self.values if self.values else 0.0

    @property
    def given_name_share(self) -> float:
        """Share of values with a given name or a title; an ambiguous name counts half."""
        return self.share(NameSign.NAME) + self.share(NameSign.PERHAPS) / 2

    @property
    def any_sign_share(self) -> float:
        """Share of values with any sign except the form of a name."""
        return self.share(NameSign.NAME, NameSign.PERHAPS, NameSign.FAMILY, NameSign.INITIALS, NameSign.WEAK)


def are_person_names(values: Iterable[str], *, of_persons: bool = False, strict: bool = False) -> bool:
    """Return whether distinct values are names of persons.

    ``of_persons`` means that the heading denotes persons (``beneficiary``), so fewer signs suffice;
    ``strict`` means that it denotes something else (``city``), so more are required.

    >>> are_person_names(["Anna Schmidt", "Peter Meier", "J. Weber"])
    True
    >>> are_person_names(["New York", "San Antonio", "Sales Manager"])
    False
    """
    shares = count_name_signs(values)
    if shares.values == 1:
        return bool(shares.signs[NameSign.NAME]) and shares.parts > 1
    if not shares.values or shares.share(NameSign.NO_NAME) > (0.25 if strict else 0.4):
        return False
    size = "few" if shares.values < _FEW else "some" if shares.values < _SOME else "many"
    least = max(_SHARES[size], 0.6) if strict else _SHARES[size]
    if shares.given_name_share >= least and shares.signs[NameSign.NAME]:
        return True
    likely = shares.share(NameSign.NAME, NameSign.FAMILY, NameSign.INITIALS)
    if shares.signs[NameSign.NAME] > 1 and shares.given_name_share >= 0.5 and likely >= _SHARES["few"]:
        return True
    if strict:
        return shares.any_sign_share >= _SHARES["few"] and shares.signs[NameSign.NAME] > 0
    return _are_names_by_form(shares) or (of_persons and _are_names_by_heading(shares))


def _are_names_by_form(shares: NameShares) -> bool:
    """Return whether family names, initials, or the form with some signs indicate names of persons."""
    if shares.share(NameSign.WEAK, NameSign.NAME) >= _WEAK_SHARE:
        return True
    if shares.share(NameSign.INITIALS) > _FAMILY_SHARE / 2 and shares.commonest > _MOST_OF_A_MARK:
        return False
    by_family = (
        shares.share(NameSign.NAME, NameSign.FAMILY, NameSign.INITIALS) + shares.share(NameSign.PERHAPS) / 2
    )
    if shares.values >= _FEW and by_family >= (_FAMILY_SHARE if shares.values < _SOME else _MANY_FAMILIES):
        return True
    shaped = shares.share(NameSign.SHAPE) + shares.any_sign_share
    spread = shares.commonest <= _MOST_OF_ONE_WORD
    signs = shares.any_sign_share - shares.share(NameSign.PERHAPS) / 2 - shares.share(NameSign.WEAK)
    return shares.values >= _MANY_SHAPED and shaped >= _SHAPED and signs >= _SIGNS and spread


def _are_names_by_heading(shares: NameShares) -> bool:
    """Return whether the signs suffice below a heading that denotes persons."""
    if shares.any_sign_share >= _KNOWN_BY_HEADING:
        return True
    shaped = shares.share(NameSign.SHAPE) >= _SHAPED and shares.commonest <= 2 * _MOST_OF_ONE_WORD
    return shaped and shares.values >= _FEW


def count_name_signs(values: Iterable[str]) -> NameShares:
    """Count the signs of names among distinct values; words for missing values are left out."""
    signs: Counter[NameSign] = Counter()
    words: Counter[str] = Counter()
    parts = 0
    for value in values:
        if fold_name(value).strip(" .-?") in _words("missing"):
            continue
        signs[classify_name(value)] += 1
        words.update({part for part in fold_name(value).split() if part not in _words("particles")})
        parts = max(parts, len(value.split()))
    total = sum(signs.values())
    most = max(words.values(), default=0)
    return NameShares(total, signs, most / total if total else 0.0, parts)


@cache
def fold_name(text: str) -> str:
    """Fold a text to lower case without accents, and variants of a letter to one of them.

    >>> fold_name("Łukasz MÜLLER"), fold_name("Ιωάννης")
    ('lukasz muller', 'ιωαννησ')
    """
    plain = text.casefold()
    if plain.isascii():
        return plain
    base_letters = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", base_letters).translate(_ALIKE)


@cache
def _words(*keys: str) -> frozenset[str]:
    """Return the folded words of some lists of ``name_words.toml``, each a text or texts by language."""
    return frozenset(fold_name(word) for key in keys for word in _listed_words(key))


def _listed_words(key: str) -> list[str]:
    listed = read_word_lists("name_words.toml")[key]
    return (" ".join(listed.values()) if isinstance(listed, dict) else str(listed)).split()


@cache
def _given_names() -> frozenset[str]:
    return _words("given_names", "given_names_by_script")


@cache
def _endings(key: str) -> tuple[str, ...]:
    """Return the words of a list as they are written, in order, for ``startswith`` and ``endswith``."""
    return tuple(_listed_words(key))


def classify_name(value: str) -> NameSign:
    """Return the sign of a personal name that one value shows.

    >>> texts = ("Dr. Nagy Anna", "A. Schmidt", "Petrova", "张伟", "Sales Manager")
    >>> [classify_name(text).name for text in texts]
    ['NAME', 'INITIALS', 'FAMILY', 'WEAK', 'NO_NAME']
    """
    plain = _ASIDE.sub(" ", value).strip()
    if not plain or len(plain) > _LONGEST:
        return NameSign.NO_NAME if plain else NameSign.NONE
    east = _classify_east_asian(plain)
    if east is not None:
        return east
    has_title, words = _without_titles(_WORD.findall(_JOINED.sub(r"\1 ", plain)))
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    folded = [fold_name(word).strip(".") for word in words]
    names = [word for word in folded if word and word not in _words("particles")] or [
        word for word in folded if word
    ]
    if not names or len(names) > _MOST_WORDS or any(c.isdigit() for word in names for c in word):
        return NameSign.NO_NAME
    dotless = [word.replace(".", "") for word in names]
    if folded[0].split("-")[0] in _words("leading_stop_words") or any(
        word in _words("stop_words") for word in (*names, *dotless)
    ):
        return NameSign.NO_NAME
    if any(_STREET.fullmatch(word) for word in names) or _SEVERAL.search(plain):
        return NameSign.NO_NAME
    sure = any(word in _given_names() and word not in _words("ambiguous_given_names") for word in names)
    if not sure and any(word in _words("thing_words") for word in names):
        return NameSign.NO_NAME
    if has_title:
        return NameSign.NAME
    return _classify_words(plain, words, names)


def _classify_words(plain: str, words: Sequence[str], names: Sequence[str]) -> NameSign:
    """Return the sign of words without titles; ``names`` are the folded words that are not particles."""
    parts = [part for word in names for part in (word, *word.split("-")) if part]
    if len(names) > 1 and any(_PATRONYMIC.fullmatch(word) for word in names):
        return NameSign.NAME
    given = [part for part in parts if part in _given_names()]
    if any(part not in _words("ambiguous_given_names") or len(names) > 1 for part in given) and _is_cased(
        words
    ):
        return NameSign.NAME
    if given:
        return NameSign.PERHAPS
    if _is_family_first(names):
        return NameSign.WEAK
    family = [
        part for part in parts if part in _words("family_names") or _FAMILY_NAME_ENDINGS.fullmatch(part)
    ]
    family = [part for part in family if part not in _words("ambiguous_family_names") or len(names) > 1]
    capital = _is_cased(words)
    if _has_initials(words) and capital:
        return NameSign.INITIALS
    if family and capital and (len(names) == 1 or (len(names) == 2 and "," not in plain)):
        return NameSign.FAMILY
    shaped = 2 <= len(names) <= 4 and capital and all(word[:1].isupper() for word in words if len(word) > 3)
    return NameSign.SHAPE if shaped and len(plain) <= _LONGEST // 2 else NameSign.NONE


def _without_titles(words: Sequence[str]) -> tuple[bool, list[str]]:
    """Return whether a value begins with a title, and its words without titles and suffixes."""
    remaining = list(words)
    has_title = False
    while len(remaining) > 1 and fold_name(remaining[0]).strip(".") in _words("titles"):
        has_title = True
        remaining.pop(0)
    while len(remaining) > 1 and fold_name(remaining[-1]).strip(".") in _words("suffixes"):
        remaining.pop()
    joined = next(
        (
            t
            for t in _endings("thai_titles")
            if remaining and remaining[0].startswith(t) and len(remaining[0]) > len(t) + 1
        ),
        "",
    )
    if joined:
        has_title, remaining[0] = len(remaining) > 1, remaining[0].removeprefix(joined)
    return has_title, remaining


def _is_cased(words: Sequence[str]) -> bool:
    """Return whether each word begins with a capital, in scripts that have capitals.

    Words that are all in lower case are accepted too, since some programs write all values so.
    """
    cased = [word for word in words if word[:1].isupper() or word[:1].islower()]
    small = [
        word for word in cased if word[:1].islower() and fold_name(word).strip(".") not in _words("particles")
    ]
    return not small or len(small) == len(cased)


def _has_initials(words: Sequence[str]) -> bool:
    """Return whether words are one or two letters with a word: ``A. Schmidt``, ``J. R. Ewing``."""
    marks = [word for word in words if _INITIALS.fullmatch(word) and word.isupper()]
    others = [word for word in words if word not in marks and fold_name(word) not in _words("particles")]
    long = [word for word in others if len(word) > 2 and word[0].isupper()]
    initials = [word for word in marks if fold_name(word).strip(".") not in _COMPASS]
    return bool(initials) and 1 <= len(long) <= 2 and len(long) == len(others)


def _is_family_first(names: Sequence[str]) -> bool:
    """Return whether words are a family name and one to three short words: ``Wang Wei``."""
    if not 2 <= len(names) <= 4 or any(len(name.replace("-", "")) > 9 for name in names):
        return False
    return names[0] in _words("family_names_first") or names[-1] in _words("family_names_first")


def _classify_east_asian(value: str) -> NameSign | None:
    """Return the sign of a value in Chinese, Japanese or Korean characters; None for other values."""
    joined = re.sub(r"[\s・,、]+", "", value)
    title = next(
        (t for t in _endings("east_asian_titles") if joined.endswith(t) and len(joined) > len(t) + 1), ""
    )
    bare = joined.removesuffix(title)
    if not (_HAN.fullmatch(bare) or _KANA.fullmatch(bare) or _HANGUL.fullmatch(bare)):
        return NameSign.NO_NAME if re.search(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]", value) else None
    folded = fold_name(bare)
    if bare.endswith(_endings("east_asian_thing_endings")):
        return NameSign.NO_NAME
    if title or any(fold_name(part) in _given_names() for part in (bare, *value.split())):
        return NameSign.NAME
    if any(
        folded.startswith(name) and len(folded) > max(len(name), 2)
        for name in _words("japanese_family_names")
    ):
        return NameSign.NAME
    if folded in _words("japanese_family_names"):
        return NameSign.NONE if bare in _PREFECTURES else NameSign.FAMILY
    family = bare[0]
    if _HANGUL.fullmatch(bare):
        is_likely = len(bare) == 3 and family in _endings("korean_family_names")
        return NameSign.WEAK if is_likely or folded[1:] in _given_names() else NameSign.NONE
    if family in _endings("chinese_family_names") and 2 <= len(bare) <= 3:
        return NameSign.NAME if folded[1:] in _given_names() else NameSign.WEAK
    return NameSign.NONE


PERSON_NAMES_REASON = "values look like names of persons (HIPAA A, names)"
"""Reason given for an identifier that only its values reveal."""

REFERENCED_NAMES_REASON = "the names of persons that the record refers to (HIPAA A, names)"
"""Reason given for a ``display`` next to a ``reference``."""

FREE_TEXT_REASON = "free text, in which anything may be"
"""Reason given for a constant text that is not proposed as insensitive."""

_MOST_VALUES = 400
_LONG_TEXT, _MANY_WORDS = 60, 8

RoleWithReason = tuple[AttributeRole, str]


def detect_person_names(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    roles: Sequence[RoleWithReason],
    known: Sequence[str] = (),
) -> list[RoleWithReason]:
    """Return the roles, changed to identifier for columns whose values are names of persons or free text.

    ``roles`` are those by headings and counts, with their reasons; those of ``known`` columns are kept. Up to
    400 of the most frequent values are read of each column of texts that would be published, generalized or
    not.
    """
    read = [
        column
        for column, (role, _) in zip(columns, roles, strict=True)
        if column.name not in known and _is_read(table, column, role)
    ]
    values = _read_values(engine, table, read, columns[0].rows if columns else 0)
    types = _types_of_references(engine, table, [column.name for column in read])
    return [
        _role_by_values(column, role, values[column.name], types.get(column.name))
        if column.name in values
        else role
        for column, role in zip(columns, roles, strict=True)
    ]


def _is_read(table: SourceTable, column: ColumnProfile, role: AttributeRole) -> bool:
    if role is AttributeRole.IDENTIFIER or column.distinct == 0:
        return False
    return is_readable(table, column.name) and not (column.numbers or column.dates or column.codes)


def _role_by_values(
    column: ColumnProfile, role: RoleWithReason, values: Sequence[str], types: frozenset[str] | None
) -> RoleWithReason:
    """Return the role of a column of texts; ``types`` are the record types that its ``display`` refers to."""
    if types is not None and _refers_to_person(column.name, types):
        return AttributeRole.IDENTIFIER, REFERENCED_NAMES_REASON
    hint, _ = hint_role(column.name)
    of_persons = bool(may_mean_person(column.name) or person_name_words(column.name))
    elsewhere = hint is RoleHint.QUASI_IDENTIFIER and not of_persons
    if are_person_names(values, of_persons=of_persons, strict=elsewhere):
        return AttributeRole.IDENTIFIER, PERSON_NAMES_REASON
    if role[0] is AttributeRole.INSENSITIVE and any(_is_free_text(value) for value in values):
        return AttributeRole.IDENTIFIER, FREE_TEXT_REASON
    return role


def _is_free_text(value: str) -> bool:
    return len(value) > _LONG_TEXT or len(value.split()) > _MANY_WORDS


def _refers_to_person(name: str, types: frozenset[str]) -> bool:
    """Return whether a ``display`` is that of persons, by the references next to it, else by its path.

    Without either, it is taken to be that of persons.
    """
    known = {kind for kind in types if kind[:1].isupper()}
    return bool(known & PERSON_TYPES) if known else not refers_to_thing(name)


def _types_of_references(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> Mapping[str, frozenset[str]]:
    """Return the record types in the ``reference`` next to each ``display``.

    ``Patient/17`` and ``https://a.example/fhir/Patient/17`` name a type, ``urn:uuid:…`` does not.
    """
    by_stem = {stem: name for name in table.columns if (stem := record_path(name, "reference"))}
    stems = {name: stem for name in names if (stem := record_path(name, "display")) and stem in by_stem}
    result: dict[str, frozenset[str]] = {}
    for name, stem in stems.items():
        reference = by_stem[stem]
        readable = is_readable(table, reference)
        values = _most_frequent_values(engine, table, [reference])[0] if readable else []
        result[name] = frozenset(
            value.rstrip("/").split("/")[-2] for value in values if "/" in value.rstrip("/")
        )
    return result


def _read_values(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], rows: int
) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for some in batched([column.name for column in columns], column_batch_size(rows)):
        result |= dict(zip(some, _most_frequent_values(engine, table, some), strict=True))
    return result


def _most_frequent_values(engine: Engine, table: SourceTable, names: Sequence[str]) -> list[list[str]]:
    """Return the most frequent values of each column, at most 400."""
    result: list[list[str]] = [[] for _ in names]
    ranked = (
        "SELECT place, v, row_number() OVER (PARTITION BY place ORDER BY n DESC, v) AS r "
        f"FROM ({grouped_texts_sql(table, names)}) AS g WHERE v <> {literal('')}"
    )
    for index, value in engine.fetch_rows(
        f"SELECT place, v FROM ({ranked}) AS ranked WHERE r <= {_MOST_VALUES}"
    ):
        result[int(index)].append(str(value))
    return result
