"""The privacy ledger: exact sums, recognition of tables, and runs that die at each step."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import signal
import stat
from fractions import Fraction
from itertools import product
from pathlib import Path

import pandas
import pytest

from discreet.differential.ledger import Ledger
from discreet.errors import InputError, LimitReached
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.table_spec import PrivacyBudget
from discreet.places import file_access
from discreet.release.release_target import LEDGER_NAME
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from tests.differential.conftest import Made
from tests.dying import run_until_killed

TENTH = PrivacyLoss(Fraction(1, 10))


def ledger_of(table: Table) -> Ledger:
    return Ledger.of(table.spec, table.settings)


def at(folder: Path, budget: PrivacyLoss, *tables: str) -> Ledger:
    return Ledger(folder / LEDGER_NAME, tables or ("t",), PrivacyBudget(budget))


def test_budget_of_one_allows_ten_tenths(tmp_path: Path) -> None:
    ledger = at(tmp_path, PrivacyLoss(Fraction(1)))
    for number in range(1, 11):
        assert ledger.spend(TENTH, "a").spent == PrivacyLoss(Fraction(number, 10))
    with pytest.raises(LimitReached, match="privacy budget"):
        ledger.spend(PrivacyLoss(Fraction(1, 10**30)), "one more")
    assert ledger.balance().left == PrivacyLoss(Fraction(0))
    assert len(ledger.balance().entries) == 10


def test_losses_beyond_the_budget_are_refused(tmp_path: Path) -> None:
    """Every sequence of three out of four losses stops where the plain sum would exceed the budget."""
    parts = [Fraction(0), Fraction(1, 4), Fraction(3, 5)]
    losses = [PrivacyLoss(epsilon, delta) for epsilon, delta in product(parts[1:], parts[1:])]
    budget = PrivacyLoss(Fraction(1), Fraction(17, 20))
    for number, sequence in enumerate(product(losses, repeat=3)):
        ledger = at(tmp_path, budget, f"table {number}")
        epsilon = delta = Fraction(0)
        for loss in sequence:
            fits = epsilon + loss.epsilon <= 1 and delta + loss.delta <= Fraction(17, 20)
            if fits:
                epsilon, delta = epsilon + loss.epsilon, delta + loss.delta
                ledger.spend(loss, "a")
            else:
                with pytest.raises(LimitReached):
                    ledger.spend(loss, "a")
            assert ledger.balance().spent == PrivacyLoss(epsilon, delta)
        if number % 40 == 0:
            (tmp_path / LEDGER_NAME).unlink()


def test_table_is_recognized_by_location_content_and_name(made: Made, tmp_path: Path) -> None:
    table = made()
    ledger_of(table).spend(TENTH, "a")
    work = tmp_path / "work"

    def spent(name: str, **more: str) -> Fraction:
        text = (work / "discreet.toml").read_text(encoding="utf-8").replace("people.csv", name)
        for key, value in more.items():
            text = text.replace("[privacy_budget]", f'[privacy_budget]\n{key} = "{value}"')
        (work / "other.toml").write_text(text, encoding="utf-8")
        return ledger_of(open_table(work / "other.toml")).balance().spent.epsilon

    shutil.copy(work / "people.csv", work / "copy.csv")
    assert spent("copy.csv") == Fraction(1, 10)
    (work / "link.csv").symlink_to(work / "people.csv")
    with (work / "people.csv").open("a") as file:
        file.write("33,F,flu\n")
    assert spent("people.csv") == spent("link.csv") == Fraction(1, 10)
    (work / "stranger.csv").write_text("age,sex,disease\n1,F,flu\n")
    assert spent("stranger.csv") == spent("stranger.csv", table="census") == 0
    ledger_of(open_table(work / "other.toml")).spend(TENTH, "b")
    assert spent("people.csv", table="census") == Fraction(2, 10)


def test_table_in_memory_without_a_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    frame = pandas.DataFrame({"age": ["1", "2"]})
    spec = {"attributes": {"age": {"role": "sensitive"}}, "privacy_budget": {"epsilon": 1}}
    with pytest.raises(InputError, match="has no identity"):
        ledger_of(open_table(frame, spec))
    named = {**spec, "privacy_budget": {"epsilon": 1, "table": "census"}}
    ledger_of(open_table(frame, named)).spend(TENTH, "a")
    assert (tmp_path / "private" / LEDGER_NAME).is_file()
    assert open_table(frame, named).budget().spent == TENTH


def test_spec_without_budget_has_no_ledger(made: Made) -> None:
    table = made()
    path = table.spec.path
    assert path is not None
    path.write_text(path.read_text().split("[privacy_budget]")[0])
    with pytest.raises(InputError, match="privacy_budget"):
        open_table(path).budget()


ENTRY = {"time": "", "release": "", "epsilon": "1", "delta": "0", "tables": ["t"]}


def damaged(**changes: object) -> str:
    """Return a ledger of one entry with changed values; None removes a key."""
    entry = {key: value for key, value in {**ENTRY, **changes}.items() if value is not None}
    return json.dumps({"ledger": 1, "entries": [entry]})


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        json.dumps({"ledger": 2, "entries": []}),
        json.dumps({"ledger": 1}),
        damaged(epsilon="x"),
        damaged(epsilon="-1"),
        damaged(delta="1"),
        damaged(delta=None),
        damaged(tables=[]),
        damaged(tables="t"),
    ],
)
def test_unreadable_ledger_allows_no_spending(tmp_path: Path, damage: str) -> None:
    (tmp_path / LEDGER_NAME).write_text(damage)
    with pytest.raises(InputError, match="cannot be read"):
        at(tmp_path, PrivacyLoss(Fraction(1))).spend(TENTH, "a")
    assert (tmp_path / LEDGER_NAME).read_text() == damage


def test_without_locks_nothing_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_: int) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(file_access, "wait_for_lock", no_locks)
    with pytest.raises(InputError, match="cannot be locked"):
        at(tmp_path, PrivacyLoss(Fraction(1))).spend(TENTH, "a")
    assert not (tmp_path / LEDGER_NAME).exists()


def spend_often(folder: Path, failures: list[int]) -> None:
    ledger = at(folder, PrivacyLoss(Fraction(1)))
    for _ in range(8):
        try:
            ledger.spend(TENTH, "a")
        except LimitReached:
            failures.append(1)


def test_concurrent_runs_never_share_budget(tmp_path: Path) -> None:
    """Concurrent runs never share budget: two processes request eight losses each, ten are granted."""
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=spend_often, args=(tmp_path, [])) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    balance = at(tmp_path, PrivacyLoss(Fraction(1))).balance()
    assert len(balance.entries) == 10
    assert balance.spent == PrivacyLoss(Fraction(1))


CHILD = """
import os, sys
from fractions import Fraction
from pathlib import Path
from discreet.differential import ledger
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.table_spec import PrivacyBudget
from tests.dying import dies

