"""The printed figures of the papers: data files in this package, read as they are printed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from discreet.reproduce.comparison import Deviation


@cache
def printed(paper: str) -> Mapping[str, Any]:
    """The figures of ``figures/<paper>.toml``; decimals are ``Decimal``, so that digits stay as printed."""
    text = files("discreet.reproduce").joinpath("figures", f"{paper}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text, parse_float=Decimal)


def deviations(paper: str) -> tuple[Deviation, ...]:
    """The known deviations of a paper's figures."""
    return tuple(Deviation(**entry) for entry in printed(paper).get("deviation", ()))
