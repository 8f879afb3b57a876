"""Publication of a trial by the API or by the command, and the state that its journey needs."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import discreet
from discreet.cli.main import main
from discreet.model.request import Request
from discreet.models import named
from discreet.settings import Settings
from tests.fuzz.cases import HOSTILE, LEVELS, NEGOTIATED, PERMUTATION, Trial
from tests.fuzz.files import FRAMES, MEMORY, plain_text, read_texts, spec_document, write_spec, write_table
from tests.fuzz.recount import demand

KINDS: dict[int, type[discreet.DiscreetError]] = {
    1: discreet.RequirementNotMet,
    2: discreet.InputError,
    3: discreet.NoSolution,
    4: discreet.LimitReached,
    70: discreet.InternalError,
}
WORKLOAD = "queries = 4\ndimensions = 1\nselectivity = 0.3\nseed = 3\n"


@dataclass
class Notes:
    """Counts of one trial or of many; ``covered`` are features of published trials."""

    releases: int = 0
    audits: int = 0
    mutated: int = 0
    nodes: int = 0
    covered: list[str] = field(default_factory=list)
    table: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, other: Notes) -> None:
        """Add the counts of another."""
        self.releases += other.releases
        self.audits += other.audits
        self.mutated += other.mutated
        self.nodes += other.nodes
        self.covered += other.covered
        self.table.update(other.table)


@dataclass
class Workplace:
    """The folder of a trial: ``given`` contains the publisher's files, ``out`` the outputs."""

    trial: Trial
    given: Path
    out: Path
    digests: dict[str, str] = field(default_factory=dict)

    @classmethod
    def in_folder(cls, trial: Trial, folder: Path) -> Workplace:
        """Write the source, its spec and every file that the spec names."""
        found = cls(trial, folder / "given", folder / "out")
        found.given.mkdir()
        found.out.mkdir()
        return found

    @property
    def settings(self) -> Settings:
        """Return small limits, and a private log."""
        return Settings(10**9, 1, self.out / "log.jsonl")

    @property
    def path(self) -> Path:
        """Return the path of the release."""
        return self.out / f"release.{self.trial.release}"

    @property
    def manifest(self) -> Path:
        """Return the path of the release's manifest."""
        return manifest_of(self.path)

    def written(self) -> tuple[Any, ...]:
        """Write everything; return the arguments to open it with: a spec, or a table and its spec."""
        trial = self.trial
        (self.given / "workload.toml").write_text(WORKLOAD, encoding="utf-8")
        made = write_table(trial, self.given)
        if trial.source in FRAMES or (trial.journey == HOSTILE and not trial.command):
            found: tuple[Any, ...] = (made, spec_document(trial, self.given))
        else:
            found = (write_spec(trial, self.given, made),)
        self.digests = self.read_digests()
        return found

    def opened(self) -> Any:
        """Write everything and open the table."""
        return discreet.open(*self.written(), settings=self.settings)

    def read_digests(self) -> dict[str, str]:
        """Return the digest of each given file."""
        files = sorted(path for path in self.given.rglob("*") if path.is_file())
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def check_inputs(self) -> None:
        """Require that no given file was changed or removed; key files may be new."""
        now = self.read_digests()
        changed = [name for name, digest in self.digests.items() if now.get(name) != digest]
        demand(not changed, "no given file is changed", changed)


def manifest_of(path: Path) -> Path:
    """Return the path of a release's manifest."""
    return path.with_name(f"{path.name}.manifest.json")


