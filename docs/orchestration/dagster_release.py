"""Dagster: the release as an asset; its counts are the asset's metadata.

Paths come from the environment: ``RELEASE_SPEC``, ``RELEASE_LOCK`` and ``RELEASE_OUTPUT``.
"""

import os
from pathlib import Path

import dagster

from docs.orchestration.monthly import publish_month


@dagster.asset
def release() -> dagster.MaterializeResult:
    """This month's release, by the decision of the lock; the asset fails where there is none."""
    spec, lock, output = (Path(os.environ[f"RELEASE_{name}"]) for name in ("SPEC", "LOCK", "OUTPUT"))
    return dagster.MaterializeResult(metadata=publish_month(spec, lock, output))


definitions = dagster.Definitions(assets=[release])
