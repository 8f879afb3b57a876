"""What may stand in an identifier's place: a proposal of its form, for keys that tables are joined by.

Identifiers are left out, and so it stays unless the publisher decides otherwise: a form is told beside the
role, never written as a choice. One is proposed where leaving the column out loses something: a person's
number joins rows and tables. A name, an address or a text joins nothing that such a number does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.profile.columns import ColumnProfile
from discreet.profile.names import person_key
from discreet.profile.roles import nearly_unique

_REPEATS = 1.02


@dataclass(frozen=True)
class FormHint:
    """A form: ``way`` as the spec's attribute takes it, what it does, and a sentence for the screens."""

    way: Mapping[str, str]
    words: str
    sentence: str

    def __str__(self) -> str:
        """The line of the spec, and what it does."""
        entries = ", ".join(
            f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in self.way.items()
        )
        return f"way = {{{entries}}} {self.words}"


def propose_form(column: ColumnProfile, *, subject: bool) -> FormHint | None:
    """The form of an identifier, None where nothing is lost by leaving it out.

    ``subject`` says that the column names whom k counts.
    """
    repeats = column.filled > _REPEATS * column.distinct
    if subject or (person_key(column.name) and repeats and column.distinct > 1):
        return FormHint(
            {"way": "per-release"},
            "keeps a person's rows together, within one release",
            "A number in its place would keep a person's rows together, within one release.",
        )
    if person_key(column.name) and nearly_unique(column):
        name = re.sub(r"\W+", "_", column.name, flags=re.ASCII).strip("_") or "people"
        way = {"way": "pseudonym", "key": f"keys/{name}.list"}
        return FormHint(
            way,
            "joins the releases of several tables, for all who name this key's file",
            "A pseudonym in its place would join the releases of several tables, for all who have its key.",
        )
    return None
