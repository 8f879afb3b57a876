"""Ledger of a table's privacy budget, shared by all differentially private releases of the table.

Losses add up by sequential composition (Dwork and Roth 2014, Theorem 3.16; Rogers et al. 2016). A release
whose loss exceeds the remaining budget is refused, for ε or δ. The ledger is an owner-only file next to the
spec, or next to the private log for a spec without a file. Entries contain digests of the table's identities
(location, content, declared name); tables that share an identity share their loss, transitively, and a known
table's further identities are recorded with zero loss. A loss is on disk before noise is drawn:

1. take the lock and keep it to the end;
2. read the ledger and refuse a loss that does not fit;
3. write the new ledger next to the old one and sync it;
4. rename it and sync the folder;
5. only then draw noise.

A process killed before step 4 has spent and drawn nothing; after it, the loss stays spent.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.files.parquet_files import folder_digest
from discreet.engines.files.sources import is_versioned_table, open_table_log
from discreet.engines.identity import Identity, rows_identity, stored_tables, table_identities
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.model.json_documents import parse_json
from discreet.model.privacy_loss import ZERO_LOSS, PrivacyLoss, parse_delta, parse_epsilon
from discreet.model.table_spec import PrivacyBudget, SourceSpec, TableSpec
from discreet.places import file_access
from discreet.places.address import resolve_address
from discreet.places.file_access import read_text
from discreet.release.private_log import compute_file_digest
from discreet.release.release_target import ledger_path, sync_folder, translate_write_errors
from discreet.settings import Settings

_VERSION = 1


@dataclass(frozen=True)
class LedgerEntry:
    """One release: time of payment, description, digests of its tables, and loss."""

    time: str
    release: str
    tables: tuple[str, ...]
    loss: PrivacyLoss

    def as_json(self) -> dict[str, Any]:
        """Return the entry's JSON in the ledger file."""
        return {
            "time": self.time,
            "release": self.release,
            **self.loss.as_json(),
            "tables": list(self.tables),
        }


@dataclass(frozen=True)
class Balance:
    """Budget of a table and the entries that spent from it."""

    budget: PrivacyLoss
    entries: tuple[LedgerEntry, ...]

    @property
    def spent(self) -> PrivacyLoss:
        """Sum of all entries' losses."""
        return sum((entry.loss for entry in self.entries), ZERO_LOSS)

    @property
    def left(self) -> PrivacyLoss:
        """Remaining budget; negative where the budget was lowered after spending."""
        return self.budget - self.spent

    def check(self, loss: PrivacyLoss) -> None:
        """Raise ``LimitReached`` where a loss exceeds the remaining budget."""
        if not (self.spent + loss).fits(self.budget):
            raise LimitReached(
                f"the privacy budget does not allow {loss}: {self.spent} of {self.budget} are spent",
                allowed=f"at most {self.left}",
                advice="Nothing was counted or written. Spent budget cannot be recovered; discreet dp budget "
                "SPEC lists it.",
            )