def publish(place: Workplace, table: Any, path: Path, **more: Any) -> Any:
    """Publish the trial's request; ``more`` are further keywords of ``Table.publish``."""
    trial = place.trial
    keywords: dict[str, Any] = {"suppressed_rows": trial.policy, **more}
    target = None if trial.release == MEMORY else path
    requested = requested_of(trial)
    if trial.model == PERMUTATION:
        return table.publish(named(trial.model)(**_options(place)), target, k=trial.k, **more)
    if trial.model == NEGOTIATED:
        low, high = trial.levels
        negotiable = table.lattice() if trial.journey == HOSTILE else table
        result = negotiable.negotiate(**requested, min_level=low or None, max_level=high or None)
        if result.exact is None:
            raise discreet.NoSolution("no exact answer")
        return table.publish(result.exact, target, **keywords)
    if trial.model == LEVELS:
        either = {column.name: (trial.seed + i) % 2 for i, column in enumerate(trial.keys)}
        return table.publish(dict(trial.more.get("levels", either)), target, **keywords, **requested)
    if trial.model == "patterns" and trial.limit == 0:
        requested["max_suppressed"] = None
    return table.publish(named(trial.model)(**_options(place)), target, **keywords, **requested)


def requested_of(trial: Trial) -> dict[str, Any]:
    """Return the request as keywords of the API."""
    return {
        "k": trial.k or None,
        "l": trial.l,
        "criteria": [condition.criterion for condition in trial.further],
        "max_suppressed": trial.limit,
    }


def request_of(trial: Trial) -> Request:
    """Return the request as the program's value."""
    return Request.of(**requested_of(trial))


def _options(place: Workplace) -> dict[str, Any]:
    options = dict(place.trial.options)
    if "workload" in options:
        options["workload"] = place.given / options["workload"]
    return options


def publish_command(place: Workplace, path: Path) -> list[str]:
    """Return the command that publishes k, l and the limit of the trial's request to a file."""
    trial = place.trial
    command = ["publish", str(place.given / "discreet.toml"), "--output", str(path), "--threads", "1"]
    command += ["--json"]
    if trial.model != PERMUTATION:
        command += ["--suppressed-rows", trial.policy, "--max-suppressed", str(trial.limit)]
    command += ["--k", str(trial.k)] if trial.k else []
    return command + (["--l", str(trial.l)] if trial.l else [])


def publish_by_command(place: Workplace, path: Path) -> None:
    """Publish by the command line; raise the error that it prints."""
    trial, command = place.trial, publish_command(place, path)
    for condition in trial.further:
        flag = condition.criterion.flag()
        value = f"{condition.attribute}={condition.value}" if condition.attribute else str(condition.value)
        command += [flag, value]
        for name, part in condition.parts:
            command += [f"{flag}-{name.replace('_', '-')}", str(part)]
    for name, level in trial.more.get("levels", {}).items():
        command += ["--level", f"{name}={level}"]
    if trial.model not in (LEVELS, NEGOTIATED):
        command += ["--model", trial.model]
        for name, option in trial.options.items():
            flag = f"--{name.replace('_', '-')}"
            command += [flag] if option is True else [flag, str(option)]
    run_command(place, command)


def run_command(place: Workplace, command: list[str]) -> Mapping[str, Any]:
    """Run the command line in this process; return its JSON, or raise the error that it prints."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        patch.dict(os.environ, {"DISCREET_LOG": str(place.out / "log.jsonl")}),
    ):
        status = main(command)
    document: Mapping[str, Any] = json.loads(printed.getvalue())
    if status and "error" in document:
        raise KINDS[status](document["error"]["message"], advice=document["error"]["advice"])
    return document


def released_rows(place: Workplace, released: Any, path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of a release as texts, and its manifest."""
    if place.trial.release == MEMORY:
        table = released.to_arrow()
        rows = [{name: plain_text(cell) for name, cell in row.items()} for row in table.to_pylist()]
        return rows, dict(released.manifest)
    return read_texts(path), read_manifest(path)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a release."""
    found: dict[str, Any] = json.loads(manifest_of(path).read_text(encoding="utf-8"))
    return found


def _is_not_compiled(part: str) -> bool:
    return False


@contextlib.contextmanager
def evaluator(*, kernels: bool) -> Iterator[None]:
    """Choose compiled code, or its numpy twin, for everything within the context."""
    from discreet.kernels import precompilation

    compiled = precompilation.is_compiled if kernels else _is_not_compiled
    with (
        patch.dict(os.environ, {"DISCREET_COMPILE": "wait" if kernels else "never"}),
        patch.object(precompilation, "is_compiled", compiled),
    ):
        yield
