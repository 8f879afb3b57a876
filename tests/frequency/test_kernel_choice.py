"""Kernels run if requested, compiled already, or worth compiling; one variable decides for all packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.precompilation import mark_compiled
from discreet.model.request import Backend


@pytest.mark.parametrize(
    ("policy", "worth", "chosen"),
    [
        ("never", True, False),
        ("wait", False, True),
        ("wait", True, True),
        ("background", False, False),
        ("background", True, True),
    ],
)
def test_the_policy_and_the_work_decide(
    policy: str, worth: bool, chosen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("discreet.kernels.precompilation.cache_folder", lambda: tmp_path)
    monkeypatch.setenv("DISCREET_COMPILE", policy)
    told: list[str] = []
    assert choose_kernels(("some-part",), "work", worth=worth, notice=told.append) is chosen
    assert told == (["compiling the kernels for the work (once, about ten seconds)"] if chosen else [])
    mark_compiled("some-part")
    assert choose_kernels(("some-part",), "work", worth=False, notice=told.append)
    assert choose_kernels(("some-part", "another"), "work", worth=worth) is chosen
    assert choose_kernels(("another",), "work", worth=False, evaluator=Backend.KERNELS)
    assert not choose_kernels(("some-part",), "work", worth=True, evaluator=Backend.TWIN)


def test_another_policy_is_refused_in_every_room(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("DISCREET_COMPILE", "sometimes")
    with pytest.raises(InputError, match="sometimes"):
        choose_kernels(("some-part",), "work", worth=True)
