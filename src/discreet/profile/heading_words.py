"""Lookup of listed words, in many languages and scripts, in a column's heading.

A word with ``*`` matches every word that begins with it; words of scripts without blanks are found inside a
heading, others as whole words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from discreet.profile.word_lists import read_word_lists

_ALIKE = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ی": "ي", "ک": "ك"})
_ALIKE |= str.maketrans({"ى": "ي", "ة": "ه", "ہ": "ه", "ھ": "ه", "ς": "σ", "ə": "a", "\u200c": " "})
_APOSTROPHE = re.compile(r"(?<=[^\W\d_a-z])['’ʼ](?=[^\W\d_a-z])")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_ARTICLES = {"ال": 5, "ה": 4}
_CACHED_NAMES = 4096  # each name of a wide table is split once per built-in hierarchy

PERSONS, QUASI_IDENTIFYING, PRIVATE = "persons", "quasi_identifying", "private"


@dataclass(frozen=True)
class _WordList:
    """Words of one meaning: whole words, beginnings of words, and words that may occur inside a text."""

    words: frozenset[str]
    stems: tuple[str, ...]
    inside: tuple[str, ...]

    def first_in(self, parts: Sequence[str]) -> str:
        """Return the first word of a heading that is in the list, or ""."""
        return next((part for part in parts if self._has(part)), "")

    def _has(self, part: str) -> bool:
        articles = (a for a, least in _ARTICLES.items() if part.startswith(a) and len(part) >= least)
        forms = [part, *(part.removeprefix(article) for article in articles)]
        if any(form in self.words or form.startswith(self.stems) for form in forms):
            return True
        return bool(_UNSPACED.search(part)) and any(word in part for word in self.inside)


@lru_cache(_CACHED_NAMES)
def split_name(name: str) -> tuple[str, ...]:
    """Split a column's name at signs, digits and capitals into words, lower case and without accents.

    >>> split_name("Straße-Nr. 2"), split_name("dateOfBirth"), split_name("Prénom")
    (('strasse', 'nr'), ('date', 'of', 'birth'), ('prenom',))
    >>> split_name("ИмяПациента"), split_name("Doğum Tarihi")
    (('имя', 'пациента'), ('dogum', 'tarihi'))
    """
    spaced = "".join(
        f" {c}" if c.isupper() and before.islower() else c
        for before, c in zip(" " + name, name, strict=False)
    )
    return tuple("".join(c if _is_letter(c) else " " for c in fold_heading(spaced)).split())


def fold_heading(text: str) -> str:
    """Fold a text to lower case without accents, and variants of a letter to one of them."""
    plain = text.casefold()
    if plain.isascii():
        return plain
    plain = _APOSTROPHE.sub("", plain)
    base_letters = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", base_letters).translate(_ALIKE)


def _is_letter(character: str) -> bool:
    """Return whether a character belongs to a word; vowel signs of Indic and Thai scripts have category M."""
    return character.isalpha() or unicodedata.category(character).startswith("M")


def match_words(parts: Sequence[str]) -> dict[str, str]:
    """Return the listed words of a heading by meaning.

    The meanings are ``PERSONS``, a letter of the kinds, ``QUASI_IDENTIFYING`` and ``PRIVATE``. A word for the
    name of anything (``имя файла``) does not denote a person next to a word for a thing.
    """
    result = {meaning: word for meaning, words in _vocabulary().items() if (word := words.first_in(parts))}
    if (
        PERSONS in result
        and _listed_words("generic_name_words").first_in((result[PERSONS],))
        and any(map(is_thing_word, parts))
    ):
        del result[PERSONS]
    return result


def letter_by_foreign_word(word: str) -> str:
    """Return the letter of the kind that a listed word denotes, or ""."""
    found = match_words((word,))
    letters = [meaning for meaning in found if len(meaning) == 1 and meaning not in "BC"]
    letters += ["A"] if PERSONS in found else []
    letters += [meaning for meaning in found if meaning in ("B", "C")]
    return letters[0] if letters else ""


def may_mean_person(name: str) -> bool:
    """Return whether a heading may denote persons: ``beneficiary``, ``created_by``, ``врач``.

    >>> may_mean_person("created_by"), may_mean_person("Begünstigter"), may_mean_person("weight")
    (True, True, False)
    """
    parts = split_name(name)
    return bool(_listed_words("person_words").first_in(parts) or match_words(parts).get(PERSONS))


def is_person_word(part: str) -> bool:
    """Return whether a word of a heading denotes a person."""
    return bool(_listed_words("person_words").first_in((part,)))


def is_thing_word(part: str) -> bool:
    """Return whether a word of a heading denotes a thing that has a name: ``product``, ``company``."""
    return bool(_listed_words("thing_words").first_in((part,)))


@cache
def _listed_words(key: str) -> _WordList:
    return _compile_words([(read_word_lists("heading_words.toml")[key], key != "person_words")])


@cache
def _vocabulary() -> dict[str, _WordList]:
    """Return the words of all languages by meaning: ``persons``, a kind's letter, …"""
    texts: dict[str, list[tuple[str, bool]]] = {}
    for language in read_word_lists("heading_words.toml")["languages"]:
        inside = language.get("inside", False)
        for meaning, text in language.items():
            if meaning not in ("name", "source", "inside"):
                texts.setdefault(meaning, []).append((text, inside))
    return {meaning: _compile_words(of_each) for meaning, of_each in texts.items()}


def _compile_words(texts: Iterable[tuple[str, bool]]) -> _WordList:
    plain_words: set[str] = set()
    stems: list[str] = []
    inside: list[str] = []
    for text, unspaced in texts:
        for written in text.split():
            word = fold_heading(written).replace(" ", "")
            if word.endswith("*"):
                stems.append(word[:-1])
                continue
            plain_words.add(word)
            if unspaced and len(word) > 1 and _UNSPACED.search(word):
                inside.append(word)
    return _WordList(frozenset(plain_words), tuple(stems), tuple(inside))
