"""Jobs: progress, results, errors, cancelling, limits."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from discreet.errors import NoSolution
from discreet.settings import Settings
from discreet.verbs.run_context import Reporter
from discreet.web.error_responses import NotFound, TooMany
from discreet.web.job_queue import (
    MAX_ENDED_JOBS,
    MAX_RUNNING_JOBS,
    MAX_UNFINISHED_JOBS,
    JobQueue,
    JobState,
)
from discreet.web.workspace import Workspace
from tests.waiting import PATIENCE, wait_for
from tests.web.conftest import Client

SECRET_CELL = "Divorced-and-HIV-positive"


def endless(started: Event) -> Any:
    def work(reporter: Reporter) -> None:
        with reporter.stage("Counting") as advance:
            started.set()
            while True:
                advance(1, 10)

    return work


def test_job_reports_stages_and_stores_its_result() -> None:
    jobs, go, reported = JobQueue(), Event(), Event()

    def work(reporter: Reporter) -> dict[str, int]:
        with reporter.stage("Counting") as advance:
            advance(3, 10)
            with reporter.stage("Inside"):
                reporter.notice("A partial lattice answers.")
            reported.set()
            assert go.wait(PATIENCE)
        return {"rows": 5}

    job_id = jobs.start("Evaluate", work)
    assert reported.wait(PATIENCE)
    seen = jobs.answer(jobs.find(job_id))
    assert (seen.state, seen.stage, seen.done, seen.total) == (JobState.RUNNING, "Counting", 3, 10)
    assert seen.notices == ["A partial lattice answers."]
    go.set()
    ended = jobs.answer(jobs.wait(job_id, PATIENCE))
    assert (ended.state, ended.result, ended.stage, ended.error) == (JobState.DONE, {"rows": 5}, None, None)


def test_failed_job_has_the_error_but_not_the_text_of_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    def no_solution(_: Reporter) -> None:
        raise NoSolution("no answer", advice="Relax k.")

    def bug(_: Reporter) -> None:
        raise KeyError(SECRET_CELL)

    jobs = JobQueue()
    with caplog.at_level(logging.DEBUG):
        found = [jobs.answer(jobs.wait(jobs.start("x", work), PATIENCE)) for work in (no_solution, bug)]
    assert [answer.state for answer in found] == [JobState.FAILED] * 2
    assert found[0].error is not None
    assert (found[0].error.kind, found[0].error.advice) == ("no-solution", "Relax k.")
    assert found[1].error is not None
    assert found[1].error.kind == "internal"
    assert SECRET_CELL not in found[1].model_dump_json() + caplog.text
    assert "KeyError at test_jobs.py" in caplog.text


def test_job_is_cancelled_at_its_next_report() -> None:
    jobs, started = JobQueue(), Event()
    job_id = jobs.start("Count", endless(started))
    assert started.wait(PATIENCE)
    jobs.cancel(job_id)
    assert jobs.wait(job_id, PATIENCE).state is JobState.CANCELLED
    jobs.cancel(job_id)
    with pytest.raises(NotFound):
        jobs.find(job_id)


def test_jobs_beyond_the_limits_wait_or_are_refused() -> None:
    jobs, started = JobQueue(), [Event() for _ in range(MAX_UNFINISHED_JOBS)]
    ids = [jobs.start("Count", endless(event)) for event in started]
    wait_for(lambda: sum(event.is_set() for event in started) >= MAX_RUNNING_JOBS, "as many run as may")
    states = [job.state for job in jobs.all()]
    assert states.count(JobState.RUNNING) == MAX_RUNNING_JOBS
    assert sum(event.is_set() for event in started) == MAX_RUNNING_JOBS
    with pytest.raises(TooMany):
        jobs.start("Count", endless(Event()))
    jobs.close(PATIENCE)
    assert all(jobs.wait(job_id, PATIENCE).state is JobState.CANCELLED for job_id in ids)


def test_last_results_are_stored() -> None:
    jobs = JobQueue()
    ids = [jobs.start("x", lambda _: 1) for _ in range(3)]
    for job_id in ids:
        jobs.wait(job_id, PATIENCE)
    for _ in range(MAX_ENDED_JOBS + 5):
        jobs.wait(jobs.start("x", lambda _: 1), PATIENCE)
    assert len(jobs.all()) <= MAX_ENDED_JOBS + 1
    with pytest.raises(NotFound):
        jobs.find(ids[0])


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings) -> Workspace:
    found = Workspace("local", tmp_path / "w", settings)
    (found.folder / "p.csv").write_text("a\n" + "1\n2\n" * 5)
    found.save_spec({"source": {"path": "p.csv"}, "attributes": {"a": {"role": "quasi-identifier"}}})
    return found


def test_table_of_the_workspace_reports_to_the_job(workspace: Workspace) -> None:
    jobs, stages = JobQueue(), []

    def work(_: Reporter) -> int:
        with workspace.table().engine("Counting row types"):
            stages.append(jobs.all()[0].stage)
        return workspace.table().frequency_set.rows

    job = jobs.wait(jobs.start("Count", work), PATIENCE)
    assert (job.state, job.result, stages) == (JobState.DONE, 10, ["Counting row types"])
    assert workspace.table().frequency_set.rows == 10


def test_running_statement_is_interrupted(workspace: Workspace) -> None:
    jobs, started = JobQueue(), Event()

    def work(_: Reporter) -> None:
        with workspace.table().engine("Counting row types") as engine:
            started.set()
            engine.fetch_rows(
                "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range"
            )

    job_id = jobs.start("Count", work)
    assert started.wait(PATIENCE)
    jobs.cancel(job_id)
    job = jobs.wait(job_id, PATIENCE)
    assert (job.state, job.error) == (JobState.CANCELLED, None)


def test_jobs_over_rest(client: Client) -> None:
    jobs: JobQueue = client.app.state.server.jobs_of("local")  # type: ignore[attr-defined]
    go = Event()

    def work(reporter: Reporter) -> dict[str, int]:
        with reporter.stage("Counting") as advance:
            advance(1, 2)
            assert go.wait(PATIENCE)
        return {"rows": 5}

    job_id = jobs.start("Count", work)
    assert client.get("/api/jobs").json()["jobs"][0]["title"] == "Count"
    go.set()
    answer = client.get(f"/api/jobs/{job_id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert (events[-1]["state"], events[-1]["result"]) == ("done", {"rows": 5})
    assert client.get(f"/api/jobs/{job_id}").json() == events[-1]
    running = Event()
    other = jobs.start("Count", endless(running))
    assert running.wait(PATIENCE)
    client.delete(f"/api/jobs/{other}")
    assert jobs.wait(other, PATIENCE).state is JobState.CANCELLED
    assert client.delete(f"/api/jobs/{job_id}").status_code == 200
    for path in (f"/api/jobs/{job_id}", f"/api/jobs/{job_id}/events"):
        assert client.get(path).status_code == 404
