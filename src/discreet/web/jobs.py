"""Long work: started by a request, followed and cancelled by others, its result kept.

A job runs in a thread of its own, at most ``RUNNING`` of a user at a time; further ones wait. It is cancelled
where it next reports progress: the reporter raises ``JobCancelled`` there, and whatever the work has open is
closed on the way out. A statement of the engine that runs meanwhile is interrupted. The threads are daemons,
so that a server which ends never waits for one that does not.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from secrets import token_hex
from threading import Condition, Semaphore, Thread
from typing import Any

from pydantic import BaseModel, Field

from discreet.verbs.interruption import INTERRUPTION, Interruption
from discreet.verbs.reporting import Advance, Reporter
from discreet.web.problems import ErrorFacts, NotFound, TooMany, as_discreet_error, error_json
from discreet.web.reporting import REPORTER
from discreet.web.traces import place_of
from discreet.web.wording import screen_words

RUNNING = 2
UNFINISHED = 10
KEPT = 50
_NOTICES = 100
_SECONDS_BETWEEN_INTERRUPTS = 0.2

_log = logging.getLogger("discreet.web")

Work = Callable[[Reporter], Any]


class JobCancelled(BaseException):
    """Raised inside a job that was cancelled; nothing that handles errors takes it for one."""


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobAnswer(BaseModel):
    """A job as it stands."""

    id: str
    title: str
    state: JobState
    stage: str | None = Field(None, description="What it is doing.")
    done: int | None = Field(None, description="Steps done of the stage.")
    total: int | None = Field(None, description="Steps of the stage in all; null where unknown.")
    notices: list[str] = Field(default_factory=list, description="Lines that the user should see.")
    started: datetime
    ended: datetime | None = None
    result: Any = Field(None, description="What it found, once it is done.")
    error: ErrorFacts | None = Field(None, description="Why it failed.")


class JobStarted(BaseModel):
    """The answer of a route that starts a job: follow it at ``/api/jobs/{job}/events``."""

    job: str = Field(description="The job's id.")


@dataclass
class Job:
    """One piece of work; its fields are guarded by the condition of its ``Jobs``."""

    id: str
    title: str
    work: Work | None
    state: JobState = JobState.QUEUED
    stage: str | None = None
    done: int | None = None
    total: int | None = None
    notices: list[str] = field(default_factory=list)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended: datetime | None = None
    result: Any = None
    error: ErrorFacts | None = None
    cancelled: bool = False
    interruption: Interruption = field(default_factory=Interruption)
    changes: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class JobReporter:
    """Passes stages, steps and notices on to a job, and raises where it was cancelled."""

    def __init__(self, jobs: Jobs, job: Job) -> None:
        self._jobs = jobs
        self._job = job

    @contextmanager
    def stage(self, title: str) -> Iterator[Advance]:
        """A stage; the one around it is shown again when it ends."""
        outer = self._job.stage, self._job.done, self._job.total
        self._tell(stage=title, done=None, total=None)
        try:
            yield self._advance
        finally:
            self._jobs.change(self._job, stage=outer[0], done=outer[1], total=outer[2])
        self._check()

    def notice(self, text: str) -> None:
        """A line that the user should see."""
        self._tell(notices=[*self._job.notices, screen_words(text) or text][-_NOTICES:])

    def _advance(self, done: int, total: int) -> None:
        self._tell(done=done, total=total)

    def _tell(self, **changes: Any) -> None:
        self._check()
        self._jobs.change(self._job, **changes)

    def _check(self) -> None:
        if self._job.cancelled:
            raise JobCancelled


class Jobs:
    """The jobs of one user."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._condition = Condition()
        self._slots = Semaphore(RUNNING)

    def start(self, title: str, work: Work) -> str:
        """Start some work and return the job's id; ``TooMany`` where ten jobs have not ended.

        ``work`` is called with a reporter; what it returns must be fit for JSON.
        """
        job = Job(token_hex(8), title, work)
        with self._condition:
            if sum(not other.has_ended for other in self._jobs.values()) >= UNFINISHED:
                raise TooMany(
                    f"{UNFINISHED} jobs have not ended", advice="Wait for one of them, or cancel it."
                )
            self._jobs[job.id] = job
            ended = [other for other in self._jobs.values() if other.has_ended]
            for other in ended[: max(0, len(ended) - KEPT)]:
                del self._jobs[other.id]
        Thread(target=self._run, args=(job,), name=f"job {job.id}", daemon=True).start()
        return job.id

    def find(self, job_id: str) -> Job:
        """A job; ``NotFound`` where there is none of that id."""
        with self._condition:
            if job_id not in self._jobs:
                raise NotFound("there is no job of that id", advice="Its result may have been forgotten.")
            return self._jobs[job_id]

    def all(self) -> list[Job]:
        """Every job, the latest first."""
        with self._condition:
            return list(reversed(self._jobs.values()))

    def answer(self, job: Job) -> JobAnswer:
        """A job as it stands now."""
        with self._condition:
            names = list(JobAnswer.model_fields)
            return JobAnswer.model_construct(**{name: getattr(job, name) for name in names})

    def cancel(self, job_id: str) -> Job:
        """Cancel a job that has not ended; forget one that has."""
        job = self.find(job_id)
        with self._condition:
            if job.has_ended:
                self._jobs.pop(job_id, None)
            job.cancelled = True
            if job.state is JobState.QUEUED:
                self._end(job, JobState.CANCELLED)
        if not job.has_ended:
            Thread(target=self._interrupt, args=(job,), daemon=True).start()
        return job

    def _interrupt(self, job: Job) -> None:
        """Interrupt the engine until the job has ended: each statement that it may still begin."""
        while not job.has_ended:
            job.interruption.interrupt()
            with self._condition:
                self._condition.wait_for(lambda: job.has_ended, _SECONDS_BETWEEN_INTERRUPTS)

    def close(self, seconds: float = 0.0) -> None:
        """Cancel everything, and wait so long for it to end."""
        with self._condition:
            for job in self._jobs.values():
                job.cancelled = True
                job.interruption.interrupt()
            self._condition.wait_for(
                lambda: all(job.state is not JobState.RUNNING for job in self._jobs.values()), seconds
            )

    def wait(self, job_id: str, seconds: float) -> Job:
        """Wait for a job to end."""
        job = self.find(job_id)
        with self._condition:
            self._condition.wait_for(lambda: job.has_ended, seconds)
        return job

    def change(self, job: Job, **changes: Any) -> None:
        """Set fields of a job, and wake whoever waits for it."""
        with self._condition:
            for name, value in changes.items():
                setattr(job, name, value)
            job.changes += 1
            self._condition.notify_all()

    def _run(self, job: Job) -> None:
        with self._slots:
            with self._condition:
                if job.cancelled or job.work is None:
                    self._end(job, JobState.CANCELLED)
                    return
                work = job.work
                job.state = JobState.RUNNING
                job.changes += 1
            reporter = JobReporter(self, job)
            REPORTER.set(reporter)
            INTERRUPTION.set(job.interruption)
            self._finish(job, lambda: work(reporter))

    def _finish(self, job: Job, run: Callable[[], Any]) -> None:
        state, result, error = JobState.DONE, None, None
        try:
            result = run()
        except BaseException as problem:
            state = JobState.FAILED
            if job.cancelled or isinstance(problem, JobCancelled | KeyboardInterrupt):
                state = JobState.CANCELLED
            else:
                error = ErrorFacts(**error_json(problem)["error"])
                if as_discreet_error(problem) is not problem:
                    _log.error("a job failed: %s", place_of(problem))
        with self._condition:
            job.result, job.error = result, error
            self._end(job, state)

    def _end(self, job: Job, state: JobState) -> None:
        job.state, job.ended, job.work = state, datetime.now(UTC), None
        job.changes += 1
        self._condition.notify_all()
