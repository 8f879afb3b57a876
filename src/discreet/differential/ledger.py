"""The ledger of a table's privacy budget: what its differentially private releases have spent together.

By sequential composition the losses of releases of one table add up, whatever each was chosen by (Dwork and
Roth 2014, Theorem 3.16; with losses chosen along the way, Rogers et al. 2016). So a release is refused where
the sum would exceed the budget, for ε or for δ.

The ledger is a file in the spec's folder (of a spec without a file: beside the private log), for its owner
alone. An entry is keyed by digests of what the table is: its place, its content, the name that the spec gives
it. A table that agrees with an entry in any of them has spent it: a copy of a file has, and so has a file
that was changed since. What nobody can see from here is a copy that was changed too, or a deleted ledger.

Money is taken before goods are handed over:

1. the lock is taken, and held to the end;
2. the ledger is read, and the release refused where it does not fit;
3. the new ledger is written beside the old one, and is on the disk;
4. it takes the old one's name, and the name is on the disk;
5. only then may noise be drawn.

A process that dies before 4 has spent nothing and drawn nothing; one that dies after it has spent, whether or
not it drew. No error after it gives anything back. ``tests/differential/test_ledger.py`` dies at each step.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet.engines.files.folder import folder_digest
from discreet.engines.files.logged_table import is_logged_table, open_log
from discreet.errors import InputError, LimitReached
from discreet.model.privacy_loss import NOTHING, PrivacyLoss, delta_of, epsilon_of
from discreet.model.table_spec import PrivacyBudget, TableSpec
from discreet.places import file_lock
from discreet.places.address import address_said
from discreet.places.regular_file import read_text
from discreet.release.kept_files import ledger_path
from discreet.release.private_log import file_digest
from discreet.release.target import writing
from discreet.release.temporary import sync_folder
from discreet.settings import Settings

_VERSION = 1


@dataclass(frozen=True)
class Entry:
    """One release: when it was paid, what it was, for which tables' digests, and its loss."""

    time: str
    release: str
    tables: tuple[str, ...]
    loss: PrivacyLoss

    def as_json(self) -> dict[str, Any]:
        """The entry in the file."""
        return {
            "time": self.time,
            "release": self.release,
            **self.loss.as_json(),
            "tables": list(self.tables),
        }


@dataclass(frozen=True)
class Balance:
    """The budget of a table, and the entries that spent of it."""

    budget: PrivacyLoss
    entries: tuple[Entry, ...]

    @property
    def spent(self) -> PrivacyLoss:
        """The sum of all entries."""
        return sum((entry.loss for entry in self.entries), NOTHING)

    @property
    def left(self) -> PrivacyLoss:
        """What may still be spent; below 0 where the budget was lowered since."""
        return self.budget - self.spent

    def check(self, loss: PrivacyLoss) -> None:
        """Raise ``LimitReached`` where a loss does not fit into what is left."""
        if not (self.spent + loss).fits(self.budget):
            raise LimitReached(
                f"the privacy budget does not allow {loss}: {self.spent} of {self.budget} are spent",
                allowed=f"at most {self.left}",
                advice="Nothing was counted or written. What was spent does not come back; discreet budget "
                "SPEC lists it.",
            )


