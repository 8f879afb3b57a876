"""Options that discreet parses itself: ``ATTR=N``, ``--l``, ``--k``."""

from __future__ import annotations

import pytest
import typer
import typer.main

from discreet.cli.command import limiting
from discreet.cli.options import parse_k, parse_l, parse_level_options, parse_settings
from discreet.cli.typer_application import build_application
from discreet.errors import InputError


def test_levels_split_at_the_last_sign() -> None:
    assert parse_level_options("--level", ["age=1", "a=b=2", "=x=3"]) == {"age": 1, "a=b": 2, "=x": 3}
    assert parse_level_options("--level", None) == {}


@pytest.mark.parametrize("text", ["age", "=1", "age=", "age=1.5", "age=one", "age=٣", "age=" + "9" * 5000])
def test_invalid_levels_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="ATTR=N"):
        parse_level_options("--level", [text])


def test_l_is_a_number_or_a_number_by_attribute() -> None:
    assert parse_l(None) is None
    assert parse_l([]) is None
    assert parse_l(["3"]) == 3
    assert parse_l(["a=2", "b=c=3"]) == {"a": 2, "b=c": 3}


@pytest.mark.parametrize("texts", [["2", "3"], ["2", "a=3"], ["two"], ["2.0"], ["a=2", "a=2"]])
def test_invalid_l_is_refused(texts: list[str]) -> None:
    with pytest.raises(InputError):
        parse_l(texts)


def test_k_is_a_whole_number() -> None:
    assert parse_k(None) is None
    assert parse_k("10") == 10
    for text in ("2.5", "ten", "", "1e3", "9" * 5000):
        with pytest.raises(InputError):
            parse_k(text)


def test_settings_are_read_from_common_options() -> None:
    with limiting("3", "4GB"):
        found = parse_settings()
    assert (found.threads, found.memory_limit) == (3, 4 * 10**9)
    with limiting("many", None), pytest.raises(InputError):
        parse_settings()


def test_declared_options_are_made_once() -> None:
    """Otherwise a process that runs verb after verb spends a quarter of its time on building them."""
    command = typer.main.get_command(build_application()).commands["publish"]  # type: ignore[attr-defined]
    first, again = (command.get_params(typer.Context(command)) for _ in range(2))
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert {"--t", "--tie"} <= {word for parameter in first for word in parameter.opts}
