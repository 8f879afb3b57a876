"""The meaning of labels that tell how values begin, or which they are: a tree of the texts that matter.

``531**`` stands for the texts that begin with 531. A query that compares with whole texts (=, IN) or with
beginnings (``LIKE '53%'``) tells apart those texts, and what else begins as they do: a code each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.meaning import Meaning
from discreet.model.leaf_order import decimal_of
from discreet.queries.uses import Use
from discreet.workload.labels import cells_of_codes

_LIKE_CODES = 36.0
"""How many characters a code is made of, for the estimate of how many texts there are."""


@dataclass(frozen=True)
class Begins:
    """The texts that begin so, longer than that; of ``length`` characters where that is told."""

    prefix: str
    length: int | None = None


ToldTexts = tuple[str | Begins, ...] | None
"""The texts that a label stands for; None: anything."""


@dataclass(frozen=True, eq=False)
class TextTree:
    """What the labels of one column tell, without NULL."""

    attribute: str
    told: Mapping[str, ToldTexts]
    nullable: bool

    def meaning(self, labels: Sequence[str | None], use: Use) -> Meaning | None:
        """The codes for a query that uses the column so; None where it needs values that are not told."""
        members = [part for told in self.told.values() for part in told or ()]
        open_ended = None in self.told.values() or any(isinstance(part, Begins) for part in members)
        if open_ended and (use.wholly or use.ordered or use.numbers):
            return None
        shown = {part for part in members if isinstance(part, str)}
        begins = {part for part in members if isinstance(part, Begins)}
        whole = sorted(shown | use.texts | use.prefixes)
        rest = _rest(begins, use.prefixes) if open_ended else []
        fill = _unused("".join([*whole, *use.prefixes, *(part.prefix for part in begins)]))
        texts = (*whole, *(_filled(part, fill) for part in rest))
        place = {text: code for code, text in enumerate(whole)}
        codes = [self._codes(label, place, rest) for label in labels]
        most = max((part.length or 1 for part in begins), default=1)
        weights = [1.0] * len(whole) + [_LIKE_CODES ** min(most - len(part.prefix), 8) for part in rest]
        cells = cells_of_codes(self.attribute, len(texts), labels, codes, np.array([*weights, 0.0]))
        numbers = tuple(decimal_of(text) for text in whole)
        ends = tuple(None if number is None else (number, number) for number in numbers)
        return Meaning(cells, texts, (*ends, *[None] * len(rest)))

    def _codes(
        self, label: str | None, whole: Mapping[str, int], rest: Sequence[Begins]
    ) -> NDArray[np.int64]:
        size = len(whole) + len(rest)
        if label is None:
            return np.array([size])
        told = self.told[label]
        if told is None:
            return np.arange(size + self.nullable)
        held = {whole[part] for part in told if isinstance(part, str)}
        for outer in (part for part in told if isinstance(part, Begins)):
            held.update(code for text, code in whole.items() if _holds(outer, text))
            held.update(code for code, part in enumerate(rest, start=len(whole)) if _contains(outer, part))
        return np.array(sorted(held))


def _holds(part: Begins, text: str) -> bool:
    longer = len(text) > len(part.prefix)
    return text.startswith(part.prefix) and (longer if part.length is None else len(text) == part.length)


def _contains(outer: Begins, inner: Begins) -> bool:
    return outer.length == inner.length and inner.prefix.startswith(outer.prefix)


def _rest(begins: set[Begins], beginnings: frozenset[str]) -> list[Begins]:
    """What begins so and with nothing longer that matters, of each length that a label tells, or of any."""
    prefixes = {"", *beginnings, *(part.prefix for part in begins)}
    lengths = {part.length for part in begins} | {None}
    found = [
        Begins(prefix, length)
        for length in lengths
        for prefix in prefixes
        if length is None or len(prefix) < length
    ]
    return sorted(found, key=lambda part: (part.length or 0, part.prefix))


def _filled(part: Begins, fill: str) -> str:
    return part.prefix + fill * (1 if part.length is None else part.length - len(part.prefix))


def _unused(text: str) -> str:
    """A character that no text has which matters: neither a digit nor a letter, if it can be helped."""
    return next(chr(code) for code in (*range(0xA1, 0x250), *range(0x4E00, 0x9FFF)) if chr(code) not in text)


def members_of(label: str) -> tuple[str, ...] | None:
    """The members of ``{a, b, "c, d"}`` as our sets are written; None for another label."""
    if not (label.startswith("{") and label.endswith("}")):
        return None
    found = tuple(_members(label[1:-1]))
    return found if len(found) > 1 else None


def _members(text: str) -> Iterator[str]:
    rest = text
    while rest:
        member, behind = None, ""
        if rest.startswith('"'):
            with suppress(ValueError):
                member, end = json.JSONDecoder().raw_decode(rest)
                behind = rest[end:].removeprefix(", ")
        if not isinstance(member, str):
            member, _, behind = rest.partition(", ")
        yield member
        rest = behind
