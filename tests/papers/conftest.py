"""Quick runs of the reproductions on the real data, each made once, and runs of ``python -m papers``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from discreet.settings import Settings
from papers.__main__ import main
from papers.reproduction import ReproductionRun, prepare_run
from tests.cli.conftest import Run, make_runner

QuickRun = Callable[[str], ReproductionRun]


class OneStageAtATime:
    """A reporter that allows one open stage at a time, as a terminal shows one."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self._now: str | None = None

    @contextmanager
    def stage(self, title: str) -> Iterator[Callable[[int, int], None]]:
        assert self._now is None, f"'{title}' begins within '{self._now}'"
        self.titles.append(title)
        self._now = title
        try:
            yield lambda _done, _total: None
        finally:
            self._now = None

    def notice(self, text: str) -> None:
        """Ignore the notice."""


@pytest.fixture(scope="session")
def quick_run(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> QuickRun:
    """Return a function that makes a quick run of a reproduction, once per name."""
    folder = tmp_path_factory.mktemp("reproduce")
    settings = Settings(memory_limit=2 * 10**9, threads=1, private_log=folder / "log.jsonl")

    @cache
    def run(name: str) -> ReproductionRun:
        made = prepare_run(
            name,
            folder=folder / name,
            data=data_dir,
            settings=settings,
            quick=True,
            reporter=OneStageAtATime(),
        )
        for _ in made.sections():
            pass
        return made

    return run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return a function that runs ``python -m papers`` in process."""
    return make_runner(main, capsys, monkeypatch, tmp_path)
