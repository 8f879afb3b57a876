"""Errors as JSON responses with a status: the kinds of ``discreet.errors``, and kinds that only a server has.

The location of an exception is logged without its text, which may contain values of the data.
"""

from __future__ import annotations

import errno
import traceback
from pathlib import Path
from typing import Any, ClassVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from discreet.errors import DiscreetError, InputError, InternalError, LimitReached
from discreet.web.screen_messages import screen_message

_MAX_FRAMES = 6


def exception_location(error: BaseException) -> str:
    """Return an exception's type and its innermost frames: ``KeyError at table.py:12 in f``."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    locations = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in reversed(frames)]
    return f"{type(error).__name__} at {', '.join(locations) or 'an unknown location'}"


_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_STATUS = {
    "bad-input": 400,
    "signed-out": 401,
    "not-allowed": 403,
    "not-found": 404,
    "requirement-not-met": 409,
    "no-solution": 409,
    "conflict": 409,
    "not-evaluated": 409,
    "outdated": 409,
    "changed-elsewhere": 409,
    "limit-reached": 413,
    "too-large": 413,
    "too-many": 429,
    "internal": 500,
}


class FieldError(InputError):
    """Error for a wrong value of one field of a form; the page shows it next to that field."""

    def __init__(
        self, message: str, *, field: str, allowed: str | None = None, advice: str | None = None
    ) -> None:
        super().__init__(message, allowed=allowed, advice=advice)
        self.field = field

    @classmethod
    def of(cls, error: InputError, field: str) -> FieldError:
        """Convert an error to one of a field."""
        return cls(error.message, field=field, allowed=error.allowed, advice=error.advice)


class SignedOut(InputError):
    """Error for a missing session, or one that has ended."""

    kind: ClassVar[str] = "signed-out"


class NotAllowed(InputError):
    """Error for a request that this server does not accept from its origin."""

    kind: ClassVar[str] = "not-allowed"


class NotFound(InputError):
    """Error for a name that does not exist."""

    kind: ClassVar[str] = "not-found"


class Conflict(InputError):
    """Error for a request that contradicts the current state: the item exists already, or has changed."""

    kind: ClassVar[str] = "conflict"


class NotEvaluated(Conflict):
    """Error for a criterion for which the lattice has not been evaluated; it can be evaluated again."""

    kind: ClassVar[str] = "not-evaluated"


class PayloadTooLarge(InputError):
    """Error for a body over its limit."""

    kind: ClassVar[str] = "too-large"


class TooMany(InputError):
    """Error for too many attempts or jobs; ``seconds`` is the time until the next try."""

    kind: ClassVar[str] = "too-many"

    def __init__(self, message: str, *, seconds: int = 1, advice: str | None = None) -> None:
        super().__init__(message, advice=advice)
        self.seconds = seconds


class ErrorFacts(BaseModel):
    """The message of an error, the allowed values, and advice."""

    kind: str = Field(description="The kind of error: " + ", ".join(_STATUS) + ".")
    message: str = Field(description="The error.")
    allowed: str | None = Field(None, description="The allowed values.")
    advice: str | None = Field(None, description="A possible next step.")
    field: str | None = Field(None, description="The wrong field of the request, if it is one field.")


class ErrorAnswer(BaseModel):
    """The body of every answer whose status is 400 or more."""

    error: ErrorFacts


RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "The request, the spec, a hierarchy or the data is wrong."},
    401: {"model": ErrorAnswer, "description": "Signed out: open the start link, or sign in."},
    403: {
        "model": ErrorAnswer,
        "description": "The Host or Origin is not this server's, or the path is not below the root.",
    },
    404: {"model": ErrorAnswer, "description": "The name does not exist."},
    409: {"model": ErrorAnswer, "description": "A conflict, no solution, or a requirement that is not met."},
    413: {"model": ErrorAnswer, "description": "A limit of memory, disk or size was reached."},
    422: {"model": ErrorAnswer, "description": "The request does not match the described schema."},
    429: {"model": ErrorAnswer, "description": "Too many attempts or jobs; try again later."},
    500: {"model": ErrorAnswer, "description": "A bug of discreet."},
}


def wrap_error(error: BaseException) -> DiscreetError:
    """Return the error if it is a ``DiscreetError``, else the kind that it belongs to, without its text."""
    if isinstance(error, DiscreetError):
        return error
    if isinstance(error, MemoryError):
        return LimitReached(
            "memory ran out", advice="Give the table fewer columns, or the server more memory."
        )
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        return LimitReached("the disk is full", advice="Free some space.")
    return InternalError(
        f"internal error ({type(error).__name__})",
        advice="Please report it; the log contains its location.",
    )


def error_json(error: BaseException) -> dict[str, Any]:
    """Return ``{"error": {"kind", "message", "allowed", "advice", "field"}}`` for any exception."""
    found = wrap_error(error)
    facts = dict(found.as_json()["error"])
    for part in ("message", "allowed", "advice"):
        facts[part] = screen_message(facts[part])
    facts["field"] = getattr(found, "field", None)
    return {"error": facts}


def error_response(error: BaseException) -> JSONResponse:
    """Build the JSON response of an exception, with its status."""
    found = wrap_error(error)
    headers = {"Retry-After": str(found.seconds)} if isinstance(found, TooMany) else None
    return JSONResponse(error_json(found), status_code=_STATUS.get(found.kind, 500), headers=headers)


def install_error_handlers(app: FastAPI) -> None:
    """Register handlers so that an app answers with these errors instead of its framework's."""

    async def of_discreet(_request: Request, error: Exception) -> JSONResponse:
        return error_response(error)

    async def of_form(_request: Request, error: Exception) -> JSONResponse:
        return (
            _validation_response(error)
            if isinstance(error, RequestValidationError)
            else error_response(error)
        )

    async def of_framework(_request: Request, error: Exception) -> JSONResponse:
        return _framework_response(error) if isinstance(error, HTTPException) else error_response(error)

    app.add_exception_handler(DiscreetError, of_discreet)
    app.add_exception_handler(RequestValidationError, of_form)
    app.add_exception_handler(HTTPException, of_framework)


def _validation_response(error: RequestValidationError) -> JSONResponse:
    """Build the response to the first error in a request's form; it does not repeat the value."""
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"] if part not in ("body", "query", "path")]
    field = ".".join(parts) or None
    found = FieldError(f"{field or 'the request'}: {first['msg'].lower()}", field=field or "")
    return JSONResponse(error_json(found), status_code=422)


_HTTP_MESSAGES = {
    404: ("not-found", "there is nothing at this address"),
    405: ("not-allowed", "method not allowed"),
}


def _framework_response(error: HTTPException) -> JSONResponse:
    kind, message = _HTTP_MESSAGES.get(error.status_code, ("bad-input", "the request cannot be read"))
    facts = {"kind": kind, "message": message, "allowed": None, "advice": None, "field": None}
    return JSONResponse({"error": facts}, status_code=error.status_code, headers=error.headers)
