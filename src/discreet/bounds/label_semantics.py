"""Meaning of labels without their hierarchies.

A manifest states the form of a rule's labels (``model.published_cells.LabelForm``): intervals, masks,
dates, or values. Otherwise labels are parsed in their common notation, and a note says so. ``*`` is any
value.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

from discreet.bounds.label_codes import (
    ColumnMeaning,
    DateLine,
    LabelNumbers,
    LabelTexts,
    NumberLine,
    TextPrefix,
    TextTree,
    meaning_of_values,
    parse_period,
    parse_set_label,
)
from discreet.errors import InputError
from discreet.frequency.class_summary import Summary
from discreet.model.hierarchy import TOP, parse_decimal
from discreet.model.published_cells import LabelForm, LabelKind
from discreet.queries.select_query import ColumnUse
from discreet.sql.quoting import identifier
from discreet.workload.published_labels import (
    NumberRange,
    half_unit_of_last_digit,
    is_integer_range,
    occurring_numbers,
    parse_mean_label,
    parse_number_range,
)

_MASKED_CODE = re.compile(r"[^*]+\*+")
_UNAMBIGUOUS_PERIOD = re.compile(r"\d{4}-(?:W\d{2}|Q[1-4]|0[1-9]|1[0-2])", re.ASCII)
_VALUE_SUMMARIES = (Summary.RANGES, Summary.MEANS, Summary.SETS)


@dataclass(frozen=True, eq=False)
class LabelledColumn:
    """Generalized column as described by its release.

    ``form`` is None if the manifest does not state the form of the labels; ``summary`` is the summary of
    the classes; ``nullable`` is True if ``*`` may include NULL.
    """

    attribute: str
    labels: tuple[str | None, ...]
    form: LabelForm | None
    summary: str | None
    nullable: bool

    def meaning(self, use: ColumnUse) -> ColumnMeaning:
        """Return the values that the labels represent, in the detail that a query's use requires.

        Raises ``InputError`` if the labels do not determine them.
        """
        result = self._meaning(use)
        if result is None:
            raise self._refusal(use)
        return result

    def _read_as_numbers(self, use: ColumnUse) -> ColumnMeaning | None:
        """Parse the labels as numbers, even if they could be parsed otherwise."""
        kind = None if self.form is None else self.form.kind
        ranges = any(" … " in text for text in self._texts)
        if kind is LabelKind.INTERVALS or (kind is LabelKind.VALUES and not ranges):
            return self._numbers(use)
        tells_codes = kind is LabelKind.MASK and self.summary not in _VALUE_SUMMARIES
        if tells_codes or kind is LabelKind.DATES:
            return None
        return self._add_note(self._numbers(use, known=False))

    @property
    def _texts(self) -> tuple[str, ...]:
        return tuple(label for label in self.labels if label is not None and label != TOP)

    def _meaning(self, use: ColumnUse) -> ColumnMeaning | None:
        kind = None if self.form is None else self.form.kind
        if use.measured:
            return self._read_as_numbers(use)
        if not self._texts:
            compared_as_text = use.texts or use.prefixes
            return self._dates(use) if compared_as_text else self._numbers(use)
        if kind is LabelKind.MASK and self.summary not in _VALUE_SUMMARIES:
            return TextTree(self.attribute, self._masks(), self.nullable).meaning(self.labels, use)
        if kind is LabelKind.DATES:
            return self._dates(use)
        if kind is LabelKind.INTERVALS:
            return self._numbers(use)
        if kind is not None:
            return self._values(use)
        return self._read_by_custom(use)

    def _read_by_custom(self, use: ColumnUse) -> ColumnMeaning | None:
        """Parse the labels of a custom hierarchy in their common notation, and add a note."""
        texts = self._texts
        if texts and all(_MASKED_CODE.fullmatch(text) for text in texts):
            found = TextTree(self.attribute, self._masks(), self.nullable).meaning(self.labels, use)
        elif any(_UNAMBIGUOUS_PERIOD.fullmatch(text) for text in texts):
            found = self._dates(use)
        elif self.summary in _VALUE_SUMMARIES or any(parse_decimal(text) is None for text in texts):
            found = self._values(use) if self.summary == Summary.SETS else self._numbers(use, known=False)
        else:
            return None
        return self._add_note(found)

    def _add_note(self, meaning: ColumnMeaning | None) -> ColumnMeaning | None:
        texts = self._texts
        if meaning is None or not texts:
            return meaning
        example = next((text for text in texts if parse_decimal(text) is None), texts[0])
        note = (
            f"'{self.attribute}' is interpreted by its labels, such as {example}. If their meaning is "
            "different, name its public hierarchy."
        )
        return replace(meaning, note=note)

    # Numbers

    def _numbers(self, use: ColumnUse, *, known: bool = True) -> ColumnMeaning | None:
        """Parse the labels as numbers; return None if they are not.

        With ``known``, labels that are not numbers represent only themselves; otherwise one such label
        makes the result None.
        """
        meanings: dict[str, LabelNumbers] = {TOP: None}
        for text in self._texts:
            ranges = _numbers_of_label(text, self.summary)
            if ranges is None and (not known or " … " in text):
                return None
            meanings[text] = ranges or ()
        if use.texts or use.prefixes or (not any(meanings.values()) and not known):
            return None
        integers = any(map(is_integer_range, self._texts)) and all(map(_may_be_whole, self._texts))
        own = self.summary in (Summary.SETS, Summary.MEANS)
        occurring = {
            text: occurring_numbers(
                text, self.summary, _members_of_label(text, self.summary) if own else None
            )
            for text in self._texts
        }
        line = NumberLine(self.attribute, meanings, integers, self.nullable, occurring)
        result = line.meaning(self.labels, use)
        if result is None or self.summary != Summary.MEANS:
            return result
        mean_labels = {text: parse_mean_label(text) for text in self._texts}
        means = {
            text: (mean[0], half_unit_of_last_digit(mean[0]))
            for text, mean in mean_labels.items()
            if mean is not None
        }
        return replace(result, means=means)

    # Texts

    def _masks(self) -> dict[str, LabelTexts]:
        form = self.form
        result: dict[str, LabelTexts] = {TOP: None}
        for text in self._texts:
            sign = "*" if form is None else form.character
            if form is not None and form.side == "left":
                result[text] = None if text.startswith(sign) else (text,)
                continue
            prefix = text.rstrip(sign)
            own: tuple[str, ...] = (prefix,) if form is not None and form.pad else ()
            length = None if form is None or form.pad else len(text)
            result[text] = (text,) if prefix == text else (*own, TextPrefix(prefix, length))
        return result

    def _dates(self, use: ColumnUse) -> ColumnMeaning | None:
        if self._texts and self.form is not None and self.form.format is not None:
            return None
        ranges = {text: parse_period(text, own=self.summary in _VALUE_SUMMARIES) for text in self._texts}
        meanings = {text: None if one is None else (one,) for text, one in ranges.items()}
        if self.form is None and None in meanings.values():
            return None
        own = {text: one or ((text, text, True),) for text, one in meanings.items()}
        known = {text: one[:2] for text, one in ranges.items() if one is not None and self._is_range(text)}
        return DateLine(self.attribute, {TOP: None, **own}, self.nullable, known).meaning(self.labels, use)

    def _is_range(self, text: str) -> bool:
        """Check whether a label is a range whose ends occur in each class."""
        return " … " in text and self.summary in _VALUE_SUMMARIES[:2]

    def _values(self, use: ColumnUse) -> ColumnMeaning | None:
        """Parse values, sets of values, and ``*``.

        A range in an unknown order represents anything, and so does a masked code, which a class may
        publish instead of a wider range.
        """
        ranges = {text for text in self._texts if " … " in text and self.summary in _VALUE_SUMMARIES[:2]}
        ranges |= {text for text in self._texts if self._is_masked(text)}
        sets = {text: parse_set_label(text) for text in self._texts if self.summary == Summary.SETS}
        if TOP not in self.labels and not ranges and not any(sets.values()):
            return meaning_of_values(self.attribute, self.labels)
        if use.numbers and not use.texts:
            return self._add_note(self._numbers(use, known=False)) if ranges else self._numbers(use)
        if use.ordered and not any(sets.values()):
            points = {text: None if text in ranges else ((text, text, True),) for text in self._texts}
            return DateLine(self.attribute, {TOP: None, **points}, self.nullable).meaning(self.labels, use)
        meanings: dict[str, LabelTexts] = {text: (text, *(sets.get(text) or ())) for text in self._texts}
        meanings |= {TOP: None, **dict.fromkeys(ranges)}
        return TextTree(self.attribute, meanings, self.nullable).meaning(self.labels, use)

    def _is_masked(self, text: str) -> bool:
        """Check whether a text may be a masked code."""
        if self.form is None or self.form.kind is not LabelKind.MASK:
            return False
        end = text.startswith if self.form.side == "left" else text.endswith
        return end(self.form.character)

    # Refusals

    def _refusal(self, use: ColumnUse) -> InputError:
        name = self.attribute
        said = name if re.fullmatch(r"[A-Za-z_]\w*", name) else identifier(name)
        example = next(iter(self._texts), TOP)
        fact = f"'{name}' is generalized; labels such as '{example}' "
        if use.needs_values:
            fact += "do not identify single values, which this query needs"
        else:
            fact += "cannot be compared with the query's constants"
        return InputError(
            fact,
            allowed=f"label({said}) for the published label; ranges compared with numbers, masked codes with "
            "texts (=, IN, LIKE 'a%'), periods with ISO dates in quotes",
            advice=f"Name its public hierarchy, --hierarchy {shlex.quote(f'{name}=FILE')}, or the spec: "
            "--spec FILE.",
        )


def _members_of_label(text: str, summary: str | None) -> tuple[str, ...] | None:
    """Return the members of a label that is a set, or that states the mean of a set."""
    mean = parse_mean_label(text) if summary == Summary.MEANS else None
    return parse_set_label(text if mean is None else mean[1])


def _numbers_of_label(text: str, summary: str | None) -> tuple[NumberRange, ...] | None:
    """Return the numbers that a label represents; None for a label without numbers."""
    mean = parse_mean_label(text) if summary == Summary.MEANS else None
    text = text if mean is None else mean[1]
    number = parse_decimal(text)
    if number is not None:
        return (NumberRange(number, number),)
    members = parse_set_label(text) if summary in (Summary.SETS, Summary.MEANS) else None
    if members is not None:
        numbers = [parse_decimal(member) for member in members]
        return None if None in numbers else tuple(NumberRange(n, n) for n in numbers)
    found = parse_number_range(text)
    if found is None or (found.low is not None and found.high is not None and found.low > found.high):
        return None
    return (found,)


def _may_be_whole(text: str) -> bool:
    """Check whether a label allows only whole numbers: ``20-24``, ``7``, ``<18``, ``≥90``, no number."""
    if is_integer_range(text):
        return True
    found = _numbers_of_label(text, None)
    if found is None:
        return True
    (number_range,) = found
    ends = [end for end in (number_range.low, number_range.high) if end is not None]
    plain = len(ends) == 1 or number_range.low == number_range.high
    return plain and all(end == end.to_integral_value() for end in ends)
