"""Files of a workspace: user-given paths and names, the spec file, uploads, downloads, and offline pages.

The spec is read as a mapping, checked, and written whole with its comments preserved. Uploads are streamed
into owner-only files. A download is opened once, and its length and content are those of the open file, even
if the file is replaced in between.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO
from urllib.parse import quote

from fastapi.responses import Response, StreamingResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from discreet.errors import InputError, LimitReached
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.address import parse_path
from discreet.places.file_access import matching_files
from discreet.spec.attribute_globs import COLUMN_WILDCARD, engine_column_reader, expand_globs
from discreet.spec.spec_reader import load_spec, parse_spec_mapping, read_spec_mapping
from discreet.web.error_responses import Conflict, FieldError, NotFound, PayloadTooLarge
from discreet.web.server_config import write_owner_only

_UNSAFE = re.compile(r"[^\w.\-+ ()]+")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10))}
_MAX_NAME_LENGTH = 120


def safe_name(text: str, *, field: str = "name") -> str:
    """Return a file name in a form that is safe on every system.

    It has no folders, no control characters, no leading dot and no reserved name. Raises ``FieldError`` if
    nothing remains of it.
    """
    _check_not_address(text, field)
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", text))[-1]
    name = re.sub(r"\s+", " ", _UNSAFE.sub("_", last)).strip(" .")
    stem, dot, suffix = name.rpartition(".")
    if len(name) > _MAX_NAME_LENGTH:
        keep = _MAX_NAME_LENGTH - len(suffix) - 1
        name = f"{stem[:keep]}.{suffix}" if dot and 0 < keep < len(stem) else name[:_MAX_NAME_LENGTH]
    while len(name.encode()) > 200:
        name = name[1:]
    if not name.strip("_ .-") or name.split(".")[0].lower() in _RESERVED:
        raise FieldError("invalid file name", field=field, allowed="letters, digits, dots, hyphens, blanks")
    return name


def resolve_below(text: str, *, base: Path, folders: Iterable[Path], field: str = "path") -> Path:
    """Resolve a path to a file or folder, following symbolic links; relative paths start at ``base``.

    Raises ``FieldError`` unless it is in one of the ``folders``; the error is the same whether or not the
    path exists.
    """
    _check_not_address(text, field)
    try:
        result = (base / text).resolve()
    except (OSError, ValueError, RuntimeError):
        result = None
    if not text or result is None or not is_below(result, folders):
        raise FieldError(
            "the workbench may not read this path",
            field=field,
            allowed="a path below the folder given by --root, or in the workspace",
            advice="Upload the file, or start discreet serve with another --root.",
        )
    return result


def _check_not_address(text: str, field: str) -> None:
    """Raise ``FieldError`` for an address, without repeating it: it may contain a password."""
    try:
        parse_path(text)
    except InputError as error:
        raise FieldError(error.message, field=field, allowed=error.allowed, advice=error.advice) from None


def is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Return True if a resolved path is in one of some folders, links followed."""
    return any(path.is_relative_to(folder.resolve()) for folder in folders)


_HEADER = re.compile(r'\[attributes\.(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_-]+))\]\s*')
HEADING = ("Written by the workbench (discreet serve); the command line reads it too.",)


