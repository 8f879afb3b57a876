"""dbt with DuckDB: the release as a model in Python, made of another model's rows.

``RELEASE_SPEC`` says what columns are; requirement and limit are those of its ``[request]``. A model that
raises leaves the release of the last run as it was.
"""

import os
import tomllib
from pathlib import Path

import discreet


def model(dbt, session):  # noqa: ARG001 - dbt calls it with both
    """The released rows; ``NoSolution`` where nothing meets the spec's request."""
    dbt.config(materialized="table")
    people = dbt.ref("people").df()
    spec = tomllib.loads(Path(os.environ["RELEASE_SPEC"]).read_text(encoding="utf-8"))
    spec.pop("source", None)
    table = discreet.open(people, spec)
    return table.publish(table.negotiate().exact).to_pandas()