@dataclass(frozen=True)
class Ledger:
    """Ledger of one table: file, digests of the table's identities, and budget."""

    path: Path
    tables: tuple[str, ...]
    budget: PrivacyBudget

    @classmethod
    def of(cls, spec: TableSpec, settings: Settings, engine: Engine | None = None) -> Ledger:
        """Open the ledger of a spec's table; identify the table with the given engine or a temporary one.

        Raise ``InputError`` where the spec has no budget, or the table has no identity.
        """
        if spec.privacy_budget is None:
            raise InputError(
                f"{spec.label} has no [privacy_budget]",
                allowed="epsilon, and delta where a mechanism spends one",
                advice="Choose the total budget of this table's private releases and add it to the spec: "
                "[privacy_budget] epsilon = 1.0.",
            )
        tables: tuple[str, ...] = ()
        if spec.source.path is not None:
            with connect(settings) as embedded:
                tables = stored_tables(spec.source, embedded.fetch_rows)
        with nullcontext(engine) if engine is not None else connect(settings, spec.source) as known:
            return cls(
                ledger_path(spec, settings), _identity_digests(spec, known, tables), spec.privacy_budget
            )

    def balance(self) -> Balance:
        """Read the current balance; raise ``InputError`` for a ledger that cannot be read."""
        return Balance(self.budget.total, _related_entries(self._entries(), self.tables))

    def check(self, loss: PrivacyLoss) -> None:
        """Raise ``LimitReached`` where a loss exceeds the remaining budget; record the table then."""
        try:
            self.balance().check(loss)
        except LimitReached:
            self.remember("refused")
            raise

    def remember(self, what: str) -> None:
        """Record an entry without loss if the ledger contains some, but not all, identities of the table."""
        if not self.path.exists():
            return
        with _lock_ledger(self.path):
            self._remember(what)

    def _remember(self, what: str) -> None:
        found = self._entries()
        known = {table for entry in _related_entries(found, self.tables) for table in entry.tables}
        if known and not known.issuperset(self.tables):
            self._write([*found, LedgerEntry(_now(), what, self.tables, ZERO_LOSS)])

    def spend(self, loss: PrivacyLoss, release: str) -> Balance:
        """Spend a loss; the ledger is synced to disk on return, before any noise is drawn.

        Raise ``LimitReached`` where it does not fit; then nothing is spent.
        """
        with _lock_ledger(self.path):
            # Read, check and write under one lock: two processes that read the same sum would both spend it.
            try:
                self.balance().check(loss)
            except LimitReached:
                self._remember("refused")
                raise
            self._write([*self._entries(), LedgerEntry(_now(), release, self.tables, loss)])
            return self.balance()

    def _entries(self) -> list[LedgerEntry]:
        try:
            document = parse_json(read_text(self.path, f"the ledger {self.path}"))
            if document["ledger"] != _VERSION:
                raise InputError(f"{self.path} is a ledger of another version")
            return [_parse_entry(found) for found in document["entries"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError):
            # Refuse to spend without a known balance.
            raise InputError(
                f"the ledger of the privacy budget {self.path} cannot be read",
                advice="Restore it from a copy. The private log lists every release, too.",
            ) from None

    def _write(self, entries: Sequence[LedgerEntry]) -> None:
        document = {"ledger": _VERSION, "entries": [entry.as_json() for entry in entries]}
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        partial = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.partial")
        with translate_write_errors(self.path.parent):
            # The lock is held, so a partial file belongs to a dead process.
            for left in self.path.parent.glob(f".{self.path.name}.*.partial"):
                left.unlink(missing_ok=True)
            try:
                # Write and sync a new file before the rename: a crash leaves the old or the new ledger, never
                # a part.
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
def _lock_ledger(path: Path) -> Iterator[None]:
    """Hold the ledger's lock against other processes, which otherwise could spend the same budget twice.

    The lock is a separate file, as the ledger's own file is replaced. Raise ``InputError`` where files cannot
    be locked.
    """
    with translate_write_errors(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            if not file_access.LOCKS_AVAILABLE:
                raise OSError
            file_access.wait_for_lock(descriptor)
        except OSError:
            raise InputError(
                f"the ledger of the privacy budget {path} cannot be locked, so two runs could spend the "
                "same budget",
                advice="Move the spec to a local disk.",
            ) from None
        yield
    finally:
        os.close(descriptor)


def _parse_entry(document: Mapping[str, Any]) -> LedgerEntry:
    tables = document["tables"]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, str) for table in tables):
        raise ValueError("an entry of no table")
    epsilon, delta = document["epsilon"], document["delta"]
    free = epsilon == "0" and delta == "0"
    loss = ZERO_LOSS if free else PrivacyLoss(parse_epsilon("epsilon", epsilon), parse_delta("delta", delta))
    return LedgerEntry(str(document["time"]), str(document["release"]), tuple(tables), loss)


def _related_entries(entries: Sequence[LedgerEntry], tables: Sequence[str]) -> tuple[LedgerEntry, ...]:
    """Return, in order, the entries that share an identity with a table, directly or transitively."""
    known, found = set(tables), dict[int, LedgerEntry]()
    while True:
        further = {
            number: entry
            for number, entry in enumerate(entries)
            if number not in found and not known.isdisjoint(entry.tables)
        }
        if not further:
            return tuple(found[number] for number in sorted(found))
        found |= further
        known |= {table for entry in further.values() for table in entry.tables}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _identity_digests(spec: TableSpec, engine: Engine, tables: Sequence[str]) -> tuple[str, ...]:
    """Return the digests of the table's identities: its name in the spec, its locations and its content.

    ``tables`` are those of a file that the source reads.
    """
    source, found = spec.source, list[Identity]()
    if spec.privacy_budget is not None and spec.privacy_budget.table is not None:
        found.append(("name", spec.privacy_budget.table))
    found += _declared_identities(source)
    found += table_identities(engine, source, tables)
    if source.path is not None:
        found += _content_identities(source, source.path, tables)
    if not found:
        raise InputError(
            "a table in memory has no identity, so its budget cannot be recorded",
            advice='Name it: privacy_budget = {"epsilon": 1.0, "table": "census-2026"}.',
        )
    # An error in a row is not reported here either; counting refuses it without a reason.
    with suppress(DiscreetError):
        rows = rows_identity(engine, source)
        found += [] if rows is None else [rows]
    texts = dict.fromkeys(f"{kind}\n{text}" for kind, text in found)
    return tuple(hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() for text in texts)


def _declared_identities(source: SourceSpec) -> Iterator[Identity]:
    """Yield the identities of a database or catalog table as the spec spells it, whatever the engine."""
    if source.url is not None:
        parts = urlsplit(resolve_address(source.url))
        yield "database", f"{parts.netloc.rpartition('@')[2]}{parts.path}\n{source.table}"
    elif source.path is None and source.table is not None:
        yield "catalog", f"{source.engine}\n{source.table}"


def _content_identities(source: SourceSpec, path: Path, tables: Sequence[str]) -> Iterator[Identity]:
    """Yield the identities of a file's bytes, of a folder's files, or of a table with a log."""
    real = path.resolve()
    if is_versioned_table(real):
        yield "content", open_table_log(real, source.label).identity
    elif real.is_dir():
        yield "content", folder_digest(real)
    elif real.is_file():
        digest = compute_file_digest(real)
        yield from (("content", f"{digest}\n{table}") for table in tables)
