"""Request and answer bodies of the Negotiate screen: the request, the chosen node, REST and socket messages.

A request has the form of the spec's ``[request]``. The chosen node is stored in the workspace and read when a
release is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_serializer,
)

from discreet.errors import InputError
from discreet.measures.cost_registry import cost_named
from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import criteria_from, plain_values
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import CostRequest, Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.spec.request_section import read_cost
from discreet.web.error_responses import FieldError
from discreet.web.workspace import Workspace

_MAX_THRESHOLD = 10**15
DEFAULT_K = 5
"""The k of the initial request if the spec sets no criterion."""

DEFAULT_L = 2
"""The l of that request if a column is sensitive."""

DEFAULT_LIMIT = "1%"
"""The limit of suppressed rows of that request."""


ThresholdValue = Annotated[int, Field(ge=1, le=_MAX_THRESHOLD)]
JsonNumber = StrictInt | StrictFloat
CriteriaValues = Annotated[
    dict[str, JsonNumber | dict[str, JsonNumber] | list[dict[str, JsonNumber | StrictBool | StrictStr]]],
    Field(
        default_factory=dict,
        max_length=100,
        description="Further criteria by name: a number, numbers by sensitive attribute, or a list of tables "
        "with value, attribute and the criterion's fixed parts.",
    ),
]


class CriteriaBody(BaseModel):
    """Base of bodies with criteria in addition to k and l; its JSON omits the key if there are none."""

    criteria: CriteriaValues

    @model_serializer(mode="wrap")
    def _without_none(self, inner: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = inner(self)
        criteria = found.pop("criteria", None)  # appended last, as in the pages' own requests
        cost = found.pop("cost", None)
        found |= {"criteria": criteria} if criteria else {}
        return found | {"cost": cost} if cost is not None else found

    def further_criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria; raise ``FieldError`` for an unknown name or a wrong value."""
        try:
            return criteria_from(self.criteria)
        except InputError as error:
            raise FieldError.of(error, "criteria") from None


def criteria_json(criteria: Iterable[Criterion]) -> dict[str, Any]:
    """Return the criteria other than k and l in the form of the pages."""
    return plain_values([one for one in criteria if not one.has_keyword])


class RequestBody(CriteriaBody):
    """A publisher's request: k, l and further criteria, a limit of suppressed rows, and bounds on levels."""

    model_config = ConfigDict(extra="forbid")

    k: int | None = Field(
        None, ge=1, le=_MAX_THRESHOLD, description="Rows (or subjects) that each class must have."
    )
    l: ThresholdValue | dict[str, ThresholdValue] | None = Field(
        None, description="Distinct sensitive values per class: a number, or numbers by sensitive attribute."
    )
    max_suppressed: int | str = Field(
        0, description='Rows that may be suppressed: a number, or a percentage such as "1%".'
    )
    max_level: dict[str, int] = Field(
        default_factory=dict, description="The greatest level by quasi-identifier, by default its top."
    )
    min_level: dict[str, int] = Field(
        default_factory=dict, description="The least level by quasi-identifier, by default 0."
    )
    scope: Literal["above", "global"] = Field(
        "above",
        description="The nodes for relaxing the height: above the request's height, or all.",
    )

    cost: StrictStr | dict[str, JsonNumber | StrictBool | StrictStr] | None = Field(
        None,
        description="The cost of the frontier, instead of height and loss: its name, or a table with name "
        "and options.",
    )

    def named_cost(self) -> NamedCost | None:
        """Return the requested cost; raise ``FieldError`` for an unknown name or option."""
        try:
            cost = read_cost(self.cost, "the request", ("cost",))
        except InputError as error:
            raise FieldError.of(error, "cost") from None
        return None if cost is None else cost_named(cost.name, **dict(cost.options))

    def request(self) -> Request:
        """Return the body as a ``Request``; raise ``InputError`` for values that are not allowed."""
        criteria = self.further_criteria()
        if self.k is None and self.l is None and not criteria:
            raise FieldError(
                "no privacy criterion was given", field="k", allowed="k, l, or another criterion"
            )
        return Request.of(
            k=self.k,
            l=self.l,
            max_suppressed=self.max_suppressed,
            max_level=self.max_level,
            min_level=self.min_level,
            scope=self.scope,
            criteria=criteria,
        )

    @classmethod
    def of_spec(cls, spec: TableSpec) -> RequestBody:
        """Build the request of a spec, with defaults if the spec sets at most an l.

        The defaults are ``DEFAULT_K`` and ``DEFAULT_LIMIT``. ``DEFAULT_L`` is added if a column is sensitive:
        without it a class may have a single sensitive value.
        """
        defaults = spec.request
        silent = defaults.k is None and not defaults.criteria
        limit = defaults.max_suppressed
        if limit is None:
            limit = DEFAULT_LIMIT if silent else 0
        return cls(
            k=DEFAULT_K if silent else defaults.k,
            l=DEFAULT_L
            if silent and defaults.l is None and spec.sensitive
            else (dict(defaults.l) if isinstance(defaults.l, Mapping) else defaults.l),
            max_suppressed=limit,
            max_level=dict(defaults.max_level),
            min_level=dict(defaults.min_level),
            scope="global" if defaults.scope == "global" else "above",
            criteria=criteria_json(defaults.criteria),
            cost=_cost_json(defaults.cost),
        )

    @classmethod
    def of_request(cls, request: Request, cost: Any = None) -> RequestBody:
        """Convert a request to the form of the pages, with the cost of its frontier."""
        limit = request.max_suppressed
        return cls(
            k=request.requirement.k,
            l=request.requirement.l_as_json(),
            max_suppressed=str(limit) if limit.percent is not None else limit.rows or 0,
            max_level=dict(request.max_level),
            min_level=dict(request.min_level),
            scope="global" if request.scope == "global" else "above",
            criteria=criteria_json(request.requirement.others),
            cost=cost,
        )

    def as_spec(self) -> dict[str, Any]:
        """Return the spec's ``[request]``: the values set, without those that equal the defaults."""
        found = self.model_dump(exclude_none=True)
        found |= found.pop("criteria", {})
        set_tables = {key: value for key, value in found.items() if value != {}}
        if set_tables["scope"] == "above":
            del set_tables["scope"]
        return set_tables


