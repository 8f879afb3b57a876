"""One attempt at a trial: it passed, was refused for a reason, or failed with a signature."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import discreet
from tests.fuzz.cases import HOSTILE, LEVELS, PERMUTATION, Trial
from tests.fuzz.journeys import JOURNEYS
from tests.fuzz.publishing import Notes, Workplace, evaluator
from tests.fuzz.recount import Wrong

SECONDS = 60
_OUR_BUG = re.compile("Please report this|discreet's own|the audit of the output failed")
_STARRED_BY_CHANCE = "starred"


@dataclass(frozen=True)
class Outcome:
    """Result of an attempt.

    ``result`` is published, refused or failed; ``why`` a signature without values; ``facts`` the observed
    facts.
    """

    result: str
    why: str
    facts: str = ""

    @property
    def failed(self) -> bool:
        """Whether a defect was found."""
        return self.result == "failed"


class TooSlow(BaseException):
    """A trial that takes longer than any table of its size may."""


def attempt(trial: Trial, notes: Notes | None = None) -> Outcome:
    """Run a trial's journey in a separate folder, and evaluate the result."""
    notes = Notes() if notes is None else notes
    with tempfile.TemporaryDirectory(prefix="discreet-fuzz-") as name, _limited():
        place = Workplace.in_folder(trial, Path(name))
        try:
            with contextlib.redirect_stderr(io.StringIO()), evaluator(kernels=trial.kernels):
                JOURNEYS[trial.journey](place, notes)
        except Wrong as wrong:
            return Outcome("failed", f"wrong: {wrong.args[0]}", "; ".join(map(repr, wrong.args[1:])))
        except discreet.DiscreetError as error:
            return _refused(place, notes, error)
        except (Exception, TooSlow) as error:
            return Outcome("failed", f"{type(error).__name__} {_failure_place(error)}", str(error)[:300])
    return Outcome("published", trial.model)


def outcome_of(trial: Trial) -> Outcome:
    """Attempt a trial and, if a hostile table was refused as unsolvable, the same with a tighter limit."""
    found = attempt(trial)
    if trial.journey == HOSTILE and found.result == "refused" and found.why.startswith("NoSolution"):
        return _refuses_the_looser(trial) or found
    return found


def _refuses_the_looser(trial: Trial) -> Outcome | None:
    """Return a failure if a table that was refused as unsolvable is published with a tighter limit."""
    most = trial.most_suppressed
    if most == 0 or trial.model in (PERMUTATION, LEVELS, "patterns"):
        return None
    for limit in dict.fromkeys((0, most // 2, most - 1)):
        if attempt(replace(trial, limit=limit)).result == "published":
            facts = f"published with at most {limit} rows suppressed, refused with {trial.limit}"
            return Outcome("failed", f"wrong: a looser limit refuses ({trial.model})", facts)
    return None


def _refused(place: Workplace, notes: Notes, error: discreet.DiscreetError) -> Outcome:
    """Classify an error: before anything is published it is a refusal, and after that a failure."""
    found = _refusal(place, error)
    if not notes.releases or (found.failed and not found.why.endswith("leaves nothing")):
        return found
    if place.trial.journey in ("publish", HOSTILE):
        why = f"wrong: an audit is refused: {found.why} {_failure_place(error)}"
        return Outcome("failed", why, str(error)[:300])
    return Outcome("refused", f"{type(error).__name__} of a later release")


def _refusal(place: Workplace, error: discreet.DiscreetError) -> Outcome:
    """Return a refusal, or a failure if the error is a bug or leaves a release behind."""
    text = re.sub(r"/\S*/discreet-fuzz-[^/]*/", "", error.message)
    text = re.sub(r"'.*'|\".*\"", "'…'", text, flags=re.DOTALL)
    text = re.sub(r"\d[\d,.]*", "N", text)
    why = f"{type(error).__name__}: {text[:120]}"
    by_chance = place.trial.star and _STARRED_BY_CHANCE in str(error)
    if isinstance(error, discreet.InternalError) or (_OUR_BUG.search(str(error)) and not by_chance):
        return Outcome("failed", f"{why} {_failure_place(error)}", str(error)[:300])
    left = [path.name for path in place.out.iterdir() if "release" in path.name]
    if left:
        return Outcome("failed", "wrong: a refusal leaves nothing", repr(left))
    return Outcome("refused", why)


def _failure_place(error: BaseException) -> str:
    """Return the file and line of an error, in the program if it was raised there."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "discreet" in f.filename]
    inside = [f for f in frames if "/src/discreet/" in f.filename] or frames
    return f"at {'/'.join(Path(inside[-1].filename).parts[-2:])}:{inside[-1].lineno}" if inside else ""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise ``TooSlow`` within the context after a limit of processor time."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"over {SECONDS} seconds of processor time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
