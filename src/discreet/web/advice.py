"""What the proposal warns of, in the words of the screens, with a button in place of lines for a file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from discreet.web.wording import screen_words

_REPEATS = re.compile(
    r"(.*) If it names the person, set subject = (\".*\") in \[source\], so that (.*)", re.DOTALL
)
_STRANGE = re.compile(r"(.*), write null_values = (\[.*\]) in \[source\].*", re.DOTALL)
_GIVEN_UP = "dropped until you decide"  # the Columns screen has a notice of its own for these


class Act(BaseModel):
    """What a button does: another reading of the source."""

    label: str
    subject: str | None = None
    null_values: list[str] = Field(default_factory=list, description="Further texts that are read as NULL.")


class Advice(BaseModel):
    """A warning, and what may be done of it by a button."""

    text: str
    act: Act | None = None


def advice_of(warnings: Sequence[str]) -> list[Advice]:
    """The warnings of a proposal as the screens tell them."""
    return [_told(text) for text in warnings if _GIVEN_UP not in text]


def _told(text: str) -> Advice:
    if match := _REPEATS.fullmatch(text):
        name = str(json.loads(match[2]))
        act = Act(label=f"{name} names the person", subject=name)
        return Advice(text=f"{match[1]} If it names the person, say so: {match[3]}", act=act)
    if match := _STRANGE.fullmatch(text):
        texts: list[Any] = json.loads(match[2])
        shown = ", ".join(map(str, texts))
        return Advice(
            text=f"{match[1]}, read it as NULL.",
            act=Act(label=f"Read {shown} as NULL", null_values=[str(each) for each in texts]),
        )
    return Advice(text=screen_words(text) or "")
