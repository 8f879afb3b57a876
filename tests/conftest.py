"""Shared fixtures: the location of the real data, and settings for a small machine."""

from __future__ import annotations

import atexit
import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.settings import Settings
from tests.criteria_of_tests import share
from tests.drawing import NEW, some_of
from tests.loose_rows import loose_rows
from tests.servers.mariadb import mariadb_server
from tests.servers.postgres import postgres_server
from tests.servers.spark import spark_process

__all__ = ["loose_rows", "mariadb_server", "postgres_server", "share", "spark_process"]

# Draws are fixed, so that changes are compared on equal tables; `make test-all` draws new ones.
hypothesis_settings.register_profile("same", derandomize=True, deadline=None, max_examples=some_of(100))
hypothesis_settings.register_profile("new", deadline=None, print_blob=True)
hypothesis_settings.load_profile("new" if NEW else "same")

ROOT = Path(__file__).resolve().parent.parent
COMPILING = ("tests/kernels/", "tests/lattice/", "tests/local/test_kernels", "tests/mondrian/test_adult")
"""Tests that first run nearly all kernels: without compiled code, compiling takes most of their time."""

FEW_AND_LONG = (
    "tests/papers/",
    "tests/bounds/test_tiny_tables",
    "tests/cli/test_signals",
    "tests/web/test_scripts",
    "tests/release/test_permuted_killed",
    "tests/release/test_schema_faults",
    "tests/attacks/test_intersection",
    "tests/local/test_recode",
    "tests/bounds/test_adult_queries",
    "tests/verbs/test_kernel",
    "tests/first_hour/test_first_hour",
    "tests/release/test_wide",
    "tests/web/test_server",
    "tests/web/test_interface",
    "tests/cli/test_without_numba",
)
"""Files of a few tests that take about ten seconds each: ordered by their number, they would start last."""


def pytest_configure(config: pytest.Config) -> None:
    """Distribute groups of tests in the order of ``pytest_collection_modifyitems``, not by number."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than processors, since they wait for browsers, Spark and servers."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude collected tests, which live until the end, from repeated garbage collection.

    Cycles of later objects are collected rarely, as in the command (``cli.process``).
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        gc.enable()


atexit.register(gc.unfreeze)  # at its end the interpreter looks for what libraries would call a leak


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Group the tests of one process: all tests of Spark, since each session is a JVM; else a file's tests.

    The longest groups are distributed first, so that none begins last: Spark's; those that compile kernels,
    in one process, so that no two compile the same; the browser's, which wait as much as they compute; the
    few files whose tests are long (``FEW_AND_LONG``); then the files with most tests. The quick runs of
    reproductions, each of which several files read, are made in one process.
    """
    groups = {item: _group(item) for item in items}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    if hasattr(config, "workerinput"):
        sizes = Counter(groups.values())
        items.sort(key=lambda item: _place(groups[item], sizes[groups[item]]))


def _group(item: pytest.Item) -> str:
    if item.get_closest_marker("spark"):
        return "spark"
    place: str = item.location[0]
    if place.startswith("tests/papers/"):
        return "tests/papers/"
    return "kernels" if place.startswith(COMPILING) else place


def _place(group: str, size: int) -> tuple[int, int, str]:
    first = ("spark", "kernels", "tests/web/browser/", *FEW_AND_LONG)
    return next((i for i, start in enumerate(first) if group.startswith(start)), len(first)), -size, group


@pytest.fixture(scope="session", autouse=True)
def quiet_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Disable background compilation and entries in the user's own log."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_COMPILE", "never")
        patch.setenv("DISCREET_LOG", str(tmp_path_factory.mktemp("private") / "log.jsonl"))
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real data sets (``DISCREET_DATA``, default ``../shared/data``)."""
    folder = Path(os.environ.get("DISCREET_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "adult").is_dir():
        if (ROOT.parent / "shared").is_dir():
            pytest.fail(f"the real data is missing in {folder}")
        pytest.skip("the real data is not here: set DISCREET_DATA to its folder")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with two gigabytes, one thread, and a private log; two threads in ``make test-all``.

    A second thread hardly helps in small tables and costs a tenth of the engine's time. A test whose result
    it could change (kernels, recoding, written files) requests two threads explicitly.
    """
    threads = 2 if NEW else 1
    return Settings(memory_limit=2 * 10**9, threads=threads, private_log=tmp_path / "private" / "log.jsonl")


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    """The embedded engine."""
    with connect(settings) as found:
        yield found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder, which must be empty again after a publication that failed."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