def _cost_json(cost: CostRequest | None) -> Any:
    if cost is None:
        return None
    return {"name": cost.name, **dict(cost.options)} if cost.options else cost.name


_STATE_KEY = "choice"


class RequirementBody(CriteriaBody):
    """k, l, and further criteria."""

    k: int | None = None
    l: int | dict[str, int] | None = None


class ChosenNode(BaseModel):
    """The levels to publish and the request for which they were chosen."""

    levels: dict[str, int] = Field(description="The level of each quasi-identifier.")
    heights: dict[str, int] = Field(default_factory=dict, description="The top level of each.")
    requirement: RequirementBody = Field(description="The requirement of the release.")
    max_suppressed: int | str = Field(description="The limit of suppressed rows.")
    height: int
    loss: float = Field(description="Loss with no row suppressed.")
    suppressed: int = Field(description="Suppressed rows.")
    rows: int = Field(description="Rows of the table.")
    unit: str = Field("rows", description="The unit of group sizes: rows, or subjects.")
    homogeneous: dict[str, int] = Field(
        default_factory=dict,
        description="Published groups in which everyone has the same value, by sensitive attribute.",
    )
    request: RequestBody = Field(description="The request.")
    of: str = Field("", description="Digest of the table and its hierarchies.")
    stale: bool = Field(False, description="True if these have changed since.")


def read_chosen_node(workspace: Workspace) -> ChosenNode | None:
    """Return the chosen node; None if there is none, or if the quasi-identifiers have changed since."""
    with suppress(InputError, ValidationError):
        choice = ChosenNode.model_validate(workspace.state(_STATE_KEY))
        if workspace.has_spec and set(choice.levels) == {a.name for a in workspace.spec().quasi_identifiers}:
            return choice.model_copy(update={"stale": choice.of != workspace.table_digest()})
    return None


def write_chosen_node(workspace: Workspace, choice: ChosenNode | None) -> None:
    """Store the chosen node; None removes it."""
    workspace.set_state(_STATE_KEY, None if choice is None else choice.model_dump())
    workspace.record_version()


def last_request(workspace: Workspace) -> RequestBody:
    """Return the last request, with at least the spec's least levels; the spec's request if there is none.

    Parts about columns that now have another role are left out; k and the limit are unchanged.
    """
    spec = workspace.spec()
    with suppress(ValidationError):
        found = _fit_to_spec(RequestBody.model_validate(workspace.state("request")), spec)
        with suppress(InputError):
            found.request()
            return found.model_copy(update={"min_level": {**spec.request.min_level, **found.min_level}})
    return RequestBody.of_spec(spec)


def _fit_to_spec(request: RequestBody, spec: TableSpec) -> RequestBody:
    """Return a request without the parts about columns that are no longer quasi-identifiers or sensitive."""
    keys, values = ({a.name for a in each} for each in (spec.quasi_identifiers, spec.sensitive))
    l: Any = request.l
    if isinstance(l, dict):
        l = {name: least for name, least in l.items() if name in values} or None
    elif not values:
        l = None
    return request.model_copy(
        update={
            "l": l,
            "criteria": _installed_criteria(_criteria_of_attributes(request.criteria, values), values),
            "max_level": {name: level for name, level in request.max_level.items() if name in keys},
            "min_level": {name: level for name, level in request.min_level.items() if name in keys},
        }
    )


def _criteria_of_attributes(criteria: dict[str, Any], values: set[str]) -> dict[str, Any]:
    """Return criteria without those of attributes that are not in ``values``."""
    result: dict[str, Any] = {}
    for name, bounds in criteria.items():
        if isinstance(bounds, list):
            remaining: Any = [each for each in bounds if each.get("attribute", None) in (None, *values)]
        elif isinstance(bounds, dict):
            remaining = {attribute: value for attribute, value in bounds.items() if attribute in values}
        else:
            remaining = bounds
        if remaining or not isinstance(remaining, dict | list):
            result[name] = remaining
    return result


