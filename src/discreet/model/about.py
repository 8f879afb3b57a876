"""What people say of a release for its report, and in which language it is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """What a report quotes as its publisher's own words; None is left blank, to be filled in by hand.

    ``language`` is the code of the report's language; None is English.
    """

    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    threat_model: str | None = None
    population: str | None = None
    controls: str | None = None
    prepared_by: str | None = None
    valid_until: str | None = None
    language: str | None = None
