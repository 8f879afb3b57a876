"""What the pages are told of a release: its facts, its audit, and what it can be chosen by."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from discreet.verbs.models.registry import title_of
from discreet.verbs.releases import ReleaseFacts
from discreet.web.releases import audit_of, is_comparable
from discreet.web.workspace import Workspace

ReleaseName = Annotated[str, Field(max_length=200)]
"""A release in a body, or an upload: a file's name."""


class ReleaseAnswer(BaseModel):
    """A release as its manifest describes it."""

    name: str
    model: str
    title: str = Field(description="The model's name, as the form of a release has it.")
    date: str
    format: str
    rows: int
    suppressed: int
    k: int | None = None
    classes: int | None = None
    permuted: bool
    permuted_attribute: str | None = None
    levels: dict[str, int]
    quasi_identifiers: list[str]
    sensitive: list[str]
    files: dict[str, str] = Field(description="What can be downloaded, by what it is.")
    tables: dict[str, str] = Field(description="Of a release in a database: its tables and views.")
    warnings: list[str]
    cautions: list[str] = Field(description="What must stand beside a permuted release.")

    @classmethod
    def of(cls, facts: ReleaseFacts) -> ReleaseAnswer:
        """The facts of a release; of a table the manifest can be downloaded, as its companion has it."""
        told = {"title": title_of(facts.manifest.model), **facts.as_json()}
        if facts.address.in_database:
            told["files"] = {"manifest": "manifest.json", **told["files"]}
        return cls.model_validate(told)


class AuditAnswer(BaseModel):
    """What the audit counted in the written file."""

    passed: bool
    rows: int
    classes: int
    k: int
    l: dict[str, int]
    starred: int
    suppressed: int
    failing_classes: int
    class_sizes: dict[str, int]
    warnings: list[str]
    metrics: dict[str, Any]


class AuditedAnswer(BaseModel):
    """A release with its audit."""

    release: ReleaseAnswer
    audit: AuditAnswer

    @classmethod
    def of(cls, workspace: Workspace, facts: ReleaseFacts) -> AuditedAnswer:
        """A release, and what an audit counts in it now."""
        audit = AuditAnswer.model_validate(audit_of(workspace, facts).as_json())
        return cls(release=ReleaseAnswer.of(facts), audit=audit)


class ReleaseChoice(BaseModel):
    """A release that the analyst's or the attacker's screen can be about."""

    name: str
    model: str
    quasi_identifiers: list[str]
    sensitive: list[str]
    cautions: list[str]
    is_file: bool = Field(description="It is a file, and no table of a database.")
    comparable: bool = Field(description="The workspace's table can be its original: truth can be told.")


def choice_facts(workspace: Workspace, facts: ReleaseFacts) -> dict[str, Any]:
    """The fields of a ``ReleaseChoice``."""
    told = facts.as_json()
    names = ("name", "model", "quasi_identifiers", "sensitive", "cautions")
    return {name: told[name] for name in names} | {
        "is_file": not facts.address.in_database,
        "comparable": is_comparable(workspace, facts),
    }
