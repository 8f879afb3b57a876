"""Bytes of text files: gzip, encodings, and the line that cannot be decoded."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from discreet.errors import InputError

CHUNK = 1 << 24
_NATIVE_ENCODINGS = {"utf-8", "utf-8-sig"}
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def is_compressed(path: Path) -> bool:
    """Return True if a file has the extension of gzip."""
    return path.suffix.lower() == ".gz"


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file's decompressed bytes; ``InputError`` if it cannot be opened or is no valid gzip file."""
    try:
        with gzip.open(path, "rb") if is_compressed(path) else path.open("rb") as handle:
            yield cast(BinaryIO, handle)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(
            f"{path} is not a complete gzip file", advice="Unpack it, or copy it again."
        ) from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or 'input/output error'}",
            advice="Check the path and its permissions.",
        ) from None


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes in chunks of 16 MiB."""
    with open_bytes(path) as handle:
        while chunk := handle.read(CHUNK):
            yield chunk


def codec_name(encoding: str) -> str:
    """Return Python's name of a text encoding; raises ``InputError`` for an unknown one."""
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except LookupError:
        raise InputError(
            f"encoding '{encoding}' is unknown",
            allowed="utf-8, utf-16, latin-1, windows-1252 and Python's other text encodings",
        ) from None


def is_utf8(encoding: str) -> bool:
    """Return True if DuckDB reads an encoding directly."""
    return codec_name(encoding) in _NATIVE_ENCODINGS


def check_byte_order_mark(path: Path, encoding: str) -> None:
    """Raise ``InputError`` for a UTF-16 file that is to be read as UTF-8."""
    with open_bytes(path) as handle:
        start = handle.read(2)
    if is_utf8(encoding) and start in _WIDE_MARKS:
        raise InputError(
            f"{path} begins with the byte-order mark of UTF-16, but is to be read as {encoding}",
            advice='Set encoding = "utf-16": in the spec\'s [source], or where the file is named, as in '
            "--encoding utf-16.",
        )


def transcode(path: Path, encoding: str, target: Path) -> None:
    """Copy a text file as UTF-8 to ``target`` (owner-only) in chunks, with unchanged line ends."""
    decoder = codecs.getincrementaldecoder(codec_name(encoding))()
    lines = 1
    first = True
    with target.open("xb") as handle:
        target.chmod(0o600)
        for chunk in _with_end(read_chunks(path)):
            text = _decode(decoder, chunk, path, encoding, lines)
            lines += text.count("\n")
            handle.write((text.removeprefix("\ufeff") if first else text).encode())
            first = first and not text


def check_utf8(path: Path) -> None:
    """Raise ``InputError`` with the first line that is not UTF-8, if there is one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    for chunk in _with_end(read_chunks(path)):
        lines += _decode(decoder, chunk, path, "utf-8", lines).count("\n")


def _with_end(chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield from chunks
    yield b""


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, path: Path, encoding: str, lines: int) -> str:
    try:
        return decoder.decode(chunk, final=not chunk)
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            before = error.object[: error.start].decode(error.encoding, errors="ignore")
            lines += before.count("\n")
        raise InputError(
            f"{path}, line {lines}: bytes that are not {encoding}",
            allowed=f"text in {encoding}",
            advice="Set the file's encoding, such as latin-1, windows-1252 or utf-16: in the spec's "
            "[source], or where the file is named, as in --encoding latin-1.",
        ) from None