paid = ledger.Ledger(Path(sys.argv[1]), ("t",), PrivacyBudget(PrivacyLoss(Fraction(1))))
paid.spend(PrivacyLoss(Fraction(1, 10)), "the first")
exec(sys.argv[2])
paid.spend(PrivacyLoss(Fraction(1, 10)), "the second")
"""
STEPS = {
    "dies(ledger.file_access, 'wait_for_lock', after=True)": 1,
    "dies(os, 'fsync')": 1,
    "dies(os, 'fsync', after=True)": 1,
    "dies(Path, 'replace')": 1,
    "dies(Path, 'replace', after=True)": 2,
    "dies(ledger, 'sync_folder', after=True)": 2,
}
"""Each step at which a run may die, and the number of losses in the ledger then."""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals")
@pytest.mark.parametrize("step", STEPS)
def test_killed_run_returns_no_budget(tmp_path: Path, step: str) -> None:
    progress = tmp_path / "told.txt"
    run_until_killed(CHILD, str(tmp_path / LEDGER_NAME), step, output=progress)
    progress.unlink()
    ledger = at(tmp_path, PrivacyLoss(Fraction(1)))
    assert len(ledger.balance().entries) == STEPS[step]
    # The next run is not blocked and removes the leftovers.
    ledger.spend(TENTH, "the next")
    assert len(ledger.balance().entries) == STEPS[step] + 1
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert {path.name for path in tmp_path.iterdir()} == {LEDGER_NAME, f"{LEDGER_NAME}.lock"}
    assert json.loads((tmp_path / LEDGER_NAME).read_text())["ledger"] == 1
