"""Signals end a verb, or the process if the verb does not end; temporary files are removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from discreet.cli.main import main
from tests.waiting import PATIENCE, ctrl_c_arrives, status_of, wait_for

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

Child = Callable[..., subprocess.Popen[str]]

STUCK = """
def stays(*arguments, **options):
    says = "open"
    while True:
        try:
            print(says, flush=True)
            for _ in range(6000):
                time.sleep(0.1)  # a signal between the print and one long sleep would wait for its end
        except KeyboardInterrupt:
            says = "goes on"
"""
"""A verb that never returns, like a loop in C code."""

INIT = f"""
{STUCK}
import discreet.engines.duckdb.engine as engine
engine.open_reader = stays
sys.exit(main())
"""

PUBLISH = f"""
{STUCK}
from discreet.release import publication
publication.audit_source = stays
sys.exit(main())
"""

ANSWERS = """
with process.signals_as_interrupts(own_process=True):
    with process.interrupt_returns_best():
        try:
            print("open", flush=True)
            for _ in range(6000):
                time.sleep(0.1)
        except KeyboardInterrupt:
            time.sleep(1.0)
    try:
        print("answer", flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        time.sleep(600)
"""


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    """Yield a function that starts a script which may end late; its temporary folder ends up empty."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object, seconds: float) -> subprocess.Popen[str]:
        # Under nohup SIGHUP is ignored, and child processes inherit that.
        head = "import signal, sys, time\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        head += "from discreet.cli import process\nfrom discreet.cli.main import main\n"
        with ctrl_c_arrives():
            found = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"{head}process.SECONDS_TO_END = {seconds}\n{script}",
                    *map(str, arguments),
                ],
                cwd=ROOT,
                env={**os.environ, "TMPDIR": str(temporary)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        started.append(found)
        expect(found, "open")
        return found

    yield start
    for one in started:
        one.kill()
        one.communicate()
    assert list(temporary.iterdir()) == []


def expect(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == f"{line}\n"


def send_until_ended(child: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal repeatedly until the child ends: it must arrive after the first one was handled."""
    for _ in range(int(PATIENCE)):
        child.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(1)
            return


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("age,sex\n1,m\n2,f\n")
    return path


ENDED = "discreet: ended by {}: {}; temporary files were removed\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_unresponsive_verb_is_ended(number: signal.Signals, child: Child, table: Path) -> None:
    stuck = child(INIT, "init", table, "--output", table.with_suffix(".toml"), seconds=0.5)
    stuck.send_signal(number)
    assert status_of(stuck) == (128 + number, ENDED.format(number.name, "it did not end in time"))


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_second_signal_ends_the_verb_at_once(second: signal.Signals, child: Child, table: Path) -> None:
    stuck = child(INIT, "init", table, "--output", table.with_suffix(".toml"), seconds=600)
    stuck.send_signal(signal.SIGTERM)
    expect(stuck, "goes on")
    send_until_ended(stuck, second)
    assert status_of(stuck) == (143, ENDED.format("SIGTERM", "a second signal came"))


def test_two_signals_within_a_moment_count_as_one(child: Child, table: Path) -> None:
    stuck = child(INIT, "init", table, "--output", table.with_suffix(".toml"), seconds=600)
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
        stuck.send_signal(number)
    expect(stuck, "goes on")
    with pytest.raises(subprocess.TimeoutExpired):
        stuck.wait(1)
    send_until_ended(stuck, signal.SIGTERM)
    assert status_of(stuck)[0] in (143, 129)


def test_unfinished_release_is_removed(child: Child, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    spec = tmp_path / "discreet.toml"
    assert main(["init", str(table), "--output", str(spec), "--json"]) == 0
    stuck = child(PUBLISH, "publish", spec, "--output", out / "r.csv", "--k", 1, seconds=600)
    assert {path.name.rpartition(".")[2] for path in out.iterdir()} == {"partial"}
    stuck.send_signal(signal.SIGINT)
    expect(stuck, "goes on")
    send_until_ended(stuck, signal.SIGINT)
    assert status_of(stuck)[0] == 130
    assert list(out.iterdir()) == []


def test_ignored_interrupt_stays_ignored(child: Child, table: Path) -> None:
    """A background job of a shell inherits SIGINT as ignored."""
    stuck = child(
        f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{INIT}",
        "init",
        table,
        "--output",
        table.with_suffix(".toml"),
        seconds=0.1,
    )
    stuck.send_signal(signal.SIGINT)
    stuck.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        stuck.wait(1)
    stuck.send_signal(signal.SIGTERM)
    assert status_of(stuck)[0] == 143


def test_interrupt_that_requests_an_answer_returns_it(child: Child) -> None:
    """The first interrupt ends nothing, however long the answer takes; the next one ends the process."""
    process = child(ANSWERS, seconds=0.1)
    process.send_signal(signal.SIGINT)
    expect(process, "answer")
    process.send_signal(signal.SIGINT)
    assert status_of(process)[0] == 130


def open_files() -> set[tuple[int, int, int]]:
    """Return the open descriptors of this process, each with the device and inode of its file."""
    found = set()
    for path in list(Path("/dev/fd").iterdir()):
        with suppress(OSError):  # the descriptor of the listing itself is closed
            opened = os.fstat(int(path.name))
            found.add((int(path.name), opened.st_dev, opened.st_ino))
    return found


@pytest.mark.parametrize("own", [True, False])
def test_signal_handlers_are_restored(own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread and no open file is new; those of an earlier test may end meanwhile."""

    def state() -> tuple[object, ...]:
        wakeup = signal.set_wakeup_fd(-1)
        return wakeup, [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]

    monkeypatch.setattr(sys, "argv", ["discreet", "--version"])
    before, threads, files = state(), set(threading.enumerate()), open_files()
    assert main(None if own else ["--version"]) == 0
    assert state() == before
    assert not set(threading.enumerate()) - threads
    assert not open_files() - files


def test_verb_in_a_thread_changes_no_signal_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["discreet", "--version"])
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(main()))
    thread.start()
    thread.join()
    assert found == [0]
    wait_for(lambda: signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "the default")
