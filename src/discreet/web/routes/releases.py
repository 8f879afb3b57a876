"""Routes of screen 7, Publish: existing releases: audit, report, download and delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, Field

from discreet.report.report import report
from discreet.verbs.release_facts import read_table_manifest, report_path
from discreet.verbs.run_context import Reporter
from discreet.web.error_responses import RESPONSES, NotFound
from discreet.web.job_queue import JobStarted
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.workspace_files import attachment, offline_page, text_attachment
from discreet.web.workspace_releases import (
    AuditedAnswer,
    ReleaseAnswer,
    delete_release,
    find_release,
    list_releases,
    original_of,
    register_table,
    require_passed_audit,
)

router = APIRouter(prefix="/api/publish/releases", tags=["publish"], responses=RESPONSES)

ReleaseFileName = Annotated[str, Path(max_length=200, description="A release's file name.")]
ShortText = Annotated[str, Field(max_length=4000)]


class ReportBody(BaseModel):
    """The publisher's texts; missing ones are blank in the report."""

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
    """The removed files."""

    removed: list[str]


@router.get("", summary="The releases there are")
def releases(workspace: CurrentWorkspace) -> list[ReleaseAnswer]:
    """Return every release of the workspace, the latest first."""
    return [ReleaseAnswer.of(facts) for facts in list_releases(workspace)]


@router.get("/{name}", summary="A release and its audit")
def release(name: ReleaseFileName, workspace: CurrentWorkspace) -> AuditedAnswer:
    """Return the facts of a release and the current audit of its file."""
    facts = find_release(workspace, name)
    if facts.address.in_database:
        facts = register_table(workspace, facts.address)
    return AuditedAnswer.of(workspace, facts)


@router.post("/{name}/report", summary="Write the report of a release", status_code=202)
def write_report(
    name: ReleaseFileName, body: ReportBody, workspace: CurrentWorkspace, jobs: CurrentJobs
) -> JobStarted:
    """Start the job that writes the report; utility is measured if the original is loaded."""
    facts = find_release(workspace, name)
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
def read_report(name: ReleaseFileName, workspace: CurrentWorkspace) -> Response:
    """Return the report as a page; ``not-found`` if none has been written."""
    facts = find_release(workspace, name)
    if "report" not in facts.files:
        raise NotFound("this release has no report yet", advice="Write it first.")
    return offline_page(facts.files["report"])


@router.get("/{name}/files/{what}", summary="Download a file of a release", response_class=Response)
def download(
    name: ReleaseFileName,
    what: Annotated[str, Path(max_length=40, description="data, manifest, report, help or sensitive.")],
    workspace: CurrentWorkspace,
) -> Response:
    """Return a file of a release if the audit of the release passes.

    For a table of a database these are the manifest, from its companion table, and the report.
    """
    facts = find_release(workspace, name)
    if what == "manifest" and facts.address.in_database:
        require_passed_audit(workspace, facts)
        return text_attachment(read_table_manifest(facts.address, workspace.settings), "manifest.json")
    if what not in facts.files:
        raise NotFound(f"this release has no such file: {', '.join(facts.files)}")
    require_passed_audit(workspace, facts)
    return attachment(facts.files[what])


@router.delete("/{name}", summary="Delete a release")
def delete(name: ReleaseFileName, workspace: CurrentWorkspace) -> Removed:
    """Delete a release with its manifest, its report, and its further files.

    A table of a database and its companions are not dropped, only removed from the list.
    """
    facts = find_release(workspace, name)
    delete_release(workspace, facts)
    return Removed(removed=[path.name for path in facts.files.values()])
