"""What people say of a release for its report: a TOML file of texts, each of which may be left out.

::

    title = "Emergency visits 2024, for the university"
    purpose = "A study of waiting times."
    recipient = "The institute for public health, under a data use agreement."
    threat_model = "Staff of the institute who know a patient. Attempts are logged."
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from discreet.errors import InputError
from discreet.places.regular_file import read_text
from discreet.spec.problems import StrictTable, validated

_TEXT = "a text"


@dataclass(frozen=True)
class About:
    """What a report quotes as its publisher's own words; None is left blank, to be filled in by hand."""

    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    threat_model: str | None = None
    population: str | None = None
    controls: str | None = None
    prepared_by: str | None = None
    valid_until: str | None = None


class AboutTable(StrictTable):
    """The keys of the file."""

    title: str | None = Field(None, description=_TEXT)
    purpose: str | None = Field(None, description=_TEXT)
    recipient: str | None = Field(None, description=_TEXT)
    threat_model: str | None = Field(None, description=_TEXT)
    population: str | None = Field(None, description=_TEXT)
    controls: str | None = Field(None, description=_TEXT)
    prepared_by: str | None = Field(None, description=_TEXT)
    valid_until: str | None = Field(None, description=_TEXT)


def load_about(path: Path) -> About:
    """Read such a file; ``InputError`` where it cannot be read or says something else."""
    try:
        document = tomllib.loads(read_text(path, str(path)))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no TOML: {error}", allowed="TOML in UTF-8") from None
    return About(**validated(AboutTable, document, label=str(path), key=()).model_dump())
