"""OpenDP, whose mechanisms draw the noise: imported where it is needed, or missed by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from types import ModuleType

from discreet.errors import InputError


@dataclass(frozen=True)
class OpenDP:
    """The parts of the library that are used; its prelude would load several libraries of tables."""

    domains: ModuleType
    metrics: ModuleType
    measurements: ModuleType
    combinators: ModuleType
    measures: ModuleType
    error: type[Exception]
    version: str


def opendp() -> OpenDP:
    """The library; ``InputError`` where it is not installed."""
    try:
        from opendp import combinators, domains, measurements, measures, metrics, mod
    except ImportError:
        raise InputError(
            "differentially private noise needs OpenDP, which is not installed",
            advice="Install it: pip install 'discreet[dp]'.",
        ) from None
    # What is used has a proof; the library calls all that its own reviewers have not signed "contrib".
    mod.enable_features("contrib")
    parts = (domains, metrics, measurements, combinators, measures)
    return OpenDP(*parts, mod.OpenDPException, version("opendp"))
