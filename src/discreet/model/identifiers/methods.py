"""Pseudonymization methods: keyed hash, per-release pseudonym, partial mask, listed random pseudonym.

Importing this module registers them. It is imported only if a spec or manifest names a method.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from discreet.errors import InputError
from discreet.model.identifiers.base import (
    PSEUDONYMIZERS,
    Pseudonymizer,
    Replacements,
    decode_key,
    encode_key,
    new_key,
    refuse_originals,
    register_method,
)
from discreet.model.json_documents import parse_json

_DIGEST_LENGTH = 32


@register_method
@dataclass(frozen=True)
class KeyedHash(Pseudonymizer):
    """HMAC-SHA-256 of a cell's text under a key of 32 random bytes, the first 128 bits as hexadecimal digits.

    A hash without a key would give no protection: a person with a list of names can hash all of them. Anyone
    with the key can do the same, so only its owner may read the key file; keep it apart from the release and
    its readers.
    """

    key: Path

    name: ClassVar[str] = "keyed-hash"
    title: ClassVar[str] = "a keyed hash, the same in every table that is published with the key"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """Return the hashes; create a key if there is none yet."""
        secret_key = new_key() if secret is None else decode_key(secret)
        found = tuple(keyed_digest(secret_key, text) for text in texts)
        refuse_originals(texts, found)
        return Replacements(found, encode_key(secret_key))


@register_method
@dataclass(frozen=True)
class PerRelease(Pseudonymizer):
    """HMAC-SHA-256 under a key that is discarded: rows of a person can be linked only within one release.

    No one, including the publisher, can identify the person of a pseudonym, or determine whether two releases
    contain the same person.
    """

    name: ClassVar[str] = "per-release"
    title: ClassVar[str] = "a pseudonym for this release only, whose key is discarded"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """Return the hashes under a new key."""
        del secret
        secret_key = new_key()
        found = tuple(keyed_digest(secret_key, text) for text in texts)
        refuse_originals(texts, found)
        return Replacements(found, None)


@dataclass(frozen=True)
class SharedKey(Pseudonymizer):
    """HMAC-SHA-256 under one key for the tables of one release, discarded once all are written."""

    secret_key: bytes = field(default_factory=lambda: new_key(), repr=False)

    name: ClassVar[str] = PerRelease.name
    title: ClassVar[str] = "a pseudonym for the tables of this release only, whose key is discarded"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """Return the hashes under the shared key."""
        del secret
        found = tuple(keyed_digest(self.secret_key, text) for text in texts)
        refuse_originals(texts, found)
        return Replacements(found, None)

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the manifest, without the key."""
        return {"method": self.name}


def keyed_digest(key: bytes, text: str) -> str:
    """Return 128 bits of the HMAC-SHA-256 of a text, as hexadecimal digits."""
    return hmac.new(key, text.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()[:_DIGEST_LENGTH]


_MASK_ENDS = ("start", "end")
_STAR = "*"


@register_method
@dataclass(frozen=True)
class PartialMask(Pseudonymizer):
    """The first, or last, ``keep`` characters of a text, and three stars for the others.

    The number of stars is constant, so it does not reveal the length. A text of ``keep`` characters or fewer
    would be published whole, so it becomes only stars.
    """

    keep: int = 1
    end: str = "start"

    name: ClassVar[str] = "mask"
    title: ClassVar[str] = "a few of its characters, the others masked"
    is_injective: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the options; raise ``InputError`` for values out of range."""
        if isinstance(self.keep, bool) or not isinstance(self.keep, int) or not 1 <= self.keep <= 100:
            raise InputError(f"keep = {self.keep}", allowed="a whole number from 1 to 100")
        if self.end not in _MASK_ENDS:
            raise InputError(f"end = {self.end!r}", allowed=", ".join(_MASK_ENDS))

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """Return the masked texts."""
        found = tuple(self._masked(text) for text in texts)
        refuse_originals(texts, found)
        return Replacements(found, secret)

    def _masked(self, text: str) -> str:
        stars = _STAR * 3
        if len(text) <= self.keep:
            return stars
        return text[: self.keep] + stars if self.end == "start" else stars + text[-self.keep :]


_PSEUDONYM_BYTES = 12


@register_method
@dataclass(frozen=True)
class Pseudonyms(Pseudonymizer):
    """A random pseudonym for each text, drawn once; the file lists the pseudonym of each text.

    Tables whose columns name the same file share its pseudonyms, so a person has the same pseudonym in every
    table and release. Anyone with the list can reverse all of them.
    """

    key: Path

    name: ClassVar[str] = "pseudonym"
    title: ClassVar[str] = "a random pseudonym; a file that only its owner may read lists them"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """Return the pseudonyms, drawing missing ones, and the extended list."""
        known = {} if secret is None else _parse_list(secret)
        taken = {*known.values(), *known, *texts}
        for text in texts:
            if text in known:
                continue
            drawn = secrets.token_hex(_PSEUDONYM_BYTES)
            while drawn in taken:
                drawn = secrets.token_hex(_PSEUDONYM_BYTES)
            known[text] = drawn
            taken.add(drawn)
        found = tuple(known[text] for text in texts)
        refuse_originals(texts, found)
        return Replacements(found, _format_list(known))


def _parse_list(content: bytes) -> dict[str, str]:
    try:
        found = parse_json(content)
    except ValueError:
        found = None
    right = isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
    if not right or len(set(found.values())) < len(found):
        raise InputError(
            "the file contains no list of pseudonyms",
            allowed="a JSON object of texts, no pseudonym twice",
            advice="Name a file that is not there: the list is made in it.",
        )
    return dict(found)


def _format_list(known: dict[str, str]) -> bytes:
    return (json.dumps(known, ensure_ascii=True, indent=0) + "\n").encode()


def known_methods() -> dict[str, type[Pseudonymizer]]:
    """Return all methods by name."""
    return dict(PSEUDONYMIZERS)
