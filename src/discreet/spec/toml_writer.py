"""Writing of a spec as TOML text with comments, for people to read and edit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from discreet.errors import InputError, InternalError
from discreet.hierarchy.messages import quote_value

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_LONGEST_LINE = 100

KeyComments: TypeAlias = Mapping[str, Mapping[str, str | Sequence[str]]]
"""Comments by the name of a table, then by its key."""
_HEADED_DEPTH = 2


def format_spec(
    document: Mapping[str, object],
    comments: Mapping[str, str | Sequence[str]] | None = None,
    *,
    heading: str | Sequence[str] = (),
    comments_by_key: KeyComments | None = None,
) -> str:
    """Format a spec's mapping as TOML; parsing the text returns the mapping.

    ``comments`` are printed above the tables of the attributes they are keyed by, ``comments_by_key`` above
    the keys of other tables (under "" after a table's last key), ``heading`` above all. Tables are in the
    mapping's order; within a table plain values come before tables. Tables within an attribute are written in
    one line if they fit. None is left out. Raises ``InputError`` for a text that TOML cannot represent (half
    of a surrogate pair), ``InternalError`` for a value of another type.
    """
    lines = _comment_lines(heading)
    if lines:
        lines.append("")
    _write_table(lines, (), document, comments or {}, comments_by_key or {})
    text = "\n".join(lines).strip("\n")
    return text + "\n" if text else ""


def _write_table(
    lines: list[str],
    key: tuple[str, ...],
    table: Mapping[str, object],
    comments: Mapping[str, str | Sequence[str]],
    comments_by_key: KeyComments,
) -> None:
    """Append a table: its plain values, then its tables under headers of their own."""
    plain, headed = [], {}
    key_comments = comments_by_key.get(key[0], {}) if len(key) == 1 else {}
    for name, value in table.items():
        if value is None:
            continue
        plain += _comment_lines(key_comments.get(name, ()))
        line = f"{_format_key(name)} = {_format_value(value)}" if _fits_a_line(key, value) else ""
        if isinstance(value, Mapping) and (not line or len(line) > _LONGEST_LINE):
            headed[name] = value
        else:
            plain.append(line)
    if key and (plain or not headed):
        if lines and lines[-1]:
            lines.append("")
        if len(key) == _HEADED_DEPTH and key[0] == "attributes":
            lines += _comment_lines(comments.get(key[1], ()))
        lines.append(f"[{'.'.join(_format_key(part) for part in key)}]")
    lines += [*plain, *_comment_lines(key_comments.get("", ()))]
    for name, value in headed.items():
        _write_table(lines, (*key, name), value, comments, comments_by_key)


def _fits_a_line(key: tuple[str, ...], value: object) -> bool:
    return not isinstance(value, Mapping) or len(key) >= _HEADED_DEPTH


def _comment_lines(text: str | Sequence[str]) -> list[str]:
    """Return lines after ``#``; control characters, which TOML forbids there, become blanks."""
    lines = [text] if isinstance(text, str) else list(text)
    split = [part for line in lines for part in line.splitlines() or [""]]
    return ["# " + "".join(c if c.isprintable() else " " for c in part) for part in split]


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        return _format_float(value)
    if isinstance(value, str | Path):
        return _format_text(str(value))
    if isinstance(value, Mapping):
        parts = [
            f"{_format_key(name)} = {_format_value(item)}" for name, item in value.items() if item is not None
        ]
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[" + ", ".join(_format_value(item) for item in value) + "]"
    raise InternalError(f"a {type(value).__name__} cannot be written into a spec")


def _format_float(value: float | Decimal) -> str:
    text = str(value).lower()
    if "inf" in text or "nan" in text:
        return text.replace("infinity", "inf")
    return text if "." in text or "e" in text else f"{text}.0"


def _format_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _format_text(name)


def _format_text(text: str) -> str:
    """Return a basic string: quotes, backslashes and control characters escaped."""
    parts = []
    for c in text:
        code = ord(c)
        if 0xD800 <= code <= 0xDFFF:
            raise InputError(f"{quote_value(text)} contains half of a surrogate pair", allowed="Unicode text")
        control = code < 0x20 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029, 0xFEFF)
        parts.append(_ESCAPES.get(c) or (f"\\u{code:04x}" if control else c))
    return '"' + "".join(parts) + '"'
