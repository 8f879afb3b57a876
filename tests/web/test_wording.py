"""Error messages on screens: no keys of files, flags of commands or names of code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.web.screen_messages import screen_message

SOURCES = Path(discreet.__file__).parent
ROOMS = [
    "attacks",
    "audit",
    "bounds",
    "engines/files",
    "frequency",
    "hierarchy",
    "lattice",
    "local",
    "mondrian",
    "negotiation",
    "patterns",
    "permutation",
    "queries",
    "recoding",
    "release",
    "results",
    "taxonomy",
    "verbs/models",
    "web",
]
"""Rooms whose messages a screen may show; files that only the command line reaches are listed below."""
ELSEWHERE = {
    "audit/criterion_checks.py": "criteria that somebody writes",
    "mondrian/partition.py": "for programs",
    "mondrian/greedy_cuts.py": "for programs",
    "queries/workload_generation.py": "for programs",
    "queries/permuted_query.py": "queries, which are SQL",
    "release/lock.py": "locks are of the command line",
    "engines/files/open_table_formats.py": "a word of Spark's",
    "web/server_config.py": "shown before the server has started",
    "web/server.py": "shown before the server has started",
    "web/server_state.py": "shown before the server has started",
}
STRANGE = re.compile(r"--[a-z]|\[(?!excel|stats|exact)[a-z]+\]|\b[a-z]+_[a-z_]+\b|\b[a-z]+ = [\[{\"]")


def text_of(node: ast.expr) -> str:
    """Return the text of an expression, with X for each interpolated value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    return text_of(node.body) + " " + text_of(node.orelse) if isinstance(node, ast.IfExp) else ""


def refusals(path: Path) -> Iterator[str]:
    """Yield the message, the allowed values and the advice of each error that a module raises."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Return) and isinstance(call.value, ast.Tuple):  # a fact and its advice
            texts = [each for each in call.value.elts if isinstance(each, ast.Constant | ast.JoinedStr)]
            yield from map(text_of, texts)
        if not isinstance(call, ast.Call):
            continue
        named = [each.value for each in call.keywords if each.arg in ("advice", "allowed")]
        called = getattr(call.func, "id", getattr(call.func, "attr", ""))
        raised = called.endswith("Error") or called in ("LimitReached", "NoSolution", "Conflict", "NotFound")
        yield from (text_of(each) for each in [*named, *(call.args[:1] if raised else [])])


def test_messages_have_no_keys_flags_or_names_of_code() -> None:
    found = []
    for room in ROOMS:
        for path in sorted((SOURCES / room).rglob("*.py")):
            place = path.relative_to(SOURCES).as_posix()
            texts = () if place in ELSEWHERE else refusals(path)
            found += [
                f"{place}: {words}" for text in texts if STRANGE.search(words := screen_message(text) or "")
            ]
    assert found == []


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "breaks: the bound 7 lies within an interval of 5: such intervals do not nest",
            "the bound 7 lies within an interval of 5: such intervals do not nest",
        ),
        (
            'List it in the hierarchy as others = ["a, b"], or in [source] as null_values = ["a, b"].',
            "List it under Other values, or read it as NULL on Load.",
        ),
        (
            "Choose a later reference, or list the value under others, or in null_values.",
            "Choose a later reference, or list the value under Other values, or read it as NULL on Load.",
        ),
        ("Raise a level, or allow --max-suppressed 414.", "Raise a level, or allow 414 to be suppressed."),
        (
            "survey-weights: no column of survey weights is named. Name it: --survey-weight COLUMN.",
            "no column of survey weights is named. Choose it.",
        ),
        (None, None),
    ],
)
def test_screen_message_is_rewritten(message: str | None, shown: str | None) -> None:
    assert screen_message(message) == shown
