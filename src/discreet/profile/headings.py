"""Look-up of a heading's words in the lists of other languages and scripts (``heading_words``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from discreet.profile.heading_words import (
    LANGUAGES,
    NAMES_OF_ANYTHING,
    PERSON_HEADINGS,
    THINGS_WITH_NAMES,
)

_ALIKE = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ی": "ي", "ک": "ك"})
_ALIKE |= str.maketrans({"ى": "ي", "ة": "ه", "ہ": "ه", "ھ": "ه", "ς": "σ", "ə": "a", "\u200c": " "})
_APOSTROPHE = re.compile(r"(?<=[^\W\d_a-z])['’ʼ](?=[^\W\d_a-z])")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_ARTICLES = {"ال": 5, "ה": 4}
_NAMES_KEPT = 4096  # of a wide table each name is looked at for each hierarchy that is built in

PERSONS, OTHERS_KNOW, PRIVATE = "persons", "others know", "private"


@dataclass(frozen=True)
class _Words:
    """Words of one meaning: whole ones, beginnings of words, and those that may be inside a text."""

    whole: frozenset[str]
    stems: tuple[str, ...]
    inside: tuple[str, ...]

    def found(self, parts: Sequence[str]) -> str:
        """The first word of a heading that is one of these; empty for none."""
        return next((part for part in parts if self._has(part)), "")

    def _has(self, part: str) -> bool:
        articles = (a for a, least in _ARTICLES.items() if part.startswith(a) and len(part) >= least)
        forms = [part, *(part.removeprefix(article) for article in articles)]
        if any(form in self.whole or form.startswith(self.stems) for form in forms):
            return True
        return bool(_UNSPACED.search(part)) and any(word in part for word in self.inside)


@lru_cache(_NAMES_KEPT)
def name_parts(name: str) -> tuple[str, ...]:
    """The words of a column's name: split at signs, digits and capitals; lower case, without accents.

    >>> name_parts("Straße-Nr. 2"), name_parts("dateOfBirth"), name_parts("Prénom")
    (('strasse', 'nr'), ('date', 'of', 'birth'), ('prenom',))
    >>> name_parts("ИмяПациента"), name_parts("Doğum Tarihi")
    (('имя', 'пациента'), ('dogum', 'tarihi'))
    """
    spaced = "".join(
        f" {c}" if c.isupper() and before.islower() else c
        for before, c in zip(" " + name, name, strict=False)
    )
    return tuple("".join(c if _is_letter(c) else " " for c in folded(spaced)).split())


def folded(text: str) -> str:
    """Small letters without accents, and letters that are written in several ways in one."""
    plain = text.casefold()
    if plain.isascii():
        return plain
    plain = _APOSTROPHE.sub("", plain)
    kept = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", kept).translate(_ALIKE)


def _is_letter(character: str) -> bool:
    """Whether a character belongs to a word; vowel signs of Indic and Thai scripts are marks, no letters."""
    return character.isalpha() or unicodedata.category(character).startswith("M")


@dataclass(frozen=True)
class FoundWord:
    """A word of a heading: what it means (``persons``, ``others know``, ``private`` or a kind's letter)."""

    meaning: str
    word: str


def found_words(parts: Sequence[str]) -> dict[str, str]:
    """The words of a heading by meaning: ``PERSONS``, a letter of the kinds, ``OTHERS_KNOW``, ``PRIVATE``.

    A word for the name of anything (``имя файла``) means no person next to a word for a thing.
    """
    found = {meaning: word for meaning, words in _vocabulary().items() if (word := words.found(parts))}
    if PERSONS in found and _any_name().found((found[PERSONS],)) and any(map(is_thing, parts)):
        del found[PERSONS]
    return found


def letter_of_word(word: str) -> str:
    """The letter of the kind that a word of these lists points to; empty for none."""
    found = found_words((word,))
    letters = [meaning for meaning in found if len(meaning) == 1 and meaning not in "BC"]
    letters += ["A"] if PERSONS in found else []
    letters += [meaning for meaning in found if meaning in ("B", "C")]
    return letters[0] if letters else ""


def means_person(name: str) -> bool:
    """Whether a heading may mean persons: ``beneficiary``, ``created_by``, ``врач``.

    >>> means_person("created_by"), means_person("Begünstigter"), means_person("weight")
    (True, True, False)
    """
    parts = name_parts(name)
    return bool(_person_words().found(parts) or found_words(parts).get(PERSONS))


def is_person_word(part: str) -> bool:
    """Whether one word of a heading means a person."""
    return bool(_person_words().found((part,)))


def is_thing(part: str) -> bool:
    """Whether one word of a heading means a thing that has a name: ``product``, ``company``."""
    return bool(_things().found((part,)))


@cache
def _person_words() -> _Words:
    return _words([(PERSON_HEADINGS, False)])


@cache
def _any_name() -> _Words:
    return _words([(NAMES_OF_ANYTHING, True)])


@cache
def _things() -> _Words:
    return _words([(THINGS_WITH_NAMES, True)])


@cache
def _vocabulary() -> dict[str, _Words]:
    texts: dict[str, list[tuple[str, bool]]] = {}
    for language in LANGUAGES:
        meanings = {PERSONS: language.persons, **language.identifiers}
        meanings |= {"B": language.places, "C": language.dates}
        meanings |= {OTHERS_KNOW: language.others_know, PRIVATE: language.private}
        for meaning, text in meanings.items():
            texts.setdefault(meaning, []).append((text, language.inside))
    return {meaning: _words(of_each) for meaning, of_each in texts.items()}


def _words(texts: Iterable[tuple[str, bool]]) -> _Words:
    whole: set[str] = set()
    stems: list[str] = []
    inside: list[str] = []
    for text, unspaced in texts:
        for written in text.split():
            word = folded(written).replace(" ", "")
            if word.endswith("*"):
                stems.append(word[:-1])
                continue
            whole.add(word)
            if unspaced and len(word) > 1 and _UNSPACED.search(word):
                inside.append(word)
    return _Words(frozenset(whole), tuple(stems), tuple(inside))
