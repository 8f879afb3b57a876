"""The one step that the examples share: this month's rows by the decision of the lock, or an error.

Whatever is not handed over raises (``discreet.DiscreetError``), so a run fails and nothing follows. Errors
name columns, counts and levels, and no value; a scheduler may keep them in its log.
"""

from __future__ import annotations

from pathlib import Path

import discreet
from discreet.verbs.recorded_decisions import publish_locked


def publish_month(spec: Path, lock: Path, output: Path) -> dict[str, int | str | None]:
    """Publish and return what a scheduler may show: counts of the release."""
    release = publish_locked(discreet.open(spec), lock, output, overwrite=True)
    checked = discreet.check([output])
    if not checked.passed:
        raise RuntimeError(f"{output.name} did not pass")
    return {"rows": release.audit.rows, "suppressed": release.suppressed, "k": release.audit.k}
