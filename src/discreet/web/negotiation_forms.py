"""The forms and answers of the Negotiate screen: what is asked and told over REST and the socket."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from discreet.model.frequency_set import FrequencySet
from discreet.web.chosen_node import ChosenNode
from discreet.web.problems import FieldError
from discreet.web.requests import RequestBody

_MOST_SHOWN = 2000
Levels = dict[str, int]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RequestOnly(_Body):
    """A request."""

    request: RequestBody


class EvaluationBody(_Body):
    """What the lattice is to answer."""

    request: RequestBody | None = Field(None, description="A request; without one k and every l are counted.")


class AnswerBody(RequestOnly):
    """A request, and the node to sum up (the answer's own where none is given)."""

    levels: Levels | None = Field(None, description="A node, by quasi-identifier; 0 where not named.")


class NodeBody(RequestOnly):
    """A node under a request."""

    levels: Levels = Field(description="A node, by quasi-identifier; 0 where not named.")


class ComparisonBody(RequestOnly):
    """Nodes to put side by side under one request."""

    nodes: list[Levels] = Field(min_length=1, max_length=8)


class RowsBody(NodeBody):
    """A node whose rows to preview."""

    number: int = Field(6, ge=1, le=50, description="Row types to show.")


class NodesBody(RequestOnly):
    """A page of the table of nodes."""

    first: int = Field(0, ge=0, le=10**9, description="How many nodes to pass over.")
    number: int = Field(50, ge=1, le=_MOST_SHOWN)
    order: Literal["height", "suppressed", "loss"] = "height"
    only: Literal["all", "meets", "frontier"] = "all"


class Together(BaseModel):
    """Two quasi-identifiers seen together: how often ``name`` has ``value`` in each group of ``by``."""

    name: str
    value: str
    by: str


class Looks(BaseModel):
    """What a page shows of a node beside the distributions: two attributes together, and one question."""

    together: Together | None = None
    question: dict[str, Annotated[list[str], Field(max_length=10_000)]] | None = Field(
        None, description="How many rows have these values, by quasi-identifier?"
    )

    def checked(self, table: FrequencySet) -> Looks:
        """Itself; ``FieldError`` for a name or a value that the table does not have."""
        known = {h.attribute: h.code_of_leaf for h in table.hierarchies}
        asked = [(name, value) for name, values in (self.question or {}).items() for value in values]
        if self.together is not None:
            asked.append((self.together.name, self.together.value))
            asked += [(self.together.by, leaf) for leaf in [*known.get(self.together.by, {None: 0})][:1]]
        for name, value in asked:
            if name not in known:
                raise FieldError(f"{name} is no quasi-identifier", field="question", allowed=", ".join(known))
            if value not in known[name]:
                raise FieldError(f"{name} has no value {value!r}", field="question")
        return self


class Move(RequestOnly):
    """What a page sends over the socket: a request, the node it looks at, and what else it wants."""

    looks: Looks | None = Field(None, description="Send the effects of the node, and these.")

    id: int = Field(0, ge=0, le=2**53)
    levels: Levels | None = None
    frontier: bool = Field(False, description="Send the frontier.")


class ScreenState(BaseModel):
    """Where the negotiation stands."""

    evaluated: bool = Field(description="Whether the lattice is there, so that requests can be answered.")
    job: str | None = Field(description="The job that evaluates it, if one was started.")
    request: RequestBody = Field(description="The request asked last, else the spec's.")
    choice: ChosenNode | None = Field(description="The node that was chosen.")
    requests: int = Field(description="Requests in the history.")
    heights: list[int] = Field(description="The top level of each hierarchy, where these are known.")


class EvaluationStarted(BaseModel):
    """The job to follow; null where there is nothing to wait for."""

    job: str | None
    evaluated: bool
