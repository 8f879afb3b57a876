"""The requirement that a manifest tells, read as plain JSON by nothing that wrote it.

What a release had to meet is judged whole or not at all: a requirement of which a part is not understood is
an error, never a smaller requirement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import InputError
from discreet.model.criteria.counts import ALWAYS_TOLD
from discreet.model.criteria.registry import CRITERIA, criteria_from
from discreet.model.requirement import Requirement


def required_by(document: Mapping[str, Any]) -> Requirement:
    """The requirement in a manifest; ``KeyError`` or ``TypeError`` where it tells neither k nor l.

    ``InputError`` for a criterion that this installation does not know, and for a value that is none of its.
    """
    stated = document["requirement"]
    always = {name: stated[name] for name in ALWAYS_TOLD}
    every = (always | stated).items()
    asked = {name: value for name, value in every if name not in always or value is not None}
    unknown = [name for name in asked if name not in CRITERIA]
    if unknown:
        writer = document.get("discreet", "unknown")
        raise InputError(
            f"'{unknown[0]}' is no criterion of this installation",
            allowed=", ".join(CRITERIA.names()),
            advice=f"Install the package that brings '{unknown[0]}' (discreet {writer} wrote the manifest). "
            "Without it nobody can tell whether the release is what it had to be.",
        )
    return Requirement(criteria=criteria_from(asked))
