"""Answers of a negotiation that were saved by name, to be compared: kept in the workspace."""

from __future__ import annotations

from contextlib import suppress

from pydantic import BaseModel, Field, ValidationError, computed_field

from discreet.web.problems import Conflict, FieldError
from discreet.web.request_words import request_words
from discreet.web.requests import RequestBody
from discreet.web.workspace import Workspace

_STATE = "saved"
MOST = 20
"""Answers that a workspace keeps: more are not told apart by eye."""


class SavedAnswer(BaseModel):
    """A node with the request that it was found for."""

    name: str = Field(min_length=1, max_length=80)
    levels: dict[str, int] = Field(description="The level of each quasi-identifier.")
    request: RequestBody
    suppressed: int | None = Field(None, description="Rows that it suppresses, where this was noted.")
    detail: float | None = Field(None, description="The detail that it keeps, likewise.")
    of: str = Field("", description="What the table and its hierarchies were then.")
    stale: bool = Field(False, description="They have changed since: it must be asked again.")

    @computed_field(description="What was asked, in words.")  # type: ignore[prop-decorator]
    @property
    def asked(self) -> str:
        """The whole request in words."""
        return request_words(self.request.model_dump())


def saved_answers(workspace: Workspace) -> list[SavedAnswer]:
    """The saved answers that fit the table's quasi-identifiers, the oldest first."""
    if not workspace.has_spec:
        return []
    names = {a.name for a in workspace.spec().quasi_identifiers}
    digest, found = workspace.table_digest(), []
    for each in workspace.state(_STATE) or []:
        with suppress(ValidationError):
            answer = SavedAnswer.model_validate(each)
            if set(answer.levels) == names:
                found.append(answer.model_copy(update={"stale": answer.of != digest}))
    return found


def save_answer(workspace: Workspace, answer: SavedAnswer) -> None:
    """Keep an answer; one of its name is replaced. ``Conflict`` where there are too many."""
    name = answer.name.strip()
    if not name:
        raise FieldError("the answer has no name", field="name")
    with workspace.editing:
        others = [each for each in saved_answers(workspace) if each.name != name]
        if len(others) >= MOST:
            raise Conflict(f"{MOST} answers are saved already", advice="Remove one of them first.")
        kept = answer.model_copy(update={"name": name, "of": workspace.table_digest(), "stale": False})
        _write(workspace, [*others, kept])


def remove_answer(workspace: Workspace, name: str) -> None:
    """Forget an answer; nothing where there is none of the name."""
    with workspace.editing:
        _write(workspace, [each for each in saved_answers(workspace) if each.name != name])


def _write(workspace: Workspace, answers: list[SavedAnswer]) -> None:
    workspace.set_state(_STATE, [each.model_dump(exclude={"asked"}) for each in answers])
