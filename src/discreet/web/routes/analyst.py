"""Routes of screen 5, Analyst: answers with bounds, metrics and distributions of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isinf
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.screens.release_comparison import compare_distributions, query_group, true_answers
from discreet.verbs.release_query import QueryRow, query
from discreet.verbs.run_context import Reporter
from discreet.web.error_responses import RESPONSES, FieldError, NotFound
from discreet.web.job_queue import JobStarted
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.workspace_releases import (
    ReleaseChoice,
    ReleaseName,
    choice_facts,
    find_release,
    is_comparable,
    list_releases,
    original_of,
)

router = APIRouter(prefix="/api/analyst", tags=["analyst"], responses=RESPONSES)


class SubjectAnswer(ReleaseChoice):
    """A release that can be queried, with example queries."""

    examples: list[str]


class AnalystAnswer(BaseModel):
    """Initial data of the screen."""

    releases: list[SubjectAnswer]


class QueryBody(BaseModel):
    """An aggregate query of a release."""

    release: ReleaseName
    sql: str = Field(max_length=20_000)


class AnswerRow(BaseModel):
    """One aggregate of one group; ``truth`` is null if it is not known."""

    group: dict[str, str | int | float | bool | None]
    aggregate: str
    lower: float | int | None
    upper: float | int | None
    estimate: float | int | None
    truth: float | None
    holds: bool | None = Field(description="True if the true answer is within the bounds; null: not known.")


class QueryAnswer(BaseModel):
    """The answers of a query."""

    columns: list[str]
    rows: list[AnswerRow]
    sql: str | None = Field(description="The rewritten query, if it was rewritten.")
    warnings: list[str]
    truth: bool = Field(description="True if the original was queried too.")
    suppressed: int = Field(description="Rows of the original that the release does not show.")


class MeasureBody(BaseModel):
    """The release to measure."""

    release: ReleaseName


@router.get("", summary="Releases that can be queried")
def overview(workspace: CurrentWorkspace) -> AnalystAnswer:
    """Return the releases of the workspace, each with example queries."""
    return AnalystAnswer(
        releases=[
            SubjectAnswer(**choice_facts(workspace, facts), examples=facts.example_queries)
            for facts in list_releases(workspace)
        ]
    )


@router.post("/query", summary="Query a release")
def ask(body: QueryBody, workspace: CurrentWorkspace) -> QueryAnswer:
    """Return bounds and estimate of each group and aggregate, and the true answer if it is known."""
    facts = find_release(workspace, body.release)
    if not body.sql.strip():
        raise FieldError("the query is empty", field="sql", advice="Enter one, such as SELECT COUNT(*).")
    table = original_of(workspace, facts)
    found = query(facts.address, body.sql, spec=table, settings=workspace.settings)
    truth = {} if table is None else true_answers(table, body.sql)
    rows = []
    for row in found.rows:
        known = truth.get((query_group(tuple(row.group.values())), row.aggregate))
        rows.append(
            AnswerRow(
                group={name: _json_value(value) for name, value in row.group.items()},
                aggregate=row.aggregate,
                lower=_finite(row.lower),
                upper=_finite(row.upper),
                estimate=row.estimate,
                truth=known,
                holds=_is_within_bounds(known, row.lower, row.upper),
            )
        )
    return QueryAnswer(
        columns=list(found.columns),
        rows=rows,
        sql=found.sql,
        warnings=[*found.warnings, *_infinite_bound_warnings(found.rows)],
        truth=table is not None,
        suppressed=facts.as_json()["suppressed"],
    )


@router.post("/jobs", summary="Measure a release against its original", status_code=202)
def measure(body: MeasureBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that computes every metric, the loss by attribute, and both distributions."""
    facts = find_release(workspace, body.release)
    if not is_comparable(workspace, facts):
        raise NotFound(
            "the original of this release is not loaded", advice="Load the table that it was made from."
        )

    def work(_reporter: Reporter) -> dict[str, Any]:
        table = workspace.table()
        compared = table.compare(facts.address)
        return {
            "release": facts.name,
            "rows": compared.rows,
            "suppressed": compared.suppressed,
            "metrics": [
                {
                    "name": m.metric.name,
                    "title": m.metric.title,
                    "definition": m.metric.definition,
                    "unit": m.metric.unit,
                    "better": str(m.metric.better),
                    "value": m.json_value,
                }
                for m in compared.metrics
            ],
            "loss": dict(compared.losses),
            "distributions": [asdict(each) for each in compare_distributions(table, facts.address)],
            "warnings": list(compared.warnings),
        }

    return JobStarted(job=jobs.start(f"Measuring {facts.name}", work))


def _json_value(value: Any) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _finite(bound: float | None) -> float | None:
    return None if bound is None or isinf(bound) else bound


def _infinite_bound_warnings(rows: Sequence[QueryRow]) -> list[str]:
    """Return a warning about infinite bounds, which JSON cannot show."""
    if not any(bound is not None and isinf(bound) for row in rows for bound in (row.lower, row.upper)):
        return []
    return [
        "Missing bounds are infinite: labels such as ≥90 or * have none. Add a condition such as age <= 120."
    ]


def _is_within_bounds(truth: float | None, lower: float | None, upper: float | None) -> bool | None:
    if truth is None or lower is None or upper is None:
        return None
    slack = 1e-9 * max(1.0, abs(lower), abs(upper))
    return lower - slack <= truth <= upper + slack
