"""Which role a column may start with. It fails closed: in doubt the more protected role.

A column that nobody thought of must not be published as it stands, so a column is proposed as insensitive
only where it has the same value in every row; what is unknown becomes an identifier (dropped) where it is
nearly unique, and a quasi-identifier (generalized) else.
"""

from __future__ import annotations

from discreet.model.table_spec import AttributeRole
from discreet.profile.columns import ColumnProfile
from discreet.profile.identifiers import IdentifierKind, kind_of_letter, kind_of_word
from discreet.profile.names import NameHint, is_money, is_numbered, is_weight, name_hint

NEARLY_UNIQUE_DISTINCT = 0.5
"""A column with more distinct values per row than this is nearly unique,"""

NEARLY_UNIQUE_ALONE = 0.2
"""and so is one in which more than this share of the rows has a value of its own."""

NEARLY_UNIQUE = "nearly unique"
"""The reason for which a column that is known for nothing else is an identifier."""

MEASURE = "a measure, nearly unique"
"""The reason for which a nearly unique column is no identifier."""

IN_DOUBT = "in doubt, so protected"
"""The reason for which a column that is known for nothing is a quasi-identifier."""

_FEW_ROWS = 100
_LONG_CODE = 8
_LONG_TEXT = 60
_MOST_ANSWERS = 20
_NUMBERED_DISTINCT = 0.1
_SAMPLE_WEIGHTS_BELOW, _SAMPLE_WEIGHTS_ABOVE = 2, 1_000


def propose_role(column: ColumnProfile, *, written_as_number: bool = False) -> tuple[AttributeRole, str]:
    """The role and the reason for it, in words; ``written_as_number`` where cells have marks or units.

    An identifier's name wins; then a quasi-identifier's and a date; then near-uniqueness, over a sensitive
    name too in tables of a hundred rows or more, since a sensitive value is published as it stands and a
    unique one names its person. What is measured, money above all, generalizes into intervals instead.
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
    unique = nearly_unique(column)
    if _is_sample_weight(column):
        role = AttributeRole.IDENTIFIER if unique else AttributeRole.QUASI_IDENTIFIER
        return role, "a survey's weight, it seems: each value points to few rows"
    if hint is NameHint.QUASI_IDENTIFIER:
        return AttributeRole.QUASI_IDENTIFIER, f"known to others ({_told(word, kind_of_word(word))})"
    if column.dates:
        return AttributeRole.QUASI_IDENTIFIER, "a date, which others may know"
    written_freely = unique and column.longest > _LONG_TEXT
    if hint is NameHint.SENSITIVE and not written_freely and (column.rows < _FEW_ROWS or not unique):
        return AttributeRole.SENSITIVE, f"a private matter ({word})"
    if unique and _is_measure(column, written_as_number=written_as_number):
        return AttributeRole.QUASI_IDENTIFIER, MEASURE
    if unique:
        return AttributeRole.IDENTIFIER, NEARLY_UNIQUE
    if is_numbered(column.name) and column.distinct > _NUMBERED_DISTINCT * column.filled:
        return AttributeRole.IDENTIFIER, "numbers that are given to something, by its name"
    if column.longest > _LONG_TEXT and column.distinct > _MOST_ANSWERS:
        return AttributeRole.IDENTIFIER, "long texts, in which anything may stand"
    return AttributeRole.QUASI_IDENTIFIER, IN_DOUBT


def _is_measure(column: ColumnProfile, *, written_as_number: bool) -> bool:
    """Whether numbers are measured rather than given: money, decimals; long codes of one length are not."""
    if not column.numbers or column.zeros:
        return False
    given = column.codes and column.longest >= _LONG_CODE
    return written_as_number or column.fractions or (is_money(column.name) and not given)


def _is_sample_weight(column: ColumnProfile) -> bool:
    """Whether weights are those of a sample's rows: near 1, or in thousands, as no body's are."""
    odd = column.lowest < _SAMPLE_WEIGHTS_BELOW or column.highest > _SAMPLE_WEIGHTS_ABOVE
    return column.numbers and odd and is_weight(column.name)


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
