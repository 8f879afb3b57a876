"""Values of the keys that say how a source is read: encodings, formats, engines."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from discreet.engines.files.sources import FORMATS
from discreet.engines.registry import ENGINES
from discreet.spec.problems import Wrong


def _encoding(value: object) -> object:
    try:
        "a".encode(value) if isinstance(value, str) else None
    except (LookupError, UnicodeError, ValueError):
        raise Wrong((), value) from None
    return value


def _encoding_or_none(value: object) -> object:
    return None if value is None else _encoding(value)


def _format(value: object) -> object:
    if value is not None and value not in list(FORMATS):
        raise Wrong((), value)
    return value


def _engine(value: object) -> object:
    names = [engine.name for engine in ENGINES if engine.on_request]
    if value is not None and value not in names:
        raise Wrong((), value, allowed=", ".join(names))
    return value


Encoding = Annotated[str, BeforeValidator(_encoding)]
EncodingOrNone = Annotated[str | None, BeforeValidator(_encoding_or_none)]
FormatName = Annotated[str | None, BeforeValidator(_format)]
EngineName = Annotated[str | None, BeforeValidator(_engine)]
