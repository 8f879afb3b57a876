"""Dates of a person, all moved by the same secret number of days: what lies between them stays."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from discreet.errors import InputError

_LENGTH = len("2024-02-29")


@dataclass(frozen=True)
class DateShift:
    """A column of dates that is shifted per subject, by 1 to ``days`` days into the past or the future.

    The number of days comes from the subject and the key, so it is the same in every column and table that
    names the key: intervals between the dates of a person stay, those between people do not.
    """

    days: int
    key: Path

    def as_json(self) -> dict[str, int]:
        """The entry in the manifest: the range is no secret."""
        return {"days": self.days}


def shifted(
    shift: DateShift, pairs: Sequence[tuple[str, str]], secret: bytes | None
) -> tuple[list[str], bytes]:
    """The dates of pairs of subject and date (ISO 8601, with or without a time), moved; and the secret.

    ``InputError`` for a text that is no such date, or would leave the calendar.
    """
    from discreet.model.identifiers.keyed_hash import new_key, read_key, written_key

    key = new_key() if secret is None else read_key(secret)
    days: dict[str, timedelta] = {}
    found = []
    for subject, text in pairs:
        if subject not in days:
            days[subject] = timedelta(days_of(key, subject, shift.days))
        try:
            day = date.fromisoformat(text[:_LENGTH]) + days[subject]
        except (ValueError, OverflowError):
            raise InputError(
                f"'{text[:40]}' is no date that can be shifted",
                allowed="dates such as 2024-02-29, with or without a time behind",
                advice="Say how the column's dates are written.",
            ) from None
        found.append(day.isoformat() + text[_LENGTH:])
    return found, written_key(key)


def days_of(key: bytes, subject: str, most: int) -> int:
    """The days by which a subject is moved: one of the 2 · ``most`` numbers but 0, by HMAC-SHA-256."""
    told = hmac.new(key, b"days\0" + subject.encode(errors="surrogatepass"), hashlib.sha256).digest()
    number = int.from_bytes(told[:16], "big") % (2 * most)
    return number - most if number < most else number - most + 1