def file_version(path: Path) -> str:
    """Return a digest of the file's bytes; empty if there is no file."""
    try:
        return sha256(path.read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {(error.strerror or 'error').lower()}") from None


def read_document(path: Path) -> dict[str, Any]:
    """Return the spec as a mapping of JSON values; empty if there is no file.

    Pages edit column by column: a section whose name is a glob is repeated for each of its columns, if the
    source can be read.
    """
    result: dict[str, Any] = _as_json_values(read_spec_mapping(path)) if path.exists() else {}
    stanzas = result.get("attributes")
    if isinstance(stanzas, dict) and any(COLUMN_WILDCARD in name for name in stanzas):
        with suppress(InputError):
            result["attributes"] = expand_globs(stanzas, load_spec(path).patterns)
    return result


def parse_comments(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Parse a spec's comments: those directly above ``[attributes.NAME]``, and those at the top."""
    comments: dict[str, str] = {}
    heading: list[str] = []
    block: list[str] = []
    at_top = True
    for line in text.splitlines():
        if line.startswith("#"):
            block.append(line.removeprefix("#").removeprefix(" "))
            continue
        match = _HEADER.fullmatch(line)
        if match and block:
            comments[_attribute_name(match)] = "\n".join(block)
        elif at_top and block:
            heading = list(block)
        at_top = at_top and not line.strip() and not heading
        block = []
    return comments, tuple(heading)


def check_text(text: str, path: Path, may_read: Callable[[SourceSpec], None]) -> TableSpec:
    """Check a spec's text as if it were the file ``path``, and return the spec.

    ``InputError`` names that file. ``may_read`` raises for a source that must not be read; it is called
    before the source's columns are read.
    """
    partial = path.with_name(f".{path.name}.{token_hex(4)}.check")

    def columns_of(source: SourceSpec) -> Sequence[str]:
        may_read(source)
        return engine_column_reader(None)(source)

    try:
        write_owner_only(partial, text)
        return load_spec(partial, columns_of=columns_of)
    except FieldError:
        raise
    except InputError as error:
        message, allowed, advice = (
            text and text.replace(str(partial), path.name).replace(partial.name, path.name)
            for text in (error.message, error.allowed, error.advice)
        )
        raise InputError(message or "", allowed=allowed, advice=advice) from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def parse_document(text: str) -> dict[str, Any]:
    """Parse a spec's text into a mapping; empty if it cannot be read."""
    result: dict[str, Any] = {}
    with suppress(InputError):
        result = _as_json_values(parse_spec_mapping(text))
    return result


def spec_paths(spec: TableSpec) -> list[tuple[str, Path]]:
    """Return every file that a spec names, with the field that names it."""
    result = source_paths(spec.source)
    for attribute in spec.attributes:
        if isinstance(attribute.hierarchy, FileHierarchy):
            result.append((f"attributes.{attribute.name}.hierarchy", attribute.hierarchy.path))
    return result


def source_paths(source: SourceSpec) -> list[tuple[str, Path]]:
    """Return the file of a source, or the files of its glob, with the field that names them.

    For a folder the result also contains the symbolic links in it, because they may lead elsewhere.
    """
    if source.path is None:
        return []
    files = [*matching_files(source.path), *(_links_in(source.path) if source.path.is_dir() else ())]
    return [("source.path", file) for file in files]


def _links_in(folder: Path) -> list[Path]:
    result = []
    for parent, folders, names in os.walk(folder):
        result += [path for name in (*folders, *names) if (path := Path(parent, name)).is_symlink()]
    return result


def source_database(source: SourceSpec) -> tuple[str | None, str] | None:
    """Return the address and the table of a source in a database; None for a file."""
    return None if source.path is not None or source.table is None else (source.url, source.table)


def file_stamp(path: Path) -> tuple[int, int, int] | None:
    """Return a file's modification time, size and inode, or None if it does not exist.

    They change with the file. For a folder: the latest modification time, the sum of the sizes and the number
    of all its entries.
    """
    try:
        found = path.stat()
        if not path.is_dir():
            return found.st_mtime_ns, found.st_size, found.st_ino
        inside = [each.stat() for each in path.rglob("*")]
    except OSError:
        return None
    latest = max((each.st_mtime_ns for each in inside), default=0)
    return max(latest, found.st_mtime_ns), sum(each.st_size for each in inside), len(inside)


def relative_path(path: Path, folder: Path) -> str:
    """Return a path in the form in which a spec in ``folder`` names it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.absolute().as_posix()


def _attribute_name(match: re.Match[str]) -> str:
    quoted, bare = match.groups()
    return bare if quoted is None else quoted.replace('\\"', '"').replace("\\\\", "\\")


def _as_json_values(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _as_json_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json_values(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


_RESERVED_SPACE = 64 * 2**20
_UPLOAD_CHUNK = 2**20


async def receive_upload(request: Request, target: Path, *, limit: int, replace: bool = False) -> int:
    """Stream a request's body into ``target``, completely or not at all, and return its size in bytes.

    Only the owner may read the file. Raises ``Conflict`` if it exists and must not be replaced,
    ``PayloadTooLarge`` over the limit, ``LimitReached`` if the disk would fill up, ``FieldError`` for an
    empty body.
    """
    if os.path.lexists(target) and not (replace and target.is_file() and not target.is_symlink()):
        raise Conflict(f"{target.name} exists already", advice="Choose another name, or replace it.")
    _check_space(target.parent, _content_length(request), limit)
    partial = target.with_name(f".{target.name}.{token_hex(4)}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    size = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            pending = bytearray()  # written in chunks of 1 MiB: one call in the thread pool each
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise PayloadTooLarge("the file is too large", allowed=f"{limit:,} bytes")
                pending += chunk
                if len(pending) >= _UPLOAD_CHUNK:
                    await run_in_threadpool(file.write, bytes(pending))
                    pending.clear()
            await run_in_threadpool(_write_to_disk, file, bytes(pending))
        if size == 0:
            raise FieldError("the file is empty", field="file")
        partial.replace(target)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return size


def _write_to_disk(file: BufferedWriter, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _content_length(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


def _check_space(folder: Path, announced: int, limit: int) -> None:
    if announced > limit:
        raise PayloadTooLarge("the file is too large", allowed=f"{limit:,} bytes")
    if shutil.disk_usage(folder).free < announced + _RESERVED_SPACE:
        raise LimitReached("the disk has no room for this file", advice="Free some space.")


_DOWNLOAD_CHUNK = 1 << 18
_PAGE_POLICY = (
    "sandbox allow-downloads; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def attachment(path: Path, name: str | None = None) -> Response:
    """Build a response that the browser saves as a file, of any type; raise ``NotFound`` if there is none."""
    quoted = quote(name or path.name)
    plain = quoted == (name or path.name)
    parameter = f'filename="{quoted}"' if plain else f"filename*=utf-8''{quoted}"
    return _file_response(
        path, "application/octet-stream", {"Content-Disposition": f"attachment; {parameter}"}
    )


def text_attachment(text: str, name: str) -> Response:
    """Build a response with a text that the browser saves under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/octet-stream", headers=headers)


def offline_page(path: Path) -> Response:
    """Build a response with a page that contains its styles and pictures; only our own pages may frame it.

    The content security policy allows no script.
    """
    headers = {"Content-Security-Policy": _PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return _file_response(path, "text/html; charset=utf-8", headers)


def _file_response(path: Path, media_type: str, headers: Mapping[str, str]) -> Response:
    """Build a response from one open descriptor of a regular file; a symbolic link is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        raise NotFound("the file does not exist") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise NotFound("the file does not exist")
    file = os.fdopen(descriptor, "rb")
    return StreamingResponse(
        _read_chunks(file, found.st_size),
        media_type=media_type,
        headers={**headers, "Content-Length": str(found.st_size)},
        background=BackgroundTask(file.close),
    )


def _read_chunks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first ``size`` bytes of an open file in chunks."""
    left = size
    with file:
        while left and (part := file.read(min(left, _DOWNLOAD_CHUNK))):
            left -= len(part)
            yield part
