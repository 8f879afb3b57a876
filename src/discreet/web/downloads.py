"""Answers that are files: downloads, and offline pages with styles of their own."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import FileResponse, Response

from discreet.web.problems import NotFound

_PAGE_POLICY = (
    "sandbox allow-downloads; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def attachment(path: Path, name: str | None = None) -> FileResponse:
    """A file to be saved, whatever its type; ``NotFound`` where there is none."""
    _check(path)
    return FileResponse(path, media_type="application/octet-stream", filename=name or path.name)


def attached_text(text: str, name: str) -> Response:
    """A text to be saved under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/octet-stream", headers=headers)


def offline_page(path: Path) -> FileResponse:
    """A page that carries its own styles and pictures and runs no script; our own pages may frame it."""
    _check(path)
    headers = {"Content-Security-Policy": _PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


def _check(path: Path) -> None:
    if not path.is_file() or path.is_symlink():
        raise NotFound("there is no such file")
