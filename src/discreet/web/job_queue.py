"""Long-running jobs of a user: started by a request, followed and cancelled by others, results kept.

A job runs in a daemon thread, at most ``MAX_RUNNING_JOBS`` of a user at a time; others wait. A cancelled job
stops where it next reports progress: the reporter raises ``JobCancelled``, and open resources are closed. A
running statement of the engine is interrupted. The current job's reporter is a context variable, read by
cached tables.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from secrets import token_hex
from threading import Condition, Semaphore, Thread
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from discreet.verbs.run_context import CURRENT_INTERRUPTION, SILENT, Advance, Interruption, Reporter
from discreet.web.error_responses import (
    ErrorFacts,
    NotFound,
    TooMany,
    error_json,
    exception_location,
    wrap_error,
)
from discreet.web.screen_messages import screen_message

CURRENT_REPORTER: ContextVar[Reporter] = ContextVar("discreet_reporter", default=SILENT)


class ContextReporter:
    """A reporter that delegates to the reporter of the current context."""

    def stage(self, title: str) -> AbstractContextManager[Advance]:
        """Enter a stage of the current job."""
        return CURRENT_REPORTER.get().stage(title)

    def notice(self, text: str) -> None:
        """Add a notice to the current job."""
        CURRENT_REPORTER.get().notice(text)


MAX_RUNNING_JOBS = 2
MAX_UNFINISHED_JOBS = 10
MAX_ENDED_JOBS = 50
_MAX_NOTICES = 100
_SECONDS_BETWEEN_INTERRUPTS = 0.2

_log = logging.getLogger("discreet.web")

JobFunction = Callable[[Reporter], Any]


class JobCancelled(BaseException):
    """Signal inside a cancelled job; it is no ``Exception``, so that error handlers do not catch it."""


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobAnswer(BaseModel):
    """The current state of a job."""

    id: str
    title: str
    state: JobState
    stage: str | None = Field(default=None, description="The current stage.")
    done: int | None = Field(default=None, description="Finished steps of the stage.")
    total: int | None = Field(default=None, description="All steps of the stage; null if unknown.")
    notices: list[str] = Field(default_factory=list, description="Lines that the user should see.")
    started: datetime
    ended: datetime | None = None
    result: Any = Field(default=None, description="The result of a job that is done.")
    error: ErrorFacts | None = Field(default=None, description="The error of a job that failed.")


class JobStarted(BaseModel):
    """The answer of a route that starts a job: follow it at ``/api/jobs/{job}/events``."""

    job: str = Field(description="The job's id.")


class QueuedJob(JobAnswer):
    """One job with its work; its fields are guarded by the condition of its ``JobQueue``."""

    state: JobState = JobState.QUEUED
    started: datetime = Field(default_factory=lambda: datetime.now(UTC))
    _work: JobFunction | None = None
    _cancelled: bool = False
    _interruption: Interruption = PrivateAttr(default_factory=Interruption)
    _changes: int = 0

    @property
    def changes(self) -> int:
        """The number of changes so far."""
        return self._changes

    @property
    def has_ended(self) -> bool:
        """True if its state is final."""
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class JobReporter:
    """A reporter that records progress in a job and raises ``JobCancelled`` after a cancellation."""

    def __init__(self, jobs: JobQueue, job: QueuedJob) -> None:
        self._jobs = jobs
        self._job = job

    @contextmanager
    def stage(self, title: str) -> Iterator[Advance]:
        """Enter a stage; the outer stage is shown again when it ends."""
        outer = self._job.stage, self._job.done, self._job.total
        self._update(stage=title, done=None, total=None)
        try:
            yield self._advance
        finally:
            self._jobs.change(self._job, stage=outer[0], done=outer[1], total=outer[2])
        self._check()

    def notice(self, text: str) -> None:
        """Add a line that the user should see."""
        self._update(notices=[*self._job.notices, screen_message(text) or text][-_MAX_NOTICES:])

    def _advance(self, done: int, total: int) -> None:
        self._update(done=done, total=total)

    def _update(self, **changes: Any) -> None:
        self._check()
        self._jobs.change(self._job, **changes)

    def _check(self) -> None:
        if self._job._cancelled:
            raise JobCancelled


class JobQueue:
    """The jobs of one user."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, QueuedJob] = OrderedDict()
        self._condition = Condition()
        self._slots = Semaphore(MAX_RUNNING_JOBS)

    def start(self, title: str, work: JobFunction) -> str:
        """Start a job and return its id; raise ``TooMany`` if ten jobs have not ended.

        ``work`` is called with a reporter; its result must consist of JSON values.
        """
        job = QueuedJob(id=token_hex(8), title=title)
        job._work = work
        with self._condition:
            if sum(not other.has_ended for other in self._jobs.values()) >= MAX_UNFINISHED_JOBS:
                raise TooMany(
                    f"{MAX_UNFINISHED_JOBS} jobs have not ended", advice="Wait for one of them, or cancel it."
                )
            self._jobs[job.id] = job
            ended = [other for other in self._jobs.values() if other.has_ended]
            for other in ended[: max(0, len(ended) - MAX_ENDED_JOBS)]:
                del self._jobs[other.id]
        Thread(target=self._run, args=(job,), name=f"job {job.id}", daemon=True).start()
        return job.id

    def find(self, job_id: str) -> QueuedJob:
        """Return a job; raise ``NotFound`` if there is none of the id."""
        with self._condition:
            if job_id not in self._jobs:
                raise NotFound("no job has this id", advice="Its result may have been removed.")
            return self._jobs[job_id]

    def all(self) -> list[QueuedJob]:
        """Return every job, the latest first."""
        with self._condition:
            return list(reversed(self._jobs.values()))

    def answer(self, job: QueuedJob) -> JobAnswer:
        """Return the current state of a job."""
        with self._condition:
            return JobAnswer.model_construct(**dict(job))

    def cancel(self, job_id: str) -> QueuedJob:
        """Cancel a job that has not ended; remove one that has."""
        job = self.find(job_id)
        with self._condition:
            if job.has_ended:
                self._jobs.pop(job_id, None)
            job._cancelled = True
            if job.state is JobState.QUEUED:
                self._end(job, JobState.CANCELLED)
        if not job.has_ended:
            Thread(target=self._interrupt, args=(job,), daemon=True).start()
        return job

    def _interrupt(self, job: QueuedJob) -> None:
        """Interrupt the engine until the job has ended, because the job may begin further statements."""
        while not job.has_ended:
            job._interruption.interrupt()
            with self._condition:
                self._condition.wait_for(lambda: job.has_ended, _SECONDS_BETWEEN_INTERRUPTS)

    def close(self, seconds: float = 0.0) -> None:
        """Cancel every job, and wait at most ``seconds`` until the running ones end."""
        with self._condition:
            for job in self._jobs.values():
                job._cancelled = True
                job._interruption.interrupt()
            self._condition.wait_for(
                lambda: all(job.state is not JobState.RUNNING for job in self._jobs.values()), seconds
            )

    def wait(self, job_id: str, seconds: float) -> QueuedJob:
        """Wait until a job ends, at most ``seconds``, and return it."""
        job = self.find(job_id)
        with self._condition:
            self._condition.wait_for(lambda: job.has_ended, seconds)
        return job

    def change(self, job: QueuedJob, **changes: Any) -> None:
        """Set fields of a job and notify waiting threads."""
        with self._condition:
            for name, value in changes.items():
                setattr(job, name, value)
            job._changes += 1
            self._condition.notify_all()

    def _run(self, job: QueuedJob) -> None:
        with self._slots:
            with self._condition:
                if job._cancelled or job._work is None:
                    self._end(job, JobState.CANCELLED)
                    return
                work = job._work
                job.state = JobState.RUNNING
                job._changes += 1
            reporter = JobReporter(self, job)
            CURRENT_REPORTER.set(reporter)
            CURRENT_INTERRUPTION.set(job._interruption)
            self._finish(job, lambda: work(reporter))

    def _finish(self, job: QueuedJob, run: Callable[[], Any]) -> None:
        state, result, error = JobState.DONE, None, None
        try:
            result = run()
        except BaseException as problem:
            state = JobState.FAILED
            if job._cancelled or isinstance(problem, JobCancelled | KeyboardInterrupt):
                state = JobState.CANCELLED
            else:
                error = ErrorFacts(**error_json(problem)["error"])
                if wrap_error(problem) is not problem:
                    _log.error("a job failed: %s", exception_location(problem))
        with self._condition:
            job.result, job.error = result, error
            self._end(job, state)

    def _end(self, job: QueuedJob, state: JobState) -> None:
        job.state, job.ended, job._work = state, datetime.now(UTC), None
        job._changes += 1
        self._condition.notify_all()
