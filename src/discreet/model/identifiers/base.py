"""A way to publish something in the place of a direct identifier, and the list of the ways.

An identifier is left out of a release unless its attribute names a way. A way replaces each distinct text by
another; what the replacements are made from is the *secret*: bytes that lie in a file of the publisher's own,
or nowhere. A new way is a frozen dataclass in a file of its own here, and ``register_way``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from discreet.errors import InputError


@dataclass(frozen=True)
class Replacements:
    """The texts in the place of others, in their order, and what the secret is now (None: there is none)."""

    texts: tuple[str, ...]
    secret: bytes | None


@dataclass(frozen=True)
class IdentifierWay(ABC):
    """How an identifier is published. ``name`` is the way in the spec and the manifest.

    ``keeps_apart`` says that different texts get different replacements, as a subject's must; ``joins_rows``
    that equal texts get equal ones, so that rows of one person can be linked.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    keeps_apart: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True

    @abstractmethod
    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """The replacements of distinct texts; ``secret`` is what the key's file holds, None where it is new.

        ``InputError`` where the file holds no secret of this way.
        """

    @property
    def key_file(self) -> Path | None:
        """The file of the secret, None where it is kept nowhere."""
        key: Path | None = getattr(self, "key", None)
        return key

    def as_json(self) -> dict[str, Any]:
        """The entry in the manifest: never the secret, nor where it lies."""
        public = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "key"}
        return {"way": self.name, **public}


WAYS: dict[str, type[IdentifierWay]] = {}

_Way = TypeVar("_Way", bound=type[IdentifierWay])


def register_way(way: _Way) -> _Way:
    """List a way; ``InputError`` where its name is taken."""
    if way.name in WAYS:
        raise InputError(f"there is a way '{way.name}' for identifiers already")
    WAYS[way.name] = way
    return way


def refuse_original(originals: Sequence[str], texts: Sequence[str]) -> None:
    """Raise ``InputError`` where a replacement is one of the originals; no value is named."""
    held = set(originals)
    found = sum(text in held for text in texts)
    if found:
        raise InputError(
            f"{found:,} replacements of identifiers are identifiers themselves",
            allowed="replacements that no cell of the column has",
            advice="Choose another way for the column, or leave it out.",
        )


def options_of(way: type[IdentifierWay]) -> Mapping[str, Any]:
    """The options of a way by name, with their defaults."""
    return {field.name: field.default for field in fields(way)}
