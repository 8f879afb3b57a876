"""Options that are read by discreet itself: ``ATTR=N``, ``--l``, ``--k``."""

from __future__ import annotations

import pytest
import typer
import typer.main

from discreet.cli.application import application
from discreet.cli.options import k_of, l_of, levels_of, settings_of
from discreet.errors import InputError


def test_levels_split_at_the_last_sign() -> None:
    assert levels_of("--level", ["age=1", "a=b=2", "=x=3"]) == {"age": 1, "a=b": 2, "=x": 3}
    assert levels_of("--level", None) == {}


@pytest.mark.parametrize("text", ["age", "=1", "age=", "age=1.5", "age=one", "age=٣", "age=" + "9" * 5000])
def test_levels_of_another_form(text: str) -> None:
    with pytest.raises(InputError, match="ATTR=N"):
        levels_of("--level", [text])


def test_l() -> None:
    assert l_of(None) is None
    assert l_of([]) is None
    assert l_of(["3"]) == 3
    assert l_of(["a=2", "b=c=3"]) == {"a": 2, "b=c": 3}


@pytest.mark.parametrize("texts", [["2", "3"], ["2", "a=3"], ["two"], ["2.0"], ["a=2", "a=2"]])
def test_l_of_another_form(texts: list[str]) -> None:
    with pytest.raises(InputError):
        l_of(texts)


def test_k() -> None:
    assert k_of(None) is None
    assert k_of("10") == 10
    for text in ("2.5", "ten", "", "1e3", "9" * 5000):
        with pytest.raises(InputError):
            k_of(text)


def test_settings() -> None:
    found = settings_of("3", "4GB")
    assert (found.threads, found.memory_limit) == (3, 4 * 10**9)
    with pytest.raises(InputError):
        settings_of("many", None)


def test_declared_options_are_made_once() -> None:
    """A process that runs verb after verb spends a quarter of its time on them otherwise."""
    command = typer.main.get_command(application()).commands["publish"]  # type: ignore[attr-defined]
    first, again = (command.get_params(typer.Context(command)) for _ in range(2))
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert {"--t", "--tie"} <= {word for parameter in first for word in parameter.opts}