def _installed_criteria(criteria: dict[str, Any], values: set[str]) -> dict[str, Any]:
    """Return criteria without those that are not installed or do not apply to the sensitive attributes."""
    result = {}
    for name, bounds in criteria.items():
        with suppress(InputError):
            Requirement.of(criteria=criteria_from({name: bounds})).bound(sorted(values))
            result[name] = bounds
    return result


def request_with_default_l(
    workspace: Workspace, names: list[str], before: list[str]
) -> dict[str, Any] | None:
    """Return the last request with ``DEFAULT_L`` for columns that become sensitive; None if it is unchanged.

    ``before`` are the columns that are sensitive already; the l requested of them is kept.
    """
    stored = workspace.state("request")
    if not names or not isinstance(stored, dict):
        return None
    least = stored.get("l")
    if isinstance(least, int) and least >= DEFAULT_L:
        return None  # a number applies to every sensitive column
    old = dict(least) if isinstance(least, dict) else {}
    l = {**old, **{name: DEFAULT_L for name in names if name not in old}} if before or old else DEFAULT_L
    return {**stored, "l": l}


_MAX_PAGE = 2000
LevelsByAttribute = dict[str, int]


class StrictBody(BaseModel):
    """Base of bodies without further keys."""

    model_config = ConfigDict(extra="forbid")


class RequestOnly(StrictBody):
    """A request."""

    request: RequestBody


class EvaluationBody(StrictBody):
    """The criteria for which the lattice is evaluated."""

    request: RequestBody | None = Field(
        None, description="A request; without one, k and every l are counted."
    )


class AnswerBody(RequestOnly):
    """A request, and the node to summarize (by default the answer's node)."""

    levels: LevelsByAttribute | None = Field(None, description="Levels by quasi-identifier, by default 0.")


class NodeBody(RequestOnly):
    """A node under a request."""

    levels: LevelsByAttribute = Field(description="Levels by quasi-identifier, by default 0.")


class ComparisonBody(RequestOnly):
    """Nodes to compare under one request."""

    nodes: list[LevelsByAttribute] = Field(min_length=1, max_length=8)


class RowsBody(NodeBody):
    """A node whose rows are previewed."""

    number: int = Field(6, ge=1, le=50, description="Row types to show.")


class NodesBody(RequestOnly):
    """A page of the table of nodes."""

    first: int = Field(0, ge=0, le=10**9, description="Number of nodes to skip.")
    number: int = Field(50, ge=1, le=_MAX_PAGE)
    order: Literal["height", "suppressed", "loss"] = "height"
    only: Literal["all", "meets", "frontier"] = "all"


class AttributePair(BaseModel):
    """Two quasi-identifiers seen together: how often ``name`` has ``value`` in each group of ``by``."""

    name: str
    value: str
    by: str


class PreviewRequest(BaseModel):
    """Views of a node in addition to the distributions: two attributes together, and one count query."""

    together: AttributePair | None = None
    question: dict[str, Annotated[list[str], Field(max_length=10_000)]] | None = Field(
        None, description="Values by quasi-identifier, whose rows are counted."
    )

    def checked(self, table: FrequencySet) -> PreviewRequest:
        """Return the request itself; raise ``FieldError`` for a name or value that is not in the table."""
        known = {h.attribute: h.code_of_leaf for h in table.hierarchies}
        questions = [(name, value) for name, values in (self.question or {}).items() for value in values]
        if self.together is not None:
            questions.append((self.together.name, self.together.value))
            questions += [(self.together.by, leaf) for leaf in [*known.get(self.together.by, {None: 0})][:1]]
        for name, value in questions:
            if name not in known:
                raise FieldError(
                    f"{name} is not a quasi-identifier", field="question", allowed=", ".join(known)
                )
            if value not in known[name]:
                raise FieldError(f"{name} has no value {value!r}", field="question")
        return self


class SocketMove(RequestOnly):
    """A message of a page over the socket: a request, the node shown, and the optional parts."""

    looks: PreviewRequest | None = Field(None, description="Send the effects of the node, and these.")

    id: int = Field(0, ge=0, le=2**53)
    levels: LevelsByAttribute | None = None
    frontier: bool = Field(False, description="Send the frontier.")


class ScreenState(BaseModel):
    """The state of the negotiation."""

    evaluated: bool = Field(description="True if the lattice is evaluated, so that requests can be answered.")
    job: str | None = Field(description="The job that evaluates it, if one was started.")
    request: RequestBody = Field(description="The last request, else the spec's.")
    choice: ChosenNode | None = Field(description="The chosen node.")
    requests: int = Field(description="Requests in the history.")
    heights: list[int] = Field(description="The top level of each hierarchy, if known.")


class EvaluationStarted(BaseModel):
    """The job to follow; null if the lattice is already evaluated."""

    job: str | None
    evaluated: bool
