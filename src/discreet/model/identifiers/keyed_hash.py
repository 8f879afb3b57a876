"""A keyed hash in the place of an identifier: the same text and key give the same hash, on every table."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from discreet.errors import InputError
from discreet.model.identifiers.base import IdentifierWay, Replacements, refuse_original, register_way

KEY_BYTES = 32
_SHOWN = 32


@register_way
@dataclass(frozen=True)
class KeyedHash(IdentifierWay):
    """HMAC-SHA-256 of a cell's text under a key of 32 random bytes, the first 128 bits as hexadecimal digits.

    A hash without a key would be no protection: whoever knows the names hashes them all. With the key anybody
    can, so its file is for its owner alone, and belongs neither beside the release nor to its readers.
    """

    key: Path

    name: ClassVar[str] = "keyed-hash"
    title: ClassVar[str] = "a keyed hash, the same in every table that is published with the key"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """The hashes; a new key where there is none yet."""
        held = new_key() if secret is None else read_key(secret)
        found = tuple(hashed(held, text) for text in texts)
        refuse_original(texts, found)
        return Replacements(found, written_key(held))


@register_way
@dataclass(frozen=True)
class PerRelease(IdentifierWay):
    """The same under a key that is thrown away: rows of a person stay together in one release only.

    Nobody, the publisher included, can tell who a pseudonym is, or whether two releases have a person both.
    """

    name: ClassVar[str] = "per-release"
    title: ClassVar[str] = "a pseudonym for this release alone, whose key is thrown away"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """The hashes under a key of their own."""
        del secret
        held = new_key()
        found = tuple(hashed(held, text) for text in texts)
        refuse_original(texts, found)
        return Replacements(found, None)


@dataclass(frozen=True)
class OneKey(IdentifierWay):
    """The same for the tables of one release together: their key is thrown away once all are written."""

    held: bytes = field(default_factory=lambda: new_key(), repr=False)

    name: ClassVar[str] = PerRelease.name
    title: ClassVar[str] = "a pseudonym for the tables of this release alone, whose key is thrown away"

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """The hashes under the key that the tables share."""
        del secret
        found = tuple(hashed(self.held, text) for text in texts)
        refuse_original(texts, found)
        return Replacements(found, None)

    def as_json(self) -> dict[str, Any]:
        """The entry in the manifest, without the key."""
        return {"way": self.name}


def hashed(key: bytes, text: str) -> str:
    """128 bits of the HMAC-SHA-256 of a text, as hexadecimal digits."""
    return hmac.new(key, text.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()[:_SHOWN]


def new_key() -> bytes:
    """A random key."""
    return secrets.token_bytes(KEY_BYTES)


def written_key(key: bytes) -> bytes:
    """A key as its file has it: hexadecimal digits and a line's end."""
    return key.hex().encode() + b"\n"


def read_key(content: bytes) -> bytes:
    """The key of a file's content; ``InputError`` for anything else than 32 bytes in hexadecimal digits."""
    try:
        key = bytes.fromhex(content.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InputError(
            "the file holds no key",
            allowed=f"{2 * KEY_BYTES} hexadecimal digits",
            advice="Name a file that is not there: a key is made in it.",
        )
    return key
