"""Words for NULL that stand without quotes among texts in quotes, as R writes ``NA``.

A program that quotes every text leaves what is no text bare: numbers, dates, and its word for a missing
value. There a quoted ``"NA"`` is a value (Namibia's code, say), and a bare ``NA`` is none. Where texts stand
without quotes, nothing tells the two apart, and the word is a text.

Whether a file quotes its texts is told from its beginning: some cell has quotes that it does not need, and no
bare cell is a word. A file that quotes the word itself has another meaning for the bare one, whatever else it
quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from discreet.engines.files.text_file import chunks_of, open_bytes

WORDS = ("NA", "NULL", "Null", "null", "None", "NaN", "nan", "nil", "<NA>", "\\N")
"""What programs write bare for a value that is missing."""

_LOOKED_AT = 1 << 18
_SEARCHED = 1 << 26
_LETTER = re.compile(r"[^\W\d_]")
_NO_TEXT = re.compile(
    r"true|false|t|f|[-+]?inf(inity)?|[-+]?[0-9.,]*[0-9]e[-+]?[0-9]+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}t[0-9:.]+(z|[-+][0-9:]+)?",
    re.IGNORECASE,
)


def unquoted_nulls(path: Path, delimiter: str, quote: str) -> tuple[str, ...]:
    """Return the words that are NULL in a file where they are bare; none where its texts are bare, too."""
    if not quote:
        return ()
    with open_bytes(path) as handle:
        sample = handle.read(_LOOKED_AT).decode("utf-8-sig", errors="replace")
    _, end, body = sample.partition("\n")
    if not end or quote not in body:
        return ()
    if any(f"{quote}{word}{quote}" in body for word in WORDS):
        return WORDS
    needless = False
    for quoted, text in _cells(body, delimiter, quote):
        if quoted:
            needless = needless or not _needs_quotes(text, delimiter, quote)
        elif text not in WORDS and _is_word(text):
            return ()
    return WORDS if needless else ()


def bare_words(path: Path, delimiter: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some words that are cells without quotes, as far as 64 MiB of the file."""
    ends, found, searched = (delimiter, "\r", "\n"), set(), 0
    for chunk in chunks_of(path):
        for word in words:
            cells = (f"{start}{word}{end}".encode() for start in (delimiter, "\n") for end in ends)
            if word not in found and any(cell in chunk for cell in cells):
                found.add(word)
        searched += len(chunk)
        if searched >= _SEARCHED:
            break
    return tuple(word for word in words if word in found)


def _cells(text: str, delimiter: str, quote: str) -> Iterator[tuple[bool, str]]:
    """The whole cells of the beginning of a file, and whether each is in quotes."""
    d, q = re.escape(delimiter), re.escape(quote)
    cell = re.compile(rf"(?:{q}((?:[^{q}]|{q}{q})*){q}|([^{q}{d}\r\n][^{d}\r\n]*|))({d}|\r\n|\n|\r)")
    place = 0
    while (match := cell.match(text, place)) is not None:
        quoted, bare, _ = match.groups()
        yield quoted is not None, bare if quoted is None else quoted
        place = match.end()


def _needs_quotes(text: str, delimiter: str, quote: str) -> bool:
    return not text or text != text.strip() or any(mark in text for mark in (delimiter, quote, "\r", "\n"))


def _is_word(text: str) -> bool:
    return _LETTER.search(text) is not None and _NO_TEXT.fullmatch(text.strip()) is None
