"""An archive of somebody else's: parts are read by name and within a size, nothing is unpacked by its names.

XML is read without declarations of a document's type, which alone could declare entities.
"""

from __future__ import annotations

import codecs
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

from discreet.errors import InputError, LimitReached
from discreet.hierarchy.messages import shown
from discreet.places.regular_file import check_regular

_LARGEST_XML = 4 << 20
_LARGEST_TEXT = 64 << 20
_MOST_TEXT = 512 << 20
_LARGEST_FILE = 16 << 30
_MOST_PARTS = 10_000
_CHUNK = 1 << 20
_OTHER_ENCODING = "latin-1"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)
"""What zipfile raises for a part that is damaged, encrypted, or packed in a way that it does not know."""


class Archive:
    """A ZIP file that is open for reading; ``InputError`` for whatever is wrong with it."""

    def __init__(self, path: Path, parts: zipfile.ZipFile) -> None:
        self.path = path
        self._parts = parts
        self._names = parts.namelist()
        self._read = 0
        if len(self._names) > _MOST_PARTS or len(set(self._names)) < len(self._names):
            raise InputError(f"{path}: more than {_MOST_PARTS:,} parts, or two of one name")

    def has(self, name: str) -> bool:
        """Whether there is a part of this name."""
        return name in self._names

    def text(self, name: str) -> str:
        """A part as text, UTF-8 or else latin-1; ``InputError`` where it is missing, damaged or too large."""
        data = self._bytes(name, _LARGEST_TEXT)
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8-sig")
        return data.decode(_OTHER_ENCODING)

    def xml(self, name: str) -> ElementTree.Element:
        """The root of a part in XML; ``InputError`` too for one that declares a document type."""
        data = self._bytes(name, _LARGEST_XML)
        try:
            text = data.decode("utf-8-sig")
            if "<!DOCTYPE" in text or "<!ENTITY" in text:
                raise InputError(f"{self._label(name)} declares entities, which are not read")
            return ElementTree.fromstring(text)
        except (UnicodeDecodeError, ElementTree.ParseError) as error:
            raise InputError(f"{self._label(name)} is no XML that can be read: {error}") from None

    def extract(self, name: str, target: Path) -> str:
        """Write a part to a new file that only its owner may read; the encoding of its text.

        ``InputError`` where the part is damaged, ``LimitReached`` where it is larger than 16 GiB or the disk
        is full. Nothing is left of a failure.
        """
        if self._parts.getinfo(name).file_size > _LARGEST_FILE:
            raise LimitReached(f"{self._label(name)} is larger than 16 GiB", advice="Unpack it by hand.")
        encoding = "utf-8"
        decoder = codecs.getincrementaldecoder(encoding)()
        with _new_file(target) as file:
            for chunk in self._chunks(name):
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    encoding = _OTHER_ENCODING
                file.write(chunk)
        return encoding

    def _bytes(self, name: str, most: int) -> bytes:
        if not self.has(name):
            raise InputError(f"{self.path} has no part {shown(name)}", allowed="a project that ARX has saved")
        size = self._parts.getinfo(name).file_size
        self._read += size
        if size > most or self._read > _MOST_TEXT:
            limit = most if size > most else _MOST_TEXT
            raise InputError(
                f"{self._label(name)}: it, or all that was read, is larger than {limit >> 20} MiB"
            )
        return b"".join(self._chunks(name))

    def _chunks(self, name: str) -> Iterator[bytes]:
        """A part piece by piece: never more than its entry says, which was checked before."""
        try:
            with self._parts.open(name) as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except _BROKEN as error:
            raise InputError(f"{self._label(name)} cannot be read: {error}") from None

    def _label(self, name: str) -> str:
        return f"{self.path}, part {shown(name)}"


@contextmanager
def _new_file(target: Path) -> Iterator[BinaryIO]:
    """A new file for its owner alone, gone again where anything fails."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{target} exists", advice="Choose another folder for the spec.") from None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LimitReached(
                f"{target} cannot be written: {error.strerror}", advice="Free some space."
            ) from error
        raise


@contextmanager
def opened(path: Path, what: str) -> Iterator[Archive]:
    """An archive, closed again; ``InputError`` where there is none at the path."""
    check_regular(path, str(path))
    try:
        parts = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", allowed=what) from None
    except (*_BROKEN, UnicodeError) as error:
        raise InputError(f"{path} is no archive that can be read: {error}", allowed=what) from None
    with parts:
        yield Archive(path, parts)
