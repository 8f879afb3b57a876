"""Random pseudonyms in the place of an identifier, and the list by which their owner can undo them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from discreet.errors import InputError
from discreet.model.identifiers.base import IdentifierWay, Replacements, refuse_original, register_way
from discreet.model.json_text import json_of

_BYTES = 12


@register_way
@dataclass(frozen=True)
class Pseudonyms(IdentifierWay):
    """A random pseudonym for each text, drawn once: the file lists which text has which.

    Tables whose columns name the same file share its pseudonyms, so a person keeps theirs from table to table
    and from release to release. Who has the list can undo every one of them.
    """

    key: Path

    name: ClassVar[str] = "pseudonym"
    title: ClassVar[str] = "a random pseudonym; a file that only its owner may read lists them"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """The pseudonyms, those that are new drawn, and the longer list."""
        known = {} if secret is None else _read(secret)
        taken = {*known.values(), *known, *texts}
        for text in texts:
            if text in known:
                continue
            drawn = secrets.token_hex(_BYTES)
            while drawn in taken:
                drawn = secrets.token_hex(_BYTES)
            known[text] = drawn
            taken.add(drawn)
        found = tuple(known[text] for text in texts)
        refuse_original(texts, found)
        return Replacements(found, _written(known))


def _read(content: bytes) -> dict[str, str]:
    try:
        found = json_of(content)
    except ValueError:
        found = None
    right = isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
    if not right or len(set(found.values())) < len(found):
        raise InputError(
            "the file holds no list of pseudonyms",
            allowed="a JSON object of texts, no pseudonym twice",
            advice="Name a file that is not there: the list is made in it.",
        )
    return dict(found)


def _written(known: dict[str, str]) -> bytes:
    return (json.dumps(known, ensure_ascii=True, indent=0) + "\n").encode()
