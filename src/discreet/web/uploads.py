"""Files that are sent as raw bodies, streamed into owner-only files."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from io import BufferedWriter
from pathlib import Path
from secrets import token_hex

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from discreet.errors import LimitReached
from discreet.web.problems import Conflict, FieldError, TooLarge

_RESERVE = 64 * 2**20
_CHUNK = 2**20


async def receive_file(request: Request, target: Path, *, limit: int, replace: bool = False) -> int:
    """Stream a request's body into ``target``, whole or not at all, and return its bytes.

    The file is its owner's alone. ``Conflict`` where it is there and is not to be replaced, ``TooLarge`` over
    the limit, ``LimitReached`` where the disk would fill up, ``FieldError`` for an empty body.
    """
    if os.path.lexists(target) and not (replace and target.is_file() and not target.is_symlink()):
        raise Conflict(f"{target.name} is there already", advice="Choose another name, or replace it.")
    _check_space(target.parent, _announced(request), limit)
    partial = target.with_name(f".{target.name}.{token_hex(4)}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    size = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            pending = bytearray()
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise TooLarge("the file is too large", allowed=f"{limit:,} bytes")
                pending += chunk
                if len(pending) >= _CHUNK:
                    await run_in_threadpool(file.write, bytes(pending))
                    pending.clear()
            await run_in_threadpool(_finish, file, bytes(pending))
        if size == 0:
            raise FieldError("the file is empty", field="file")
        partial.replace(target)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return size


def _finish(file: BufferedWriter, rest: bytes) -> None:
    file.write(rest)
    file.flush()
    os.fsync(file.fileno())


def _announced(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


def _check_space(folder: Path, announced: int, limit: int) -> None:
    if announced > limit:
        raise TooLarge("the file is too large", allowed=f"{limit:,} bytes")
    if shutil.disk_usage(folder).free < announced + _RESERVE:
        raise LimitReached("the disk has no room for this file", advice="Free some space.")
