"""Secret keys of pseudonyms and date shifts, and the form of their files."""

from __future__ import annotations

import secrets

from discreet.errors import InputError

KEY_BYTES = 32


def new_key() -> bytes:
    """Return a random key."""
    return secrets.token_bytes(KEY_BYTES)


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
