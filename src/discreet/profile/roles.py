"""Which role a column may start with. It fails closed: in doubt the more protected role.

A column that nobody thought of must not be published as it stands, so a column is proposed as insensitive
only where it has the same value in every row; what is unknown becomes an identifier (dropped) where it is
nearly unique, and a quasi-identifier (generalized) else.
"""

from __future__ import annotations

from discreet.model.table_spec import AttributeRole
from discreet.profile.columns import ColumnProfile
from discreet.profile.identifiers import IdentifierKind, kind_of_letter, kind_of_word
from discreet.profile.names import NameHint, name_hint

NEARLY_UNIQUE_DISTINCT = 0.5
"""A column with more distinct values per row than this is nearly unique,"""

NEARLY_UNIQUE_ALONE = 0.2
"""and so is one in which more than this share of the rows has a value of its own."""

NEARLY_UNIQUE = "nearly unique"
"""The reason for which a column that is known for nothing else is an identifier."""

_FEW_ROWS = 100


def propose_role(column: ColumnProfile) -> tuple[AttributeRole, str]:
    """The role and the reason for it, in words.

    An identifier's name wins; then a quasi-identifier's; then near-uniqueness, over a sensitive name too in
    tables of a hundred rows or more, since a sensitive value is published as it stands and a unique one names
    its person.
    """
    hint, word = name_hint(column.name)
    if hint is NameHint.IDENTIFIER:
        return AttributeRole.IDENTIFIER, f"named like an identifier ({_told(word, identifier_kind(column))})"
    form = kind_of_letter(column.form)
    if form is not None:
        return AttributeRole.IDENTIFIER, f"values of an identifier's form ({form.label})"
    if column.distinct == 0:
        return AttributeRole.IDENTIFIER, "no value at all"
    if column.distinct == 1 and column.nulls == 0 and column.rows > 1:
        return AttributeRole.INSENSITIVE, "the same value in every row"
    if hint is NameHint.QUASI_IDENTIFIER:
        return AttributeRole.QUASI_IDENTIFIER, f"known to others ({_told(word, kind_of_word(word))})"
    if hint is NameHint.SENSITIVE and (column.rows < _FEW_ROWS or not nearly_unique(column)):
        return AttributeRole.SENSITIVE, f"a private matter ({word})"
    if nearly_unique(column):
        return AttributeRole.IDENTIFIER, NEARLY_UNIQUE
    return AttributeRole.QUASI_IDENTIFIER, "in doubt, so protected"


def identifier_kind(column: ColumnProfile) -> IdentifierKind | None:
    """Which of HIPAA's eighteen kinds a column is of, by its name, else by its values' form; None for none.

    What is named like an identifier and is none of the first seventeen kinds is of the last.
    """
    hint, word = name_hint(column.name)
    last = kind_of_letter("R") if hint is NameHint.IDENTIFIER else None
    return kind_of_word(word) or kind_of_letter(column.form) or last


def _told(word: str, kind: IdentifierKind | None) -> str:
    return word if kind is None else f"{word}; {kind.label}"


def nearly_unique(column: ColumnProfile) -> bool:
    """Whether the column names most rows by itself."""
    return column.distinct > NEARLY_UNIQUE_DISTINCT * column.filled or column.alone > NEARLY_UNIQUE_ALONE
