"""One attempt at a trial: it passed, was refused for a reason, or failed with a signature."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import discreet
from tests.fuzz.attempt import Outcome, TooSlow, failure_place, limited, refusal
from tests.fuzz.journeys import JOURNEYS
from tests.fuzz.notes import Notes
from tests.fuzz.publishing import Workplace, evaluator
from tests.fuzz.recount import Wrong
from tests.fuzz.trial import Trial


def attempt_trial(trial: Trial, notes: Notes | None = None) -> Outcome:
    """Run a trial's journey in a separate folder, and evaluate the result."""
    notes = Notes() if notes is None else notes
    with tempfile.TemporaryDirectory(prefix="discreet-fuzz-") as name, limited():
        folder = Path(name)
        place = Workplace.in_folder(trial, folder)
        try:
            with contextlib.redirect_stderr(io.StringIO()), evaluator(kernels=trial.kernels):
                JOURNEYS[trial.journey](place, notes)
        except Wrong as wrong:
            return Outcome("failed", f"wrong: {wrong.args[0]}", "; ".join(map(repr, wrong.args[1:])))
        except discreet.DiscreetError as error:
            return _refused(place, notes, error)
        except (Exception, TooSlow) as error:
            return Outcome("failed", f"{type(error).__name__} {failure_place(error)}", str(error)[:300])
    return Outcome("published", trial.model)


def _refused(place: Workplace, notes: Notes, error: discreet.DiscreetError) -> Outcome:
    """Classify an error: before anything is published it is a refusal, and after that a failure."""
    found = refusal(place.trial, place.out, error)
    if not notes.releases or (found.failed and not found.why.endswith("leaves nothing")):
        return found
    if place.trial.journey == "publish":
        return Outcome(
            "failed", f"wrong: an audit is refused: {found.why} {failure_place(error)}", str(error)[:300]
        )
    return Outcome("refused", f"{type(error).__name__} of a later release")
