"""The common interface of pseudonymizers, and date shifts per subject.

A pseudonymizer replaces each distinct text of a direct identifier; its secret is in a file of the publisher
or is not stored. A new pseudonymizer is a frozen dataclass with ``register_method``. A date shift moves all
dates of a person by the same secret number of days.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date, timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from discreet.errors import InputError
from discreet.model.option import spec_key


@dataclass(frozen=True)
class Replacements:
    """Replacements of texts, in their order, and the new content of the secret (None: there is no secret)."""

    texts: tuple[str, ...]
    secret: bytes | None


@dataclass(frozen=True)
class Pseudonymizer(ABC):
    """A method to replace identifiers; ``name`` is its name in the spec and the manifest.

    ``is_injective``: different texts get different replacements, as a subject requires. ``is_deterministic``:
    equal texts get equal replacements, so that rows of one person can be linked.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    is_injective: ClassVar[bool] = True
    is_deterministic: ClassVar[bool] = True

    @abstractmethod
    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """Return the replacements of distinct texts.

        ``secret`` is the content of the key file, None if it is new. Raises ``InputError`` if the file does
        not contain a secret of this method.
        """

    @property
    def key_file(self) -> Path | None:
        """File of the secret; None if it is not stored."""
        key: Path | None = getattr(self, "key", None)
        return key

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the manifest, which contains neither the secret nor its path."""
        public = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "key"}
        return {"method": self.name, **public}


PSEUDONYMIZERS: dict[str, type[Pseudonymizer]] = {}

_Method = TypeVar("_Method", bound=type[Pseudonymizer])


def register_method(way: _Method) -> _Method:
    """Register a method; raise ``InputError`` if its name is taken."""
    if way.name in PSEUDONYMIZERS:
        raise InputError(f"the pseudonymization method '{way.name}' exists already")
    PSEUDONYMIZERS[way.name] = way
    return way


def refuse_originals(originals: Sequence[str], texts: Sequence[str]) -> None:
    """Raise ``InputError`` if a replacement equals one of the originals; the message contains no value."""
    original_values = set(originals)
    found = sum(text in original_values for text in texts)
    if found:
        raise InputError(
            f"{found:,} replacements of identifiers are identifiers themselves",
            allowed="replacements that no cell of the column has",
            advice="Choose another method for the column, or omit the column.",
        )


def method_options(way: type[Pseudonymizer]) -> Mapping[str, Any]:
    """Return the options of a method by name, with their defaults."""
    return {field.name: field.default for field in fields(way)}


KEY_BYTES = 32
_DATE_LENGTH = len("2024-02-29")


_MOST_DAYS = 36_525


@dataclass(frozen=True)
class DateShift:
    """A column of dates that is shifted per subject, by 1 to ``days`` days into the past or the future.

    The number of days is derived from the subject and the key, so it is the same in every column and table
    that names the key: intervals between the dates of one person are preserved, those between people are not.
    """

    days: int = spec_key(
        "Maximum number of days by which dates are shifted.",
        "180",
        f"a whole number from 1 to {_MOST_DAYS}",
        ge=1,
        le=_MOST_DAYS,
        default=MISSING,
    )
    key: Path = spec_key(
        "The file of the secret, created if missing, readable only by its owner.",
        '"shifts.key"',
        'the path of a file in quotes, such as "shifts.key"',
        min_length=1,
        default=MISSING,
    )

    def as_json(self) -> dict[str, int]:
        """Return the entry in the manifest; the range is not secret."""
        return {"days": self.days}


def new_key() -> bytes:
    """Return a random key."""
    return os.urandom(KEY_BYTES)


def encode_key(key: bytes) -> bytes:
    """Return a key in the form of its file: hexadecimal digits and a line feed."""
    return key.hex().encode() + b"\n"


def decode_key(content: bytes) -> bytes:
    """Parse the content of a key file; raise ``InputError`` unless it is 32 bytes as hexadecimal digits."""
    try:
        key = bytes.fromhex(content.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InputError(
            "the file contains no key",
            allowed=f"{2 * KEY_BYTES} hexadecimal digits",
            advice="Name a file that is not there: a key is made in it.",
        )
    return key


def shift_date_texts(
    shift: DateShift, pairs: Sequence[tuple[str, str]], secret: bytes | None
) -> tuple[list[str], bytes]:
    """Return shifted dates for pairs of subject and date (ISO 8601, with or without a time), and the secret.

    Raises ``InputError`` for a text that is not such a date, or if the shifted date would leave the calendar.
    """
    key = new_key() if secret is None else decode_key(secret)
    days: dict[str, timedelta] = {}
    found = []
    for subject, text in pairs:
        if subject not in days:
            days[subject] = timedelta(shift_days(key, subject, shift.days))
        try:
            day = date.fromisoformat(text[:_DATE_LENGTH]) + days[subject]
        except (ValueError, OverflowError):
            raise InputError(
                f"'{text[:40]}' is not a date that can be shifted",
                allowed="dates such as 2024-02-29, with or without a time behind",
                advice="Give the format of the column's dates.",
            ) from None
        found.append(day.isoformat() + text[_DATE_LENGTH:])
    return found, encode_key(key)


def shift_days(key: bytes, subject: str, limit: int) -> int:
    """Derive a subject's shift in days, from −``limit`` to ``limit`` without 0, by HMAC-SHA-256."""
    digest = hmac.new(key, b"days\0" + subject.encode(errors="surrogatepass"), hashlib.sha256).digest()
    number = int.from_bytes(digest[:16], "big") % (2 * limit)
    return number - limit if number < limit else number - limit + 1
