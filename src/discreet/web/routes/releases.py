"""Screen 7: releases that are there: audited, shown with their evidence, handed over, and removed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, Field

from discreet.report.report import report
from discreet.verbs.releases import read_table_manifest, report_path
from discreet.verbs.reporting import Reporter
from discreet.web.dependencies import CurrentJobs, CurrentWorkspace
from discreet.web.downloads import attached_text, attachment, offline_page
from discreet.web.jobs import JobStarted
from discreet.web.problems import RESPONSES, NotFound
from discreet.web.release_answers import AuditedAnswer, ReleaseAnswer
from discreet.web.releases import (
    all_releases,
    found_release,
    original_of,
    remember_table,
    remove,
    require_passed,
)

router = APIRouter(prefix="/api/publish/releases", tags=["publish"], responses=RESPONSES)

Name = Annotated[str, Path(max_length=200, description="A release's file name.")]
ShortText = Annotated[str, Field(max_length=4000)]


class ReportBody(BaseModel):
    """The publisher's own words; what is left out stays blank in the report."""

    title: ShortText | None = None
    purpose: ShortText | None = None
    recipient: ShortText | None = None
    threat_model: ShortText | None = None
    population: ShortText | None = None
    controls: ShortText | None = None
    prepared_by: ShortText | None = None
    valid_until: ShortText | None = None
    language: ShortText | None = Field(None, description="The code of a language, such as de.")


class Removed(BaseModel):
    """What was removed."""

    removed: list[str]


@router.get("", summary="The releases there are")
def releases(workspace: CurrentWorkspace) -> list[ReleaseAnswer]:
    """Every release of the workspace, the latest first."""
    return [ReleaseAnswer.of(facts) for facts in all_releases(workspace)]


@router.get("/{name}", summary="A release and its audit")
def release(name: Name, workspace: CurrentWorkspace) -> AuditedAnswer:
    """The facts of a release, and what an audit counts in its file now."""
    facts = found_release(workspace, name)
    if facts.address.in_database:
        facts = remember_table(workspace, facts.address)
    return AuditedAnswer.of(workspace, facts)


@router.post("/{name}/report", summary="Write the report of a release", status_code=202)
def write_report(name: Name, body: ReportBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that writes the report; the original's table, where there is one, tells utility."""
    facts = found_release(workspace, name)
    texts = body.model_dump()

    def work(reporter: Reporter) -> dict[str, Any]:
        made = report(
            facts.address,
            output=report_path(facts.address, workspace.releases) if facts.address.in_database else None,
            table=original_of(workspace, facts),
            overwrite=True,
            settings=workspace.settings,
            reporter=reporter,
            **texts,
        )
        made.path.chmod(0o600)
        return {"name": made.path.name, "passed": made.passed}

    return JobStarted(job=jobs.start(f"Writing the report of {facts.name}", work))


@router.get("/{name}/report", summary="The report, to be read here", response_class=Response)
def read_report(name: Name, workspace: CurrentWorkspace) -> Response:
    """The report as a page; ``not-found`` where none was written yet."""
    facts = found_release(workspace, name)
    if "report" not in facts.files:
        raise NotFound("this release has no report yet", advice="Write it first.")
    return offline_page(facts.files["report"])


@router.get("/{name}/files/{what}", summary="Download a file of a release", response_class=Response)
def download(
    name: Name,
    what: Annotated[str, Path(max_length=40, description="data, manifest, report, help or sensitive.")],
    workspace: CurrentWorkspace,
) -> Response:
    """A file of a release, handed over only where the audit of the release passes.

    Of a table of a database it is the manifest, as its companion table has it, and the report.
    """
    facts = found_release(workspace, name)
    if what == "manifest" and facts.address.in_database:
        require_passed(workspace, facts)
        return attached_text(read_table_manifest(facts.address, workspace.settings), "manifest.json")
    if what not in facts.files:
        raise NotFound(f"this release has no such file: {', '.join(facts.files)}")
    require_passed(workspace, facts)
    return attachment(facts.files[what])


@router.delete("/{name}", summary="Delete a release")
def delete(name: Name, workspace: CurrentWorkspace) -> Removed:
    """Remove a release with its manifest, its report, and its further files.

    A table of a database stays there with its companions: it is only taken from the list.
    """
    facts = found_release(workspace, name)
    remove(workspace, facts)
    return Removed(removed=[path.name for path in facts.files.values()])
