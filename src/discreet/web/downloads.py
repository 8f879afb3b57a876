"""Answers that are files: downloads, and offline pages with styles of their own.

A file is opened once, and its length and content are those of the open file. An answer that measures a path
and opens it afterwards announces the length of one file and sends another, where it is replaced in between.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from fastapi.responses import Response, StreamingResponse
from starlette.background import BackgroundTask

from discreet.web.problems import NotFound

_AT_ONCE = 1 << 18
_PAGE_POLICY = (
    "sandbox allow-downloads; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def attachment(path: Path, name: str | None = None) -> Response:
    """A file to be saved, whatever its type; ``NotFound`` where there is none."""
    shown = quote(name or path.name)
    plain = shown == (name or path.name)
    told = f'filename="{shown}"' if plain else f"filename*=utf-8''{shown}"
    return _file(path, "application/octet-stream", {"Content-Disposition": f"attachment; {told}"})


def attached_text(text: str, name: str) -> Response:
    """A text to be saved under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/octet-stream", headers=headers)


def offline_page(path: Path) -> Response:
    """A page that carries its own styles and pictures and runs no script; our own pages may frame it."""
    headers = {"Content-Security-Policy": _PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return _file(path, "text/html; charset=utf-8", headers)


def _file(path: Path, media_type: str, headers: Mapping[str, str]) -> Response:
    """A regular file from one open descriptor; a link is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        raise NotFound("there is no such file") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise NotFound("there is no such file")
    file = os.fdopen(descriptor, "rb")
    return StreamingResponse(
        _parts(file, found.st_size),
        media_type=media_type,
        headers={**headers, "Content-Length": str(found.st_size)},
        background=BackgroundTask(file.close),
    )


def _parts(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The first ``size`` bytes of an open file, part by part."""
    left = size
    with file:
        while left and (part := file.read(min(left, _AT_ONCE))):
            left -= len(part)
            yield part
