"""What people say of a release for its report: ``[report]`` of a spec, or a TOML file of the same keys.

::

    title = "Emergency visits 2024, for the university"
    purpose = "A study of waiting times."
    recipient = "The institute for public health, under a data use agreement."
    threat_model = "Staff of the institute who know a patient. Attempts are logged."
    language = "de"
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from discreet.errors import InputError
from discreet.model.about import About
from discreet.places.regular_file import read_text
from discreet.spec.problems import StrictTable, validated
from discreet.spec.toml_text import toml_of

_TEXT = "a text"


class ReportTable(StrictTable):
    """``[report]``."""

    title: str | None = Field(
        None, description=_TEXT, title="The report's title.", examples=['"Emergency visits 2024"']
    )
    purpose: str | None = Field(
        None, description=_TEXT, title="What the release is for.", examples=['"A study of waiting times."']
    )
    recipient: str | None = Field(
        None, description=_TEXT, title="Who gets it.", examples=['"The institute for public health."']
    )
    threat_model: str | None = Field(
        None,
        description=_TEXT,
        title="Who might attack, and knowing what.",
        examples=['"Staff who know a patient."'],
    )
    population: str | None = Field(
        None,
        description=_TEXT,
        title="Of whom the table was drawn.",
        examples=['"All visits of the city\'s five hospitals."'],
    )
    controls: str | None = Field(
        None,
        description=_TEXT,
        title="What keeps the recipient from trying.",
        examples=['"A secure room without network."'],
    )
    prepared_by: str | None = Field(
        None, description=_TEXT, title="Who prepared the release.", examples=['"The records office"']
    )
    valid_until: str | None = Field(
        None, description=_TEXT, title="Until when the report is to be trusted.", examples=['"2027-12-31"']
    )
    language: str | None = Field(
        None,
        description='the code of a language in quotes, such as "de"',
        title="The language of the report; English where left out.",
        examples=['"de"'],
    )


def load_about(path: Path) -> About:
    """Read such a file; ``InputError`` where it cannot be read or says something else."""
    try:
        document = toml_of(read_text(path, str(path)))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path} is no TOML: {error}", allowed="TOML in UTF-8") from None
    return About(**validated(ReportTable, document, label=str(path), key=()).model_dump())


def read_about(content: object, label: str) -> About:
    """The words of ``[report]``; none where the spec has none."""
    return About(**validated(ReportTable, content, label=label, key=("report",)).model_dump())
