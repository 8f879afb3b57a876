"""Output streams: colour, JSON in any encoding, progress, escaped terminal control sequences."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import pytest

from discreet.cli import output
from discreet.cli.output import TerminalReporter
from discreet.printing.document import Line, Tone
from tests.cli.conftest import PEOPLE, SPEC, Run
from tests.waiting import wait_for


class Terminal(io.StringIO):
    """A stream that reports to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_colour_is_printed_only_on_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    document = (Line("done [bold]", Tone.GOOD),)
    for stream, coloured in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", stream)
        output.print_document(document)
        assert ("\x1b[" in stream.getvalue()) is coloured
        assert "done [bold]" in stream.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    output.print_document(document)
    assert sys.stdout.getvalue() == "done [bold]\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
def test_json_and_text_in_any_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    output.print_json({"city": "東京 é"})
    sys.stdout.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == {"city": "東京 é"}
    output.print_document((Line("→ 東京"),))
    sys.stdout.flush()


def test_values_cannot_command_the_terminal(run: Run, people: Path) -> None:
    evil = "Bonn\x1b[2J"
    (people / "people.csv").write_text(PEOPLE.replace("Bonn", evil), encoding="utf-8")
    (people / "discreet.toml").write_text(SPEC.replace('hierarchy = "city.csv"\n', ""), encoding="utf-8")
    for command in ("inspect discreet.toml", "audit people.csv --quasi-identifier city --k 9"):
        found = run(*command.split())
        assert "\x1b" not in found.out + found.err
    assert "\\x1b[2J" in found.out


def test_progress_is_shown_after_a_second_only_on_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("discreet.cli.output.PROGRESS_DELAY_SECONDS", 0.05)
    terminal, pipe = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    with TerminalReporter().stage("Counting") as advance:
        advance(1, 2)
        wait_for(lambda: "Counting" in terminal.getvalue(), "the stage is shown")
    monkeypatch.setattr(sys, "stderr", pipe)
    with TerminalReporter().stage("Counting") as advance:
        advance(1, 2)
        time.sleep(0.3)
    assert pipe.getvalue() == ""
    quick = Terminal()
    monkeypatch.setattr("discreet.cli.output.PROGRESS_DELAY_SECONDS", 3600.0)
    monkeypatch.setattr(sys, "stderr", quick)
    with TerminalReporter().stage("Counting"):
        pass
    assert "Counting" not in quick.getvalue()


def test_notices_are_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalReporter().notice("compiling the kernels, once")
    assert capsys.readouterr().err == "compiling the kernels, once\n"


def test_notice_during_progress_has_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    reporter = TerminalReporter()
    with reporter.stage("Counting"):
        reporter.notice("compiling [once]")
    assert "compiling [once]" in stream.getvalue()
