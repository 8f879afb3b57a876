"""Jobs: where they stand, their progress as it comes, and cancelling them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from discreet.web.dependencies import CurrentJobs, CurrentServer
from discreet.web.jobs import Job, JobAnswer, Jobs
from discreet.web.problems import RESPONSES
from discreet.web.server_state import ServerState

_SECONDS_BETWEEN_LOOKS = 0.1
_LOOKS_BETWEEN_SIGNS = 150

router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=RESPONSES)


class JobsAnswer(BaseModel):
    """The user's jobs, the latest first."""

    jobs: list[JobAnswer]


@router.get("", summary="Every job")
def jobs(found: CurrentJobs) -> JobsAnswer:
    """Jobs that run or wait, and the last 50 that have ended."""
    return JobsAnswer(jobs=[found.answer(job) for job in found.all()])


@router.get("/{job_id}", summary="One job")
def job(job_id: str, found: CurrentJobs) -> JobAnswer:
    """How a job stands: its progress, and its result or error once it has ended."""
    return found.answer(found.find(job_id))


@router.delete("/{job_id}", summary="Cancel a job, or forget one that has ended")
def cancel(job_id: str, found: CurrentJobs) -> JobAnswer:
    """A job stops where it next reports progress; what it had begun to write is removed."""
    return found.answer(found.cancel(job_id))


@router.get(
    "/{job_id}/events",
    summary="A job's progress as it comes",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events named `job`."}},
)
def events(job_id: str, found: CurrentJobs, server: CurrentServer) -> StreamingResponse:
    """Server-Sent Events named `job`, each with the job as JSON; the last one has a final state."""
    return StreamingResponse(
        _events(found, found.find(job_id), server),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


async def _events(jobs_of_user: Jobs, job: Job, server: ServerState) -> AsyncIterator[str]:
    seen, looks = -1, 0
    while not server.closing:
        changes, has_ended = job.changes, job.has_ended
        if changes != seen:
            seen, looks = changes, 0
            yield f"event: job\ndata: {jobs_of_user.answer(job).model_dump_json()}\n\n"
        if has_ended:
            return
        looks += 1
        if looks % _LOOKS_BETWEEN_SIGNS == 0:
            yield ": still there\n\n"
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
