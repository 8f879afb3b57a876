"""The values of an attribute that were known before the data: the publisher's word, never a look at rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PublicDomain:
    """The domain of an attribute, which tells nothing of any row as it was fixed before there was one.

    ``values`` are texts of cells, without NULL, each once; None stands for all leaves of the attribute's
    hierarchy, where that was there before the data too (``Given.HIERARCHY``).
    """

    values: tuple[str, ...] | None = None
