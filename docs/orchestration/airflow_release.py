"""Airflow: a monthly DAG of one task, which fails where the decision of the lock does not hold.

Paths come from the environment: ``RELEASE_SPEC``, ``RELEASE_LOCK`` and ``RELEASE_OUTPUT``.
"""

import os
from datetime import datetime
from pathlib import Path

from airflow.sdk import dag, task

from docs.orchestration.monthly import publish_month


@dag(schedule="@monthly", start_date=datetime(2026, 1, 1), catchup=False)
def monthly_release() -> None:
    """This month's rows by the decision of the lock."""

    @task
    def release() -> dict[str, int | str | None]:
        spec, lock, output = (Path(os.environ[f"RELEASE_{name}"]) for name in ("SPEC", "LOCK", "OUTPUT"))
        return publish_month(spec, lock, output)

    release()


made = monthly_release()
