"""Proposed roles of columns, the more protected one in doubt; pseudonyms for identifiers that join tables.

A column is proposed as insensitive only if all rows have the same value. Unknown columns become identifiers
if nearly unique, otherwise quasi-identifiers. A pseudonym is proposed in words only; the spec still leaves
identifiers out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.model.table_spec import AttributeRole
from discreet.profile.column_profile import ColumnProfile
from discreet.profile.heading_hints import (
    IdentifierKind,
    RoleHint,
    hint_role,
    is_money,
    is_weight,
    kind_by_letter,
    kind_by_word,
    names_a_number,
    person_key_word,
)

NEARLY_UNIQUE_DISTINCT = 0.5
"""Distinct values per row above which a column is nearly unique."""

NEARLY_UNIQUE_SHARE = 0.2
"""Share of rows with a unique value above which a column is nearly unique."""

NEARLY_UNIQUE_REASON = "nearly unique"
"""Reason given for an identifier that is recognized by nothing else."""

MEASURE_REASON = "a measure, nearly unique"
"""Reason given for a nearly unique column that is not an identifier."""

IN_DOUBT_REASON = "in doubt, so protected"
"""Reason given for a quasi-identifier that nothing else indicates."""

_FEW_ROWS = 100
_LONG_CODE = 8
_LONG_TEXT = 60
_MOST_ANSWERS = 20
_NUMBERED_DISTINCT = 0.1
_SAMPLE_WEIGHTS_BELOW, _SAMPLE_WEIGHTS_ABOVE = 2, 1_000


def propose_role(column: ColumnProfile, *, written_as_number: bool = False) -> tuple[AttributeRole, str]:
    """Return a column's proposed role and the reason in words.

    A heading of an identifier takes precedence; then a heading of a quasi-identifier and a date; then
    near-uniqueness, in tables of a hundred rows or more also over a sensitive heading, since a sensitive
    value is published unchanged and a unique one identifies its person. Measures, money above all, generalize
    into intervals instead. ``written_as_number`` is true if cells have marks or units of numbers.
    """
    hint, word = hint_role(column.name)
    if hint is RoleHint.IDENTIFIER:
        return (
            AttributeRole.IDENTIFIER,
            f"named like an identifier ({_word_with_kind(word, identifier_kind(column))})",
        )
    form = kind_by_letter(column.form)
    if form is not None:
        return AttributeRole.IDENTIFIER, f"values of an identifier's form ({form.label})"
    if column.distinct == 0:
        return AttributeRole.IDENTIFIER, "no values"
    if column.distinct == 1 and column.nulls == 0 and column.rows > 1:
        return AttributeRole.INSENSITIVE, "the same value in every row"
    unique = is_nearly_unique(column)
    if _is_sample_weight(column):
        role = AttributeRole.IDENTIFIER if unique else AttributeRole.QUASI_IDENTIFIER
        return role, "probably a survey weight: each value identifies few rows"
    if hint is RoleHint.QUASI_IDENTIFIER:
        return (
            AttributeRole.QUASI_IDENTIFIER,
            f"known to others ({_word_with_kind(word, kind_by_word(word))})",
        )
    if column.dates:
        return AttributeRole.QUASI_IDENTIFIER, "a date, which others may know"
    written_freely = unique and column.longest > _LONG_TEXT
    if hint is RoleHint.SENSITIVE and not written_freely and (column.rows < _FEW_ROWS or not unique):
        return AttributeRole.SENSITIVE, f"a private matter ({word})"
    if unique and _is_measure(column, written_as_number=written_as_number):
        return AttributeRole.QUASI_IDENTIFIER, MEASURE_REASON
    if unique:
        return AttributeRole.IDENTIFIER, NEARLY_UNIQUE_REASON
    if names_a_number(column.name) and column.distinct > _NUMBERED_DISTINCT * column.filled:
        return AttributeRole.IDENTIFIER, "assigned numbers, by its name"
    if column.longest > _LONG_TEXT and column.distinct > _MOST_ANSWERS:
        return AttributeRole.IDENTIFIER, "long free texts"
    return AttributeRole.QUASI_IDENTIFIER, IN_DOUBT_REASON


def _is_measure(column: ColumnProfile, *, written_as_number: bool) -> bool:
    """Return whether numbers are measured, not assigned: money, decimals; long codes are assigned."""
    if not column.numbers or column.zeros:
        return False
    long_codes = column.codes and column.longest >= _LONG_CODE
    return written_as_number or column.fractions or (is_money(column.name) and not long_codes)


def _is_sample_weight(column: ColumnProfile) -> bool:
    """Return whether weights are those of sampled rows: near 1, or in thousands, unlike weights of bodies."""
    odd = column.lowest < _SAMPLE_WEIGHTS_BELOW or column.highest > _SAMPLE_WEIGHTS_ABOVE
    return column.numbers and odd and is_weight(column.name)


def identifier_kind(column: ColumnProfile) -> IdentifierKind | None:
    """Return the HIPAA kind of a column, by its name, else by its values' form; None if there is none.

    A column named like an identifier that belongs to none of the first seventeen kinds belongs to the last.
    """
    hint, word = hint_role(column.name)
    last = kind_by_letter("R") if hint is RoleHint.IDENTIFIER else None
    return kind_by_word(word) or kind_by_letter(column.form) or last


def _word_with_kind(word: str, kind: IdentifierKind | None) -> str:
    return word if kind is None else f"{word}; {kind.label}"


def is_nearly_unique(column: ColumnProfile) -> bool:
    """Return whether the column identifies most rows."""
    return (
        column.distinct > NEARLY_UNIQUE_DISTINCT * column.filled or column.unique_share > NEARLY_UNIQUE_SHARE
    )


_REPEATS = 1.02


@dataclass(frozen=True)
class PseudonymProposal:
    """A proposed pseudonym: ``way`` as in the spec, its effect in words, and a sentence for the screens."""

    pseudonymization: Mapping[str, str]
    words: str
    sentence: str

    def __str__(self) -> str:
        """Return the line of the spec and its effect."""
        entries = ", ".join(
            f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in self.pseudonymization.items()
        )
        return f"pseudonymization = {{{entries}}} {self.words}"


def propose_pseudonym(column: ColumnProfile, *, subject: bool) -> PseudonymProposal | None:
    """Propose a pseudonym for an identifier; None if leaving the column out loses nothing.

    ``subject`` is true for the column that identifies the persons that k counts.
    """
    repeats = column.filled > _REPEATS * column.distinct
    if subject or (person_key_word(column.name) and repeats and column.distinct > 1):
        return PseudonymProposal(
            {"method": "per-release"},
            "keeps a person's rows together, within one release",
            "A random number would keep a person's rows together, within one release.",
        )
    if person_key_word(column.name) and is_nearly_unique(column):
        name = re.sub(r"\W+", "_", column.name, flags=re.ASCII).strip("_") or "people"
        way = {"method": "pseudonym", "key": f"keys/{name}.list"}
        return PseudonymProposal(
            way,
            "joins the releases of several tables, for everyone who uses this key file",
            "A pseudonym would join the releases of several tables, for everyone who has its key.",
        )
    return None
