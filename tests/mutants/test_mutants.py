"""Tests of the planted bugs: each text exists in the program, and the fuzz finds one of the bugs here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.__main__ import SOURCE, Hunt, copied, hunt, line_of, planted
from tests.mutants.planted import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_has_its_place_in_the_program(mutant: Mutant) -> None:
    text = (SOURCE / "discreet" / mutant.file).read_text(encoding="utf-8")
    wrong = planted(mutant, text)
    assert wrong != text
    ast.parse(wrong)


def test_thirty_mutants_have_different_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30


def test_missing_or_ambiguous_text_is_an_error() -> None:
    mutant = Mutant("none", "a.py", "x = 1", "x = 2")
    for text, number in (("", 0), ("x = 1\nx = 1\n", 2)):
        with pytest.raises(ValueError, match=f"none: its text occurs {number} times in a.py"):
            planted(mutant, text)


def test_mutant_is_found_and_the_copy_is_restored(tmp_path: Path) -> None:
    source = copied(tmp_path)
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "audit passes everything")
    found = hunt(mutant, source, seconds=30, base=1)
    assert found.found
    assert found.attempt.startswith("trial-")
    assert "the verdict of an audit" in line_of(found)
    for path in (mutant.file, "audit/release_audit.py"):
        assert (source / "discreet" / path).read_bytes() == (SOURCE / "discreet" / path).read_bytes()


def test_missed_mutant_is_reported() -> None:
    assert line_of(Hunt(MUTANTS[0], "", "", 1.0)).endswith("MISSED")