@dataclass(frozen=True)
class Ledger:
    """The ledger of one table: the file, the table's digests, and its budget."""

    path: Path
    tables: tuple[str, ...]
    budget: PrivacyBudget

    @classmethod
    def of(cls, spec: TableSpec, settings: Settings) -> Ledger:
        """The ledger of a spec's table; ``InputError`` where it has no budget, or nothing to be known by."""
        if spec.privacy_budget is None:
            raise InputError(
                f"{spec.label} has no [privacy_budget]",
                allowed="epsilon, and delta where a mechanism spends one",
                advice="Decide what all noisy releases of this table may spend together, and write it into "
                "the spec: [privacy_budget] epsilon = 1.0.",
            )
        return cls(ledger_path(spec, settings), _digests(spec), spec.privacy_budget)

    def balance(self) -> Balance:
        """What is spent as of now; ``InputError`` for a ledger that cannot be read."""
        entries = tuple(entry for entry in self._entries() if not set(entry.tables).isdisjoint(self.tables))
        return Balance(self.budget.total, entries)

    def spend(self, loss: PrivacyLoss, release: str) -> Balance:
        """Take a loss from the budget, on the disk when this returns, and before any noise is drawn.

        ``LimitReached`` where it does not fit; nothing is spent then.
        """
        with _locked(self.path):
            self.balance().check(loss)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._write([*self._entries(), Entry(now, release, self.tables, loss)])
            return self.balance()

    def _entries(self) -> list[Entry]:
        try:
            document = json.loads(read_text(self.path, f"the ledger {self.path}"))
            if document["ledger"] != _VERSION:
                raise InputError(f"{self.path} is a ledger of another version")
            return [_entry(found) for found in document["entries"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError):
            # Whoever cannot tell what is spent must not spend.
            raise InputError(
                f"the ledger of the privacy budget {self.path} cannot be read",
                advice="Restore it from a copy: without it nobody knows what is spent. The private log has "
                "every release, too.",
            ) from None

    def _write(self, entries: Sequence[Entry]) -> None:
        document = {"ledger": _VERSION, "entries": [entry.as_json() for entry in entries]}
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        partial = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.partial")
        with writing(self.path.parent):
            # The lock is held, so that what lies there is a dead run's.
            for left in self.path.parent.glob(f".{self.path.name}.*.partial"):
                left.unlink(missing_ok=True)
            try:
                descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                partial.replace(self.path)
                sync_folder(self.path.parent)
            finally:
                partial.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the ledger against every other process: two that read the same sum would spend it twice.

    The lock is a file of its own, as the ledger's is replaced. ``InputError`` where files cannot be locked.
    """
    with writing(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            if not file_lock.AVAILABLE:
                raise OSError
            file_lock.wait_for_lock(descriptor)
        except OSError:
            raise InputError(
                f"the ledger of the privacy budget {path} cannot be locked, so that two runs could spend "
                "the same budget",
                advice="Put the spec on a disk of this machine.",
            ) from None
        yield
    finally:
        os.close(descriptor)


def _entry(found: Mapping[str, Any]) -> Entry:
    tables = found["tables"]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, str) for table in tables):
        raise ValueError("an entry of no table")
    loss = PrivacyLoss(epsilon_of("epsilon", found["epsilon"]), delta_of("delta", found["delta"]))
    return Entry(str(found["time"]), str(found["release"]), tuple(tables), loss)


def _digests(spec: TableSpec) -> tuple[str, ...]:
    """What the table is known by, each as a digest: the name in the spec, its place, its content."""
    source, told = spec.source, []
    if spec.privacy_budget is not None and spec.privacy_budget.table is not None:
        told.append(("name", spec.privacy_budget.table))
    if source.path is not None:
        path = source.path.resolve()
        told.append(("path", f"{path}\n{source.table or ''}"))
        if is_logged_table(path):
            told.append(("content", open_log(path, source.label).identity))
        elif path.is_dir():
            told.append(("content", folder_digest(path)))
        elif path.exists():
            told.append(("content", f"{file_digest(path)}\n{source.table or ''}"))
    elif source.url is not None:
        parts = urlsplit(address_said(source.url))
        told.append(("database", f"{parts.netloc.rpartition('@')[2]}{parts.path}\n{source.table}"))
    elif source.table is not None:
        told.append(("catalog", f"{source.engine}\n{source.table}"))
    if not told:
        raise InputError(
            "a table in memory has nothing to know it by, so that nobody could keep its budget",
            advice='Name it: privacy_budget = {"epsilon": 1.0, "table": "census-2026"}.',
        )
    return tuple(hashlib.sha256(f"{kind}\n{what}".encode()).hexdigest() for kind, what in told)
