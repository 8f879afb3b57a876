"""Sentences begin with a capital; the name of a criterion keeps its case."""

from __future__ import annotations

import pytest

from discreet.cli.command import help_row
from discreet.model.criteria.base import Criterion, fixed_parameters
from discreet.model.criteria.registry import CRITERIA
from discreet.printing.document import capitalize


@pytest.mark.parametrize("kind", CRITERIA, ids=lambda kind: kind.name)
def test_title_of_a_criterion_keeps_its_symbol(kind: type[Criterion]) -> None:
    symbol = kind.title.split("-")[0].split(" ")[0]
    text = capitalize(f"{kind.title}: …")
    if len(symbol.strip("()")) == 1 or not symbol.isascii():
        assert text.startswith(kind.title)
    else:
        assert text[1:] == f"{kind.title}: …"[1:]
        assert text[0] == kind.title[0].upper()


@pytest.mark.parametrize(
    "text",
    [
        "t-closeness",
        "α-deassociation",
        "β alone",
        "δmin: least",
        "k-map",
        "k by survey weights",
        "p-sensitivity",
        "l-diversity",
        "(ε,m)-anonymity",
        "m",
        "ε of noise",
        "k = 5",
    ],
)
def test_symbols_keep_their_case(text: str) -> None:
    assert capitalize(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the rows", "The rows"),
        ("a class", "A class"),
        ("share of rows", "Share of rows"),
        ("", ""),
        ("ärzte", "Ärzte"),
        ("it's", "It's"),
        ("LKC-privacy", "LKC-privacy"),
        ("in no class", "In no class"),
    ],
)
def test_other_words_begin_with_a_capital(text: str, expected: str) -> None:
    assert capitalize(text) == expected


def test_help_of_parameters_keeps_greek_symbols_lower_case() -> None:
    for kind in CRITERIA:
        for part in fixed_parameters(kind):
            _, text = help_row(part)
            assert not any("\u0391" <= letter <= "\u03a9" for letter in text)
