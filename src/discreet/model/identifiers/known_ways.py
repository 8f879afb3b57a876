"""The ways that there are: loading this module registers them all."""

from __future__ import annotations

from discreet.model.identifiers import keyed_hash, mask, pseudonyms
from discreet.model.identifiers.base import WAYS, IdentifierWay

BUILT_IN = (keyed_hash.__name__, mask.__name__, pseudonyms.__name__)


def known_ways() -> dict[str, type[IdentifierWay]]:
    """All ways by name."""
    return dict(WAYS)
