"""One attempt at a case: published and recounted, refused for a reason, or failed with a signature."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import discreet
from discreet.cli.main import main
from discreet.models import Permutation, named
from discreet.settings import Settings
from tests.fuzz.cases import PERMUTATION, Case
from tests.fuzz.files import attribute_entries, read_release, source_entry, spec_text, write_source
from tests.fuzz.recount import Wrong, check_recoded, demand
from tests.fuzz.recount_permuted import check_permuted

SECONDS = 60
_OUR_BUG = re.compile("Please report this|discreet's own|the audit of the output failed")
_STARRED_BY_CHANCE = "starred"
_KINDS: dict[int, type[discreet.DiscreetError]] = {
    1: discreet.RequirementNotMet,
    2: discreet.InputError,
    3: discreet.NoSolution,
    4: discreet.LimitReached,
    70: discreet.InternalError,
}


@dataclass(frozen=True)
class Outcome:
    """Result of an attempt.

    ``what`` is published, refused or failed; ``why`` a signature without values; ``facts`` the observed
    facts.
    """

    what: str
    why: str
    facts: str = ""

    @property
    def failed(self) -> bool:
        """Whether a defect was found."""
        return self.what == "failed"


class TooSlow(BaseException):
    """A case that takes longer than any table of its size may."""


def attempt(case: Case) -> Outcome:
    """Publish a case in a separate folder, and evaluate the result."""
    with tempfile.TemporaryDirectory(prefix="discreet-fuzz-") as name, limited():
        folder = Path(name)
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                return _published(case, folder)
        except Wrong as wrong:
            return Outcome("failed", f"wrong: {wrong.args[0]}", "; ".join(map(repr, wrong.args[1:])))
        except discreet.DiscreetError as error:
            return refusal(case, folder, error)
        except (Exception, TooSlow) as error:
            return Outcome("failed", f"{type(error).__name__} {failure_place(error)}", str(error)[:300])


def _published(case: Case, folder: Path) -> Outcome:
    path = folder / f"release.{case.release}"
    source = write_source(case, folder)
    (_by_command if case.command else _by_api)(case, folder, source, path)
    manifest = path.with_name(path.name + ".manifest.json").read_text(encoding="utf-8")
    demand("row-" not in manifest and "secret-" not in manifest, "a manifest without values")
    if case.model == PERMUTATION:
        check_permuted(case, path)
    else:
        suppressed = json.loads(manifest)["suppression"]["rows"]
        check_recoded(case, read_release(path), suppressed, limit_of(case))
    report = discreet.audit(path, settings=_settings(folder))
    demand(report.passed, "the release's own audit")
    return Outcome("published", case.model)


def limit_of(case: Case) -> int:
    """Return the rows that may be suppressed."""
    if case.model == "levels" or (case.model == "patterns" and case.limit == 0):
        return len(case.kept)
    if isinstance(case.limit, int):
        return case.limit
    return len(case.kept) * int(case.limit.rstrip("%")) // 100


def _settings(folder: Path) -> Settings:
    return Settings(10**9, 1, folder / "log.jsonl")


def _by_api(case: Case, folder: Path, source: Path, path: Path) -> None:
    spec = {"source": source_entry(case, source), "attributes": attribute_entries(case)}
    table = discreet.open(source, spec, settings=_settings(folder))
    policy = "star" if case.star else "drop"
    asked: dict[str, Any] = {"k": case.k, "l": case.l, "max_suppressed": case.limit}
    if case.model == PERMUTATION:
        table.publish(Permutation(**case.options), path, k=case.k)
    elif case.model == "negotiated":
        table.publish(table.lattice().negotiate(**asked).exact, path, suppressed=policy)
    elif case.model == "levels":
        asked["max_suppressed"] = "100%"
        levels = {c.name: (case.seed + i) % 2 for i, c in enumerate(case.of("quasi-identifier"))}
        table.publish(levels, path, suppressed=policy, **asked)
    else:
        if case.model == "patterns" and case.limit == 0:
            asked["max_suppressed"] = None
        table.publish(named(case.model)(**case.options), path, suppressed=policy, **asked)


def _by_command(case: Case, folder: Path, source: Path, path: Path) -> None:
    """Publish by the command line; raise the error that it prints."""
    spec = folder / "discreet.toml"
    spec.write_text(spec_text(case, source), encoding="utf-8", newline="")
    command = ["publish", str(spec), "--output", str(path), "--k", str(case.k), "--threads", "1", "--json"]
    if case.model not in ("negotiated", "levels"):
        command += ["--model", case.model]
    if case.model != PERMUTATION:
        command += ["--suppressed", "star" if case.star else "drop"]
        command += ["--max-suppressed", str(limit_of(case)), *(["--l", str(case.l)] if case.l else [])]
    for name, value in case.options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    said = io.StringIO()
    log = {"DISCREET_LOG": str(folder / "log.jsonl")}
    with contextlib.redirect_stdout(said), patch.dict(os.environ, log):
        status = main(command)
    if status:
        error = json.loads(said.getvalue())["error"]
        raise _KINDS[status](error["message"], advice=error["advice"])


def refusal(case: Case, folder: Path, error: discreet.DiscreetError) -> Outcome:
    """Classify an error: a refusal, or a failure if it is a bug or leaves a release behind."""
    text = re.sub(
        r"'.*'|\".*\"", "'…'", re.sub(r"/\S*/discreet-fuzz-[^/]*/", "", error.message), flags=re.DOTALL
    )
    text = re.sub(r"\d[\d,.]*", "N", text)
    why = f"{type(error).__name__}: {text[:120]}"
    by_chance = case.star and _STARRED_BY_CHANCE in str(error)
    if isinstance(error, discreet.InternalError) or (_OUR_BUG.search(str(error)) and not by_chance):
        return Outcome("failed", f"{why} {failure_place(error)}", str(error)[:300])
    left = [p.name for p in folder.iterdir() if "release" in p.name]
    if left:
        return Outcome("failed", "wrong: a refusal leaves nothing", repr(left))
    return Outcome("refused", why)


def refuses_the_looser(case: Case) -> Outcome | None:
    """Return a failure if a case that was refused as unsolvable is published with a tighter limit."""
    if limit_of(case) == 0 or case.model in (PERMUTATION, "levels", "patterns"):
        return None
    for limit in dict.fromkeys((0, limit_of(case) // 2, limit_of(case) - 1)):
        tighter = replace(case, limit=limit)
        if attempt(tighter).what == "published":
            facts = f"published with at most {limit} rows suppressed, refused with {case.limit}"
            return Outcome("failed", f"wrong: a looser limit refuses ({case.model})", facts)
    return None


def judged(case: Case) -> Outcome:
    """Attempt a case and, if it was refused as unsolvable, the same with a tighter limit."""
    found = attempt(case)
    if found.what == "refused" and found.why.startswith("NoSolution"):
        return refuses_the_looser(case) or found
    return found


def failure_place(error: BaseException) -> str:
    """Return the file and line of an error, in the program if it was raised there."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "discreet" in f.filename]
    inside = [f for f in frames if "/src/discreet/" in f.filename] or frames
    return f"at {'/'.join(Path(inside[-1].filename).parts[-2:])}:{inside[-1].lineno}" if inside else ""


@contextlib.contextmanager
def limited() -> Iterator[None]:
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
