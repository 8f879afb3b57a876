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
def test_policy_and_work_choose_the_kernels(
    policy: str, worth: bool, chosen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("discreet.kernels.precompilation.cache_folder", lambda: tmp_path)
    monkeypatch.setenv("DISCREET_COMPILE", policy)
    notices: list[str] = []
    assert choose_kernels(("some-part",), "work", worth=worth, notice=notices.append) is chosen
    assert notices == (["compiling the kernels for the work (once, about ten seconds)"] if chosen else [])
    mark_compiled("some-part")
    assert choose_kernels(("some-part",), "work", worth=False, notice=notices.append)
    assert choose_kernels(("some-part", "another"), "work", worth=worth) is chosen
    assert choose_kernels(("another",), "work", worth=False, evaluator=Backend.KERNELS)
    assert not choose_kernels(("some-part",), "work", worth=True, evaluator=Backend.TWIN)


def test_unknown_policy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("DISCREET_COMPILE", "sometimes")
    with pytest.raises(InputError, match="sometimes"):
        choose_kernels(("some-part",), "work", worth=True)
