"""Adult with the hierarchies of the negotiation paper, read without discreet's own readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings
from papers.negotiation_study import AdultStudy
from papers.reproduction import Context
from tests.oracle.plain_tables import frequency_set_of_rows, read_hierarchy, read_rows

AdultFrequencySet = Callable[[Sequence[str], str | None], FrequencySet]
AdultLattice = Callable[[Sequence[str], str | None], EvaluatedLattice]


@pytest.fixture(scope="session")
def adult_frequency_set(data_dir: Path) -> AdultFrequencySet:
    """Return a function of some attributes, and perhaps a sensitive one, that gives their frequency set."""
    people = read_rows(data_dir / "adult" / "adult_30162.csv")
    folder = data_dir / "adult" / "hierarchies_negotiation"

    def read(attributes: Sequence[str], sensitive: str | None = None) -> FrequencySet:
        hierarchies = [read_hierarchy(folder / f"{name}.csv") for name in attributes]
        return frequency_set_of_rows(people, hierarchies, [sensitive] if sensitive else [])

    return read


@pytest.fixture(scope="session")
def adult_lattice(
    adult_frequency_set: AdultFrequencySet, tmp_path_factory: pytest.TempPathFactory
) -> AdultLattice:
    """Return a function of some attributes that gives their evaluated lattice, each computed once."""
    log = tmp_path_factory.mktemp("private") / "log.jsonl"
    settings = Settings(memory_limit=2 * 10**9, threads=1, private_log=log)

    @cache
    def evaluated(attributes: tuple[str, ...], sensitive: str | None = None) -> EvaluatedLattice:
        return evaluate_lattice(adult_frequency_set(attributes, sensitive), settings)

    return lambda attributes, sensitive=None: evaluated(tuple(attributes), sensitive)


@pytest.fixture(scope="session")
def adult_study(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AdultStudy:
    """Return the lattices of the negotiation paper for all its quasi-identifiers, each computed once."""
    scratch = tmp_path_factory.mktemp("study")
    settings = Settings(memory_limit=2 * 10**9, threads=1, private_log=scratch / "log.jsonl")
    return AdultStudy(Context(data_dir, settings, scratch=scratch))


def rounds_to(computed: float, printed: float, decimals: int) -> bool:
    """Return True if a figure is the printed one once it is rounded, a half either way."""
    return abs(computed - printed) <= 0.5 * 10**-decimals + 1e-9
