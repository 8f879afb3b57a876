"""A request as the pages send it: the spec's ``[request]`` in form and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    model_serializer,
)

from discreet.errors import InputError
from discreet.measures.costs import cost_named
from discreet.measures.named_cost import NamedCost
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.plain import plain
from discreet.model.criteria.registry import criteria_from
from discreet.model.request import AskedCost, Request
from discreet.model.table_spec import TableSpec
from discreet.spec.costs import read_cost
from discreet.web.problems import FieldError

_LARGEST = 10**15
FIRST_K = 5
"""The k that is asked where the spec asks for nothing."""

FIRST_L = 2
"""The l that goes with it where a column is sensitive."""

FIRST_LIMIT = "1%"
"""The limit of suppressed rows that goes with it."""


Threshold = Annotated[int, Field(ge=1, le=_LARGEST)]
Number = StrictInt | StrictFloat
CriteriaValues = Annotated[
    dict[str, Number | dict[str, Number] | list[dict[str, Number | StrictBool | StrictStr]]],
    Field(
        default_factory=dict,
        max_length=100,
        description="Further criteria by name: a number, numbers by sensitive attribute, or a list of tables "
        "with value, attribute and the criterion's fixed parts.",
    ),
]


class Asking(BaseModel):
    """What may ask for criteria beside k and l; where none is asked, its JSON has no word of them."""

    criteria: CriteriaValues

    @model_serializer(mode="wrap")
    def _without_none(self, inner: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = inner(self)
        criteria = found.pop(
            "criteria", None
        )  # behind the others, where it stands in the pages' own requests
        cost = found.pop("cost", None)
        found |= {"criteria": criteria} if criteria else {}
        return found | {"cost": cost} if cost is not None else found

    def further(self) -> tuple[Criterion, ...]:
        """The criteria; ``FieldError`` for a name or a value that is none."""
        try:
            return criteria_from(self.criteria)
        except InputError as error:
            raise FieldError(
                error.message, field="criteria", allowed=error.allowed, advice=error.advice
            ) from None


def values_of(criteria: Iterable[Criterion]) -> dict[str, Any]:
    """Criteria beside k and l as the pages send them."""
    return plain([one for one in criteria if not one.has_keyword])


class RequestBody(Asking):
    """A publisher's wish: k, l and further criteria, a limit of suppressed rows, levels to stay between."""

    model_config = ConfigDict(extra="forbid")

    k: int | None = Field(
        None, ge=1, le=_LARGEST, description="Rows (or subjects) that each class must have."
    )
    l: Threshold | dict[str, Threshold] | None = Field(
        None, description="Distinct sensitive values per class: a number, or numbers by sensitive attribute."
    )
    max_suppressed: int | str = Field(
        0, description='Rows that may be suppressed: a number, or a percentage such as "1%".'
    )
    max_level: dict[str, int] = Field(
        default_factory=dict, description="The greatest level by quasi-identifier; its top where not named."
    )
    min_level: dict[str, int] = Field(
        default_factory=dict, description="The least level by quasi-identifier; 0 where not named."
    )
    scope: Literal["above", "global"] = Field(
        "above",
        description="Where the relaxation of height looks: above the request's own height, or anywhere.",
    )

    cost: StrictStr | dict[str, Number | StrictBool | StrictStr] | None = Field(
        None,
        description="What the frontier weighs against suppression, in place of height and loss: a cost's "
        "name, or a table with name and its options.",
    )

    def named_cost(self) -> NamedCost | None:
        """The cost that is asked; ``FieldError`` for a name or an option that is none."""
        try:
            asked = read_cost(self.cost, "the request", ("cost",))
        except InputError as error:
            raise FieldError(
                error.message, field="cost", allowed=error.allowed, advice=error.advice
            ) from None
        return None if asked is None else cost_named(asked.name, **dict(asked.options))

    def request(self) -> Request:
        """The request itself; ``InputError`` for values that are not allowed."""
        criteria = self.further()
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
        """What the spec asks for; ``FIRST_K`` and ``FIRST_LIMIT`` where it asks for nothing but an l.

        ``FIRST_L`` is asked where a column is sensitive: without it a group may have one value only.
        """
        defaults = spec.request
        silent = defaults.k is None and not defaults.criteria
        limit = defaults.max_suppressed
        if limit is None:
            limit = FIRST_LIMIT if silent else 0
        return cls(
            k=FIRST_K if silent else defaults.k,
            l=FIRST_L if silent and defaults.l is None and spec.sensitive else _plain(defaults.l),
            max_suppressed=limit,
            max_level=dict(defaults.max_level),
            min_level=dict(defaults.min_level),
            scope="global" if defaults.scope == "global" else "above",
            criteria=values_of(defaults.criteria),
            cost=_plain_cost(defaults.cost),
        )

    @classmethod
    def of_request(cls, request: Request) -> RequestBody:
        """A request as the pages send it."""
        limit = request.max_suppressed
        return cls(
            k=request.requirement.k,
            l=request.requirement.l_as_json(),
            max_suppressed=str(limit) if limit.percent is not None else limit.rows or 0,
            max_level=dict(request.max_level),
            min_level=dict(request.min_level),
            scope="global" if request.scope == "global" else "above",
            criteria=values_of(request.requirement.others),
            cost=None,
        )

    def as_spec(self) -> dict[str, Any]:
        """The spec's ``[request]``: what was asked, and nothing that is the default anyway."""
        found = self.model_dump(exclude_none=True)
        found |= found.pop("criteria", {})
        kept = {key: value for key, value in found.items() if value != {}}
        if kept["scope"] == "above":
            del kept["scope"]
        return kept


def _plain_cost(asked: AskedCost | None) -> Any:
    if asked is None or not asked.options:
        return None if asked is None else asked.name
    return {"name": asked.name, **dict(asked.options)}


def _plain(l: int | Mapping[str, int] | None) -> int | dict[str, int] | None:
    return dict(l) if isinstance(l, Mapping) else l
